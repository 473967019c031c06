//! Programs outside of the sandbox, on machines where hookbox cannot see to it that
//! nothing of them is left behind: there they do not start.

#[path = "process/hook.rs"]
mod hook;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use hook::{INHERITED, ProcessHook};

/// A program that could be run elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The program or script.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it runs in.
    pub directory: PathBuf,
}

/// What one run of a program gets.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// All of its environment.
    pub environment: &'a [(String, String)],
    /// What it reads on its standard input.
    pub stdin: &'a [u8],
    /// The moment at which it is killed.
    pub deadline: Instant,
    /// How many bytes it may write to standard output.
    pub stdout_limit: usize,
    /// How many bytes of its standard error are kept.
    pub stderr_limit: usize,
}

/// What a program is kept to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// The only paths it reads.
    pub read: Option<Vec<PathBuf>>,
    /// The only paths it writes.
    pub write: Option<Vec<PathBuf>>,
    /// The only TCP ports it connects to.
    pub connect: Option<Vec<u16>>,
}

impl Confinement {
    /// Returns whether nothing is confined.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }
}

/// Says what of a confinement cannot be enforced here.
///
/// # Errors
/// Returns that nothing can.
pub fn confinement_available(confinement: &Confinement) -> Result<(), String> {
    if confinement.is_free() {
        return Ok(());
    }
    Err("this system has no Landlock".to_owned())
}

/// A program that ended by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// The way a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// It exited with this code.
    Code(u8),
    /// It was killed by this signal.
    Signal(i32),
}

/// Why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessError {
    /// The program did not start.
    #[error("cannot start {program}: {why}")]
    CannotStart {
        /// The program, as it was named.
        program: String,
        /// What is in the way.
        why: String,
    },
    /// It was still running at the deadline.
    #[error("the program was still running after {after_ms} ms and was stopped")]
    Deadline {
        /// How long it was allowed to run.
        after_ms: u64,
        /// How many processes were killed.
        killed: usize,
    },
    /// It wrote more than it may.
    #[error("the program wrote more than the {limit} bytes its standard output may have")]
    TooMuchOutput {
        /// How many bytes are allowed.
        limit: usize,
    },
    /// The connection to it was lost.
    #[error("the program was started, but its end cannot be told: {why}")]
    Lost {
        /// What happened.
        why: String,
    },
}

impl Process {
    /// Refuses to run the program.
    ///
    /// # Errors
    /// Always.
    pub fn run(&self, _: &Occasion<'_>, _: &Confinement) -> Result<Ended, ProcessError> {
        Err(ProcessError::CannotStart {
            program: self.program.display().to_string(),
            why: "programs outside of the sandbox run on Unix only; make it a component".to_owned(),
        })
    }
}

/// Looks at a file that is to be run.
///
/// # Errors
/// Always: nothing of the kind runs here.
pub fn check(path: &Path) -> Result<(), String> {
    Err(format!(
        "{} would run outside of the sandbox, which is possible on Unix only; make it a component",
        path.display()
    ))
}
