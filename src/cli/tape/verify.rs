//! `hookbox tape verify`: whether a tape is what was recorded.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::TapeArgs;
use crate::cli::replay::ending;
use crate::cli::{FAILED, print_json, style};
use crate::tape::{Reader, Replay, Replayed, TapeError};

/// Check that a tape is whole and was not changed
///
/// Every record must follow from the one before, be written in the canonical way and fit
/// the story; the footer must be there. Whoever can rewrite a whole file can rewrite its
/// hashes too: keep the last hash elsewhere, and compare it with --head.
///
/// Exit code: 0 the tape is whole, 1 it is not.
#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArgs {
    #[command(flatten)]
    tape: TapeArgs,
    /// The hash that the last record must have
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default)]
struct Found {
    records: u64,
    dispatches: u64,
    redacted: u64,
    lost: u64,
    bytes: u64,
    head: String,
    clock: Option<u64>,
    problem: Option<String>,
}

impl VerifyArgs {
    pub(in crate::cli) fn run(self) -> Result<i32> {
        let mut found = Found::default();
        if let Err(error) = self.read(&mut found) {
            found.problem = Some(error.to_string());
        }
        if let (None, Some(head)) = (&found.problem, &self.head)
            && *head != found.head
        {
            found.problem = Some(format!(
                "the last record has the hash {} and not {head}: this is another tape, or it was written anew",
                found.head
            ));
        }
        self.print(&found)?;
        Ok(if found.problem.is_some() { FAILED } else { 0 })
    }

    fn read(&self, found: &mut Found) -> Result<(), TapeError> {
        let mut replay = Replay::new(Reader::open(&self.tape.tape)?.strict());
        let read = loop {
            match replay.step() {
                Ok(Some(Replayed::Dispatch(_) | Replayed::Undecided(_))) => found.dispatches += 1,
                Ok(Some(Replayed::Lost(lost))) => found.lost += lost.count,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let reader = replay.reader();
        found.records = reader.records();
        found.redacted = reader.redacted();
        found.bytes = reader.bytes();
        found.head = reader.head().to_string();
        found.clock = replay.clock_set_back();
        read?;
        found.problem = ending(reader.ending(), reader.records(), replay.unfinished().len());
        Ok(())
    }

    fn print(&self, found: &Found) -> Result<()> {
        if self.json {
            return print_json(&json!({
                "tape": self.tape.tape.display().to_string(),
                "whole": found.problem.is_none(),
                "problem": found.problem,
                "records": found.records,
                "events": found.dispatches,
                "redacted": found.redacted,
                "lost": found.lost,
                "bytes": found.bytes,
                "head": found.head,
                "clock_set_back_at": found.clock,
            }));
        }
        let name = style::plain(&self.tape.tape.display().to_string());
        let mut stdout = anstream::stdout();
        if let Some(problem) = &found.problem {
            let problem = style::plain(problem);
            writeln!(stdout, "{} {name}: {problem}", style::bad("✗"))?;
            return Ok(());
        }
        writeln!(
            stdout,
            "{} {name}: {} records, {} events, {}",
            style::good("✓ whole"),
            style::grouped(found.records),
            style::grouped(found.dispatches),
            style::size(found.bytes)
        )?;
        writeln!(stdout, "  last hash {}", found.head)?;
        for (count, what) in [
            (
                found.redacted,
                "records were redacted: what is left of them cannot be proved",
            ),
            (found.lost, "records were lost when it was recorded"),
        ] {
            if count > 0 {
                writeln!(stdout, "  {} {count} {what}", style::notable("!"))?;
            }
        }
        if let Some(record) = found.clock {
            let what = format!("the clock was set back before record {record}");
            writeln!(stdout, "  {} {what}", style::notable("!"))?;
        }
        Ok(())
    }
}
