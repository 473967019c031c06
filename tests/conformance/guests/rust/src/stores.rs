//! What outlives the call: metrics and cache.

use std::time::Duration;

use hookbox_guest::{Decision, Error, HostError, Value, cache, json, metrics};

use crate::{note, note_either};

/// Runs a mode, if it is one of these.
pub fn run(mode: &str, args: &Value) -> Option<Result<Decision, Error>> {
    Some(match mode {
        "metrics" => Ok(count()),
        "cache" => store(&args["value"]).map_err(Error::from),
        "cache-ttl" => store_for_a_minute().map_err(Error::from),
        "cache-quota" => Ok(note_either(store_letters(&args["size"]))),
        "cache-wrong-type" => Ok(note_either(increment_a_text())),
        _ => return None,
    })
}

fn count() -> Decision {
    let first = metrics::incr("conformance.count", 2);
    let second = metrics::incr("conformance.count", 1);
    metrics::set("conformance.gauge", 2.5);
    metrics::set("conformance.whole", 7);
    let names: Vec<String> = metrics::snapshot()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("conformance."))
        .collect();
    note(json!({
        "first": first, "second": second,
        "gauge": metrics::get("conformance.gauge"),
        "whole": metrics::get("conformance.whole"),
        "missing": metrics::get("conformance.none"),
        "names": names,
    }))
}

fn store(value: &Value) -> Result<Decision, HostError> {
    cache::set("k", value, None)?;
    Ok(note(json!({
        "got": cache::get::<Value>("k")?,
        "has": cache::has("k")?,
        "deleted": cache::delete("k")?,
        "again": cache::delete("k")?,
        "gone": cache::get::<Value>("k")?,
        "five": cache::increment("n", 5, None)?,
        "seven": cache::increment("n", 2, None)?,
        "fresh": cache::compare_and_set("c", None, 1, None)?,
        "stale": cache::compare_and_set("c", None, 2, None)?,
        "swapped": cache::compare_and_set("c", Some(&json!(1)), json!({"x": 2}), None)?,
        "c": cache::get::<Value>("c")?,
    })))
}

fn store_for_a_minute() -> Result<Decision, HostError> {
    cache::set("t", 1, Duration::from_secs(60))?;
    Ok(note(cache::get::<Value>("t")?))
}

fn store_letters(size: &Value) -> Result<&'static str, HostError> {
    let size = size.as_u64().unwrap_or_default();
    cache::set("big", "x".repeat(size as usize), None)?;
    Ok("stored")
}

fn increment_a_text() -> Result<i64, HostError> {
    cache::set("w", "text", None)?;
    cache::increment("w", 1, None)
}
