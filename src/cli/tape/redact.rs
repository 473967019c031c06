//! `hookbox tape redact`: a copy of a tape with less on it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::{TapeArgs, fill};
use crate::cli::style;
use crate::tape::{Reader, Redaction};

/// Write a copy of a tape without what nobody else should read
///
/// A redacted record says what was taken out and keeps the hash of what it was, so that
/// `hookbox tape verify` still proves all the others. Secrets of grants are never on a
/// tape in the first place.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hookbox tape redact run.tape -o public.tape --pointer /payload/args/token --pointer /request/headers\n  hookbox tape redact run.tape -o public.tape --pattern '[\\w.]+@[\\w.]+'"
)]
pub(in crate::cli) struct RedactArgs {
    #[command(flatten)]
    tape: TapeArgs,
    /// The copy
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Take out what is at this place: a field of a record, then a JSON pointer into it;
    /// `*` stands for every key. What says the same elsewhere in that field goes too
    #[arg(long, value_name = "POINTER")]
    pointer: Vec<String>,
    /// Take out what matches this regular expression, in every text
    #[arg(long, value_name = "REGEX")]
    pattern: Vec<String>,
}

/// Reads a copy to its end.
fn whole(copy: &Path) -> Result<()> {
    let why = "the copy could not be read again, so there is none; nothing was changed";
    let mut reader = Reader::open(copy).context(why)?;
    while reader.next_record().context(why)?.is_some() {}
    Ok(())
}

impl RedactArgs {
    pub(in crate::cli) fn run(self) -> Result<i32> {
        if self.pointer.is_empty() && self.pattern.is_empty() {
            bail!("say what to take out, with --pointer or --pattern");
        }
        let mut redaction = Redaction::default();
        for pointer in &self.pointer {
            redaction.pointer(pointer)?;
        }
        for pattern in &self.pattern {
            redaction.pattern(pattern)?;
        }
        let open =
            || Reader::open(&self.tape.tape).with_context(|| self.tape.tape.display().to_string());
        let (first, second) = (open()?, open()?);
        let count = fill(&self.output, |out| Ok(redaction.write(first, second, out)?))?;
        if let Err(error) = whole(&self.output) {
            // Nobody should find out later that it cannot be read.
            let _ = std::fs::remove_file(&self.output);
            return Err(error);
        }
        let what = match count {
            0 => "nothing was found, so the copy is the same".to_owned(),
            1 => "1 record is redacted".to_owned(),
            count => format!("{} records are redacted", style::grouped(count)),
        };
        let mark = if count == 0 {
            style::notable("!")
        } else {
            style::good("✓")
        };
        let output = self.output.display();
        writeln!(anstream::stdout(), "{mark} {output}: {what}")?;
        Ok(0)
    }
}
