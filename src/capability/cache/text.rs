//! Values as the JSON text that is kept.
//!
//! All stores keep text: a parsed value can take twenty times the memory of
//! its text, and quotas count text.

use serde_json::Value;

use super::CacheError;

/// How many levels of lists and objects the JSON reader accepts.
const MAX_DEPTH: usize = 127;

/// How much of a key an error message shows.
const SHOWN: usize = 64;

/// Returns the JSON text of a value.
pub(super) fn write(value: &Value) -> Result<String, CacheError> {
    if !fits(value, MAX_DEPTH) {
        return Err(CacheError::Quota(format!(
            "the value has lists or objects more than {MAX_DEPTH} levels deep; store a flatter one"
        )));
    }
    Ok(value.to_string())
}

fn fits(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| fits(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|item| fits(item, depth - 1)),
        _ => true,
    }
}

/// Returns the value of a stored text.
pub(super) fn read(key: &str, text: &[u8]) -> Result<Value, CacheError> {
    serde_json::from_slice(text).map_err(|error| {
        CacheError::Unavailable(format!(
            "what is stored under {:?} is not JSON ({error}); delete it, and keep other programs from writing there",
            shown(key),
        ))
    })
}

/// Says whether a stored text, if any, has the value that was expected.
pub(super) fn is(
    key: &str,
    stored: Option<&str>,
    expected: Option<&Value>,
) -> Result<bool, CacheError> {
    match (stored, expected) {
        (None, None) => Ok(true),
        (Some(stored), Some(expected)) => Ok(read(key, stored.as_bytes())? == *expected),
        _ => Ok(false),
    }
}

/// Returns the sum of a stored text, if any, and a number.
pub(super) fn add(key: &str, stored: Option<&str>, delta: i64) -> Result<i64, CacheError> {
    stored
        .map_or(Some(0), |text| text.parse::<i64>().ok())
        .and_then(|old| old.checked_add(delta))
        .ok_or_else(|| not_an_integer(key))
}

/// Returns the error for a value that cannot be counted up.
pub(super) fn not_an_integer(key: &str) -> CacheError {
    CacheError::NotAnInteger(shown(key))
}

/// Returns how many bytes an entry counts for.
pub(super) fn size(key: &str, text: &str) -> u64 {
    (key.len() as u64).saturating_add(text.len() as u64)
}

/// Returns the start of a key, as a key can be as long as a quota.
fn shown(key: &str) -> String {
    key.chars().take(SHOWN).collect()
}
