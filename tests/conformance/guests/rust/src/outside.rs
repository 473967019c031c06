//! What lies outside the sandbox.

use hookbox_guest::{
    Decision, Error, HostError, Value, clock, env, events, files, hooks, http, json, random, tools,
};

use crate::{note, note_either, text};

/// Runs a mode, if it is one of these.
pub fn run(mode: &str, args: &Value) -> Option<Result<Decision, Error>> {
    Some(match mode {
        "http-get" => text(args, "url").map(|url| note_either(get(url))),
        "http-post" => post(args),
        "tools" => text(args, "tool").map(|tool| note_either(tools::call(tool, json!({"q": "x"})))),
        "env" => text(args, "variable").map(|name| note_either(env::get(name))),
        "files" => text(args, "path").map(|path| note_either(files::read_to_string(path))),
        "files-list" => text(args, "path").map(|path| note_either(files::list(path))),
        "hooks" => names_of_hooks().map_err(Error::from),
        "hooks-source" => sources().map_err(Error::from),
        "emit" => text(args, "name").map(|name| note_either(events::emit(name, json!({"n": 1})))),
        "clock" => Ok(note(clock::now().as_millis() as u64)),
        "random" => Ok(note(hexadecimal(&random::bytes(8)))),
        _ => return None,
    })
}

fn get(url: &str) -> Result<Value, HostError> {
    let response = http::get(url).header("x-conformance", "yes").send()?;
    Ok(json!({
        "status": response.status,
        "text": response.text(),
        "header": response.header("x-answer"),
    }))
}

fn post(args: &Value) -> Result<Decision, Error> {
    let response = http::post(text(args, "url")?)
        .body(text(args, "body")?)
        .send();
    Ok(note_either(response.map(
        |response| json!({ "status": response.status, "text": response.text() }),
    )))
}

fn names_of_hooks() -> Result<Decision, HostError> {
    let names: Vec<String> = hooks::list()?.into_iter().map(|hook| hook.name).collect();
    Ok(note(names))
}

fn sources() -> Result<Decision, HostError> {
    let own = hooks::source("conformance")?;
    Ok(note(json!({
        "some": own.is_some_and(|text| text.contains("event:")),
        "none": hooks::source("nobody")?,
    })))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
