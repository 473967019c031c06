//! Takes more out of a tape than secrets: by JSON pointer, or by pattern. The chain of
//! hashes still holds, because a redacted record says what it was.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};

use regex::Regex;
use serde_json::Value;

use super::convert::to_line;
use super::copies::Copies;
use super::error::TapeError;
use super::line::Line;
use super::read::{Ending, Reader};
use super::record::{Body, Entry, Record, Redacted, Seal};
use super::seal::Hash;
use super::text::Text;
use super::twin::Twin;
use crate::canonical;

/// What stands for what was taken out.
pub(super) const GONE: &str = "[redacted]";

/// The fields that can be redacted. The others hold the tape together, or are what it is
/// for: who decided what.
const FIELDS: [&str; 15] = [
    "about", "answer", "effects", "error", "failure", "id", "logs", "payload", "reason",
    "refusals", "request", "said", "subject", "trace", "warnings",
];

/// The fields whose long texts are stored as bodies.
const TEXTS: [&str; 4] = ["about", "answer", "payload", "request"];

/// The keys inside of them whose values are words of the format.
const WORDS: [&str; 11] = [
    "body",
    "cause",
    "decision",
    "dialect",
    "event",
    "hook",
    "kind",
    "level",
    "placement",
    "propagate",
    "role_hint",
];

/// Why a tape could not be redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// It cannot be read.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The new one cannot be written.
    #[error("the new tape cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// It has no end that a seal could follow.
    #[error("the tape was not closed; cut it first, which closes it")]
    NotClosed,
    /// A pointer is none, or points at what holds the tape together.
    #[error(
        "{pointer:?} cannot be redacted; write a JSON pointer that begins with one of {}",
        fields()
    )]
    Pointer {
        /// What was asked for.
        pointer: String,
    },
    /// Without that, a record would be none any more.
    #[error(
        "record {record} would be no record any more without {paths}; point at a text inside of it"
    )]
    Breaks {
        /// The record.
        record: u64,
        /// What was to be taken out.
        paths: String,
    },
    /// A pattern is none.
    #[error("the pattern cannot be used: {0}")]
    Pattern(String),
}

fn fields() -> String {
    FIELDS.map(|field| format!("/{field}")).join(", ")
}

/// What is to be taken out.
#[derive(Debug, Default)]
pub struct Redaction {
    pointers: Vec<Pointer>,
    patterns: Vec<Regex>,
}

#[derive(Debug)]
struct Pointer {
    written: String,
    segments: Vec<String>,
}

