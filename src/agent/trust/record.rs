//! The record of a review, where a project cannot write.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::user_directory;
use crate::sandbox::engine::hex;

/// Why it is not known whether something was reviewed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no place for records.
    #[error(
        "there is no directory for what was reviewed: set HOME, or HOOKBOX_CONFIG_DIR to a directory of your own"
    )]
    NoHome,
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A record cannot be written.
    #[error("{} cannot be written: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A record is none.
    #[error("{} is not a record of a review: {problem}; run `hookbox trust` again", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is too much to look through.
    #[error("{} has more files than hookbox looks through; keep only hooks there", .0.display())]
    TooMany(PathBuf),
}

/// What was reviewed of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The project.
    pub project: PathBuf,
    /// Whether a change that nobody reviewed closes every gate.
    pub strict: bool,
    /// Files outside of the project's own folders that count, too.
    pub extra: Vec<PathBuf>,
    /// The digest of every file, by its path.
    pub digests: BTreeMap<String, String>,
}

impl Record {
    /// Finds the record of a project; nothing if it was never reviewed.
    ///
    /// # Errors
    /// Returns why that cannot be known.
    pub fn find(project: &Path) -> Result<Option<Self>, TrustError> {
        // Without a home nothing was ever reviewed.
        let Ok(path) = place(project) else {
            return Ok(None);
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TrustError::Unreadable { path, error }),
        };
        let record: Self = serde_json::from_str(&text).map_err(|error| TrustError::Broken {
            path: path.clone(),
            problem: error.to_string(),
        })?;
        if record.project != project {
            return Err(TrustError::Broken {
                path,
                problem: format!("it is about {}", record.project.display()),
            });
        }
        Ok(Some(record))
    }

    /// Writes the record, whole or not at all.
    pub(super) fn write(&self) -> Result<(), TrustError> {
        let path = place(&self.project)?;
        let unwritable = |error| TrustError::Unwritable {
            path: path.clone(),
            error,
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private(folder).map_err(unwritable)?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
        file.write_all(text.as_bytes()).map_err(unwritable)?;
        file.as_file().sync_all().map_err(unwritable)?;
        file.persist(&path)
            .map_err(|error| unwritable(error.error))?;
        Ok(())
    }

    /// Forgets that a project was reviewed; says whether it was.
    ///
    /// # Errors
    /// Returns why the record stays.
    pub fn forget(project: &Path) -> Result<bool, TrustError> {
        let path = place(project)?;
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(TrustError::Unwritable { path, error }),
        }
    }
}

fn place(project: &Path) -> Result<PathBuf, TrustError> {
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    let name = format!("{}.json", hex(&digest[..16]));
    let own = user_directory().ok_or(TrustError::NoHome)?;
    Ok(own.join("reviewed").join(name))
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
