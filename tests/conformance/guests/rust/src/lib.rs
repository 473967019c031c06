//! A hook that does what its payload says: one mode for each thing the SDK offers.

mod effects;
mod outside;
mod stores;
mod worst;

use hookbox_guest::{
    Decision, Error, Event, HostError, Value, allow, ask, block, hook, json, log, modify,
};

#[hook]
fn conformance(event: Event) -> Result<Decision, Error> {
    let args = event.payload["args"].clone();
    let Some(mode) = args["do"].as_str() else {
        return Ok(allow());
    };
    match mode {
        "allow" => Ok(allow()),
        "block" => Ok(block(text(&args, "reason")?)),
        "ask" => Ok(ask(text(&args, "message")?)),
        "modify" => Ok(note(&args["value"])),
        "echo" => Ok(modify(event.payload)),
        "log" => log_everywhere(text(&args, "text")?),
        "event" => Ok(note(json!({
            "name": event.name, "id": event.id, "subject": event.subject,
            "hook": event.hook, "depth": event.depth,
        }))),
        "error" => Err(Error::new(text(&args, "message")?)),
        "nothing" => Err(Error::new("the hook returned no decision")),
        _ => effects::run(mode, &args)
            .or_else(|| stores::run(mode, &args))
            .or_else(|| outside::run(mode, &args))
            .or_else(|| worst::run(mode, &args))
            .unwrap_or_else(|| Err(Error::new(format!("unknown mode: {mode}")))),
    }
}

fn log_everywhere(text: &str) -> Result<Decision, Error> {
    log::debug(text);
    log::info(text);
    log::warn(text);
    log::error(text);
    Ok(allow())
}

/// Returns a text among the arguments.
fn text<'a>(args: &'a Value, name: &str) -> Result<&'a str, Error> {
    args[name]
        .as_str()
        .ok_or_else(|| Error::new(format!("args.{name} is not a text")))
}

/// Puts a value where the test can see it.
fn note(value: impl serde::Serialize) -> Decision {
    modify(json!({ "note": value }))
}

/// Puts a value or the kind of an error where the test can see it.
fn note_either<T: serde::Serialize>(result: Result<T, HostError>) -> Decision {
    match result {
        Ok(value) => note(value),
        Err(error) => note(json!({ "error": error.kind().name() })),
    }
}
