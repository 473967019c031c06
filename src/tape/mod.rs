//! The recording of a run: what came in, what every hook decided, and every call across
//! the border of the sandbox. `docs/tape.md` describes the format for other tools.

mod ahead;
pub(crate) mod bytes;
mod check;
mod compare;
mod convert;
mod copies;
mod cut;
mod encode;
mod error;
mod file;
mod ink;
mod line;
mod lock;
pub(crate) mod part;
mod pen;
mod quick;
mod read;
mod record;
mod recorder;
mod redact;
pub(crate) mod reel;
mod replay;
pub mod report;
mod scan;
pub(crate) mod scene;
pub(crate) mod scrub;
mod seal;
mod sheet;
mod stats;
mod story;
mod text;
pub(crate) mod track;
mod twin;
pub mod view;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;

pub use check::{Checked, Checker, Seen};
pub use compare::{Difference, Verdict};
pub use cut::{CutError, CutOut, cut, source};
pub use error::{RecordError, TapeError};
pub use read::{Ending, LONGEST_LINE, Reader};
pub use record::{
    Body, Cut, End, Entry, Fault, Footer, HookCall, HookPrint, HookReturned, HookVetoed, HostCall,
    Lost, Phase, Predicate, Project, Record, Redacted, Seal, Start, Undecided, Used,
};
pub use recorder::Recorder;
pub use redact::{RedactError, Redaction};
pub use replay::{Dispatch, Replay, Replayed};
pub use seal::Hash;
pub use stats::{HookStats, Stats};

/// The version of a tape's format. A reader takes tapes of its own major version and of
/// no newer minor one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Changes when old readers would misunderstand a tape.
    pub major: u32,
    /// Changes when something is added.
    pub minor: u32,
}

impl Format {
    /// The one this version writes.
    pub const CURRENT: Self = Self { major: 3, minor: 0 };

    fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let format = Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        };
        // `+1.00` would be a second way to write the same version.
        (format.to_string() == text).then_some(format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}
