//! What the value that a hook returned means.
//!
//! Anything that is not in the protocol is an error, so that a guard with a slip of
//! the pen refuses loudly instead of letting everything pass.

use serde_json::{Map, Value};

use super::events::{Info, Surface, Veto};
use super::path::truthy;
use super::reminder;
use crate::decision::Reminder;
use crate::failure::{Cause, Failure};

/// What a hook wants.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// What happens to the event.
    pub verdict: Verdict,
    /// What the model is told, in this order.
    pub reminders: Vec<Reminder>,
    /// What the hook said without effect.
    pub warnings: Vec<String>,
    /// What the hook said, also where it has no effect: `allow`, `block`, `modify`,
    /// `decision_allow`, `decision_deny` or `decision_ask`.
    pub word: &'static str,
}

/// What happens to an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It passes.
    Allow,
    /// It is refused; the agent reads the reason.
    Block(String),
    /// The permission it asks for is decided, with a reason if there is one.
    Decide(Permission, Option<String>),
    /// It passes with other arguments.
    Args(Value),
    /// It passes with another result of the tool.
    Result(Value),
    /// It passes with another output of the step.
    Output(Value),
}

/// What a hook decides in the place of the permission policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// The tool may run.
    Allow,
    /// The tool must not run.
    Deny,
    /// A person decides.
    Ask,
}

/// How many reminders may be wrapped around each other.
const MAX_NESTING: usize = 32;

/// How much of what a hook returned is shown in a message.
const SHOWN: usize = 200;

static NOTHING: Value = Value::Null;

/// Reads what a hook returned for an event.
///
/// # Errors
/// Returns what is wrong with it and what to return instead.
pub fn control(event: &Info, returned: &Value) -> Result<Control, Failure> {
    let (mut reminders, rest) = peel(event, returned)?;
    let mut control = plain(event, rest)?;
    reminders.append(&mut control.reminders);
    control.reminders = reminder::latest(reminders);
    Ok(control)
}

/// Takes the reminders off that are wrapped around a value.
fn peel<'a>(event: &Info, returned: &'a Value) -> Result<(Vec<Reminder>, &'a Value), Failure> {
    let mut reminders = Vec::new();
    let mut rest = returned;
    while let Some(wrapper) = rest.as_object().filter(|map| map.contains_key("reminder")) {
        only(event, wrapper, &["reminder", "then"])?;
        if reminders.len() == MAX_NESTING {
            return Err(bad(format!(
                "{} hook reminder return nested too deeply: over {MAX_NESTING} levels; return a list of reminders on a session event, or fewer",
                event.name
            )));
        }
        reminders.push(remind(event, wrapper.get("reminder").unwrap_or(&NOTHING))?);
        rest = wrapper.get("then").unwrap_or(&NOTHING);
    }
    Ok((reminders, rest))
}

fn plain(event: &Info, value: &Value) -> Result<Control, Failure> {
    match value {
        Value::Null | Value::Bool(true) => Ok(said("allow", Verdict::Allow)),
        Value::Bool(false) => Ok(veto(event, format!("{} hook returned false", event.name))),
        Value::Object(map) => dict(event, map),
        Value::Array(list) if event.surface == Surface::Session => effects(event, list),
        Value::String(_) if event.veto == Veto::Result => {
            Ok(said("modify", Verdict::Result(value.clone())))
        }
        _ => Err(misuse(event, value)),
    }
}

fn dict(event: &Info, map: &Map<String, Value>) -> Result<Control, Failure> {
    if map.contains_key("body") {
        let mut control = said("allow", Verdict::Allow);
        control.reminders.push(reminder_of(event, map)?);
        return Ok(control);
    }
    if let Some(truth) = map.get("block") {
        return block(event, map, truth);
    }
    if let Some(word) = map.get("decision") {
        return decision(event, map, word);
    }
    let deniable = matches!(
        event.veto,
        Veto::Deny | Veto::DenyOrArgs | Veto::DenyOrOutput
    );
    if let Some(why) = map.get("deny").filter(|_| deniable) {
        return deny(event, map, why);
    }
    rewrite(event, map)
}

