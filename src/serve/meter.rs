//! Counts what a server does, for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::projects::Projects;
use crate::capability::metrics::prometheus::{escaped, of_projects};

/// How many series of decisions there are at most: a name that a program makes up gets
/// one, a thousand of them do not.
const MOST: usize = 1_000;

/// How long the name of an event may be to have a series of its own.
const LONGEST: usize = 100;

/// What a server counts.
#[derive(Default)]
pub(super) struct Meter(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    /// By what was asked for, and status.
    responses: BTreeMap<(&'static str, u16), u64>,
    /// By agent, event and decision.
    decisions: BTreeMap<(String, String, &'static str), Took>,
}

#[derive(Default)]
struct Took {
    count: u64,
    sum: Duration,
}

impl Meter {
    /// Counts a response.
    pub(super) fn responded(&self, route: &'static str, status: u16) {
        *self.lock().responses.entry((route, status)).or_default() += 1;
    }

    /// Counts a decision.
    pub(super) fn decided(&self, agent: &str, event: &str, word: &'static str, took: Duration) {
        let mut counted = self.lock();
        let event = if event.len() > LONGEST {
            "other"
        } else {
            event
        };
        let mut series = (agent.to_owned(), event.to_owned(), word);
        if counted.decisions.len() >= MOST && !counted.decisions.contains_key(&series) {
            series.1 = "other".to_owned();
        }
        let so_far = counted.decisions.entry(series).or_default();
        so_far.count += 1;
        so_far.sum += took;
    }

    /// Writes everything, with what the hooks counted themselves. No name of theirs
    /// starts like these.
    pub(super) fn text(&self, projects: &Projects) -> String {
        let mut text = String::new();
        let counted = self.lock();
        head(&mut text, "requests_total", "counter", "Responses.");
        for ((route, status), count) in &counted.responses {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            let _ = writeln!(text, "hookboxserve_requests_total{{{labels}}} {count}");
        }
        let told = "Decisions, and how long they took.";
        head(&mut text, "decision_seconds", "summary", told);
        for ((agent, event, word), took) in &counted.decisions {
            let labels = format!(
                "agent=\"{}\",event=\"{}\",decision=\"{word}\"",
                escaped(agent),
                escaped(event)
            );
            let sum = took.sum.as_secs_f64();
            let _ = writeln!(text, "hookboxserve_decision_seconds_sum{{{labels}}} {sum}");
            let count = took.count;
            let _ = writeln!(
                text,
                "hookboxserve_decision_seconds_count{{{labels}}} {count}"
            );
        }
        drop(counted);
        head(&mut text, "projects", "gauge", "Projects that are kept.");
        let _ = writeln!(text, "hookboxserve_projects {}", projects.roots().len());
        head(&mut text, "loads_total", "counter", "Loads of a project.");
        let _ = writeln!(text, "hookboxserve_loads_total {}", projects.loads());
        text + &of_projects(&projects.metrics())
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn head(text: &mut String, name: &str, kind: &str, told: &str) {
    let name = format!("hookboxserve_{name}");
    let _ = writeln!(text, "# HELP {name} {told}\n# TYPE {name} {kind}");
}
