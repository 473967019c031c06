//! `hookbox tape cut`: some dispatches of a tape, as a tape of their own.

use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::show::Choice;
use super::{TapeArgs, fill};
use crate::cli::style;
use crate::tape::{cut, source};

/// Write some dispatches of a tape to a new one, with the events they caused
///
/// The new tape has a chain of its own, and says in its header which tape it was cut
/// from. A tape that was not closed is closed by this.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hookbox tape cut month.tape -o one.tape --dispatches 17\n  hookbox tape cut month.tape -o blocked.tape --decision block --hook command_guard"
)]
pub(in crate::cli) struct CutArgs {
    #[command(flatten)]
    tape: TapeArgs,
    /// The new tape
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// These dispatches: 17, 3-8, 100- or -50
    #[arg(long, value_name = "RANGE", value_parser = range, allow_hyphen_values = true)]
    dispatches: Option<RangeInclusive<u64>>,
    /// Only events of this name
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Only events in which this hook was called
    #[arg(long, value_name = "NAME")]
    hook: Option<String>,
    /// Only events that were decided so: allow, block, modify, ask
    #[arg(long, value_name = "DECISION")]
    decision: Option<String>,
}

fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str, other: u64| match text {
        "" => Ok(other),
        text => text
            .parse()
            .map_err(|_| "write 17, 3-8, 100- or -50".to_owned()),
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first, 0)?, number(last, u64::MAX)?),
        None => (number(text, 0)?, number(text, 0)?),
    };
    if first > last {
        return Err(format!("{first} comes after {last}"));
    }
    Ok(first..=last)
}

impl CutArgs {
    pub(in crate::cli) fn run(self) -> Result<i32> {
        let (from, ending) = source(&mut self.tape.open()?)?;
        if ending != crate::tape::Ending::Closed {
            let what = "the tape was not closed; what is whole of it is taken";
            writeln!(anstream::stderr(), "{} {what}", style::notable("warning:"))?;
        }
        let choice = Choice {
            dispatches: self.dispatches.clone(),
            event: self.event.as_deref(),
            hook: self.hook.as_deref(),
            decision: self.decision.as_deref(),
        };
        let mut replay = self.tape.open()?;
        let done = fill(&self.output, |out| {
            let takes = |dispatch: &_| choice.takes(dispatch);
            Ok(cut(&mut replay, from, takes, out)?)
        })?;
        writeln!(
            anstream::stdout(),
            "{} {} of {} events are on {}",
            style::good("✓"),
            style::grouped(done.chosen),
            style::grouped(done.of),
            self.output.display()
        )?;
        Ok(0)
    }
}