impl Redaction {
    /// Takes out what is at a place: the name of a field, then a JSON pointer into it,
    /// as in `/payload/args/token`. `*` stands for every key or index.
    ///
    /// # Errors
    /// Returns that this is no place, or one that must stay.
    pub fn pointer(&mut self, pointer: &str) -> Result<(), RedactError> {
        let segments: Vec<String> = match pointer.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescaped).collect(),
            None => Vec::new(),
        };
        match segments.first() {
            Some(field) if FIELDS.contains(&field.as_str()) => {
                self.pointers.push(Pointer {
                    written: pointer.to_owned(),
                    segments,
                });
                Ok(())
            }
            _ => Err(RedactError::Pointer {
                pointer: pointer.to_owned(),
            }),
        }
    }

    /// Takes out what matches a regular expression, in every text.
    ///
    /// # Errors
    /// Returns that this is none.
    pub fn pattern(&mut self, pattern: &str) -> Result<(), RedactError> {
        let pattern =
            Regex::new(pattern).map_err(|error| RedactError::Pattern(error.to_string()))?;
        if pattern.is_match("") {
            return Err(RedactError::Pattern(
                "it also matches where there is nothing; write `+` for `*`".to_owned(),
            ));
        }
        self.patterns.push(pattern);
        Ok(())
    }

    /// Writes a redacted copy of a tape, and says how many of its records are redacted
    /// now. `first` and `second` read the same tape.
    ///
    /// # Errors
    /// Returns that the tape is damaged, or that the copy cannot be written.
    pub fn write<R: BufRead>(
        &self,
        mut first: Reader<R>,
        mut second: Reader<R>,
        out: &mut impl Write,
    ) -> Result<u64, RedactError> {
        let uses = body_uses(&mut first)?;
        if first.ending() != Some(Ending::Closed) {
            return Err(RedactError::NotClosed);
        }
        let mut sum = blake3::Hasher::new();
        let mut count = 0;
        let mut next = 0;
        let mut head = Hash::GENESIS;
        while let Some(record) = second.next_record()? {
            if matches!(record.entry, Entry::Redaction(_)) {
                continue;
            }
            (next, head) = (second.records(), second.head());
            let line = second.line();
            let was = Former::of(&record, second.head());
            let redacted = self.line(line, &was, &uses)?;
            let line = redacted.as_deref().map_or(line, str::as_bytes);
            if redacted.is_some() || record.redacted.is_some() {
                count += 1;
                sum.update(&Hash::of(line).digits());
            }
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
        if count > 0 {
            out.write_all(seal(next, head, count, &sum).as_bytes())?;
        }
        Ok(count)
    }

    /// Returns a line with less in it; nothing if there is nothing to take out.
    fn line(&self, line: &[u8], was: &Former, uses: &Uses) -> Result<Option<String>, RedactError> {
        // The reader has read it before.
        let mut value: Value = serde_json::from_slice(line).unwrap_or_default();
        let before = value.clone();
        let mut paths = BTreeSet::new();
        if value.get("kind").and_then(Value::as_str) == Some("body") {
            self.body(&mut value, uses, &mut paths);
        } else {
            self.fields(&mut value, &mut paths);
        }
        if value == before {
            return Ok(None);
        }
        let new = paths.iter().cloned().collect::<Vec<_>>().join(", ");
        mark(&mut value, paths, was);
        let text = canonical::text(&value);
        if serde_json::from_str::<Line>(&text).is_err() {
            return Err(RedactError::Breaks {
                record: value["n"].as_u64().unwrap_or_default(),
                paths: new,
            });
        }
        Ok(Some(text))
    }

    fn fields(&self, value: &mut Value, paths: &mut BTreeSet<String>) {
        for pointer in &self.pointers {
            let Some((field, rest)) = pointer.segments.split_first() else {
                continue;
            };
            let is_text = TEXTS.contains(&field.as_str());
            let changed = match value.get_mut(field) {
                // The name of a body stays; the body itself goes.
                Some(Value::Object(_)) if is_text => false,
                Some(text) if is_text => take_out_of(text, rest),
                Some(other) => take_out(other, rest, &mut Copies::default()),
                None => false,
            };
            if changed {
                paths.insert(pointer.written.clone());
            }
        }
        let Value::Object(object) = value else { return };
        for (field, value) in object.iter_mut() {
            // The name of a body is no text.
            if FIELDS.contains(&field.as_str()) && self.blank(value, false) {
                paths.insert(format!("/{field}"));
            }
        }
    }

    fn body(&self, value: &mut Value, uses: &Uses, paths: &mut BTreeSet<String>) {
        let hash = value
            .get("body")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let used = uses.get(hash).cloned().unwrap_or_default();
        let twin = value.get("left_out").and_then(Value::as_str);
        let twin = twin.and_then(Twin::named);
        let Some(text) = value.get_mut("text") else {
            return;
        };
        for pointer in &self.pointers {
            let Some((field, rest)) = pointer.segments.split_first() else {
                continue;
            };
            // What was left out says what stands elsewhere, and has to go there.
            let elsewhere = twin.and_then(|twin| instead(twin, rest));
            let rest = elsewhere.as_deref().unwrap_or(rest);
            if used.contains(field.as_str()) && take_out_of(text, rest) {
                paths.insert(pointer.written.clone());
            }
        }
        if self.blank(text, false) {
            paths.insert("/text".to_owned());
        }
    }

    /// Replaces what matches a pattern, also inside of JSON that is written as a text.
    /// The words of the format itself stay where they are not a part of such a text.
    fn blank(&self, value: &mut Value, inside: bool) -> bool {
        match value {
            Value::String(text) => {
                if let Some(mut inner) = as_json(text) {
                    let changed = self.blank(&mut inner, true);
                    if changed {
                        *text = inner.to_string();
                    }
                    return changed;
                }
                self.patterns.iter().fold(false, |changed, pattern| {
                    let replaced = pattern.replace_all(text, GONE);
                    if replaced == *text {
                        return changed;
                    }
                    *text = replaced.into_owned();
                    true
                })
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.blank(item, inside) | changed),
            Value::Object(map) => {
                let keys: Vec<String> = map.keys().cloned().collect();
                let mut changed = false;
                for key in keys {
                    if !inside && WORDS.contains(&key.as_str()) {
                        continue;
                    }
                    if let Some(value) = map.get_mut(&key) {
                        changed |= self.blank(value, inside);
                    }
                    let mut name = Value::String(key.clone());
                    if inside
                        && self.blank(&mut name, true)
                        && let Some(value) = map.shift_remove(&key)
                    {
                        map.insert(name.as_str().unwrap_or(GONE).to_owned(), value);
                        changed = true;
                    }
                }
                changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// What a record was before anything was taken out of it.
struct Former {
    hash: Hash,
    /// The length of the text, if it is a body.
    bytes: Option<u64>,
}

impl Former {
    /// One that was redacted before still says what it was at first.
    fn of(record: &Record, hash: Hash) -> Self {
        let earlier = record.redacted.as_ref();
        let bytes = match &record.entry {
            Entry::Body(Body { text, .. }) => {
                earlier.map_or(Some(text.len() as u64), |earlier| earlier.bytes)
            }
            _ => None,
        };
        Self { hash, bytes }
    }
}

/// Says in a record what was taken out of it.
fn mark(value: &mut Value, mut paths: BTreeSet<String>, was: &Former) {
    let Value::Object(object) = value else { return };
    let earlier = object.get("redacted").cloned().unwrap_or_default();
    if let Ok(earlier) = serde_json::from_value::<Redacted>(earlier) {
        paths.extend(earlier.paths);
    }
    let redacted = Redacted {
        bytes: was.bytes,
        paths: paths.into_iter().collect(),
        was: was.hash,
    };
    let redacted = serde_json::to_value(redacted).unwrap_or_default();
    // What a record has none of is not written.
    object.retain(|field, value| {
        field == "trace" || value.as_array().is_none_or(|list| !list.is_empty())
    });
    object.insert("redacted".to_owned(), redacted);
}

/// Which fields name a body, by its hash.
type Uses = HashMap<String, BTreeSet<&'static str>>;

fn body_uses<R: BufRead>(reader: &mut Reader<R>) -> Result<Uses, TapeError> {
    let mut uses = Uses::new();
    while reader.next_record()?.is_some() {
        let line: Value = serde_json::from_slice(reader.line()).unwrap_or_default();
        for field in TEXTS {
            let hash = line.get(field).and_then(|text| text.get("body"));
            if let Some(hash) = hash.and_then(Value::as_str) {
                uses.entry(hash.to_owned()).or_default().insert(field);
            }
        }
    }
    Ok(uses)
}

/// Replaces what is at a place of a field, and what says the same elsewhere in it: calls
/// stand in a payload decoded, as a text, and as the agent sent them.
fn take_out_of(field: &mut Value, segments: &[String]) -> bool {
    let mut copies = Copies::default();
    let changed = take_out(field, segments, &mut copies);
    if changed {
        copies.take_out(field);
    }
    changed
}

/// Replaces what is at a place, also inside of JSON that is written as a text.
fn take_out(value: &mut Value, segments: &[String], copies: &mut Copies) -> bool {
    let Some((first, rest)) = segments.split_first() else {
        let gone = Value::String(GONE.to_owned());
        let changed = *value != gone;
        if changed {
            copies.note(value);
        }
        *value = match value {
            // A list stays one, and so do the rows of a trace.
            Value::Array(_) => Value::Array(Vec::new()),
            _ => gone,
        };
        return changed;
    };
    match value {
        Value::Object(map) if first == "*" => map.values_mut().fold(false, |changed, value| {
            take_out(value, rest, copies) | changed
        }),
        Value::Object(map) => map
            .get_mut(first)
            .is_some_and(|value| take_out(value, rest, copies)),
        Value::Array(items) if first == "*" => items.iter_mut().fold(false, |changed, item| {
            take_out(item, rest, copies) | changed
        }),
        Value::Array(items) => {
            let index = first.parse::<usize>().ok();
            let item = index.and_then(|index| items.get_mut(index));
            item.is_some_and(|item| take_out(item, rest, copies))
        }
        Value::String(text) => {
            let Some(mut inner) = as_json(text) else {
                return false;
            };
            let changed = take_out(&mut inner, segments, copies);
            if changed {
                *text = inner.to_string();
            }
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the place of what a place in a twin says, which was left out.
fn instead(twin: Twin, segments: &[String]) -> Option<Vec<String>> {
    let (first, rest) = segments.split_first()?;
    (first == twin.name()).then(|| [&[twin.other().to_owned()], rest].concat())
}

/// Reads an object or a list that is written as a text.
pub(super) fn as_json(text: &str) -> Option<Value> {
    let value = crate::json::parse_value(text).ok()?;
    (value.is_object() || value.is_array() || value.is_string()).then_some(value)
}

/// A JSON pointer writes `~` and `/` as `~0` and `~1`.
fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn seal(number: u64, head: Hash, count: u64, sum: &blake3::Hasher) -> String {
    let lines = sum.finalize();
    let entry = Entry::Redaction(Seal {
        count,
        lines: Hash::from_bytes(lines.into()),
    });
    let line = to_line(number, head, None, entry, &mut Text::Inline);
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}
