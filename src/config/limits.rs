//! The `limits:` block.

use super::Reader;
use crate::sandbox::limits::{LimitError, Limits};
use crate::yaml::{Node, Value};

/// Reads a block on top of the limits that hold without it.
pub(crate) fn read(node: &Node, mut limits: Limits, reader: &mut Reader<'_>) -> Limits {
    let Some(entries) = node.as_map() else {
        reader.error_with_help(
            format!("limits must be a map, not {}", node.kind_name()),
            &node.span,
            "write for example `limits: { fuel: 50M, memory: 32 MiB }`",
        );
        return limits;
    };
    for (key, value) in entries {
        let Some(amount) = amount(value) else {
            let kind = value.kind_name();
            reader.error(
                format!("limit {} must be an amount, not {kind}", key.name),
                &value.span,
            );
            continue;
        };
        match limits.set(&key.name, &amount) {
            Ok(()) => {}
            Err(LimitError::Unknown(_)) => reader.unknown_key("limits", key, Limits::NAMES),
            Err(error) => reader.error(error.to_string(), &value.span),
        }
    }
    limits
}

/// Returns a number or a text as it was written.
pub(super) fn amount(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) | Value::BigInt(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}
