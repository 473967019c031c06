//! `env`: granted environment variables.

use starlark::environment::GlobalsBuilder;

use crate::host;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Returns an environment variable, or `default`.
    fn env(name: &str, #[starlark(default = "")] default: &str) -> starlark::Result<String> {
        require_handling("env")?;
        let value = host::env(name).map_err(|what| raise(format!("env: {what}")))?;
        Ok(value.unwrap_or_else(|| default.to_owned()))
    }
}

/// Adds `env`.
pub fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
}
