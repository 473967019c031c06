//! What a program may touch while it runs.

use std::path::PathBuf;

/// What a program is kept to. Nothing is confined that is not mentioned.
///
/// A path that is not there when the program starts allows nothing: to let it
/// create a file, allow the directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// It reads and executes only below these paths, the program itself, what runs
    /// it and the libraries of both included.
    pub read: Option<Vec<PathBuf>>,
    /// It creates, writes and removes only below these paths, and `/dev/null`.
    pub write: Option<Vec<PathBuf>>,
    /// It opens TCP connections only to these ports. Other kinds of sockets are
    /// not confined.
    pub connect: Option<Vec<u16>>,
}

impl Confinement {
    /// Returns whether nothing is confined.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.read.is_none() && self.write.is_none() && self.connect.is_none()
    }
}

/// Checks that this system can enforce all of a confinement. What it cannot is left
/// out when a program is run.
///
/// # Errors
///
/// When something cannot be enforced; says what, and what would be needed.
pub fn confinement_available(confinement: &Confinement) -> Result<(), String> {
    if confinement.is_free() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    let missing = super::landlock::missing(confinement);
    #[cfg(not(target_os = "linux"))]
    let missing = Some("this system cannot confine programs; only Linux can".to_owned());
    missing.map_or(Ok(()), Err)
}
