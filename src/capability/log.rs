//! Structured log lines, bounded in number and size.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::sandbox::bindings::log as wit;
use crate::sandbox::instance::Call;
use crate::sandbox::limits::Limits;

/// What the lines of hooks are called in `tracing`, to tell them from hookbox's own.
const TARGET: &str = "hookbox::hook";

/// How loud a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For whoever debugs the hook.
    Debug,
    /// Something happened.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

impl Level {
    /// Returns the word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// One line with the hook that wrote it and the event it was called for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// The hook's name.
    pub hook: Arc<str>,
    /// The event's name.
    pub event: Arc<str>,
    /// How loud it is.
    pub level: Level,
    /// What it says.
    pub message: String,
}

/// The lines of one call.
#[derive(Debug)]
pub struct Logs {
    hook: Arc<str>,
    event: Arc<str>,
    lines: Vec<LogLine>,
    lines_left: usize,
    bytes_left: usize,
    dropped: u64,
}

impl Logs {
    pub(super) fn new(hook: Arc<str>, event: Arc<str>, limits: &Limits) -> Self {
        Self {
            hook,
            event,
            lines: Vec::new(),
            lines_left: limits.log_lines,
            bytes_left: limits.log_bytes,
            dropped: 0,
        }
    }

    pub(super) fn write(&mut self, level: Level, message: String) {
        if self.lines_left == 0 || message.len() > self.bytes_left {
            self.dropped += 1;
            return;
        }
        self.lines_left -= 1;
        self.bytes_left -= message.len();
        self.trace(level, &message);
        self.lines.push(LogLine {
            hook: Arc::clone(&self.hook),
            event: Arc::clone(&self.event),
            level,
            message,
        });
    }

    /// Passes a line on to whoever follows this process.
    fn trace(&self, level: Level, message: &str) {
        let (hook, event) = (&*self.hook, &*self.event);
        match level {
            Level::Debug => tracing::debug!(target: TARGET, hook, event, "{message}"),
            Level::Info => tracing::info!(target: TARGET, hook, event, "{message}"),
            Level::Warn => tracing::warn!(target: TARGET, hook, event, "{message}"),
            Level::Error => tracing::error!(target: TARGET, hook, event, "{message}"),
        }
    }

    /// Appends lines of a nested event, which were bounded when they were written.
    pub(super) fn append(&mut self, lines: Vec<LogLine>) {
        let room = self.lines_left.min(lines.len());
        self.dropped += (lines.len() - room) as u64;
        self.lines_left -= room;
        self.lines.extend(lines.into_iter().take(room));
    }

    /// Counts lines that somebody else dropped.
    pub(super) fn count_dropped(&mut self, lines: u64) {
        self.dropped += lines;
    }

    pub(super) fn into_lines(self) -> (Vec<LogLine>, u64) {
        (self.lines, self.dropped)
    }
}

impl wit::Host for Call {
    fn write(&mut self, level: wit::Level, message: String) -> wasmtime::Result<()> {
        let level = match level {
            wit::Level::Debug => Level::Debug,
            wit::Level::Info => Level::Info,
            wit::Level::Warn => Level::Warn,
            wit::Level::Error => Level::Error,
        };
        // What was printed before comes before.
        if let Some(wasi) = &self.wasi {
            let printed = wasi.printed_so_far();
            self.border.log_printed(printed);
        }
        self.enter()?.logs.write(level, message);
        Ok(())
    }
}
