//! A plugin for OpenCode, which has no hooks that are programs: it starts one.

use serde_json::{Map, Value};

use super::super::Agent;
use super::plan::Change;
use super::{Command, InstallError, Ours, Spot, file};

const TEMPLATE: &str = include_str!("opencode.js");
const COMMAND: &str = "const COMMAND = ";
const WAITS: &str = "const WAITS = ";

/// Writes the plugin.
pub(in crate::agent) fn text(agent: &Agent, command: &Command) -> String {
    let mut words = vec![command.binary.as_str(), "hook", command.agent];
    words.extend(command.further());
    let waits: Map<String, Value> = agent
        .events
        .iter()
        .filter(|event| event.wired)
        .filter_map(|event| {
            let wait = u64::try_from(event.timeout.as_millis()).ok()?;
            Some((event.name.to_owned(), wait.into()))
        })
        .collect();
    let lines = TEMPLATE.lines().map(|line| {
        if line.starts_with(COMMAND) {
            format!("{COMMAND}{};\n", Value::from(words.clone()))
        } else if line.starts_with(WAITS) {
            format!("{WAITS}{};\n", Value::from(waits.clone()))
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}

/// Reads what a plugin runs, unless it is somebody else's.
pub(in crate::agent) fn find(agent: &Agent, text: &str) -> Option<Ours> {
    let line = text.lines().find_map(|line| line.strip_prefix(COMMAND))?;
    let words: Vec<String> = serde_json::from_str(line.trim_end().strip_suffix(';')?).ok()?;
    Ours::read(agent, &words)
}

/// Plans to write the plugin.
pub(super) fn plan(
    agent: &'static Agent,
    spot: &Spot,
    command: &Command,
) -> Result<Vec<Change>, InstallError> {
    let before = file::read(&spot.path)?;
    let found = before.as_ref().map(|text| find(agent, text));
    let command = match found {
        None => command.clone(),
        Some(Some(ours)) => command.keeping(&ours),
        Some(None) => {
            return Err(InstallError::Theirs {
                path: spot.path.clone(),
                advice: "rename it and install again".to_owned(),
            });
        }
    };
    let after = Some(text(agent, &command));
    Ok(vec![Change::new(&spot.path, before, after)])
}

/// Plans to remove the plugin.
pub(super) fn plan_removal(agent: &Agent, spot: &Spot) -> Result<Vec<Change>, InstallError> {
    let before = file::read(&spot.path)?;
    let before = before.filter(|text| find(agent, text).is_some());
    Ok(vec![Change::new(&spot.path, before, None)])
}
