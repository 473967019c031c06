//! The host's side of the capabilities. While the image is prepared there is
//! no host, and each call answers with what an empty one would.

use crate::bindings::hookbox::hook as imports;
use crate::phase::{Phase, current};

pub use imports::hooks::Hook;
pub use imports::http::{Request, Response};
pub use imports::log::Level;
pub use imports::metrics::Number;
pub use imports::{cache::Error as CacheError, http::Error as HttpError};

fn live() -> bool {
    current() != Phase::WarmUp
}

pub fn log(level: Level, message: &str) {
    if live() {
        imports::log::write(level, message);
    }
}

pub fn metrics_incr(name: &str, delta: i64) -> Number {
    if live() {
        imports::metrics::incr(name, delta)
    } else {
        Number::Integer(delta)
    }
}

pub fn metrics_set(name: &str, value: Number) {
    if live() {
        imports::metrics::set(name, value);
    }
}

pub fn metrics_get(name: &str) -> Option<Number> {
    if live() {
        imports::metrics::get(name)
    } else {
        Some(Number::Real(1.0))
    }
}

pub fn metrics_snapshot() -> Vec<(String, Number)> {
    if live() {
        imports::metrics::snapshot()
    } else {
        vec![("warm".to_owned(), Number::Integer(1))]
    }
}

pub fn cache_get(key: &str) -> Result<Option<String>, CacheError> {
    if live() {
        imports::cache::get(key)
    } else {
        Ok(Some("{\"warm\":[1]}".to_owned()))
    }
}

pub fn cache_set(key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), CacheError> {
    if live() {
        imports::cache::set(key, value, ttl_ms)
    } else {
        Ok(())
    }
}

pub fn cache_has(key: &str) -> Result<bool, CacheError> {
    if live() {
        imports::cache::has(key)
    } else {
        Ok(true)
    }
}

pub fn cache_delete(key: &str) -> Result<bool, CacheError> {
    if live() {
        imports::cache::delete(key)
    } else {
        Ok(true)
    }
}

pub fn cache_incr(key: &str, delta: i64, ttl_ms: Option<u64>) -> Result<i64, CacheError> {
    if live() {
        imports::cache::increment(key, delta, ttl_ms)
    } else {
        Ok(delta)
    }
}

pub fn cache_cas(
    key: &str,
    expected: Option<&str>,
    value: &str,
    ttl_ms: Option<u64>,
) -> Result<bool, CacheError> {
    if live() {
        imports::cache::compare_and_set(key, expected, value, ttl_ms)
    } else {
        Ok(true)
    }
}

pub fn http_send(request: &Request) -> Result<Response, HttpError> {
    if live() {
        return imports::http::send(request);
    }
    Ok(Response {
        status: 200,
        headers: vec![("Content-Type".to_owned(), "text/plain".to_owned())],
        body: b"warm".to_vec(),
        url: request.url.clone(),
    })
}

pub fn emit(name: &str, payload: &str) -> Result<String, String> {
    use imports::events::Error;
    if !live() {
        return Ok(payload.to_owned());
    }
    imports::events::emit(name, payload).map_err(|error| match error {
        Error::Blocked(reason) | Error::Refused(reason) => reason,
    })
}

pub fn call_tool(name: &str, args: &str) -> Result<String, String> {
    use imports::tools::Error;
    if !live() {
        return Ok(args.to_owned());
    }
    imports::tools::call(name, args).map_err(|error| match error {
        Error::NotGranted(what)
        | Error::Blocked(what)
        | Error::UnknownTool(what)
        | Error::Failed(what) => what,
    })
}

pub fn env(name: &str) -> Result<Option<String>, String> {
    use imports::environment::Error;
    if !live() {
        return Ok(Some(name.to_owned()));
    }
    imports::environment::get(name).map_err(|Error::NotGranted(what)| what)
}

pub fn file(path: &str) -> Result<Vec<u8>, String> {
    if !live() {
        return Ok(b"warm".to_vec());
    }
    imports::files::read(path).map_err(file_error)
}

pub fn entries(path: &str) -> Result<Vec<String>, String> {
    if !live() {
        return Ok(vec!["warm".to_owned()]);
    }
    imports::files::entries(path).map_err(file_error)
}

fn file_error(error: imports::files::Error) -> String {
    use imports::files::Error;
    match error {
        Error::NotGranted(what)
        | Error::NotFound(what)
        | Error::TooLarge(what)
        | Error::Failed(what) => what,
    }
}

pub fn hooks() -> Result<Vec<Hook>, String> {
    use imports::hooks::Error;
    if !live() {
        return Ok(Vec::new());
    }
    imports::hooks::all().map_err(|Error::NotGranted(what)| what)
}

pub fn hook_source(name: &str) -> Result<Option<String>, String> {
    use imports::hooks::Error;
    if !live() {
        return Ok(None);
    }
    imports::hooks::source(name).map_err(|Error::NotGranted(what)| what)
}

pub fn now() -> u64 {
    if live() { imports::clock::now() } else { 0 }
}

pub fn random(count: u32) -> Vec<u8> {
    if live() {
        imports::random::bytes(count)
    } else {
        vec![0; count as usize]
    }
}
