//! What the builder runs before it takes the image of the memory.
//!
//! Everything that is set up on first use is used here once, so that a call
//! in a fresh instance touches as few pages of memory as it can.

use crate::bindings::hookbox::hook::types::Event;
use crate::phase::Phase;
use crate::{builtins, check, script, when};

const SCRIPT: &str = include_str!("warm_up.star");

/// A payload with every kind of value.
pub const PAYLOAD: &str = r#"{"id": "call_1", "name": "run_command",
    "arguments": "{\"command\": \"ls -la\"}", "args": {"command": "ls -la é\u00e9"},
    "n": [1, -2.5, 1e3, 123456789012345678901234567890], "flag": true, "none": null}"#;

/// Uses the interpreter and leaves it as if it had not been used.
pub fn run() {
    let event = Event {
        name: "tool.pre".to_owned(),
        payload: PAYLOAD.to_owned(),
        id: "call_1".to_owned(),
        subject: Some("run_command".to_owned()),
        hook: "warm_up".to_owned(),
        depth: 0,
    };
    check::script(SCRIPT.to_owned());
    check::condition("payload[\"name\"] == \"run_command\" and mising");
    for condition in [
        "payload[\"name\"] == \"run_command\"",
        "len(payload.get(\"content\", \"\")) > 4000",
        "payload[\"absent\"]",
    ] {
        let _ = when::load(condition.to_owned());
        let _ = when::matches(&event);
    }
    when::unload();
    let _ = script::load("x = (".to_owned());
    let _ = script::load("x = mising".to_owned());
    let _ = script::load(SCRIPT.to_owned());
    for step in ["custom.all", "custom.fail", "custom.error", "custom.none"] {
        let event = Event {
            name: step.to_owned(),
            ..event.clone()
        };
        let _ = script::handle_in(Phase::WarmUp, &event);
    }
    script::unload();
    builtins::forget_patterns();
}

#[cfg(target_arch = "wasm32")]
#[unsafe(export_name = "wizer-initialize")]
extern "C" fn initialize() {
    wit_bindgen::rt::run_ctors_once();
    // A panic ends in a trap, which says nothing about why.
    std::panic::set_hook(Box::new(|panic| {
        crate::host::log(crate::host::Level::Error, &format!("panic: {panic}"));
    }));
    run();
}
