//! A store of JSON values that outlives the call.
//!
//! Without a grant it is the hook's own and ends with the run; a grant names what it
//! shares, with whom, and how large it may become.
//!
//! ```
//! use std::time::Duration;
//! use hookbox_guest::{HostError, cache};
//!
//! fn third_time() -> Result<bool, HostError> {
//!     Ok(cache::increment("tries", 1, Duration::from_secs(60))? >= 3)
//! }
//! # assert_eq!(third_time(), Ok(false));
//! ```

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{HostError, Kind};
use crate::host;

/// Returns a value, or none if there is none.
///
/// # Errors
/// Returns `wrong-type` if the stored value is not a `T`.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, HostError> {
    let Some(text) = host::cache::get(key)? else {
        return Ok(None);
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| misfit(key, &error))
}

/// Stores a value, for some time if one is given: `Duration::from_secs(60)` or `None`.
///
/// # Errors
/// Returns `quota` if the value or the store would become too large.
pub fn set(
    key: &str,
    value: impl Serialize,
    ttl: impl Into<Option<Duration>>,
) -> Result<(), HostError> {
    Ok(host::cache::set(
        key,
        &text(key, &value)?,
        milliseconds(ttl),
    )?)
}

/// Says whether there is a value.
///
/// # Errors
/// Returns `unavailable` if the store does not answer.
pub fn has(key: &str) -> Result<bool, HostError> {
    Ok(host::cache::has(key)?)
}

/// Removes a value and says whether there was one.
///
/// # Errors
/// Returns `unavailable` if the store does not answer.
pub fn delete(key: &str) -> Result<bool, HostError> {
    Ok(host::cache::delete(key)?)
}

/// Adds to an integer, which starts at 0, in one step, and returns the sum.
///
/// The time counts from the first addition; later ones do not extend it.
///
/// # Errors
/// Returns `wrong-type` if the stored value is not an integer.
pub fn increment(key: &str, by: i64, ttl: impl Into<Option<Duration>>) -> Result<i64, HostError> {
    Ok(host::cache::increment(key, by, milliseconds(ttl))?)
}

/// Stores `value` in one step if the stored value is `expected`, and says whether it
/// did. `None` expects that there is no value.
///
/// # Errors
/// Returns `quota` if the value or the store would become too large.
pub fn compare_and_set(
    key: &str,
    expected: Option<&Value>,
    value: impl Serialize,
    ttl: impl Into<Option<Duration>>,
) -> Result<bool, HostError> {
    let expected = expected.map(|value| text(key, value)).transpose()?;
    let value = text(key, &value)?;
    Ok(host::cache::compare_and_set(
        key,
        expected.as_deref(),
        &value,
        milliseconds(ttl),
    )?)
}

fn text(key: &str, value: &impl Serialize) -> Result<String, HostError> {
    serde_json::to_string(value).map_err(|error| misfit(key, &error))
}

fn misfit(key: &str, error: &serde_json::Error) -> HostError {
    HostError::new(
        Kind::WrongType,
        format!("the value under `{key}` does not fit: {error}"),
    )
}

fn milliseconds(ttl: impl Into<Option<Duration>>) -> Option<u64> {
    ttl.into()
        .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
