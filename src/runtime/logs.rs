//! Log lines that wait for the next `turn.end`.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::capability::log::LogLine;
use crate::json::Json;

/// How many lines wait.
const MAX_PENDING: usize = 10_000;

/// The lines of all events since the last `turn.end`.
#[derive(Debug, Default)]
pub(super) struct PendingLogs {
    lines: Mutex<VecDeque<LogLine>>,
}

impl PendingLogs {
    /// Keeps log lines for the next `turn.end`.
    pub(super) fn remember(&self, lines: &[LogLine]) {
        let mut pending = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        pending.extend(lines.iter().cloned());
        let over = pending.len().saturating_sub(MAX_PENDING);
        pending.drain(..over);
    }

    /// Hands all lines over.
    pub(super) fn take(&self) -> Vec<LogLine> {
        let mut pending = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *pending).into()
    }

    /// Puts what hooks logged since the last `turn.end` into this one's payload, as
    /// far as there is room. Where there is no place for lines, they wait.
    pub(super) fn hand_over(&self, payload: Json, room: usize) -> Json {
        let has_place = match payload.value() {
            Value::Object(object) => object.get("logs").is_none_or(Value::is_array),
            _ => false,
        };
        if !has_place {
            return payload;
        }
        let lines = fitting(&self.take(), room);
        let mut value = payload.into_value();
        if !lines.is_empty()
            && let Some(object) = value.as_object_mut()
            && let Value::Array(logs) = object
                .entry("logs")
                .or_insert_with(|| Value::Array(Vec::new()))
        {
            logs.extend(lines);
        }
        Json::from(value)
    }
}

impl From<Vec<LogLine>> for PendingLogs {
    fn from(lines: Vec<LogLine>) -> Self {
        Self {
            lines: Mutex::new(lines.into()),
        }
    }
}

/// How much the key and the brackets around log lines take, and the line that says
/// how many are missing.
const LOGS_FRAME: usize = 256;

/// Returns the newest lines that fit, as JSON, after one that counts the others.
fn fitting(lines: &[LogLine], room: usize) -> Vec<Value> {
    let mut left = room.saturating_sub(LOGS_FRAME);
    let mut fitting: Vec<Value> = Vec::new();
    for line in lines.iter().rev() {
        let Ok(value) = serde_json::to_value(line) else {
            continue;
        };
        let size = value.to_string().len() + 1;
        if size > left {
            break;
        }
        left -= size;
        fitting.push(value);
    }
    let missing = lines.len() - fitting.len();
    if missing > 0 && room > LOGS_FRAME {
        let message = format!("{missing} earlier log lines did not fit into this payload");
        fitting.push(serde_json::json!({"hook": "hookbox", "level": "warn", "message": message}));
    }
    fitting.reverse();
    fitting
}
