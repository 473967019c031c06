//! Reads the files of a dialect: bounded, as text, with a place for everything that is
//! wrong in them.

use std::ops::Range;
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::config::{read_bounded, reads};
use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::hook::OnError;
use crate::sandbox::component::MAX_COMPONENT_BYTES;
use crate::yaml::{Key, Node};

/// How large a file of hooks may be.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Returns where a file lies that another one names: paths start at the file's folder.
pub(super) fn beside(file: &str, path: &str) -> String {
    match file.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{path}"),
        None => path.to_owned(),
    }
}

/// Reads a component that lies below a directory.
pub(super) fn read_component(root: &Dir, path: &str) -> std::io::Result<Vec<u8>> {
    read_bounded(root, path, MAX_COMPONENT_BYTES)
}

/// Reads a file of text; nothing if there is none. That it cannot be read is a problem:
/// what it stood for guards nothing.
pub(super) fn read_text(
    root: &Dir,
    path: &str,
    shown: &str,
    problems: &mut Vec<Diagnostic>,
) -> Option<Arc<Source>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    // The file is not there either if a folder on the way is a file.
    if let Err(error) = root.symlink_metadata(path)
        && matches!(error.kind(), NotFound | NotADirectory)
    {
        reads::remember_absent(path);
        return None;
    }
    let text = read_bounded(root, path, MAX_FILE_BYTES).and_then(|bytes| {
        let wrong = |_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not UTF-8");
        String::from_utf8(bytes).map_err(wrong)
    });
    match text {
        Ok(text) => Some(Source::new(shown, text)),
        Err(error) => {
            let message = format!("cannot be read: {error}");
            problems.push(Diagnostic::error(message).in_file(shown));
            None
        }
    }
}

/// One file with what is wrong in it.
pub(super) struct File<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) problems: &'a mut Vec<Diagnostic>,
}

impl File<'_> {
    pub(super) fn error(&mut self, message: impl Into<String>, span: &Range<usize>, help: &str) {
        self.say(Diagnostic::error(message), span, help);
    }

    pub(super) fn warning(&mut self, message: impl Into<String>, span: &Range<usize>, help: &str) {
        self.say(Diagnostic::warning(message), span, help);
    }

    fn say(&mut self, diagnostic: Diagnostic, span: &Range<usize>, help: &str) {
        let diagnostic = diagnostic.at(self.source, span.clone());
        self.problems.push(if help.is_empty() {
            diagnostic
        } else {
            diagnostic.help(help)
        });
    }

    /// Returns a text that has to be there.
    pub(super) fn text<'n>(&mut self, entry: &'n Node, key: &str, whose: &str) -> Option<&'n Node> {
        match entry.get(key) {
            Some(found) if found.as_str().is_some_and(|text| !text.trim().is_empty()) => {
                Some(found)
            }
            Some(found) if found.as_str().is_some() => {
                self.error(format!("{whose}: {key:?} is empty"), &found.span, "");
                None
            }
            Some(found) => {
                let kind = found.kind_name();
                self.error(
                    format!("{whose}: {key:?} must be a string, not {kind}"),
                    &found.span,
                    "",
                );
                None
            }
            None => {
                self.error(
                    format!("{whose}: {key:?} is missing"),
                    &start_of(&entry.span),
                    "",
                );
                None
            }
        }
    }

    /// Reads what the failure of a hook means, where its entry says so.
    pub(super) fn on_error(&mut self, entry: &Node) -> Option<OnError> {
        let found = entry.get("on_error")?;
        match found.as_str() {
            Some("block") => Some(OnError::Block),
            Some("allow") => Some(OnError::Allow),
            _ => {
                self.error("on_error must be `block` or `allow`", &found.span, "");
                None
            }
        }
    }

    /// Reports the keys of an entry that are none of those there are.
    pub(super) fn unknown_keys(&mut self, entry: &Node, known: &[&str], whose: &str, error: bool) {
        for (key, _) in entry.as_map().unwrap_or_default() {
            if !known.contains(&key.name.as_str()) {
                self.unknown_key(key, known, whose, error);
            }
        }
    }

    fn unknown_key(&mut self, key: &Key, known: &[&str], whose: &str, error: bool) {
        let help = match did_you_mean(&key.name, known.iter().copied()) {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        let message = format!("{whose}: unknown key {:?}", key.name);
        if error {
            self.error(message, &key.span, &help);
        } else {
            self.warning(message + " is ignored", &key.span, &help);
        }
    }
}

/// The first character of a span: a caret under a whole block helps nobody.
pub(super) fn start_of(span: &Range<usize>) -> Range<usize> {
    span.start..span.start.saturating_add(1).min(span.end.max(span.start))
}
