//! Compares what a tape tells with what today's hooks do.

use std::collections::HashMap;

use serde_json::Value;

use super::convert::to_line;
use super::record::{End, Entry, HostCall, Phase, Record, Used};
use super::seal::Hash;
use super::text::{self, Text};
use super::track::Loose;
use crate::decision::Ruling;
use crate::failure::Cause;
use crate::outcome::TraceRow;

/// The first thing that is not as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The record it is about: the one that differs, or the last before it.
    pub record: u64,
    /// What differs.
    pub what: String,
    /// What the tape says.
    pub expected: String,
    /// What came out today.
    pub found: String,
}

/// What a change of the hooks means for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It is decided as before, with the same payload.
    Kept,
    /// It passed before, or a person was asked, and it is blocked now.
    NewlyBlocked,
    /// It passed before, or was blocked, and a person is asked now.
    NewlyAsked,
    /// It was blocked, or a person was asked, and it passes now.
    NewlyAllowed,
    /// It passes as before, with another payload.
    PayloadChanged,
    /// It is decided as before, for another reason, by another hook or with other effects.
    ReasonChanged,
    /// A hook asks for something that the tape has no answer to.
    NewRequest,
}

impl Verdict {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Kept,
        Self::NewlyBlocked,
        Self::NewlyAsked,
        Self::NewlyAllowed,
        Self::PayloadChanged,
        Self::ReasonChanged,
        Self::NewRequest,
    ];

    /// Returns the words for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::NewlyBlocked => "newly blocked",
            Self::NewlyAsked => "newly asked",
            Self::NewlyAllowed => "newly allowed",
            Self::PayloadChanged => "payload changed",
            Self::ReasonChanged => "reason changed",
            Self::NewRequest => "new request",
        }
    }

    /// Finds one by its words.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// Says what becomes of an event.
pub(super) fn verdict(before: &End, after: &End, rerun: &[Loose]) -> Verdict {
    if rerun.iter().any(|(_, entry)| asks_anew(entry)) {
        return Verdict::NewRequest;
    }
    let passes = |ruling| matches!(ruling, Ruling::Allow | Ruling::Modify);
    match (before.decision, after.decision) {
        (was, is) if passes(was) && passes(is) => {
            if !text::same(&before.payload, &after.payload)
                && !same_json(&before.payload, &after.payload)
            {
                Verdict::PayloadChanged
            } else if before.effects == after.effects {
                Verdict::Kept
            } else {
                Verdict::ReasonChanged
            }
        }
        (was, is) if was == is => {
            let same = before.reason == after.reason
                && before.hook == after.hook
                && before.effects == after.effects;
            if same {
                Verdict::Kept
            } else {
                Verdict::ReasonChanged
            }
        }
        (_, Ruling::Block) => Verdict::NewlyBlocked,
        (_, Ruling::Ask) => Verdict::NewlyAsked,
        (_, Ruling::Allow | Ruling::Modify) => Verdict::NewlyAllowed,
    }
}

/// The order of keys is no change of a payload.
fn same_json(one: &str, other: &str) -> bool {
    let parse = |text| crate::json::parse_value(text).ok();
    match (parse(one), parse(other)) {
        (Some(one), Some(other)) => crate::canonical::same(&one, &other),
        _ => false,
    }
}

fn asks_anew(entry: &Entry) -> bool {
    let failure = match entry {
        Entry::Predicate(one) => one.failure.as_ref(),
        Entry::HookReturned(one) => one.failure.as_ref(),
        _ => None,
    };
    failure.is_some_and(|failure| failure.cause == Cause::NewRequest)
}

