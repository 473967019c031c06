//! The hook that comes before all others where an agent is answered: what guards the agent
//! is not the agent's to change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{Protected, ToolCall, refuse_from};
use crate::capability::grant::Grants;
use crate::diagnostic::Source;
use crate::dialect::harness;
use crate::handler::Handler;
use crate::handler::native::NativeHook;
use crate::hook::{Hook, OnError, Origin, Predicate};
use crate::sandbox::limits::Limits;

/// Its name in traces and on tapes.
pub(crate) const NAME: &str = "hookbox.self_defence";

/// The event that it looks at.
const EVENT: &str = "tool.pre";

/// Makes the hook that keeps an agent from changing what guards it.
pub(crate) fn hook(project: &Path, limits: Limits) -> Hook {
    let root = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let protected = protected(&root);
    let call = move |payload: &Value| Ok(judge(&protected, &root, payload));
    Hook {
        name: NAME.into(),
        event: EVENT.into(),
        point: EVENT.into(),
        order: 0,
        priority: i64::MIN,
        position: 0,
        predicate: Predicate::Always,
        handler: Handler::Native(Arc::new(NativeHook {
            kind: "native",
            call: Arc::new(call),
            // What lies on the disk, and where, is another machine's another time.
            capability: Some("defence.judge"),
        })),
        limits,
        grants: Grants::default(),
        on_error: OnError::Block,
        waits: true,
        live: false,
        collects: false,
        dialect: &harness::DIALECT,
        origin: Origin {
            file: "hookbox".into(),
            summary: Some("what guards the agent is not the agent's to change".to_owned()),
            explicit_priority: true,
            source: Source::new("hookbox", ""),
            own_file: false,
        },
    }
}

fn protected(root: &Path) -> Protected {
    let protected = Protected::new(root, dirs::home_dir().as_deref());
    let own = [
        std::env::current_exe().ok(),
        crate::config::user_directory(),
        crate::sandbox::compiled::cache_directory(),
    ];
    own.into_iter().flatten().fold(protected, Protected::with)
}

/// Says why a call is refused; nothing if it is not.
fn judge(protected: &Protected, root: &Path, payload: &Value) -> Value {
    let (Some(name), Some(args)) = (
        payload.get("name").and_then(Value::as_str),
        payload.get("args"),
    ) else {
        return "the call has no name or no arguments".into();
    };
    let said = payload
        .get("cwd")
        .and_then(Value::as_str)
        .map(PathBuf::from);
    let elsewhere = said.filter(|cwd| cwd.is_absolute() && cwd != root);
    // A path may be the agent's own, from where it works, or canonical, from the project.
    let places: Vec<&Path> = std::iter::once(root).chain(elsewhere.as_deref()).collect();
    let call = ToolCall {
        name,
        args,
        cwd: root,
    };
    refuse_from(protected, &call, &places).map_or(Value::Null, |refusal| refusal.to_string().into())
}
