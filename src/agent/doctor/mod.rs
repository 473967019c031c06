//! Looks at how agents are wired, and at what they will really do with it.
//!
//! Each check is a function that returns findings. What is common to all agents is in
//! `entries` and `project`; what only one agent has is in a file of its name, and its
//! [`Wiring`](super::install::Wiring) says so.

mod binary;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod entries;
mod finding;
mod gemini;
mod goose;
mod project;
mod review;
mod state;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::install::settings::Entry;
use super::install::{self, Document, Places, Scope, Spot};
use super::{ALL, Agent};

pub use finding::{Finding, Level};
pub use project::{FIRST_HOOK, project};
pub use review::review;

pub(super) use claude_code::checks as claude_code;
pub(super) use codex::checks as codex;
pub(super) use copilot::checks as copilot;
pub(super) use cursor::checks as cursor;
pub(super) use gemini::checks as gemini;
pub(super) use goose::checks as goose;

/// What the check of one agent looks at: its settings in one place, with entries of ours.
#[derive(Debug)]
pub struct Look<'a> {
    pub(super) agent: &'static Agent,
    pub(super) places: &'a Places,
    pub(super) scope: Scope,
    pub(super) spot: &'a Spot,
    /// The settings, where they are JSON.
    pub(super) value: &'a Value,
    pub(super) entries: &'a [Entry],
}

impl Look<'_> {
    /// Where the agent keeps what is the user's.
    fn home(&self) -> Option<PathBuf> {
        Some(self.places.home_of(self.agent)?.1)
    }

    fn shown(&self, path: &Path) -> String {
        self.places.shown(path)
    }
}

/// How one agent is wired in one place.
#[derive(Debug)]
pub struct Wired {
    /// The place.
    pub scope: Scope,
    /// Its settings there.
    pub path: PathBuf,
    /// The events that are wired.
    pub events: Vec<&'static str>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// How one agent is wired.
#[derive(Debug)]
pub struct Report {
    /// The agent.
    pub agent: &'static Agent,
    /// The places where it has settings.
    pub places: Vec<Wired>,
    /// What was found about all of them together.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Tells whether anything is wired.
    #[must_use]
    pub fn is_wired(&self) -> bool {
        self.places.iter().any(|place| !place.events.is_empty())
    }

    /// Returns the worst of what was found.
    #[must_use]
    pub fn level(&self) -> Level {
        let inner = self.places.iter().flat_map(|place| &place.findings);
        let all = inner.chain(&self.findings).map(|finding| finding.level);
        all.max().unwrap_or(Level::Good)
    }
}

/// Looks at one agent, or at all that have settings here.
#[must_use]
pub fn examine(agent: Option<&'static Agent>, places: &Places) -> Vec<Report> {
    let reports = ALL
        .into_iter()
        .filter(|known| agent.is_none_or(|agent| agent.name == known.name))
        .map(|known| report(known, places, agent.is_some()));
    reports
        .filter(|report| agent.is_some() || !report.places.is_empty())
        .collect()
}

fn report(agent: &'static Agent, places: &Places, is_meant: bool) -> Report {
    let mut report = Report {
        agent,
        places: Vec::new(),
        findings: Vec::new(),
    };
    for found in Scope::ALL.map(|scope| one(agent, places, scope)) {
        let there = |path: &Path| report.places.iter().any(|place| place.path == path);
        // A project in the user's home has its settings where the user has them.
        let new = found.filter(|found| !there(&found.path));
        report.places.extend(new);
    }
    let wired = report
        .places
        .iter()
        .filter(|place| !place.events.is_empty());
    let wired = wired.count();
    if wired == 0 && report.level() == Level::Good {
        let says = format!("no event of {} is wired", agent.title);
        let finding = match is_meant {
            true => Finding::bad("wired", says),
            false => Finding::warning("wired", says),
        };
        let advice = format!("hookbox install {}", agent.name);
        report.findings.push(finding.so(advice));
    }
    if wired > 1 && agent.wiring.doubles {
        let says = "wired for the project and for the user: every event is decided twice";
        let advice = format!("hookbox uninstall {} --user, or --project", agent.name);
        report
            .findings
            .push(Finding::warning("twice", says).so(advice));
    }
    report
}

/// Looks at the settings of one agent in one place, if there are any.
fn one(agent: &'static Agent, places: &Places, scope: Scope) -> Option<Wired> {
    let spot = places.settings(agent, scope).ok()?;
    let mut wired = Wired {
        scope,
        path: spot.path.clone(),
        events: Vec::new(),
        findings: Vec::new(),
    };
    let state = match state::read(agent, &spot) {
        Ok(state) => state?,
        Err(error) => {
            let says = error.to_string();
            let says = says.lines().next().unwrap_or_default().to_owned();
            let advice = "correct the file; the agent cannot read it either";
            wired
                .findings
                .push(Finding::bad("readable", says).so(advice));
            return Some(wired);
        }
    };
    let is_wired = |name: &str| state.wired.iter().any(|wired| wired.event == name);
    let events = agent.events.iter().map(|event| event.name);
    wired.events = events.filter(|name| is_wired(name)).collect();
    if wired.events.is_empty() {
        return Some(wired);
    }
    let look = Look {
        agent,
        places,
        scope,
        spot: &spot,
        value: &state.value,
        entries: &state.entries,
    };
    wired.findings = entries::checks(&look, &state);
    wired.findings.extend((agent.wiring.checks)(&look));
    wired.findings.extend(approve(&look));
    Some(wired)
}

/// What a person has to approve, where it cannot be seen whether that was done.
fn approve(look: &Look<'_>) -> Vec<Finding> {
    let approve = &look.agent.wiring.approve;
    if approve.seen {
        return Vec::new();
    }
    let texts = approve.texts(look.scope).iter();
    texts
        .map(|text| Finding::warning("approve", *text))
        .collect()
}

/// Reads JSON that may not be there, or not be JSON: then there is nothing in it.
fn json(path: &Path) -> Value {
    let text = install::file::read(path).ok().flatten();
    let document = text.and_then(|text| Document::parse(&text).ok());
    document.map_or(Value::Null, |document| document.value())
}
