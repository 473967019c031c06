//! A dispatch as other programs read it: one JSON object with everything on it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::check::Checked;
use super::record::{Entry, Fault, HookReturned, HostCall, Phase, Record, Used};
use super::replay::Dispatch;
use crate::outcome::TraceRow;

/// Writes a dispatch, without those it caused.
#[must_use]
pub fn dispatch(tape: &str, dispatch: &Dispatch) -> Value {
    let start = dispatch.start();
    let end = dispatch.end();
    let handlers: HashMap<&str, &str> = dispatch
        .project
        .hooks
        .iter()
        .map(|hook| (hook.name.as_str(), hook.handler.as_str()))
        .collect();
    let steps = Steps::of(&dispatch.records, handlers);
    json!({
        "tape": tape,
        "dispatch": dispatch.number,
        "record": dispatch.first_record(),
        "parent": start.parent,
        "event": start.event,
        "id": start.id,
        "subject": start.subject,
        "time": start.time,
        "depth": start.depth,
        "decision": end.map_or_else(|| json!("undecided"), |end| json!(end.decision)),
        "reason": end.and_then(|end| end.reason.as_ref()),
        "hook": end.and_then(|end| end.hook.as_ref()),
        "took_us": end.map(|end| end.took_us),
        "payload_before": unfolded(&start.payload),
        "payload": end.map(|end| unfolded(&end.payload)),
        "effects": end.map_or(&[][..], |end| &end.effects),
        "warnings": end.map_or(&[][..], |end| &end.warnings),
        "steps": end.map_or_else(Vec::new, |end| steps.rows(&end.trace)),
        "verdict": null,
        "difference": null,
    })
}

/// Writes a dispatch and all it caused, in the order of their numbers.
#[must_use]
pub fn tree(tape: &str, root: &Dispatch) -> Vec<Value> {
    let mut all = vec![dispatch(tape, root)];
    for child in &root.children {
        all.extend(tree(tape, child));
    }
    all
}

/// Adds what today's hooks do.
pub fn add_checked(view: &mut Value, checked: &Checked) {
    let outcome = &checked.outcome;
    let Value::Object(map) = view else { return };
    map.insert("verdict".to_owned(), checked.verdict.name().into());
    map.insert(
        "today".to_owned(),
        json!({
            "decision": outcome.decision,
            "reason": outcome.reason,
            "hook": outcome.hook,
            "payload": outcome.payload,
            "fuel": checked.fuel.1,
        }),
    );
    map.insert("fuel".to_owned(), checked.fuel.0.into());
    if !checked.new_requests.is_empty() {
        map.insert("new_requests".to_owned(), json!(checked.new_requests));
    }
    if let Some(difference) = &checked.difference {
        map.insert(
            "difference".to_owned(),
            json!({
                "record": difference.record,
                "what": difference.what,
                "expected": difference.expected,
                "found": difference.found,
            }),
        );
    }
}

/// JSON texts are shown as what they say; anything else as the text it is.
#[must_use]
pub fn unfolded(text: &str) -> Value {
    crate::json::parse_value(text).unwrap_or_else(|_| text.into())
}

/// The calls of a dispatch, by hook. Hooks of the same name are told apart by order.
struct Steps<'r> {
    predicates: HashMap<&'r str, Vec<&'r Used>>,
    calls: HashMap<&'r str, Vec<Call<'r>>>,
    border: HashMap<(&'r str, Phase), Vec<&'r HostCall>>,
    handlers: HashMap<&'r str, &'r str>,
}

struct Call<'r> {
    payload: &'r str,
    handler: &'r str,
    host_calls: Vec<&'r HostCall>,
    returned: Option<&'r HookReturned>,
}

impl<'r> Steps<'r> {
    fn of(records: &'r [Record], handlers: HashMap<&'r str, &'r str>) -> Self {
        let mut steps = Self {
            predicates: HashMap::new(),
            calls: HashMap::new(),
            border: HashMap::new(),
            handlers,
        };
        for record in records {
            steps.add(&record.entry);
        }
        steps
    }

    fn add(&mut self, entry: &'r Entry) {
        match entry {
            Entry::Predicate(one) => {
                let all = self.predicates.entry(&one.hook).or_default();
                all.push(&one.used);
            }
            Entry::HookCall(one) => {
                let all = self.calls.entry(&one.hook).or_default();
                all.push(Call {
                    payload: &one.payload,
                    handler: &one.handler,
                    host_calls: Vec::new(),
                    returned: None,
                });
            }
            Entry::HostCall(one) if one.phase == Phase::When => {
                let all = self.border.entry((&one.hook, one.phase)).or_default();
                all.push(one);
            }
            Entry::HostCall(one) => {
                if let Some(call) = self.last(&one.hook) {
                    call.host_calls.push(one);
                }
            }
            Entry::HookReturned(one) => {
                if let Some(call) = self.last(&one.hook) {
                    call.returned = Some(one);
                }
            }
            _ => {}
        }
    }

