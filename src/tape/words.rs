//! Texts that come again on a tape, kept once: names of hooks and events stand in most
//! of its records, and so does the payload of an event in those of its dispatch.

use std::borrow::Cow;
use std::sync::Arc;

use super::scan::Raw;

/// How many names are known at once. A project has few hooks.
const MOST_NAMES: usize = 32;

/// Longer texts are not kept: a made-up tape must not make a reader hold much.
const LONGEST_NAME: usize = 256;
const LONGEST_TEXT: usize = 8 << 10;

/// The words of the format, which need no memory.
const FIXED: [&str; 32] = [
    "harness",
    "component",
    "starlark",
    "process",
    "command",
    "framework",
    "harn",
    "polytoken",
    "http.send",
    "environment.get",
    "files.read",
    "files.entries",
    "cache.get",
    "cache.has",
    "cache.set",
    "cache.delete",
    "cache.increment",
    "cache.compare_and_set",
    "metrics.incr",
    "metrics.set",
    "metrics.get",
    "metrics.snapshot",
    "tools.run",
    "tools.call",
    "process.run",
    "defence.judge",
    "ask",
    "clock.now",
    "clock.elapsed",
    "random.bytes",
    "events.emit",
    "hooks.all",
];

/// What was read before.
#[derive(Debug, Default)]
pub(super) struct Words {
    names: Vec<Arc<str>>,
    /// The name that makes room for the next new one.
    oldest: usize,
    /// The last payload, as it stood in its line, and what it says.
    last: Option<(String, Arc<str>)>,
    /// What stands where a body will be put.
    nothing: Arc<str>,
}

impl Words {
    /// Returns an empty text.
    pub(super) fn nothing(&self) -> Arc<str> {
        Arc::clone(&self.nothing)
    }

    /// Returns a name.
    pub(super) fn name(&mut self, raw: Raw<'_>) -> Option<Arc<str>> {
        if raw.escaped || raw.written.len() > LONGEST_NAME {
            return Some(raw.plain()?.into());
        }
        if let Some(known) = self.names.iter().find(|name| ***name == *raw.written) {
            return Some(Arc::clone(known));
        }
        let name: Arc<str> = raw.written.into();
        if self.names.len() < MOST_NAMES {
            self.names.push(Arc::clone(&name));
        } else {
            self.names[self.oldest] = Arc::clone(&name);
            self.oldest = (self.oldest + 1) % MOST_NAMES;
        }
        Some(name)
    }

    /// Returns a payload, or another text that can be long.
    pub(super) fn text(&mut self, raw: Raw<'_>) -> Option<Arc<str>> {
        if let Some((written, text)) = &self.last
            && written == raw.written
        {
            return Some(Arc::clone(text));
        }
        let text: Arc<str> = raw.plain()?.into();
        if raw.written.len() > LONGEST_TEXT {
            return Some(text);
        }
        let (written, last) = self.last.get_or_insert_with(|| (String::new(), "".into()));
        written.clear();
        written.push_str(raw.written);
        *last = Arc::clone(&text);
        Some(text)
    }
}

/// Returns a word of the format.
pub(super) fn fixed(raw: Raw<'_>) -> Option<Cow<'static, str>> {
    if let Some(word) = FIXED.iter().find(|word| **word == raw.written) {
        return Some(Cow::Borrowed(word));
    }
    Some(Cow::Owned(raw.plain()?.into_owned()))
}
