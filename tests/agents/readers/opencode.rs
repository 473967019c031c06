//! OpenCode has no hook commands; this is the contract between a generated plugin and the command it starts.

use crate::readers::{Effect, Finished, Read};
use serde_json::Value;

pub const EVENTS: &[&str] = &["tool.execute.before", "tool.execute.after", "chat.message"];

/// Thrown when the command blocks and says nothing.
pub const UNSAID: &str = "blocked by a hook";

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    match finished.code {
        0 => success(event, finished.stdout.trim()),
        2 if finished.stderr.trim().is_empty() => Read::blocked(UNSAID),
        2 => Read::blocked(finished.stderr.trim()),
        code => Read::blocked(format!("the hook failed: exit {code}")),
    }
}

fn success(event: &str, stdout: &str) -> Read {
    if stdout.is_empty() {
        return Read::proceeds();
    }
    let Some(map) = crate::readers::object(stdout) else {
        return Read::blocked("the hook answered with something else than a JSON object");
    };
    let mut read = match map.get("args") {
        Some(args @ Value::Object(_)) if event == "tool.execute.before" => {
            Read::new(Effect::Rewritten(args.clone()))
        }
        Some(_) if event == "tool.execute.before" => {
            return Read::blocked("the hook answered with args that are no object");
        }
        _ => Read::proceeds(),
    };
    let taken = |key: &str| key == "args" && event == "tool.execute.before";
    read.ignored
        .extend(map.keys().filter(|key| !taken(key)).cloned());
    read
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return Ok(());
    }
    match success(event, trimmed) {
        Read {
            effect: Effect::Blocked { reason },
            ..
        } => Err(reason),
        Read { ignored, .. } if !ignored.is_empty() => Err(format!("{}: unknown key", ignored[0])),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_contract() {
        let blocked = |reason: &str| Effect::Blocked {
            reason: reason.into(),
        };
        let failed = blocked("the hook failed: exit 1");
        for (stdout, stderr, code, want) in [
            ("", "", 0, Effect::Proceeds),
            ("{}", "", 0, Effect::Proceeds),
            (
                r#"{"args":{"command":"pwd"}}"#,
                "",
                0,
                Effect::Rewritten(json!({"command": "pwd"})),
            ),
            ("", "no\n", 2, blocked("no")),
            ("", "", 2, blocked(UNSAID)),
            ("", "no", 1, failed),
            (
                "hello",
                "",
                0,
                blocked("the hook answered with something else than a JSON object"),
            ),
            (
                r#"{"args":[]}"#,
                "",
                0,
                blocked("the hook answered with args that are no object"),
            ),
        ] {
            let read = read(
                "tool.execute.before",
                &Value::Null,
                &Finished::new(stdout, stderr, code),
            );
            assert_eq!(read.effect, want, "{stdout} {code}");
        }
        assert!(accepts("tool.execute.before", r#"{"args":{},"x":1}"#).is_err());
    }
}