/// Finds the first record that today's hooks would not leave.
pub(super) fn first_difference(recorded: &[&Record], rerun: &[Loose]) -> Option<Difference> {
    if same_story(recorded, rerun) {
        return None;
    }
    let before = timeless(
        recorded
            .iter()
            .map(|record| (record.dispatch, &record.entry)),
    );
    let after = timeless(rerun.iter().map(|(dispatch, entry)| (*dispatch, entry)));
    let length = before.len().max(after.len());
    let at = (0..length).find(|&index| before.get(index) != after.get(index))?;
    let record = recorded.get(at).or(recorded.last());
    let number = record.map_or(0, |record| record.number);
    let (expected, found) = (before.get(at), after.get(at));
    Some(Difference {
        record: number,
        what: what(recorded.get(at), after.get(at)),
        expected: expected.map_or_else(|| "nothing more".to_owned(), shown),
        found: found.map_or_else(|| "nothing more".to_owned(), shown),
    })
}

/// Compares without copying anything: mostly nothing differs.
fn same_story(recorded: &[&Record], rerun: &[Loose]) -> bool {
    // Nested dispatches have numbers that must be told apart first.
    let first = recorded.first().and_then(|record| record.dispatch);
    let alone = recorded.iter().all(|record| record.dispatch == first);
    alone
        && recorded.len() == rerun.len()
        && recorded
            .iter()
            .zip(rerun)
            .all(|(record, (_, entry))| same(&record.entry, entry))
}

/// Compares everything but what differs from run to run.
fn same(one: &Entry, other: &Entry) -> bool {
    match (one, other) {
        (Entry::Dispatch(one), Entry::Dispatch(other)) => {
            one.event == other.event
                && one.dialect == other.dialect
                && one.about == other.about
                && one.background == other.background
                && one.id == other.id
                && one.subject == other.subject
                && one.depth == other.depth
                && text::same(&one.payload, &other.payload)
        }
        (Entry::Predicate(one), Entry::Predicate(other)) => {
            one.hook == other.hook
                && one.matched == other.matched
                && one.failure == other.failure
                && same_use(&one.used, &other.used)
        }
        (Entry::HookCall(one), Entry::HookCall(other)) => {
            one.hook == other.hook
                && one.handler == other.handler
                && text::same(&one.payload, &other.payload)
                && one.collected == other.collected
        }
        (Entry::HostCall(one), Entry::HostCall(other)) => {
            one.hook == other.hook
                && one.phase == other.phase
                && one.capability == other.capability
                && one.request == other.request
                && one.answer == other.answer
                && one.derived == other.derived
        }
        (Entry::HookReturned(one), Entry::HookReturned(other)) => {
            one.hook == other.hook
                && one.decision == other.decision
                && one.reason == other.reason
                && one.payload == other.payload
                && one.effects == other.effects
                && one.said == other.said
                && one.last == other.last
                && one.failure == other.failure
                && same_use(&one.used, &other.used)
        }
        (Entry::HookVetoed(one), Entry::HookVetoed(other)) => one == other,
        (Entry::Outcome(one), Entry::Outcome(other)) => same_end(one, other),
        _ => false,
    }
}

fn same_use(one: &Used, other: &Used) -> bool {
    one.fuel == other.fuel
        && one.logs == other.logs
        && one.warnings == other.warnings
        && one.refusals == other.refusals
}

fn same_end(one: &End, other: &End) -> bool {
    one.decision == other.decision
        && one.reason == other.reason
        && one.hook == other.hook
        && one.said == other.said
        && one.raised == other.raised
        && text::same(&one.payload, &other.payload)
        && one.effects == other.effects
        && one.warnings == other.warnings
        && one.stages == other.stages
        && one.trace.len() == other.trace.len()
        && one
            .trace
            .iter()
            .zip(&other.trace)
            .all(|(one, other)| same_row(one, other))
}

fn same_row(one: &TraceRow, other: &TraceRow) -> bool {
    one.hook == other.hook
        && one.dialect == other.dialect
        && one.priority == other.priority
        && one.matched == other.matched
        && one.decision == other.decision
        && one.reason == other.reason
        && one.error == other.error
        && one.cause == other.cause
        && one.stack == other.stack
        && one.fuel == other.fuel
        && one.when_fuel == other.when_fuel
        && one.refusals == other.refusals
}

