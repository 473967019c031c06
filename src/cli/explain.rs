//! `hookbox explain`: the policy stack, in the order in which it runs.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use super::{ProjectArgs, print_json, style, validate};
use crate::agent::{Agent, table};
use crate::dialect::{self, harness, harness::events};
use crate::handler::Handler;
use crate::handler::process::ProcessHook;
use crate::hook::Hook;
use crate::runtime::DispatchError;

/// Show the policy stack in the order in which it runs
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Only the hooks of this event
    event: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    /// Also say what becomes of decisions that this agent cannot be told
    #[arg(long, value_name = "NAME", value_parser = super::hook::agent)]
    agent: Option<&'static Agent>,
    /// Print one JSON list
    #[arg(long)]
    json: bool,
}

impl ExplainArgs {
    pub(super) fn run(self) -> Result<i32> {
        let defended = self.agent.is_some();
        let runtime = self.project.builder().self_defence(defended).load()?;
        let point = self.event.as_deref().map(point).transpose()?;
        let mut hooks: Vec<&Hook> = runtime
            .hooks()
            .iter()
            .map(AsRef::as_ref)
            .filter(|hook| point.as_deref().is_none_or(|point| *point == *hook.point))
            .collect();
        hooks.sort_by_key(|hook| (place(&hook.point), hook.point.clone(), hook.rank()));
        if self.json {
            print_json(&hooks.into_iter().map(validate::as_json).collect::<Vec<_>>())?;
            return Ok(0);
        }
        let mut stdout = anstream::stdout();
        if hooks.is_empty() {
            let event = self.event.as_deref().unwrap_or("any event");
            writeln!(stdout, "no hook subscribes to {event}: it always passes")?;
        }
        let several = hooks.iter().any(|hook| *hook.dialect != harness::DIALECT);
        for stack in hooks.chunk_by(|a, b| a.point == b.point) {
            write!(stdout, "{}", stack_text(stack, several))?;
            if let (Some(agent), Some(first)) = (self.agent, stack.first()) {
                write!(stdout, "{}", heard_by(agent, &first.point))?;
            }
        }
        Ok(0)
    }
}

/// Finds the point that an event stands for, whatever its dialect.
fn point(event: &str) -> Result<String, DispatchError> {
    let info = dialect::knowing(event).find_map(|dialect| (dialect.find)(event));
    match info {
        Some(info) => Ok(info.point_of(event).to_owned()),
        None => Err(DispatchError::UnknownEvent {
            name: event.to_owned(),
        }),
    }
}

/// The place of a point in a session, so that one reads from top to bottom: that of the
/// native catalogue, and behind it that of the others.
fn place(point: &str) -> Option<usize> {
    let native = events::find(point)
        .and_then(|info| events::CATALOGUE.iter().position(|known| known == info));
    native.or_else(|| {
        let mut all = dialect::ALL.iter().flat_map(|dialect| (dialect.events)());
        Some(100 + all.position(|info| info.point == point)?)
    })
}

/// What an agent makes of the decisions at a point: those that it cannot be told.
fn heard_by(agent: &Agent, point: &str) -> String {
    let losses = table::losses(agent, point);
    let here = agent.events.iter().any(|event| event.reaches(point));
    let title = agent.title;
    if !here {
        let line = format!("{title} has no such event: these hooks never run there");
        return format!("  {}\n", style::bad(line));
    }
    let mut text = String::new();
    for loss in losses {
        let line = format!(
            "in {title}, {} at {} becomes {}",
            loss.decision, loss.event, loss.becomes
        );
        let _ = writeln!(text, "  {}", style::notable(line));
    }
    if text.is_empty() {
        let line = format!("{title} can be told every decision here");
        let _ = writeln!(text, "  {}", style::good(line));
    }
    text
}

fn stack_text(stack: &[&Hook], several: bool) -> String {
    let Some(first) = stack.first() else {
        return String::new();
    };
    let fires = (first.dialect.find)(&first.event).map_or("", |info| info.fires);
    let width = stack
        .iter()
        .map(|hook| hook.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!("{}  {}\n", style::name(&first.point), style::faint(fires));
    for (index, hook) in stack.iter().enumerate() {
        let last = index + 1 == stack.len();
        let branch = if last { "└──" } else { "├──" };
        let place = if several {
            format!("# {} {}", hook.dialect.name, hook.event)
        } else {
            match hook.priority {
                i64::MIN => "# first".to_owned(),
                priority => format!("# priority {priority}"),
            }
        };
        let _ = writeln!(
            text,
            "{branch} {:width$}  {place}{}{}",
            style::plain(&hook.name),
            summary(hook),
            style::faint(when(hook))
        );
        let stem = if last { " " } else { "│" };
        text += &manner(hook, stem);
        text += &grants(hook, stem);
    }
    text
}

/// How a hook runs, where that is not in the sandbox while the event waits.
fn manner(hook: &Hook, stem: &str) -> String {
    let mut text = String::new();
    if let Handler::Process(process) = &hook.handler {
        let line = format!(
            "runs outside of the sandbox{}: {}",
            confined(process),
            style::plain(&one_line(&process.shown))
        );
        let _ = writeln!(text, "{stem}     {}", style::bad(line));
    }
    if !hook.waits {
        let line = "runs in the background; nobody waits for it";
        let _ = writeln!(text, "{stem}     {}", style::faint(line));
    }
    text
}

fn confined(process: &ProcessHook) -> &'static str {
    if process.confinement.is_free() {
        ""
    } else {
        ", confined"
    }
}

/// What a hook may reach, a line for each grant.
fn grants(hook: &Hook, stem: &str) -> String {
    let mut text = String::new();
    for (key, what) in hook.grants.lines() {
        let line = format!("may {}", style::plain(&deed(key, &what)));
        let _ = writeln!(text, "{stem}     {}", style::notable(line));
    }
    text
}

/// A grant as a sentence about the hook.
fn deed(key: &str, what: &str) -> String {
    match key {
        "http" => format!("send {what}"),
        "cache" => format!("keep values in the cache: {what}"),
        "env" => format!("see the environment: {what}"),
        "read" => format!("read files below {what}"),
        "tools" => format!("call tools: {what}"),
        "hooks" => "read the project's hooks".to_owned(),
        "clock" => "see the real time".to_owned(),
        _ => "draw real randomness".to_owned(),
    }
}

fn summary(hook: &Hook) -> String {
    hook.origin
        .summary
        .as_ref()
        .map(|summary| format!(" — {}", style::plain(summary)))
        .unwrap_or_default()
}

/// How much of a predicate fits on a line that people read.
const WHEN_WIDTH: usize = 72;

/// The predicate on one line.
fn when(hook: &Hook) -> String {
    match hook.condition() {
        None => String::new(),
        Some(when) => format!("  (when {})", style::plain(&one_line(&when))),
    }
}

/// As much of a text as fits on a line that people read.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(WHEN_WIDTH) {
        Some((end, _)) => format!("{} …", line[..end].trim_end()),
        None => line,
    }
}
