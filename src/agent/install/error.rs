//! Why an agent's settings were left as they are.

use std::path::PathBuf;

use thiserror::Error;

use super::jsonc::{EditError, ParseError};

/// Says why nothing was installed or removed.
#[derive(Debug, Error)]
pub enum InstallError {
    /// A file of the user was asked for and nobody knows where that would be.
    #[error("nobody's home is known: set HOME, or install for one project with --project")]
    NoHome,
    /// A file of a project was asked for and there is none.
    #[error("no project is known: name one with --project DIR, or install for all with --user")]
    NoProject,
    /// A path cannot be written down in settings.
    #[error("{0} is not UTF-8, and settings are: move it to a path that is")]
    NotText(PathBuf),
    /// The program to run is not there, or not a program.
    #[error("{path} cannot be run: {why}")]
    Binary {
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The program would not be known again.
    #[error(
        "{0} is not called hookbox, so its entries could not be told from others later: link it under that name"
    )]
    OtherName(PathBuf),
    /// The agent does not read a file with such a path in it.
    #[error("{agent} takes // for a comment, even in a path like {path}: write it with one slash")]
    TwoSlashes {
        /// The agent's title.
        agent: &'static str,
        /// The path.
        path: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A link leads nowhere.
    #[error("{0} is a link to nothing: restore what it leads to, or remove it")]
    DeadLink(PathBuf),
    /// Something else than a file is there.
    #[error("{0} is not a file: move it out of the way")]
    NotAFile(PathBuf),
    /// A file is of a size that no settings have.
    #[error("{path} has more than {limit} bytes: is that a settings file?")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many may be.
        limit: u64,
    },
    /// A file is not text.
    #[error("{0} is not UTF-8: save it as that")]
    NotUtf8(PathBuf),
    /// A file must not be written.
    #[error("{0} is read-only: allow writing to it (chmod u+w), or edit it where it comes from")]
    ReadOnly(PathBuf),
    /// A file cannot be understood.
    #[error("{path}, {error}\nnothing was changed: {path} is yours to correct")]
    Unparsable {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: ParseError,
    },
    /// A file is understood and has another shape than the agent takes.
    #[error("{path}: {error}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        error: EditError,
    },
    /// Something of somebody else is where ours would go.
    #[error("{path} is not from hookbox, and stays as it is; {advice}")]
    Theirs {
        /// The file.
        path: PathBuf,
        /// What to do.
        advice: String,
    },
    /// Somebody else wrote to a file in between.
    #[error("{0} was changed by somebody else just now: run the command again")]
    Changed(PathBuf),
}

impl InstallError {
    pub(super) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }
}
