//! Writes down what came out as what is expected.

use serde_json::{Value, json};

use super::expect::{Expectation, Text};
use super::read::Case;
use super::run::Report;
use crate::canonical;
use crate::outcome::Outcome;

/// Returns the text of the case's file with what came out in the place of what was
/// expected. The rest of the file stays as it is, comments and all. Nothing if there is
/// nothing to write: it passed, or hookbox could not decide.
#[must_use]
pub fn update(case: &Case, report: &Report) -> Option<String> {
    let outcome = report.outcome.as_ref()?;
    if report.passed() {
        return None;
    }
    let block = expectation(case.expect.as_ref(), outcome);
    let text = &*case.source.text;
    Some(match &case.expect_span {
        Some(span) => {
            let end = end_of_block(text, span.start);
            let rest = &text[end..];
            format!("{}{block}{rest}", &text[..span.start])
        }
        None => {
            let gap = if text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{gap}{block}")
        }
    })
}

/// The block ends where the next line begins that is not indented and says something.
fn end_of_block(text: &str, start: usize) -> usize {
    let mut end = text.len();
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let belongs = at == start || line.starts_with([' ', '\t']) || line.trim().is_empty();
        if !belongs {
            end = at;
            break;
        }
        at += line.len();
    }
    end
}

/// Writes the keys that were expected before, and always decision and reason.
fn expectation(before: Option<&Expectation>, outcome: &Outcome) -> String {
    let mut lines = vec!["expect:".to_owned()];
    let mut add = |key: &str, value: &Value| {
        lines.push(format!("  {key}: {}", canonical::text(value)));
    };
    add("decision", &json!(outcome.decision.name()));
    if let Some(reason) = &outcome.reason {
        match before.and_then(|before| before.reason.as_ref()) {
            Some(Text::Contains(part)) if reason.contains(part.as_str()) => {
                add("reason", &json!({ "contains": part }));
            }
            _ => add("reason", &json!(reason)),
        }
    }
    let failed = outcome.trace.iter().find(|row| row.error.is_some());
    if let Some(row) = failed {
        let error = json!({"cause": row.cause, "message": row.error});
        add("error", &error);
    }
    let Some(before) = before else {
        if outcome.decision == crate::decision::Ruling::Modify {
            add("payload", outcome.payload.value());
        }
        return lines.join("\n") + "\n";
    };
    if before.hook.is_some() {
        add("hook", &json!(outcome.hook));
    }
    if let Some(expected) = &before.payload {
        add("payload", &same_keys(expected, outcome.payload.value()));
    }
    if before.effects.is_some() {
        add("effects", &json!(outcome.effects));
    }
    if let Some(metrics) = &before.metrics {
        let expected = Value::Object(metrics.clone());
        add("metrics", &same_keys(&expected, &json!(outcome.metrics)));
    }
    if before.logs.is_some() {
        let logs: Vec<Value> = outcome
            .logs
            .iter()
            .map(|line| json!({"level": line.level.name(), "message": line.message}))
            .collect();
        add("logs", &json!(logs));
    }
    if let Some(cache) = &before.cache {
        add("cache", &Value::Object(cache.clone()));
    }
    lines.join("\n") + "\n"
}

/// The part of what was found that was asked for.
fn same_keys(expected: &Value, found: &Value) -> Value {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => Value::Object(
            expected
                .keys()
                .map(|key| (key.clone(), found.get(key).cloned().unwrap_or_default()))
                .collect(),
        ),
        _ => found.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_of_the_expectation_ends_where_the_next_key_begins() {
        let text = "event: x\nexpect:\n  decision: allow\n\n  reason: y\n# why\npayload: {}\n";
        let start = text.find("expect:").unwrap();
        let end = end_of_block(text, start);
        assert_eq!(&text[end..], "# why\npayload: {}\n");
    }
}
