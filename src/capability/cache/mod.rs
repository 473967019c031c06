//! A store of JSON values that outlives the call.

mod memory;

pub use memory::{Cache, CacheError};

use std::time::Duration;

use crate::json::parse_value;
use crate::sandbox::bindings::cache as wit;
use crate::sandbox::instance::Call;

type Answer<T> = wasmtime::Result<Result<T, wit::Error>>;

impl wit::Host for Call {
    fn get(&mut self, key: String) -> Answer<Option<String>> {
        let cache = &self.enter()?.run.cache;
        Ok(Ok(cache.get(&key).map(|value| value.to_string())))
    }

    fn set(&mut self, key: String, value: String, ttl_ms: Option<u64>) -> Answer<()> {
        let cache = &self.enter()?.run.cache;
        let stored = parse(&value)
            .and_then(|value| Ok(cache.set(&key, value, ttl_ms.map(Duration::from_millis))?));
        Ok(stored)
    }

    fn has(&mut self, key: String) -> Answer<bool> {
        Ok(Ok(self.enter()?.run.cache.get(&key).is_some()))
    }

    fn delete(&mut self, key: String) -> Answer<bool> {
        Ok(Ok(self.enter()?.run.cache.delete(&key)))
    }

    fn increment(&mut self, key: String, delta: i64) -> Answer<i64> {
        Ok(self
            .enter()?
            .run
            .cache
            .increment(&key, delta)
            .map_err(Into::into))
    }

    fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<String>,
        value: String,
    ) -> Answer<bool> {
        let cache = &self.enter()?.run.cache;
        let swap = || {
            let expected = expected.as_deref().map(parse).transpose()?;
            Ok(cache.compare_and_set(&key, expected.as_ref(), parse(&value)?)?)
        };
        Ok(swap())
    }
}

fn parse(text: &str) -> Result<serde_json::Value, wit::Error> {
    parse_value(text).map_err(|error| wit::Error::WrongType(format!("not JSON: {error}")))
}

impl From<CacheError> for wit::Error {
    fn from(error: CacheError) -> Self {
        match error {
            CacheError::Quota(_) => Self::Quota(error.to_string()),
            CacheError::NotAnInteger(_) => Self::WrongType(error.to_string()),
        }
    }
}
