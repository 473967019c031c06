//! Windsurf Cascade: exit 2 of a hook before an action blocks it; nothing else is read.

use crate::readers::{Finished, Read};
use serde_json::Value;

pub const EVENTS: &[&str] = &[
    "pre_read_code",
    "pre_write_code",
    "pre_run_command",
    "pre_mcp_tool_use",
    "pre_user_prompt",
    "post_read_code",
    "post_write_code",
    "post_run_command",
    "post_mcp_tool_use",
    "post_cascade_response",
    "post_cascade_response_with_transcript",
    "post_setup_worktree",
];

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    let mut read = match finished.code {
        0 => Read::proceeds(),
        2 if event.starts_with("pre_") => Read::blocked(finished.stderr.trim()),
        code => Read::fails_open(format!("exit {code}")),
    };
    // Shown if the entry asks for it, and never more than that.
    if !finished.stdout.trim().is_empty() {
        read.ignored.push("stdout".into());
    }
    read
}

pub fn accepts(_event: &str, stdout: &str) -> Result<(), String> {
    if stdout.trim().is_empty() {
        Ok(())
    } else {
        Err("stdout is not read".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::Effect;

    #[test]
    fn only_exit_two_before_an_action() {
        let deny = r#"{"decision":"deny","message":"m"}"#;
        for (event, stdout, code, blocks) in [
            ("pre_run_command", "", 2, true),
            ("pre_user_prompt", "", 2, true),
            ("pre_run_command", deny, 0, false),
            ("pre_run_command", "", 1, false),
            ("pre_run_command", "", 127, false),
            ("post_run_command", "", 2, false),
        ] {
            let read = read(event, &Value::Null, &Finished::new(stdout, "no", code));
            assert_eq!(
                read.effect
                    == Effect::Blocked {
                        reason: "no".into()
                    },
                blocks,
                "{event} {code}"
            );
        }
        assert!(accepts("pre_run_command", deny).is_err());
    }
}
