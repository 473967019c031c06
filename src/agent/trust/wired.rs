//! The entries in the agents' own settings that call hookbox. Whoever changes one decides
//! what is asked at all.

use std::path::PathBuf;

use crate::agent::install::{Document, Form, Places, Scope, settings};
use crate::agent::{ALL, Agent};

/// Settings of an agent that are there.
pub(super) struct Wired {
    pub(super) agent: &'static Agent,
    pub(super) path: PathBuf,
}

/// Lists the settings of all agents that are there.
pub(super) fn settings_of_all(places: &Places) -> Vec<Wired> {
    let mut found = Vec::new();
    for agent in ALL {
        if !matches!(agent.wiring.form, Form::Settings(_) | Form::Plugin) {
            continue;
        }
        for scope in [Scope::Project, Scope::User] {
            let spot = places.settings(agent, scope);
            if let Ok(spot) = spot
                && spot.path.is_file()
            {
                found.push(Wired {
                    agent,
                    path: spot.path,
                });
            }
        }
    }
    found
}

impl Wired {
    /// Returns what counts of the settings' bytes: the entries of ours. Nothing if there
    /// are none.
    pub(super) fn entries(&self, bytes: &[u8]) -> Vec<u8> {
        let Form::Settings(form) = &self.agent.wiring.form else {
            return bytes.to_vec();
        };
        let text = String::from_utf8_lossy(bytes);
        let Ok(document) = Document::parse(&text) else {
            return Vec::new();
        };
        let entries = settings::entries(self.agent, form.shape, &document.value());
        let own = entries.iter().filter(|entry| entry.ours.is_some());
        own.map(|entry| format!("{} {:?} {}\n", entry.event, entry.matcher, entry.value))
            .collect::<String>()
            .into_bytes()
    }
}
