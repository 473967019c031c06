//! `clock` and `random`: the event's own time and bytes that follow from it,
//! unless the real ones are granted.

use std::fmt::Write as _;

use starlark::environment::GlobalsBuilder;

use crate::host;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn clock_functions(builder: &mut GlobalsBuilder) {
    /// Returns the milliseconds since the start of 1970.
    fn now() -> starlark::Result<i64> {
        require_handling("clock.now")?;
        Ok(i64::try_from(host::now()).unwrap_or(i64::MAX))
    }
}

#[starlark::starlark_module]
fn random_functions(builder: &mut GlobalsBuilder) {
    /// Returns so many random bytes, as hexadecimal digits.
    fn hex(count: i32) -> starlark::Result<String> {
        require_handling("random.hex")?;
        match u32::try_from(count) {
            Ok(count) if count <= 65_536 => {
                let bytes = host::random(count);
                Ok(bytes.iter().fold(String::new(), |mut text, byte| {
                    let _ = write!(text, "{byte:02x}");
                    text
                }))
            }
            _ => Err(raise(format!(
                "random.hex: the count is {count} and must be 0 to 65536"
            ))),
        }
    }
}

/// Adds `clock` and `random`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("clock", clock_functions);
    builder.namespace("random", random_functions);
}
