//! Runs one case: a fresh runtime, the case's world around it, one event.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::check::{Difference, compare};
use super::read::Case;
use crate::outcome::Outcome;
use crate::runtime::{DispatchError, LoadError, Runtime, RuntimeBuilder};

/// What a case came to.
#[derive(Debug)]
pub struct Report {
    /// What came out; nothing if hookbox could not decide.
    pub outcome: Option<Outcome>,
    /// What is not as expected.
    pub differences: Vec<Difference>,
    /// What the hooks used.
    pub used: Used,
}

impl Report {
    /// Says whether everything is as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.differences.is_empty()
    }
}

/// What the hooks of a case used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// The most fuel a single handler used.
    pub fuel: u64,
    /// The most memory one held, in bytes.
    pub memory: u64,
    /// How long all of them took.
    pub duration: Duration,
}

impl Used {
    /// Returns the larger of both, one by one.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            fuel: self.fuel.max(other.fuel),
            memory: self.memory.max(other.memory),
            duration: self.duration.max(other.duration),
        }
    }
}

/// Returns what the hooks of an event used.
pub(super) fn used_by(outcome: &Outcome) -> Used {
    let rows = outcome.trace.iter();
    Used {
        fuel: rows.clone().filter_map(|row| row.fuel).max().unwrap_or(0),
        memory: rows.clone().map(|row| row.memory_bytes).max().unwrap_or(0),
        duration: rows.map(|row| row.duration).sum(),
    }
}

/// Runs a case against the hooks of a project, with the case's world in the place of
/// the real one.
///
/// # Errors
/// Returns why the project does not load.
pub fn run(case: &Case, builder: RuntimeBuilder) -> Result<Report, LoadError> {
    let (builder, asked) = case.world.around(builder, event_time(case));
    let runtime = builder.load()?;
    let mut differences = Vec::new();
    fill_caches(case, &runtime, &mut differences);
    let outcome = match runtime.dispatch(&case.event, case.payload.clone()) {
        Ok(outcome) => outcome,
        Err(error) => return Ok(undecided(&error, differences)),
    };
    if let Some(expect) = &case.expect {
        let cached = |key: &str| -> Option<Value> {
            runtime
                .hooks()
                .iter()
                .filter_map(|hook| runtime.cache_of(&hook.name)?.get(key).ok()?)
                .next()
        };
        differences.extend(compare(expect, &outcome, cached));
    } else {
        differences.push(Difference {
            what: "expect".to_owned(),
            expected: "the case says what it expects; `hookbox test --update` writes it down"
                .to_owned(),
            found: "nothing under `expect:`".to_owned(),
        });
    }
    let (unforeseen, unused) = asked.compare(&case.world);
    for request in unforeseen {
        differences.push(Difference {
            what: "http".to_owned(),
            expected: "only requests with an answer under `http:`".to_owned(),
            found: request,
        });
    }
    for request in unused {
        differences.push(Difference {
            what: "http".to_owned(),
            expected: request,
            found: "nobody asked for it".to_owned(),
        });
    }
    Ok(Report {
        used: used_by(&outcome),
        outcome: Some(outcome),
        differences,
    })
}

/// Puts into every hook's cache what the case says is there.
pub(super) fn fill_caches(case: &Case, runtime: &Runtime, differences: &mut Vec<Difference>) {
    for hook in runtime.hooks() {
        let Some(cache) = runtime.cache_of(&hook.name) else {
            continue;
        };
        for (key, value) in &case.world.cache {
            if let Err(error) = cache.set(key, value, None) {
                differences.push(Difference {
                    what: format!("cache.{key}"),
                    expected: "to be there before the event".to_owned(),
                    found: error.to_string(),
                });
            }
        }
    }
}

fn undecided(error: &DispatchError, mut differences: Vec<Difference>) -> Report {
    differences.push(Difference {
        what: "event".to_owned(),
        expected: "an event hookbox can decide".to_owned(),
        found: error.to_string(),
    });
    Report {
        outcome: None,
        differences,
        used: Used::default(),
    }
}

/// The time of the case's event, so that a hook that was granted the clock decides the
/// same on every run.
pub(super) fn event_time(case: &Case) -> SystemTime {
    crate::event::time_of(&case.payload)
}
