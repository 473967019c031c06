//! Where the payload of an event comes from.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::json::{Json, JsonError};
use crate::sandbox::limits::Limits;

/// Reads a payload given as JSON, as `@FILE` or as `-` for standard input.
///
/// Reading stops at the most any project may allow; what this project allows is
/// checked when its limits are known.
pub(super) fn read(argument: Option<&str>) -> Result<Option<Vec<u8>>> {
    let Some(argument) = argument else {
        return Ok(None);
    };
    if argument == "-" {
        if io::stdin().is_terminal() {
            eprintln!("reading the payload from standard input; end it with Ctrl-D");
        }
        return bounded(io::stdin().lock())
            .context("standard input cannot be read")
            .map(Some);
    }
    if let Some(path) = argument.strip_prefix('@') {
        return File::open(path)
            .and_then(bounded)
            .with_context(|| format!("the payload file {path} cannot be read"))
            .map(Some);
    }
    Ok(Some(argument.as_bytes().to_vec()))
}

fn bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(Limits::ceiling().payload as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses what was read.
pub(super) fn parse(bytes: Option<&[u8]>, limits: &Limits) -> Result<Value> {
    let Some(bytes) = bytes else {
        return Ok(Value::Null);
    };
    match Json::parse(bytes, limits.payload) {
        Ok(json) => Ok(json.into_value()),
        Err(error) => bail!(
            "the payload is not JSON hookbox takes: {error}{}",
            hint(&error, bytes)
        ),
    }
}

/// The two slips everybody makes.
fn hint(error: &JsonError, bytes: &[u8]) -> &'static str {
    if !matches!(error, JsonError::Syntax(_)) {
        return "";
    }
    match bytes.first() {
        None => "; give JSON, @FILE, or - for standard input",
        Some(b'{' | b'[' | b'"') => "",
        Some(_) => "; a string needs its quotes ('\"text\"'), a file an @ (@FILE)",
    }
}
