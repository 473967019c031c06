//! Stand-ins for native tests: log, metrics and cache live in the thread, the rest
//! answers that it is not there.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::bindings::hookbox::hook as wit;

const NOT_HERE: &str = "not available in a native test; try the hook with `hookbox run`";

#[derive(Default)]
struct Host {
    lines: Vec<(wit::log::Level, String)>,
    metrics: BTreeMap<String, wit::metrics::Number>,
    cache: BTreeMap<String, String>,
}

thread_local! {
    static HOST: RefCell<Host> = RefCell::default();
}

pub(crate) mod log {
    use super::{HOST, wit};

    pub(crate) fn write(level: wit::log::Level, message: &str) {
        HOST.with_borrow_mut(|host| host.lines.push((level, message.to_owned())));
    }

    pub(crate) fn take() -> Vec<(wit::log::Level, String)> {
        HOST.with_borrow_mut(|host| std::mem::take(&mut host.lines))
    }
}

pub(crate) mod metrics {
    use super::{HOST, wit::metrics::Number};

    pub(crate) fn incr(name: &str, delta: i64) -> Number {
        let sum = match get(name) {
            None => Number::Integer(delta),
            Some(Number::Integer(value)) => Number::Integer(value.saturating_add(delta)),
            Some(Number::Real(value)) => Number::Real(value + delta as f64),
        };
        set(name, sum);
        sum
    }

    pub(crate) fn set(name: &str, value: Number) {
        HOST.with_borrow_mut(|host| host.metrics.insert(name.to_owned(), value));
    }

    pub(crate) fn get(name: &str) -> Option<Number> {
        HOST.with_borrow(|host| host.metrics.get(name).copied())
    }

    pub(crate) fn snapshot() -> Vec<(String, Number)> {
        HOST.with_borrow(|host| host.metrics.clone().into_iter().collect())
    }
}

/// Time does not pass in a test, so nothing runs out.
pub(crate) mod cache {
    use serde_json::Value;

    use super::{HOST, wit::cache::Error};

    pub(crate) fn get(key: &str) -> Result<Option<String>, Error> {
        Ok(HOST.with_borrow(|host| host.cache.get(key).cloned()))
    }

    pub(crate) fn set(key: &str, value: &str, _ttl_ms: Option<u64>) -> Result<(), Error> {
        HOST.with_borrow_mut(|host| host.cache.insert(key.to_owned(), value.to_owned()));
        Ok(())
    }

    pub(crate) fn has(key: &str) -> Result<bool, Error> {
        Ok(get(key)?.is_some())
    }

    pub(crate) fn delete(key: &str) -> Result<bool, Error> {
        Ok(HOST.with_borrow_mut(|host| host.cache.remove(key).is_some()))
    }

    pub(crate) fn increment(key: &str, delta: i64, ttl_ms: Option<u64>) -> Result<i64, Error> {
        let sum = get(key)?
            .map_or(Ok(0), |text| text.parse::<i64>())
            .ok()
            .and_then(|value| value.checked_add(delta))
            .ok_or_else(|| Error::WrongType(format!("`{key}` does not hold an integer")))?;
        set(key, &sum.to_string(), ttl_ms)?;
        Ok(sum)
    }

    pub(crate) fn compare_and_set(
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, Error> {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
        let fits = get(key)?.as_deref().and_then(parsed) == expected.and_then(parsed);
        if fits {
            set(key, value, ttl_ms)?;
        }
        Ok(fits)
    }
}

pub(crate) mod http {
    use super::{
        NOT_HERE,
        wit::http::{Error, Request, Response},
    };

    pub(crate) fn send(_request: &Request) -> Result<Response, Error> {
        Err(Error::Failed(NOT_HERE.into()))
    }
}

pub(crate) mod events {
    use super::{NOT_HERE, wit::events::Error};

    pub(crate) fn emit(_name: &str, _payload: &str) -> Result<String, Error> {
        Err(Error::Refused(NOT_HERE.into()))
    }
}

pub(crate) mod tools {
    use super::{NOT_HERE, wit::tools::Error};

    pub(crate) fn call(_name: &str, _args: &str) -> Result<String, Error> {
        Err(Error::Failed(NOT_HERE.into()))
    }
}

pub(crate) mod environment {
    use super::{NOT_HERE, wit::environment::Error};

    pub(crate) fn get(_name: &str) -> Result<Option<String>, Error> {
        Err(Error::NotGranted(NOT_HERE.into()))
    }
}

pub(crate) mod files {
    use super::{NOT_HERE, wit::files::Error};

    pub(crate) fn read(_path: &str) -> Result<Vec<u8>, Error> {
        Err(Error::Failed(NOT_HERE.into()))
    }

    pub(crate) fn entries(_path: &str) -> Result<Vec<String>, Error> {
        Err(Error::Failed(NOT_HERE.into()))
    }
}

pub(crate) mod hooks {
    use super::{
        NOT_HERE,
        wit::hooks::{Error, Hook},
    };

    pub(crate) fn all() -> Result<Vec<Hook>, Error> {
        Err(Error::NotGranted(NOT_HERE.into()))
    }

    pub(crate) fn source(_name: &str) -> Result<Option<String>, Error> {
        Err(Error::NotGranted(NOT_HERE.into()))
    }
}

/// The start of the year 2000, like in a call without a timestamp.
pub(crate) mod clock {
    pub(crate) fn now() -> u64 {
        946_684_800_000
    }
}

/// The same bytes every time, like in a call without a grant.
pub(crate) mod random {
    pub(crate) fn bytes(count: u32) -> Vec<u8> {
        (0..count.min(65_536))
            .map(|index| (index.wrapping_mul(197) >> 3) as u8)
            .collect()
    }
}
