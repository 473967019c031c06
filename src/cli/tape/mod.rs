//! `hookbox tape`: looks at tapes, and makes other tapes of them.

mod cut;
mod redact;
mod show;
mod stats;
mod verify;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use crate::tape::{Replay, TapeError};

/// Look at a tape, check it, or make another one of it
#[derive(Debug, Subcommand)]
pub(super) enum TapeVerb {
    Show(show::ShowArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    Redact(redact::RedactArgs),
    Cut(cut::CutArgs),
}

impl TapeVerb {
    pub(super) fn run(self) -> Result<i32> {
        match self {
            Self::Show(args) => args.run(),
            Self::Verify(args) => args.run(),
            Self::Stats(args) => args.run(),
            Self::Redact(args) => args.run(),
            Self::Cut(args) => args.run(),
        }
    }
}

/// The tape that is looked at.
#[derive(Debug, Args)]
struct TapeArgs {
    /// The tape
    tape: PathBuf,
}

impl TapeArgs {
    fn open(&self) -> Result<Replay<std::io::BufReader<File>>> {
        match Replay::open(&self.tape) {
            // It names the file itself.
            Err(error @ TapeError::File { .. }) => Err(error.into()),
            opened => opened.with_context(|| self.tape.display().to_string()),
        }
    }
}

/// Makes the file of a new tape. One that is there is not touched.
fn create(path: &Path) -> Result<BufWriter<File>> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options
        .open(path)
        .with_context(|| format!("{} cannot be made", path.display()))?;
    Ok(BufWriter::new(file))
}

/// Does the work that fills a new file, and takes the file away again if it fails.
fn fill<T>(path: &Path, work: impl FnOnce(&mut BufWriter<File>) -> Result<T>) -> Result<T> {
    let mut out = create(path)?;
    let done = work(&mut out).and_then(|done| {
        std::io::Write::flush(&mut out)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(done)
    });
    if done.is_err() {
        let _ = std::fs::remove_file(path);
    }
    done
}
