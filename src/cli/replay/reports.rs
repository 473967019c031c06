//! What a replay leaves for CI and for later: JUnit XML, and one page of HTML.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::Mode;
use super::item::Item;
use super::tally::Tally;
use crate::cases::junit;
use crate::cli::style;
use crate::tape::{Verdict, report};

/// How many events a page shows. Browsers take no more kindly; what differs comes first.
const MOST_SHOWN: usize = 2_000;

/// How many notes a page shows.
const MOST_NOTES: usize = 50;

/// What is kept for the reports that were asked for.
#[derive(Debug, Default)]
pub(super) struct Reports {
    junit: Option<BTreeMap<String, Vec<junit::Entry>>>,
    html: Option<Vec<Item>>,
    left_off: u64,
    notes: Vec<String>,
    names: Vec<String>,
}

impl Reports {
    pub(super) fn new(junit: bool, html: bool) -> Self {
        Self {
            junit: junit.then(BTreeMap::new),
            html: html.then(Vec::new),
            ..Self::default()
        }
    }

    /// Notes that a tape was read.
    pub(super) fn name(&mut self, tape: &str) {
        if self.names.last().is_none_or(|last| last != tape)
            && !self.names.iter().any(|name| name == tape)
        {
            self.names.push(tape.to_owned());
        }
    }

    /// Returns how many tapes were read.
    pub(super) fn names(&self) -> u64 {
        self.names.len() as u64
    }

    pub(super) fn wants_views(&self) -> bool {
        self.html.is_some()
    }

    pub(super) fn note(&mut self, text: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(text);
        }
    }

    pub(super) fn take(&mut self, item: Item, fails: bool) {
        self.name(&item.tape);
        if let Some(suites) = &mut self.junit {
            let suite = suites.entry(item.tape.clone()).or_default();
            suite.push(entry(&item, fails));
        }
        if let Some(items) = &mut self.html {
            if items.len() < MOST_SHOWN {
                items.push(item);
            } else {
                self.left_off += 1;
                // One that stayed the same makes room for one that did not.
                if item.differs()
                    && let Some(same) = items.iter().rposition(|other| !other.differs())
                {
                    items.remove(same);
                    items.push(item);
                }
            }
        }
    }

    /// Adds an event that the last one caused.
    pub(super) fn append(&mut self, item: Item) {
        if let Some(last) = self.html.as_mut().and_then(|items| items.last_mut()) {
            last.views.extend(item.views);
        }
    }

    pub(super) fn fault(&mut self, tape: &str, text: &str) {
        self.note(text.to_owned());
        if let Some(suites) = &mut self.junit {
            suites
                .entry(tape.to_owned())
                .or_default()
                .push(junit::Entry {
                    class: tape.to_owned(),
                    name: "the tape is whole".to_owned(),
                    duration: Duration::ZERO,
                    failure: Some(("the tape is not whole".to_owned(), text.to_owned())),
                });
        }
    }

    pub(super) fn junit(&self) -> String {
        let suites: Vec<(String, Vec<junit::Entry>)> =
            self.junit.clone().unwrap_or_default().into_iter().collect();
        junit::suites(&suites)
    }

    pub(super) fn html(&mut self, mode: Mode, tally: &Tally) -> String {
        let items = self.html.take().unwrap_or_default();
        let created = items.first().map(|item| item.time);
        let dispatches: Vec<Value> = items.into_iter().flat_map(|item| item.views).collect();
        report::page(&json!({
            "title": self.names.join(", "),
            "created": created,
            "mode": mode.name(),
            "summary": summary(tally),
            "notes": self.notes,
            "left_off": self.left_off,
            "table": table(tally),
            "dispatches": dispatches,
        }))
    }
}

fn entry(item: &Item, fails: bool) -> junit::Entry {
    let today = item.checked.as_ref();
    let failure = today.filter(|_| fails).map(|today| {
        let text = today.difference.as_ref().map_or(String::new(), |one| {
            format!(
                "{}\nexpected:\n{}\nfound:\n{}",
                one.what, one.expected, one.found
            )
        });
        (today.verdict.name().to_owned(), text)
    });
    junit::Entry {
        class: item.tape.clone(),
        name: item.title(),
        duration: Duration::from_micros(item.took_us),
        failure,
    }
}

fn summary(tally: &Tally) -> Vec<(&'static str, String)> {
    let mut rows = vec![("events", style::grouped(tally.events))];
    for (name, count) in [
        ("allowed", tally.allowed),
        ("modified", tally.modified),
        ("blocked", tally.blocked),
        ("asked", tally.asked),
        ("not decided", tally.undecided),
        ("differ", tally.differing),
    ] {
        if count > 0 {
            rows.push((name, style::grouped(count)));
        }
    }
    rows.push(("records", style::grouped(tally.records)));
    rows
}

fn table(tally: &Tally) -> Option<Value> {
    let checked = tally.verdicts.values().sum::<u64>() > 0;
    checked.then(|| {
        let mut table = serde_json::Map::new();
        for verdict in Verdict::ALL {
            let count = tally.verdicts.get(&verdict).copied().unwrap_or(0);
            table.insert(verdict.name().to_owned(), count.into());
        }
        Value::Object(table)
    })
}
