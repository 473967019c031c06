//! `cache`: JSON values that outlive the call.

use starlark::environment::GlobalsBuilder;
use starlark::values::float::UnpackFloat;
use starlark::values::none::NoneOr;
use starlark::values::{Heap, Value};

use super::encode_arg;
use crate::host::{self, CacheError};
use crate::json_in::parse;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Returns a stored value, or `default`.
    fn get<'v>(
        key: &str,
        #[starlark(default = NoneOr::None)] default: NoneOr<Value<'v>>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("cache.get")?;
        match host::cache_get(key).map_err(|error| fault("cache.get", error))? {
            Some(text) => parse(&text, heap).map_err(|what| raise(format!("cache.get: {what}"))),
            None => Ok(default.into_option().unwrap_or_else(Value::new_none)),
        }
    }

    /// Stores a value and returns it.
    fn set<'v>(
        key: &str,
        value: Value<'v>,
        #[starlark(default = NoneOr::None)] ttl_seconds: NoneOr<UnpackFloat>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("cache.set")?;
        let ttl = milliseconds("cache.set", ttl_seconds)?;
        let text = encode_arg("cache.set", "value", value)?;
        host::cache_set(key, &text, ttl).map_err(|error| fault("cache.set", error))?;
        Ok(value)
    }

    /// Says whether there is a value.
    fn has(key: &str) -> starlark::Result<bool> {
        require_handling("cache.has")?;
        host::cache_has(key).map_err(|error| fault("cache.has", error))
    }

    /// Removes a value and says whether there was one.
    fn delete(key: &str) -> starlark::Result<bool> {
        require_handling("cache.delete")?;
        host::cache_delete(key).map_err(|error| fault("cache.delete", error))
    }

    /// Adds to an integer in one step and returns the sum. The time counts from
    /// the first addition.
    fn incr(
        key: &str,
        #[starlark(default = 1)] delta: i64,
        #[starlark(default = NoneOr::None)] ttl_seconds: NoneOr<UnpackFloat>,
    ) -> starlark::Result<i64> {
        require_handling("cache.incr")?;
        let ttl = milliseconds("cache.incr", ttl_seconds)?;
        host::cache_incr(key, delta, ttl).map_err(|error| fault("cache.incr", error))
    }

    /// Stores `value` if the stored value is `expected`; None expects none.
    fn cas<'v>(
        key: &str,
        expected: Value<'v>,
        value: Value<'v>,
        #[starlark(default = NoneOr::None)] ttl_seconds: NoneOr<UnpackFloat>,
    ) -> starlark::Result<bool> {
        require_handling("cache.cas")?;
        let ttl = milliseconds("cache.cas", ttl_seconds)?;
        let expected = match expected.is_none() {
            true => None,
            false => Some(encode_arg("cache.cas", "expected", expected)?),
        };
        let value = encode_arg("cache.cas", "value", value)?;
        host::cache_cas(key, expected.as_deref(), &value, ttl)
            .map_err(|error| fault("cache.cas", error))
    }
}

fn milliseconds(name: &str, seconds: NoneOr<UnpackFloat>) -> starlark::Result<Option<u64>> {
    match seconds.into_option() {
        Some(UnpackFloat(seconds)) if seconds >= 0.0 => Ok(Some((seconds * 1000.0).ceil() as u64)),
        Some(_) => Err(raise(format!("{name}: ttl_seconds must be >= 0"))),
        None => Ok(None),
    }
}

fn fault(name: &str, error: CacheError) -> starlark::Error {
    let (CacheError::NotGranted(what)
    | CacheError::Quota(what)
    | CacheError::WrongType(what)
    | CacheError::Unavailable(what)) = error;
    raise(format!("{name}: {what}"))
}

/// Adds `cache`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("cache", functions);
}
