//! Texts for the model.

use hookbox_guest::{
    Decision, Error, Placement, Propagation, RoleHint, Value, allow, block, context, reminder,
};

use crate::text;

/// Runs a mode, if it is one of these.
pub fn run(mode: &str, args: &Value) -> Option<Result<Decision, Error>> {
    Some(match mode {
        "context" => contexts(args),
        "reminder" => reminders(args),
        "effects-block" => {
            context("first");
            reminder("second");
            Ok(block("with effects"))
        }
        _ => return None,
    })
}

fn contexts(args: &Value) -> Result<Decision, Error> {
    for each in args["contexts"].as_array().into_iter().flatten() {
        let queued = context(text(each, "text")?);
        if let Some(name) = each["placement"].as_str() {
            queued.placement(placement(name)?);
        }
    }
    Ok(allow())
}

fn reminders(args: &Value) -> Result<Decision, Error> {
    let mut queued = reminder(text(args, "body")?);
    if let Some(tags) = args["tags"].as_array() {
        queued = queued.tags(tags.iter().filter_map(Value::as_str));
    }
    if let Some(key) = args["dedupe_key"].as_str() {
        queued = queued.dedupe_key(key);
    }
    if let Some(turns) = args["ttl_turns"].as_u64() {
        queued = queued.ttl_turns(u32::try_from(turns)?);
    }
    if let Some(preserve) = args["preserve_on_compact"].as_bool() {
        queued = queued.preserve_on_compact(preserve);
    }
    if let Some(name) = args["propagate"].as_str() {
        queued = queued.propagate(propagation(name)?);
    }
    if let Some(name) = args["role_hint"].as_str() {
        queued.role_hint(role_hint(name)?);
    }
    Ok(allow())
}

fn placement(name: &str) -> Result<Placement, Error> {
    Ok(match name {
        "system-reminder" => Placement::SystemReminder,
        "system-message" => Placement::SystemMessage,
        "prepend-to-prompt" => Placement::PrependToPrompt,
        "append-to-output" => Placement::AppendToOutput,
        _ => return Err(Error::new(format!("unknown placement: {name}"))),
    })
}

fn propagation(name: &str) -> Result<Propagation, Error> {
    Ok(match name {
        "all" => Propagation::All,
        "session" => Propagation::Session,
        "none" => Propagation::None,
        _ => return Err(Error::new(format!("unknown propagation: {name}"))),
    })
}

fn role_hint(name: &str) -> Result<RoleHint, Error> {
    Ok(match name {
        "system" => RoleHint::System,
        "developer" => RoleHint::Developer,
        "user-block" => RoleHint::UserBlock,
        "ephemeral-cache" => RoleHint::EphemeralCache,
        _ => return Err(Error::new(format!("unknown role hint: {name}"))),
    })
}
