//! Payloads as agents send them: invented ones for every event, and captured ones.

use std::path::Path;

use hookbox::agent::{self, Agent, AgentEvent};
use serde_json::Value;

use crate::readers;

/// Where the project of every sample lies.
pub(crate) const HOME: &str = "/home/mira/projects/orchard";

/// One payload of an event.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) agent: &'static Agent,
    pub(crate) event: &'static AgentEvent,
    /// The file's name without its ending.
    pub(crate) name: String,
    text: String,
}

impl Sample {
    /// The payload, for a project that lies somewhere else.
    pub(crate) fn at(&self, project: &Path) -> String {
        self.text.replace(HOME, &project.display().to_string())
    }

    pub(crate) fn value(&self, project: &Path) -> Value {
        serde_json::from_str(&self.at(project)).unwrap()
    }

    /// What a failure is called.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.agent.name, self.name)
    }
}

/// All samples of the events that hookbox knows, in order.
pub(crate) fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    for folder in ["samples", "captured"] {
        for agent in agent::ALL {
            samples.extend(of(agent, folder));
        }
    }
    samples
}

/// The samples of the events that an agent's settings get an entry for.
pub(crate) fn wired() -> Vec<Sample> {
    let mut samples = all();
    samples.retain(|sample| sample.event.wired);
    samples
}

/// One sample of each wired event, the one that is named like the event.
pub(crate) fn one_each() -> Vec<Sample> {
    let mut samples = wired();
    samples.retain(|sample| sample.name == sample.event.name);
    samples
}

/// One sample of each event that something waits for.
pub(crate) fn guarding() -> Vec<Sample> {
    let mut samples = one_each();
    samples.retain(|sample| sample.event.guards);
    samples
}

fn of(agent: &'static Agent, folder: &str) -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/agents")
        .join(folder)
        .join(agent.name);
    let Ok(files) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut samples: Vec<Sample> = files
        .filter_map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let event = event(agent, &name)?;
            let text = std::fs::read_to_string(path).unwrap();
            Some(Sample {
                agent,
                event,
                name,
                text,
            })
        })
        .collect();
    samples.sort_by(|one, other| one.name.cmp(&other.name));
    samples
}

/// A file is called after its event, with something behind it where there are several.
fn event(agent: &'static Agent, name: &str) -> Option<&'static AgentEvent> {
    let fits = |event: &&AgentEvent| {
        let rest = name.strip_prefix(event.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
    };
    agent
        .events
        .iter()
        .filter(fits)
        .max_by_key(|e| e.name.len())
}

#[test]
fn every_event_of_every_agent_has_a_sample_and_a_reader() {
    let samples = all();
    for agent in agent::ALL {
        for event in agent.events {
            let title = format!("{} {}", agent.name, event.name);
            let known = readers::events(agent.name);
            assert!(known.contains(&event.name), "{title}: no reader");
            let own =
                |sample: &&Sample| sample.name == event.name && sample.agent.name == agent.name;
            assert_eq!(samples.iter().filter(own).count(), 1, "{title}: no sample");
        }
    }
}

#[test]
fn a_sample_says_the_event_that_its_file_is_called_after() {
    for sample in all() {
        let said = sample.value(Path::new(HOME));
        let key = sample.agent.event_key;
        if let Some(own) = said.get(key) {
            assert_eq!(own, sample.event.name, "{}", sample.title());
        }
    }
}
