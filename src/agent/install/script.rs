//! A script for each event, in a folder: started without arguments, so each has one line
//! that says what to run.

use super::super::{Agent, AgentEvent};
use super::plan::Change;
use super::{Command, InstallError, Ours, Spot, file, words};

/// Writes the script for an event.
fn text(agent: &Agent, event: &AgentEvent, command: &Command) -> String {
    let name = agent.name;
    format!(
        "#!/bin/sh\n# From `hookbox install {name}`; `hookbox uninstall {name}` removes it.\n{}\n",
        line(event, command)
    )
}

/// Writes the one line that matters.
pub(in crate::agent) fn line(event: &AgentEvent, command: &Command) -> String {
    let mut line = format!("exec {}", words::quote(&command.binary));
    for argument in command.arguments(event) {
        line.push(' ');
        line += &words::quote(&argument);
    }
    line
}

/// Finds our line in a script, and what it runs.
pub(in crate::agent) fn find<'t>(agent: &Agent, text: &'t str) -> Option<(&'t str, Ours)> {
    text.lines().find_map(|line| {
        let command = line.trim_start().strip_prefix("exec ")?;
        Some((line, Ours::read_line(agent, command)?))
    })
}

/// Returns a script with our line in it as it has to be, if it has one.
fn updated(agent: &Agent, event: &AgentEvent, old: &str, command: &Command) -> Option<String> {
    let (found, ours) = find(agent, old)?;
    let indent = found.len() - found.trim_start().len();
    let new = line(event, &command.keeping(&ours));
    let kept = found.get(..indent).unwrap_or_default();
    Some(old.replacen(found, &format!("{kept}{new}"), 1))
}

/// Returns what is left of a script without our line: nothing, if we wrote it.
fn without(agent: &Agent, event: &AgentEvent, old: &str) -> Option<String> {
    let (found, ours) = find(agent, old)?;
    let command = ours.as_written(agent, ours.project.clone());
    if old == text(agent, event, &command) {
        return Some(String::new());
    }
    let lines = old.split_inclusive('\n');
    Some(
        lines
            .filter(|line| line.trim_end() != found.trim_end())
            .collect(),
    )
}

/// Plans to write the scripts.
pub(super) fn plan(
    agent: &'static Agent,
    spot: &Spot,
    command: &Command,
) -> Result<Vec<Change>, InstallError> {
    let events = agent.events.iter().filter(|event| event.wired);
    let one = |event: &AgentEvent| {
        let path = spot.path.join(event.name);
        let before = file::read(&path)?;
        let after = match &before {
            None => text(agent, event, command),
            Some(old) => {
                updated(agent, event, old, command).ok_or_else(|| InstallError::Theirs {
                    path: path.clone(),
                    advice: format!(
                        "add this as its last line and install again:\n  {}",
                        line(event, command)
                    ),
                })?
            }
        };
        let mut change = Change::new(&path, before, Some(after));
        change.executable = true;
        Ok(change)
    };
    events.map(one).collect()
}

/// Plans to remove the scripts.
pub(super) fn plan_removal(
    agent: &'static Agent,
    spot: &Spot,
) -> Result<Vec<Change>, InstallError> {
    let mut changes = Vec::new();
    for event in agent.events {
        let path = spot.path.join(event.name);
        let Some(before) = file::read(&path)? else {
            continue;
        };
        if let Some(rest) = without(agent, event, &before) {
            let after = (!rest.is_empty()).then_some(rest);
            let mut change = Change::new(&path, Some(before), after);
            change.executable = true;
            changes.push(change);
        }
    }
    Ok(changes)
}