fn rewrite(event: &Info, map: &Map<String, Value>) -> Result<Control, Failure> {
    let (name, verdict): (_, fn(Value) -> Verdict) = match event.veto {
        Veto::DenyOrArgs => ("args", Verdict::Args),
        Veto::DenyOrOutput => ("output", Verdict::Output),
        Veto::Result => ("result", Verdict::Result),
        Veto::Advisory | Veto::Block | Veto::Decision | Veto::Deny => {
            return Err(shape(event, map));
        }
    };
    let value = map.get(name).ok_or_else(|| shape(event, map))?;
    only(event, map, &[name])?;
    check_args(event, name, value)?;
    Ok(said("modify", verdict(value.clone())))
}

/// A tool's arguments have names; those of a step can be anything.
fn check_args(event: &Info, name: &str, value: &Value) -> Result<(), Failure> {
    if name == "args" && event.surface == Surface::Tool && !value.is_object() {
        return Err(bad(format!(
            "{} hook returned {{args}} with {}; args must be a dict of all arguments of the tool",
            event.name,
            describe(value)
        )));
    }
    Ok(())
}

fn block(event: &Info, map: &Map<String, Value>, truth: &Value) -> Result<Control, Failure> {
    only(event, map, &["block", "reason"])?;
    let reason = reason(event, map)?;
    if !truthy(truth) {
        return Ok(said("allow", Verdict::Allow));
    }
    Ok(veto(event, reason.unwrap_or_else(|| blocked(event))))
}

fn deny(event: &Info, map: &Map<String, Value>, why: &Value) -> Result<Control, Failure> {
    only(event, map, &["deny"])?;
    let why = why
        .as_str()
        .ok_or_else(|| not_a_reason(event, "deny", why))?;
    let reason = if why.trim().is_empty() {
        blocked(event)
    } else {
        why.to_owned()
    };
    Ok(veto(event, reason))
}

fn decision(event: &Info, map: &Map<String, Value>, word: &Value) -> Result<Control, Failure> {
    only(event, map, &["decision", "reason"])?;
    let (word, permission) = match word.as_str() {
        Some("allow") => ("decision_allow", Permission::Allow),
        Some("deny") => ("decision_deny", Permission::Deny),
        Some("ask") => ("decision_ask", Permission::Ask),
        _ => {
            return Err(bad(format!(
                "hook `decision` must be \"allow\", \"deny\", or \"ask\"; got {} from the {} hook",
                describe(word),
                event.name
            )));
        }
    };
    let reason = reason(event, map)?;
    if event.veto == Veto::Decision {
        return Ok(said(word, Verdict::Decide(permission, reason)));
    }
    let mut control = said(word, Verdict::Allow);
    control.warnings.push(format!(
        "the {} hook returned a decision, which only permission_asked honours: it is recorded, and the event passes; {}",
        event.name,
        advice(event.veto)
    ));
    Ok(control)
}

fn effects(event: &Info, list: &[Value]) -> Result<Control, Failure> {
    let mut control = said("allow", Verdict::Allow);
    for (index, item) in list.iter().enumerate() {
        let map = item.as_object().filter(|map| map.len() == 1);
        let spec = map.and_then(|map| map.get("reminder")).ok_or_else(|| {
            bad(format!(
                "{} hook returned a list whose item {index} is {}; each has to be {{reminder: {{body: \"text\"}}}} and nothing else",
                event.name,
                describe(item)
            ))
        })?;
        control.reminders.push(remind(event, spec)?);
    }
    Ok(control)
}

fn remind(event: &Info, spec: &Value) -> Result<Reminder, Failure> {
    let map = spec.as_object().ok_or_else(|| {
        bad(format!(
            "{} hook returned {} as a reminder; write {{body: \"text\"}}",
            event.name,
            describe(spec)
        ))
    })?;
    reminder_of(event, map)
}

fn reminder_of(event: &Info, map: &Map<String, Value>) -> Result<Reminder, Failure> {
    reminder::read(map).map_err(|why| bad(format!("{why} (returned by the {} hook)", event.name)))
}

