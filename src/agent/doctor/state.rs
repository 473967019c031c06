//! What is wired, whatever form an agent's settings have.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::install::settings::{self, Entry};
use super::super::install::{
    Document, Form, InstallError, Ours, Settings, Spot, file, plugin, script, unusable,
};
use super::super::{Agent, AgentEvent};

/// What is wired in one place.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) wired: Vec<Wire>,
    /// How many entries of others each event has.
    pub(super) others: BTreeMap<String, usize>,
    pub(super) value: Value,
    pub(super) entries: Vec<Entry>,
}

/// One entry of ours.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) event: &'static str,
    pub(super) ours: Ours,
    /// What is not as `install` would write it.
    pub(super) differs: Vec<String>,
    /// What narrows it.
    pub(super) matcher: Option<String>,
    /// What keeps it from deciding anything.
    pub(super) off: Option<String>,
}

impl Wire {
    fn new(event: &'static AgentEvent, ours: Ours) -> Self {
        Self {
            event: event.name,
            ours,
            differs: Vec::new(),
            matcher: None,
            off: None,
        }
    }
}

/// Reads what is wired; nothing if there are no settings at all.
pub(super) fn read(agent: &'static Agent, spot: &Spot) -> Result<Option<State>, InstallError> {
    match &agent.wiring.form {
        Form::Settings(form) => read_settings(agent, form, spot),
        Form::Scripts => read_scripts(agent, spot),
        Form::Plugin => read_plugin(agent, spot),
    }
}

fn read_settings(
    agent: &'static Agent,
    form: &Settings,
    spot: &Spot,
) -> Result<Option<State>, InstallError> {
    let Some(text) = file::read(&spot.path)? else {
        return Ok(None);
    };
    let document = Document::parse(&text).map_err(|error| InstallError::Unparsable {
        path: spot.path.clone(),
        error,
    })?;
    let mut state = State {
        value: document.value(),
        ..State::default()
    };
    state.entries = settings::entries(agent, form.shape, &state.value);
    for entry in &state.entries {
        let known = agent.events.iter().find(|event| event.name == entry.event);
        match (&entry.ours, known) {
            (Some(ours), Some(event)) => state.wired.push(wire(agent, form, event, ours, entry)),
            (Some(_), None) => {}
            (None, _) => *state.others.entry(entry.event.clone()).or_default() += 1,
        }
    }
    Ok(Some(state))
}

fn wire(
    agent: &'static Agent,
    form: &Settings,
    event: &'static AgentEvent,
    ours: &Ours,
    entry: &Entry,
) -> Wire {
    let wanted = (form.entry)(event, &ours.as_written(agent, ours.project.clone()));
    let wanted = wanted.as_object().into_iter().flatten();
    let differs = wanted.filter(|(key, value)| entry.value.get(key) != Some(value));
    let is = |key: &str, value: bool| entry.value[key] == value;
    let off = [("async", true), ("asyncRewake", true), ("enabled", false)]
        .into_iter()
        .find(|(key, value)| is(key, *value));
    Wire {
        differs: differs.map(|(key, _)| key.clone()).collect(),
        matcher: entry.matcher.clone(),
        off: off.map(|(key, value)| format!("{key}: {value}")),
        ..Wire::new(event, ours.clone())
    }
}

fn read_scripts(agent: &'static Agent, spot: &Spot) -> Result<Option<State>, InstallError> {
    let mut state = State::default();
    for event in agent.events {
        let path = spot.path.join(event.name);
        let Some(text) = file::read(&path)? else {
            continue;
        };
        let Some((line, ours)) = script::find(agent, &text) else {
            *state.others.entry(event.name.to_owned()).or_default() += 1;
            continue;
        };
        let wanted = script::line(event, &ours.as_written(agent, ours.project.clone()));
        let mut wire = Wire::new(event, ours);
        if line.trim() != wanted {
            wire.differs.push("its line".to_owned());
        }
        wire.off = unusable(&path);
        state.wired.push(wire);
    }
    let is_empty = state.wired.is_empty() && state.others.is_empty();
    Ok((!is_empty).then_some(state))
}

fn read_plugin(agent: &'static Agent, spot: &Spot) -> Result<Option<State>, InstallError> {
    let Some(text) = file::read(&spot.path)? else {
        return Ok(None);
    };
    let mut state = State::default();
    if let Some(ours) = plugin::find(agent, &text) {
        let wanted = plugin::text(agent, &ours.as_written(agent, ours.project.clone()));
        for event in agent.events.iter().filter(|event| event.wired) {
            let mut wire = Wire::new(event, ours.clone());
            if text != wanted {
                wire.differs.push("the plugin".to_owned());
            }
            state.wired.push(wire);
        }
    }
    Ok(Some(state))
}
