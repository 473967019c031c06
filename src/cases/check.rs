//! Compares what came out with what was expected.

use serde_json::{Map, Value, json};

use super::expect::{Expectation, Failing, Line, Text};
use crate::canonical;
use crate::outcome::{Outcome, TraceRow};

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: `decision`, `payload.args`, …
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What came out.
    pub found: String,
}

/// Compares an outcome with an expectation. `cached` looks into the cache.
pub(super) fn compare(
    expect: &Expectation,
    outcome: &Outcome,
    cached: impl Fn(&str) -> Option<Value>,
) -> Vec<Difference> {
    let mut differences = Differences(Vec::new());
    differences.failures(expect, outcome);
    if let Some(decision) = expect.decision {
        let (expected, found) = (decision.name(), outcome.decision.name());
        differences.add(expected != found, "decision", expected, found);
    }
    if let Some(reason) = &expect.reason {
        differences.text("reason", reason, outcome.reason.as_deref());
    }
    if let Some(hook) = &expect.hook {
        let found = outcome.hook.as_deref().unwrap_or("none");
        differences.add(hook != found, "hook", hook, found);
    }
    if let Some(payload) = &expect.payload {
        differences.payload(payload, outcome.payload.value());
    }
    if let Some(effects) = &expect.effects {
        let found = json!(outcome.effects);
        differences.json("effects", &json!(effects), Some(&found));
    }
    if let Some(metrics) = &expect.metrics {
        let found = json!(outcome.metrics);
        differences.keys("metrics", metrics, |name| found.get(name).cloned());
    }
    if let Some(cache) = &expect.cache {
        differences.keys("cache", cache, cached);
    }
    if let Some(lines) = &expect.logs {
        differences.logs(lines, outcome);
    }
    differences.0
}

/// Returns the hooks that failed.
fn failed(outcome: &Outcome) -> impl Iterator<Item = &TraceRow> {
    outcome.trace.iter().filter(|row| row.error.is_some())
}

struct Differences(Vec<Difference>);

impl Differences {
    fn add(&mut self, differs: bool, what: &str, expected: &str, found: &str) {
        if differs {
            self.0.push(Difference {
                what: what.to_owned(),
                expected: expected.to_owned(),
                found: found.to_owned(),
            });
        }
    }

    fn text(&mut self, what: &str, expected: &Text, found: Option<&str>) {
        let shown = match expected {
            Text::Is(text) => text.clone(),
            Text::Contains(part) => format!("… {part} …"),
        };
        let differs = !found.is_some_and(|found| expected.matches(found));
        self.add(differs, what, &shown, found.unwrap_or("none"));
    }

    /// A failure that nobody expected is one, whatever came of it: a guard that crashes
    /// blocks too.
    fn failures(&mut self, expect: &Expectation, outcome: &Outcome) {
        let Some(expected) = &expect.error else {
            for row in failed(outcome) {
                let found = failure(row);
                self.add(
                    true,
                    "error",
                    &format!("hook {:?} decides", row.hook),
                    &found,
                );
            }
            return;
        };
        let matches = |row: &TraceRow| fails_as(row, expected);
        if !failed(outcome).any(matches) {
            let found: Vec<String> = failed(outcome).map(failure).collect();
            let found = if found.is_empty() {
                "no hook failed".to_owned()
            } else {
                found.join("\n")
            };
            self.add(true, "error", &wanted(expected), &found);
        }
    }

    fn payload(&mut self, expected: &Value, found: &Value) {
        match (expected, found) {
            (Value::Object(expected), Value::Object(found)) => {
                self.keys("payload", expected, |key| found.get(key).cloned());
            }
            _ => self.json("payload", expected, Some(found)),
        }
    }

    fn keys(
        &mut self,
        what: &str,
        expected: &Map<String, Value>,
        found: impl Fn(&str) -> Option<Value>,
    ) {
        for (key, value) in expected {
            let there = found(key);
            if value.is_null() && there.is_none() {
                continue;
            }
            self.json(&format!("{what}.{key}"), value, there.as_ref());
        }
    }

    fn json(&mut self, what: &str, expected: &Value, found: Option<&Value>) {
        let differs = !found.is_some_and(|found| canonical::same(expected, found));
        let found = found.map_or("nothing".to_owned(), pretty);
        self.add(differs, what, &pretty(expected), &found);
    }

    fn logs(&mut self, expected: &[Line], outcome: &Outcome) {
        let mut rest = outcome.logs.iter();
        let missing = expected.iter().find(|line| {
            !rest.any(|logged| {
                let level = line.level.as_deref();
                level.is_none_or(|level| level == logged.level.name())
                    && line.message.matches(&logged.message)
            })
        });
        if let Some(line) = missing {
            let level = line.level.as_deref().unwrap_or("any level");
            let message = match &line.message {
                Text::Is(text) => text.clone(),
                Text::Contains(part) => format!("… {part} …"),
            };
            let found: Vec<String> = outcome
                .logs
                .iter()
                .map(|line| format!("{}: {}", line.level.name(), line.message))
                .collect();
            let found = if found.is_empty() {
                "nothing was logged".to_owned()
            } else {
                found.join("\n")
            };
            self.add(true, "logs", &format!("{level}: {message}"), &found);
        }
    }
}

fn fails_as(row: &TraceRow, expected: &Failing) -> bool {
    let cause = row.cause.map(|cause| json!(cause));
    let cause = cause.as_ref().and_then(Value::as_str);
    let cause_fits = expected.cause.is_none() || expected.cause.as_deref() == cause;
    let message = row.error.as_deref().unwrap_or_default();
    cause_fits
        && expected
            .message
            .as_ref()
            .is_none_or(|text| text.matches(message))
}

fn wanted(expected: &Failing) -> String {
    let cause = expected.cause.as_deref().unwrap_or("any cause");
    match &expected.message {
        None => format!("a hook fails: {cause}"),
        Some(Text::Is(text)) => format!("a hook fails: {cause}: {text}"),
        Some(Text::Contains(part)) => format!("a hook fails: {cause}: … {part} …"),
    }
}

fn failure(row: &TraceRow) -> String {
    let error = row.error.as_deref().unwrap_or_default();
    match &row.stack {
        Some(stack) => format!("hook {:?} failed: {error}\n{stack}", row.hook),
        None => format!("hook {:?} failed: {error}", row.hook),
    }
}

/// Writes a value over several lines if it is larger than one.
fn pretty(value: &Value) -> String {
    let line = canonical::text(value);
    if line.len() <= 60 {
        return line;
    }
    serde_json::to_string_pretty(value).unwrap_or(line)
}
