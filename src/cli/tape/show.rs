//! `hookbox tape show`: a timeline that a person can follow.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use super::TapeArgs;
use crate::cli::replay::{ending, word};
use crate::cli::{FAILED, style};
use crate::decision::Ruling;
use crate::tape::{
    Dispatch, Entry, HookReturned, Phase, Predicate, Project, Record, Replayed, view,
};
use crate::timestamp;

/// Show a tape as a timeline: every event, every hook, every call to the host
#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    #[command(flatten)]
    tape: TapeArgs,
    /// Only this dispatch
    #[arg(long, value_name = "NUMBER")]
    dispatch: Option<u64>,
    /// Only events of this name
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Only events in which this hook was called
    #[arg(long, value_name = "NAME")]
    hook: Option<String>,
    /// Only events that were decided so: allow, block, modify, ask
    #[arg(long, value_name = "DECISION")]
    decision: Option<String>,
    /// Also show payloads, requests and answers
    #[arg(long, short)]
    verbose: bool,
    /// Print one JSON object for each event
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(in crate::cli) fn run(self) -> Result<i32> {
        let mut replay = self.tape.open()?;
        let mut stdout = anstream::stdout().lock();
        if !self.json {
            write!(stdout, "{}", header(replay.reader().header()))?;
        }
        let read = loop {
            match replay.step() {
                Ok(Some(replayed)) => write!(stdout, "{}", self.one(&replayed))?,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(stdout);
        let reader = replay.reader();
        let end = ending(reader.ending(), reader.records(), replay.unfinished().len());
        let mut stderr = anstream::stderr();
        match (read, end) {
            (Err(error), _) => {
                let error = style::plain(&error.to_string());
                writeln!(stderr, "{} {error}", style::bad("error:"))?;
                return Ok(FAILED);
            }
            (Ok(()), Some(end)) => writeln!(stderr, "{} {end}", style::notable("warning:"))?,
            (Ok(()), None) => {}
        }
        Ok(0)
    }

    fn one(&self, replayed: &Replayed) -> String {
        match replayed {
            Replayed::Dispatch(dispatch) if !self.wants(dispatch) => String::new(),
            Replayed::Dispatch(dispatch) if self.json => {
                let name = self.tape.tape.display().to_string();
                view::tree(&name, dispatch)
                    .iter()
                    .map(|view| crate::json::to_text(view) + "\n")
                    .collect()
            }
            Replayed::Dispatch(dispatch) => self.dispatch(dispatch, 0),
            _ if self.json => String::new(),
            Replayed::Undecided(one) => format!(
                "{}  {} {}: {}\n",
                style::faint(timestamp::written(one.time)),
                style::bad("not decided"),
                style::plain(&one.event),
                style::plain(&one.error)
            ),
            Replayed::Lost(lost) => format!(
                "{} {} records: {}\n",
                style::bad("lost"),
                lost.count,
                style::plain(&lost.error)
            ),
        }
    }

    fn wants(&self, dispatch: &Dispatch) -> bool {
        Choice {
            dispatches: self.dispatch.map(|number| number..=number),
            event: self.event.as_deref(),
            hook: self.hook.as_deref(),
            decision: self.decision.as_deref(),
        }
        .takes(dispatch)
    }

    fn dispatch(&self, dispatch: &Dispatch, depth: usize) -> String {
        let start = dispatch.start();
        let pad = "  ".repeat(depth);
        let mut out = format!(
            "{pad}{} {}  {} {}\n",
            style::name(format!("#{}", dispatch.number)),
            style::faint(timestamp::written(start.time)),
            style::name(style::plain(&start.event)),
            style::plain(start.subject.as_deref().unwrap_or_default())
        );
        if self.verbose {
            let _ = writeln!(out, "{pad}    {}", style::plain(&start.payload));
        }
        let mut children = dispatch.children.iter().peekable();
        for record in &dispatch.records {
            while let Some(child) = children.next_if(|child| child.first_record() < record.number) {
                out += &self.dispatch(child, depth + 2);
            }
            out += &self.record(record, &pad);
        }
        out
    }

    fn record(&self, record: &Record, pad: &str) -> String {
        let place = style::faint(format!("{:>8}", record.number));
        match &record.entry {
            Entry::Predicate(one) => format!("{pad}{place}  {}\n", predicate(one)),
            Entry::HookCall(one) => format!(
                "{pad}{place}  → {} {}\n",
                style::name(style::plain(&one.hook)),
                style::faint(&one.handler)
            ),
            Entry::HostCall(one) => {
                let when = if one.phase == Phase::When {
                    "when "
                } else {
                    ""
                };
                let mut out = format!(
                    "{pad}{place}      {when}{} {}\n",
                    style::plain(&view::summary(one)),
                    style::faint(milliseconds(one.took_us))
                );
                if self.verbose {
                    for text in [&one.request, &one.answer] {
                        let _ = writeln!(out, "{pad}            {}", style::plain(text));
                    }
                }
                out
            }
            Entry::HookReturned(one) => self.returned(one, pad, &place),
            Entry::Outcome(end) => format!(
                "{pad}{place}  {} {}\n",
                decision(end.decision, end.reason.as_deref()),
                style::faint(milliseconds(end.took_us))
            ),
            _ => String::new(),
        }
    }

    fn returned(&self, one: &HookReturned, pad: &str, place: &str) -> String {
        let mut out = String::new();
        for line in &one.used.logs {
            let message = style::plain(&line.message);
            let _ = writeln!(out, "{pad}              {}: {message}", line.level.name());
        }
        for refusal in &one.used.refusals {
            let refusal = style::plain(refusal);
            let _ = writeln!(
                out,
                "{pad}              {} {refusal}",
                style::notable("refused")
            );
        }
        let told = match &one.failure {
            Some(fault) => style::bad(format!(
                "failed: {}: {}",
                fault.cause,
                style::plain(&fault.message)
            )),
            None => decision(one.decision, one.reason.as_deref()),
        };
        let fuel = one.used.fuel.map_or(String::new(), |fuel| {
            format!(", {} fuel", style::grouped(fuel))
        });
        let cost = format!("{}{fuel}", milliseconds(one.used.took_us));
        let _ = writeln!(
            out,
            "{pad}{place}  ← {} {told} {}",
            style::plain(&one.hook),
            style::faint(cost)
        );
        if let (true, Some(payload)) = (self.verbose, &one.payload) {
            let _ = writeln!(out, "{pad}            {}", style::plain(payload));
        }
        out
    }
}

fn predicate(one: &Predicate) -> String {
    let hook = style::plain(&one.hook);
    match (&one.failure, one.matched) {
        (Some(fault), _) => style::bad(format!(
            "? {hook} failed: {}: {}",
            fault.cause,
            style::plain(&fault.message)
        )),
        (None, true) => format!("? {hook} matches"),
        (None, false) => style::faint(format!("? {hook} does not match")),
    }
}

fn milliseconds(microseconds: u64) -> String {
    format!("{:.2} ms", microseconds as f64 / 1e3)
}

fn decision(ruling: Ruling, reason: Option<&str>) -> String {
    let reason = reason.map_or(String::new(), |reason| {
        format!(": {}", style::plain(reason))
    });
    let word = word(Some(ruling));
    match ruling {
        Ruling::Allow | Ruling::Modify => style::good(word),
        Ruling::Block => format!("{}{reason}", style::bad(word)),
        Ruling::Ask => format!("{}{reason}", style::notable(word)),
    }
}

fn header(project: &Project) -> String {
    let cut = match &project.cut {
        Some(cut) => format!(
            ", cut from one of {} events ({})",
            cut.dispatches,
            cut.head.short()
        ),
        None => String::new(),
    };
    let head = format!(
        "recorded {} by hookbox {} with {}{cut}",
        timestamp::written(project.time),
        project.hookbox,
        style::counted(project.hooks.len() as u64, "hook")
    );
    format!("{}\n", style::faint(style::plain(&head)))
}

/// Which dispatches are wanted.
pub(super) struct Choice<'a> {
    pub(super) dispatches: Option<std::ops::RangeInclusive<u64>>,
    pub(super) event: Option<&'a str>,
    pub(super) hook: Option<&'a str>,
    pub(super) decision: Option<&'a str>,
}

impl Choice<'_> {
    pub(super) fn takes(&self, dispatch: &Dispatch) -> bool {
        let end = dispatch.end();
        let called = |hook: &str| {
            end.is_some_and(|end| end.stages.dispatch.iter().any(|name| **name == *hook))
        };
        self.dispatches
            .as_ref()
            .is_none_or(|range| range.contains(&dispatch.number))
            && self
                .event
                .is_none_or(|event| *dispatch.start().event == *event)
            && self.hook.is_none_or(called)
            && self
                .decision
                .is_none_or(|wanted| word(end.map(|end| end.decision)) == wanted)
    }
}
