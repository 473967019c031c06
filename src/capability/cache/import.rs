//! The `cache` import of the contract.

use std::time::Duration;

use super::{CacheError, Timed};
use crate::json::parse_value;
use crate::sandbox::bindings::cache as wit;
use crate::sandbox::instance::Call;

type Answer<T> = wasmtime::Result<Result<T, wit::Error>>;

impl wit::Host for Call {
    fn get(&mut self, key: String) -> Answer<Option<String>> {
        let found = self.cache()?.get(&key);
        Ok(found
            .map(|value| value.map(|value| value.to_string()))
            .map_err(Into::into))
    }

    fn set(&mut self, key: String, value: String, ttl_ms: Option<u64>) -> Answer<()> {
        let cache = self.cache()?;
        Ok(parse(&value).and_then(|value| Ok(cache.set(&key, &value, time(ttl_ms))?)))
    }

    fn has(&mut self, key: String) -> Answer<bool> {
        let found = self.cache()?.get(&key);
        Ok(found.map(|value| value.is_some()).map_err(Into::into))
    }

    fn delete(&mut self, key: String) -> Answer<bool> {
        Ok(self.cache()?.delete(&key).map_err(Into::into))
    }

    fn increment(&mut self, key: String, delta: i64, ttl_ms: Option<u64>) -> Answer<i64> {
        let sum = self.cache()?.increment(&key, delta, time(ttl_ms));
        Ok(sum.map_err(Into::into))
    }

    fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<String>,
        value: String,
        ttl_ms: Option<u64>,
    ) -> Answer<bool> {
        let cache = self.cache()?;
        let swap = || {
            let expected = expected.as_deref().map(parse).transpose()?;
            let value = parse(&value)?;
            Ok(cache.compare_and_set(&key, expected.as_ref(), &value, time(ttl_ms))?)
        };
        Ok(swap())
    }
}

impl Call {
    /// Counts the call, and gives access to the hook's cache until it has to answer.
    fn cache(&mut self) -> wasmtime::Result<Timed<'_>> {
        let border = self.enter()?;
        Ok(border.pass.doors.cache.until(border.reply_by()))
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