    fn last(&mut self, hook: &str) -> Option<&mut Call<'r>> {
        self.calls.get_mut(hook)?.last_mut()
    }

    /// Writes a row for each hook of the chain.
    fn rows(mut self, trace: &'r [TraceRow]) -> Vec<Value> {
        trace.iter().map(|row| self.row(row)).collect()
    }

    fn row(&mut self, row: &'r TraceRow) -> Value {
        let hook = &*row.hook;
        let predicate = take_first(self.predicates.get_mut(hook));
        let call = row
            .decision
            .and_then(|_| take_first(self.calls.get_mut(hook)));
        let border = self.border.remove(&(hook, Phase::When)).unwrap_or_default();
        let mut value = outline(row, predicate, call.as_ref());
        if let (None, Some(handler)) = (&call, self.handlers.get(hook)) {
            value.insert("handler".to_owned(), (*handler).into());
        }
        let calls = call.iter().flat_map(|call| &call.host_calls);
        let calls = border.iter().chain(calls);
        value.insert(
            "calls".to_owned(),
            calls.map(|call| host_call(call)).collect(),
        );
        if let Some(call) = call {
            value.insert("payload_before".to_owned(), unfolded(call.payload));
            let after = call.returned.and_then(|returned| returned.payload.as_ref());
            value.insert(
                "payload_after".to_owned(),
                after.map_or(Value::Null, |after| unfolded(after)),
            );
        }
        Value::Object(value)
    }
}

fn take_first<T>(list: Option<&mut Vec<T>>) -> Option<T> {
    list.filter(|list| !list.is_empty())
        .map(|list| list.remove(0))
}

fn outline(
    row: &TraceRow,
    predicate: Option<&Used>,
    call: Option<&Call<'_>>,
) -> Map<String, Value> {
    let returned = call.and_then(|call| call.returned);
    let used = returned.map(|returned| &returned.used).or(predicate);
    let failure = returned.and_then(|returned| returned.failure.as_ref());
    let logs: Vec<Value> = predicate
        .into_iter()
        .chain(returned.map(|returned| &returned.used))
        .flat_map(|used| &used.logs)
        .map(|line| json!({"level": line.level, "message": line.message}))
        .collect();
    let value = json!({
        "hook": row.hook,
        "handler": call.map(|call| call.handler),
        "priority": row.priority,
        "matched": row.matched,
        "called": call.is_some(),
        "when_fuel": row.when_fuel,
        "fuel": row.fuel,
        "memory_bytes": row.memory_bytes,
        "when_at_us": predicate.map(|used| used.at_us),
        "when_took_us": predicate.map(|used| used.took_us),
        "at_us": used.map(|used| used.at_us),
        "took_us": used.map(|used| used.took_us),
        "decision": row.decision,
        "reason": row.reason,
        "failure": fault(failure, row),
        "logs": logs,
        "refusals": row.refusals,
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn fault(failure: Option<&Fault>, row: &TraceRow) -> Value {
    match (failure, &row.error) {
        (Some(fault), _) => json!(fault),
        (None, Some(error)) => json!({"cause": row.cause, "message": error, "stack": row.stack}),
        (None, None) => Value::Null,
    }
}

fn host_call(call: &HostCall) -> Value {
    json!({
        "capability": call.capability,
        "phase": call.phase,
        "request": unfolded(&call.request),
        "answer": unfolded(&call.answer),
        "derived": call.derived,
        "at_us": call.at_us,
        "took_us": call.took_us,
        "summary": summary(call),
    })
}

/// Says in a line what a hook asked and what it heard.
#[must_use]
pub fn summary(call: &HostCall) -> String {
    let (request, answer) = (unfolded(&call.request), unfolded(&call.answer));
    let asked = match &*call.capability {
        "http.send" => format!("{} {}", plain(&request["method"]), plain(&request["url"])),
        capability => {
            let about = ["key", "name", "path", "count"]
                .iter()
                .find_map(|key| request.get(key));
            match about {
                Some(about) => format!("{capability} {}", plain(about)),
                None => capability.to_owned(),
            }
        }
    };
    format!("{asked} → {}", heard(&call.capability, &answer))
}

fn heard(capability: &str, answer: &Value) -> String {
    if let Some(error) = answer.get("error") {
        let text = match error {
            Value::Object(map) => map.values().next().unwrap_or(error),
            other => other,
        };
        return format!("error: {}", shortened(&plain(text)));
    }
    let value = answer.get("ok").unwrap_or(answer);
    // Numbers of metrics say what kind they are.
    let value = value.get("value").unwrap_or(value);
    let value = value
        .get("integer")
        .or_else(|| value.get("real"))
        .unwrap_or(value);
    match capability {
        "http.send" => plain(&value["status"]),
        _ => shortened(&plain(value)),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "nothing".to_owned(),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 80;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
