//! `hookbox tape stats`: what a tape comes to.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::TapeArgs;
use crate::cli::{print_json, style};
use crate::tape::{HookStats, Stats};

/// Count what is on a tape: events, decisions, hooks, calls to the host, fuel, time
#[derive(Debug, Args)]
pub(in crate::cli) struct StatsArgs {
    #[command(flatten)]
    tape: TapeArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl StatsArgs {
    pub(in crate::cli) fn run(self) -> Result<i32> {
        let mut replay = self.tape.open()?;
        let mut stats = Stats::default();
        while let Some(replayed) = replay.step()? {
            stats.add(&replayed);
        }
        let reader = replay.reader();
        let (records, bytes) = (reader.records(), reader.bytes());
        if self.json {
            print_json(&json!({
                "tape": self.tape.tape.display().to_string(),
                "records": records,
                "bytes": bytes,
                "events": stats.events,
                "decisions": stats.decisions,
                "undecided": stats.undecided,
                "lost": stats.lost,
                "by_event": stats.by_event,
                "hooks": hooks_json(&stats),
                "host_calls": stats.host_calls,
            }))?;
            return Ok(0);
        }
        let mut out = format!(
            "{} events, {} records, {}\n",
            style::name(style::grouped(stats.events)),
            style::grouped(records),
            style::size(bytes)
        );
        list(&mut out, "decisions", &stats.decisions);
        list(&mut out, "events", &stats.by_event);
        list(&mut out, "calls to the host", &stats.host_calls);
        out += &hooks(&stats);
        write!(anstream::stdout(), "{out}")?;
        Ok(0)
    }
}

fn list(out: &mut String, title: &str, counts: &std::collections::BTreeMap<String, u64>) {
    if counts.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style::name(title));
    let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
    counts.sort_by(|one, other| other.1.cmp(one.1).then_with(|| one.0.cmp(other.0)));
    for (name, count) in counts {
        let _ = writeln!(
            out,
            "{:>12}  {}",
            style::grouped(*count),
            style::plain(name)
        );
    }
}

fn hooks(stats: &Stats) -> String {
    if stats.hooks.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "\n{}\n",
        style::name(format!(
            "{:>8}  {:>8}  {:>8}  {:>13}  {:>10}  {:>10}  hook",
            "called", "vetoed", "failed", "most fuel", "median", "95 %"
        ))
    );
    for (name, hook) in &stats.hooks {
        let _ = writeln!(
            out,
            "{:>8}  {:>8}  {:>8}  {:>13}  {:>7.2} ms  {:>7.2} ms  {}",
            style::grouped(hook.called),
            style::grouped(hook.vetoed),
            style::grouped(hook.failed),
            style::grouped(hook.most_fuel),
            hook.took_us(0.5) as f64 / 1e3,
            hook.took_us(0.95) as f64 / 1e3,
            style::plain(name)
        );
    }
    out
}

fn hooks_json(stats: &Stats) -> serde_json::Map<String, serde_json::Value> {
    let hooks = stats.hooks.iter();
    hooks
        .map(|(name, hook)| (name.clone(), hook_json(hook)))
        .collect()
}

fn hook_json(hook: &HookStats) -> serde_json::Value {
    json!({
        "called": hook.called,
        "vetoed": hook.vetoed,
        "failed": hook.failed,
        "fuel": hook.fuel,
        "most_fuel": hook.most_fuel,
        "median_us": hook.took_us(0.5),
        "p95_us": hook.took_us(0.95),
    })
}
