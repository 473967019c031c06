//! How a run ended: with an exit and what was printed, or not properly.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// A program that ended by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// All that it and its children wrote to standard output.
    #[serde(with = "printed")]
    pub stdout: Vec<u8>,
    /// The beginning of what was written to standard error.
    #[serde(with = "printed")]
    pub stderr: Vec<u8>,
    /// Whether more was written to standard error than was kept.
    #[serde(default)]
    pub stderr_cut: bool,
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

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Signal(signal),
            // A code has eight bits on every Unix; should one have more, it was no success.
            None => Self::Code(
                status
                    .code()
                    .and_then(|code| u8::try_from(code).ok())
                    .unwrap_or(u8::MAX),
            ),
        }
    }
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
    /// It, or something it started, was still running at the deadline.
    #[error(
        "the program was still running after {after_ms} ms and was stopped ({} killed); make it faster, let it wait for nothing, or allow it more time",
        counted(*.killed)
    )]
    Deadline {
        /// How long it was allowed to run, in milliseconds.
        after_ms: u64,
        /// How many processes were killed.
        killed: usize,
    },
    /// It wrote more to its standard output than it may.
    #[error(
        "the program wrote more than the {limit} bytes its standard output may have; let it print less"
    )]
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

impl ProcessError {
    pub(super) fn lost(error: &io::Error) -> Self {
        Self::Lost {
            why: error.to_string(),
        }
    }
}

fn counted(processes: usize) -> String {
    match processes {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    }
}

/// Writes bytes as text where they are text, and as a list of numbers otherwise.
mod printed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Printed {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => to.serialize_str(text),
            Err(_) => bytes.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Printed::deserialize(from)? {
            Printed::Text(text) => text.into_bytes(),
            Printed::Bytes(bytes) => bytes,
        })
    }
}
