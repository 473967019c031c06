//! `hookbox explain`: the policy stack, in the order in which it runs.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use super::{ProjectArgs, print_json, style, validate};
use crate::dialect::harness::events;
use crate::hook::Hook;
use crate::runtime::DispatchError;

/// Show the policy stack in the order in which it runs
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Only the hooks of this event
    event: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    /// Print one JSON list
    #[arg(long)]
    json: bool,
}

impl ExplainArgs {
    pub(super) fn run(self) -> Result<i32> {
        if let Some(event) = &self.event
            && events::find(event).is_none()
        {
            let name = event.clone();
            return Err(DispatchError::UnknownEvent { name }.into());
        }
        let runtime = self.project.builder().load()?;
        let mut hooks: Vec<&Hook> = runtime
            .hooks()
            .iter()
            .map(AsRef::as_ref)
            .filter(|hook| {
                self.event
                    .as_ref()
                    .is_none_or(|event| *event == *hook.event)
            })
            .collect();
        hooks.sort_by_key(|hook| (place(&hook.event), hook.event.clone(), hook.rank()));
        if self.json {
            print_json(&hooks.into_iter().map(validate::as_json).collect::<Vec<_>>())?;
            return Ok(0);
        }
        let mut stdout = anstream::stdout();
        if hooks.is_empty() {
            let event = self.event.as_deref().unwrap_or("any event");
            writeln!(stdout, "no hook subscribes to {event}: it always passes")?;
        }
        for stack in hooks.chunk_by(|a, b| a.event == b.event) {
            write!(stdout, "{}", stack_text(stack))?;
        }
        Ok(0)
    }
}

/// The place of an event in the catalogue, so that a session reads from top to bottom.
fn place(event: &str) -> Option<usize> {
    events::find(event).and_then(|info| events::CATALOGUE.iter().position(|known| known == info))
}

fn stack_text(stack: &[&Hook]) -> String {
    let event = stack.first().map_or("", |hook| &hook.event);
    let fires = events::find(event).map_or("", |info| info.fires);
    let width = stack
        .iter()
        .map(|hook| hook.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!("{}  {}\n", style::name(event), style::faint(fires));
    for (index, hook) in stack.iter().enumerate() {
        let branch = if index + 1 == stack.len() {
            "└──"
        } else {
            "├──"
        };
        let _ = writeln!(
            text,
            "{branch} {:width$}  # priority {}{}{}",
            hook.name,
            hook.priority,
            summary(hook),
            style::faint(when(hook))
        );
        let stem = if index + 1 == stack.len() { " " } else { "│" };
        text += &grants(hook, stem);
    }
    text
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
    let Some(when) = hook.when() else {
        return String::new();
    };
    let words: Vec<&str> = when.split_whitespace().collect();
    let line = style::plain(&words.join(" "));
    match line.char_indices().nth(WHEN_WIDTH) {
        Some((end, _)) => format!("  (when {} …)", line[..end].trim_end()),
        None => format!("  (when {line})"),
    }
}
