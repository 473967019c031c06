//! What a script can use beside the Starlark standard.

mod cache;
mod clock;
mod effects;
mod env;
mod events;
mod files;
mod hooks;
mod http;
mod json;
mod log;
mod metrics;
mod re;
mod string;
mod tools;

use starlark::environment::{Globals, GlobalsBuilder};
use starlark::values::Value;

use crate::problem::raise;

pub use effects::take as take_effects;
pub use re::forget_patterns;

/// The names that only exist in scripts, not in `when`.
pub const SCRIPT_ONLY: &[&str] = &[
    "allow", "ask", "block", "modify", "context", "reminder", "log", "metrics", "cache", "http",
    "json", "re", "string", "events", "emit", "tools", "env", "files", "hooks", "clock", "random",
];

/// The names behind which the host decides what a script may do.
pub const CAPABILITIES: &[&str] = &[
    "cache", "http", "tools", "env", "files", "hooks", "clock", "random",
];

/// Builds what a script sees.
pub fn for_scripts() -> Globals {
    GlobalsBuilder::standard()
        .with(crate::decision::register)
        .with(log::register)
        .with(metrics::register)
        .with(cache::register)
        .with(http::register)
        .with(json::register)
        .with(re::register)
        .with(string::register)
        .with(events::register)
        .with(tools::register)
        .with(env::register)
        .with(files::register)
        .with(hooks::register)
        .with(effects::register)
        .with(clock::register)
        .build()
}

/// Builds what a `when` expression sees beside `event` and `payload`.
pub fn for_conditions() -> Globals {
    Globals::standard()
}

/// Encodes an argument of the built-in `name`.
fn encode_arg(name: &str, what: &str, value: Value<'_>) -> starlark::Result<String> {
    crate::json_out::encode(value, what).map_err(|fault| raise(format!("{name}: {fault}")))
}
