//! Blocks tool calls that would put a credential into a file, a command or a request.

mod assignment;
mod entropy;
mod finding;
mod jwt;
mod pem;
mod prefixed;
mod scan;
mod walk;

use hookbox_guest::{Decision, Event, Value, allow, block, hook, log, metrics};
use serde::Deserialize;

const ADVICE: &str =
    "keep credentials out of tool calls and let the program read them from where they are stored";

#[derive(Deserialize)]
struct ToolCall {
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Value,
}

#[hook]
fn secret_scanner(event: Event<ToolCall>) -> Decision {
    let call = event.payload;
    let Some(finding) = walk::first_finding("args", &call.args) else {
        return allow();
    };
    log::warn(format!("blocked {}: {finding}", call.name));
    metrics::incr("secrets.blocked", 1);
    block(format!("{finding}; {ADVICE}"))
}

#[cfg(test)]
mod tests {
    use hookbox_guest::{json, testing};

    use super::*;

    fn decide(args: Value) -> Decision {
        let name = "write_file".to_owned();
        secret_scanner(Event::new("tool.pre", ToolCall { name, args }))
    }

    #[test]
    fn harmless_calls_pass() {
        assert_eq!(decide(Value::Null), allow());
        assert_eq!(
            decide(json!({"path": "a.rs", "content": "fn main() {}", "n": 1})),
            allow()
        );
    }

    #[test]
    fn a_credential_is_blocked_without_being_repeated() {
        let token = format!("ghp{}{}", "_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R");
        let decision = decide(json!({"files": [{"content": format!("a\nlet t = \"{token}\";")}]}));
        let Decision::Block(reason) = &decision else {
            panic!("passed: {decision:?}");
        };
        let what = "a GitHub token (ghp_…, 40 characters) in args.files[0].content, line 2";
        assert_eq!(*reason, format!("{what}; {ADVICE}"));
        assert!(!reason.contains(&token[..8]));
        let lines = testing::log_lines();
        assert_eq!(
            lines,
            [(log::Level::Warn, format!("blocked write_file: {what}"))]
        );
        assert_eq!(metrics::get("secrets.blocked"), Some(1.into()));
    }
}