fn said(word: &'static str, verdict: Verdict) -> Control {
    Control {
        verdict,
        reminders: Vec::new(),
        warnings: Vec::new(),
        word,
    }
}

/// Refuses where that can be, and elsewhere says that it cannot.
fn veto(event: &Info, reason: String) -> Control {
    if event.veto.refuses() {
        return said("block", Verdict::Block(reason));
    }
    let why = match event.veto {
        Veto::Result => "comes after the tool has run",
        _ => "is advisory",
    };
    let mut control = said("block", Verdict::Allow);
    control.warnings.push(format!(
        "{} {why}: the veto is recorded and refuses nothing ({})",
        event.name,
        short(&reason)
    ));
    control
}

fn blocked(event: &Info) -> String {
    format!("{} hook blocked the operation", event.name)
}

/// Reads the reason; null or blank is as good as none.
fn reason(event: &Info, map: &Map<String, Value>) -> Result<Option<String>, Failure> {
    match map.get("reason") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(not_a_reason(event, "reason", other)),
    }
}

fn not_a_reason(event: &Info, key: &str, value: &Value) -> Failure {
    bad(format!(
        "{} hook returned {{{key}}} with {}; {key} must be a string that says why",
        event.name,
        describe(value)
    ))
}

/// Refuses keys that have no meaning beside the others.
fn only(event: &Info, map: &Map<String, Value>, keys: &[&str]) -> Result<(), Failure> {
    if map.keys().all(|key| keys.contains(&key.as_str())) {
        return Ok(());
    }
    Err(shape(event, map))
}

fn shape(event: &Info, map: &Map<String, Value>) -> Failure {
    misshapen(event, &keys_of(map))
}

fn misuse(event: &Info, value: &Value) -> Failure {
    misshapen(event, &describe(value))
}

fn misshapen(event: &Info, got: &str) -> Failure {
    let name = event.name;
    bad(format!(
        "{name} hook must return nil, bool, or a control dict; got {got}; {}; {{reminder: {{body: \"text\"}}}} tells the model something",
        advice(event.veto)
    ))
}

fn bad(message: String) -> Failure {
    Failure::new(Cause::BadAnswer, message)
}

fn advice(veto: Veto) -> &'static str {
    match veto {
        Veto::Advisory => "return null, because nothing can be refused here",
        Veto::Block => "return null to allow or {block: true, reason: \"why\"} to refuse",
        Veto::Decision => {
            "return null to leave it to the policy or {decision: \"deny\", reason: \"why\"} to decide"
        }
        Veto::Deny => "return null to allow or {deny: \"why\"} to refuse",
        Veto::DenyOrArgs => {
            "return null to allow, {deny: \"why\"} to refuse or {args: {...}} to change the arguments"
        }
        Veto::DenyOrOutput => {
            "return null to allow, {deny: \"why\"} to refuse or {output: ...} to change the output"
        }
        Veto::Result => "return null to keep the result or {result: ...} or a string to replace it",
    }
}

/// Names the kind of a value, and as much of it as is needed to find it.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => format!("the bool {truth}"),
        Value::Number(number) => format!("the number {}", short(&number.to_string())),
        Value::String(text) => format!("the string {:?}", short(text)),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Object(map) => keys_of(map),
    }
}

fn keys_of(map: &Map<String, Value>) -> String {
    if map.is_empty() {
        return "an empty dict".to_owned();
    }
    let mut keys = String::new();
    for key in map.keys() {
        // No more than is shown, however many there are.
        if keys.len() > 4 * SHOWN {
            break;
        }
        let comma = if keys.is_empty() { "" } else { ", " };
        keys.push_str(comma);
        keys.push_str(key);
    }
    format!("a dict with the keys {}", short(&keys))
}

/// Cuts a text of a hook to what a message can hold, on one line.
pub(super) fn short(text: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().nth(SHOWN).is_none() {
        return text.chars().map(line).collect();
    }
    let head = text.chars().take(SHOWN - 1).map(line);
    head.chain(['…']).collect()
}

#[cfg(test)]
mod tests;