fn what(record: Option<&&Record>, found: Option<&(usize, Entry)>) -> String {
    match (record, found) {
        (Some(record), Some((_, entry))) if record.entry.kind() == entry.kind() => record.name(),
        (Some(record), Some((_, entry))) => {
            format!("{}, where a {} comes today", record.name(), named(entry))
        }
        (Some(record), None) => format!("{}, which is missing today", record.name()),
        (None, Some((_, entry))) => format!("a {} after the last record", named(entry)),
        (None, None) => String::new(),
    }
}

fn named(entry: &Entry) -> String {
    match entry.hook() {
        Some(hook) => format!("{} of {hook:?}", entry.kind()),
        None => entry.kind().to_owned(),
    }
}

/// Writes a record for people: every field on a line, JSON texts unfolded.
fn shown((_, entry): &(usize, Entry)) -> String {
    let line = to_line(0, Hash::GENESIS, None, entry.clone(), &mut Text::Inline);
    let mut value = serde_json::to_value(&line).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        map.retain(|key, _| !HIDDEN.contains(&key.as_str()));
        for key in ["payload", "request", "answer"] {
            if let Some(field) = map.get_mut(key)
                && let Some(Ok(parsed)) = field.as_str().map(serde_json::from_str)
            {
                *field = parsed;
            }
        }
    }
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// What differs from run to run, or follows from the rest.
const HIDDEN: [&str; 8] = [
    "n",
    "prev",
    "at_us",
    "took_us",
    "time",
    "memory_bytes",
    "session",
    "stages",
];

/// Takes out what differs from run to run: times, memory, numbers. Requests that were
/// under way at the same time are put in one order.
fn timeless<'e>(entries: impl Iterator<Item = (Option<u64>, &'e Entry)>) -> Vec<(usize, Entry)> {
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let mut all: Vec<(usize, Entry)> = entries
        .map(|(dispatch, entry)| {
            let next = numbers.len();
            let number = *numbers.entry(dispatch.unwrap_or(0)).or_insert(next);
            let mut entry = entry.clone();
            still(&mut entry, &numbers);
            (number, entry)
        })
        .collect();
    order_requests(&mut all);
    all
}

fn still(entry: &mut Entry, numbers: &HashMap<u64, usize>) {
    match entry {
        Entry::Dispatch(start) => {
            start.time = 0;
            start.session = 0;
            start.parent = start
                .parent
                .map(|parent| numbers.get(&parent).map_or(u64::MAX, |&index| index as u64));
        }
        Entry::Predicate(one) => still_used(&mut one.used),
        Entry::HookCall(one) => one.at_us = 0,
        Entry::HostCall(one) => (one.at_us, one.took_us) = (0, 0),
        Entry::HookReturned(one) => still_used(&mut one.used),
        Entry::Outcome(end) => {
            end.took_us = 0;
            for row in &mut end.trace {
                row.duration = std::time::Duration::ZERO;
                row.memory_bytes = 0;
            }
        }
        _ => {}
    }
}

fn still_used(used: &mut Used) {
    (used.at_us, used.took_us, used.memory_bytes) = (0, 0, 0);
}

/// Client libraries send several requests at once, and whose answer comes first is up to
/// the servers.
fn order_requests(all: &mut [(usize, Entry)]) {
    let mut calls: HashMap<(usize, String, Phase), Vec<usize>> = HashMap::new();
    for (index, (dispatch, entry)) in all.iter().enumerate() {
        if let Entry::HostCall(call) = entry
            && call.capability == "http.send"
        {
            let key = (*dispatch, call.hook.to_string(), call.phase);
            calls.entry(key).or_default().push(index);
        }
    }
    for places in calls.into_values().filter(|places| places.len() > 1) {
        let mut sorted: Vec<(usize, Entry)> =
            places.iter().map(|&place| all[place].clone()).collect();
        sorted.sort_by_key(|(_, entry)| match entry {
            Entry::HostCall(HostCall {
                request, answer, ..
            }) => (request.to_string(), answer.to_string()),
            _ => (String::new(), String::new()),
        });
        for (place, call) in places.into_iter().zip(sorted) {
            all[place] = call;
        }
    }
}
