//! The `cache` import of the contract.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{CacheError, Timed};
use crate::json::parse_value;
use crate::sandbox::bindings::cache as wit;
use crate::sandbox::instance::Call;

type Answer<T> = wasmtime::Result<Result<T, wit::Error>>;

impl wit::Host for Call {
    fn get(&mut self, key: String) -> Answer<Option<String>> {
        let found = self.ask("cache.get", || json!({"key": key}), |cache| cache.get(&key))?;
        Ok(found
            .map(|value| value.map(|value| value.to_string()))
            .map_err(Into::into))
    }

    fn set(&mut self, key: String, value: String, ttl_ms: Option<u64>) -> Answer<()> {
        let value = match parse(&value) {
            Ok(value) => value,
            Err(error) => return self.wrong("cache.set", &key, error),
        };
        let request = || json!({"key": key, "value": value, "ttl_ms": ttl_ms});
        let set = self.ask("cache.set", request, |cache| {
            cache.set(&key, &value, time(ttl_ms))
        })?;
        Ok(set.map_err(Into::into))
    }

    fn has(&mut self, key: String) -> Answer<bool> {
        let found = self.ask(
            "cache.has",
            || json!({"key": key}),
            |cache| cache.get(&key).map(|value| value.is_some()),
        )?;
        Ok(found.map_err(Into::into))
    }

    fn delete(&mut self, key: String) -> Answer<bool> {
        let request = || json!({"key": key});
        let deleted = self.ask("cache.delete", request, |cache| cache.delete(&key))?;
        Ok(deleted.map_err(Into::into))
    }

    fn increment(&mut self, key: String, delta: i64, ttl_ms: Option<u64>) -> Answer<i64> {
        let request = || json!({"key": key, "delta": delta, "ttl_ms": ttl_ms});
        let sum = self.ask("cache.increment", request, |cache| {
            cache.increment(&key, delta, time(ttl_ms))
        })?;
        Ok(sum.map_err(Into::into))
    }

    fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<String>,
        value: String,
        ttl_ms: Option<u64>,
    ) -> Answer<bool> {
        let parsed = expected.as_deref().map(parse).transpose();
        let (expected, value) = match parsed.and_then(|expected| Ok((expected, parse(&value)?))) {
            Ok(both) => both,
            Err(error) => return self.wrong("cache.compare_and_set", &key, error),
        };
        let request =
            || json!({"key": key, "expected": expected, "value": value, "ttl_ms": ttl_ms});
        let swapped = self.ask("cache.compare_and_set", request, |cache| {
            cache.compare_and_set(&key, expected.as_ref(), &value, time(ttl_ms))
        })?;
        Ok(swapped.map_err(Into::into))
    }
}

impl Call {
    /// Counts the call, and asks the hook's cache until it has to answer.
    fn ask<T: Serialize + DeserializeOwned>(
        &mut self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        work: impl FnOnce(Timed<'_>) -> Result<T, CacheError>,
    ) -> wasmtime::Result<Result<T, CacheError>> {
        let border = self.enter()?;
        let asked = border.reel().cross_result(capability, request, || {
            work(border.pass.doors.cache.until(border.reply_by()))
        });
        Ok(asked?)
    }

    /// Counts a call that asks for nothing a cache could do.
    fn wrong<T>(&mut self, capability: &'static str, key: &str, error: wit::Error) -> Answer<T> {
        let border = self.enter()?;
        border.reel().derive(
            capability,
            || json!({"key": key}),
            || json!({"error": "not JSON"}),
        );
        Ok(Err(error))
    }
}

fn time(milliseconds: Option<u64>) -> Option<Duration> {
    milliseconds.map(Duration::from_millis)
}

fn parse(text: &str) -> Result<serde_json::Value, wit::Error> {
    parse_value(text).map_err(|error| wit::Error::WrongType(format!("not JSON: {error}")))
}

impl From<CacheError> for wit::Error {
    fn from(error: CacheError) -> Self {
        match error {
            CacheError::Quota(_) => Self::Quota(error.to_string()),
            CacheError::NotAnInteger(_) => Self::WrongType(error.to_string()),
            CacheError::Unavailable(_) => Self::Unavailable(error.to_string()),
        }
    }
}
