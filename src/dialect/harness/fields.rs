//! The fields of one hook, read from YAML. Every problem is reported, none hides
//! another.

use std::ops::Range;
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::capability::grant::Grants;
use crate::config::{self, Granted};
use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::hook::OnError;
use crate::sandbox::limits::Limits;
use crate::yaml::{Node, Value};

/// The keys a hook may have.
const KEYS: [&str; 8] = [
    "event",
    "script",
    "when",
    "priority",
    "component",
    "limits",
    "grant",
    "on_error",
];

/// The key that names an entry of a `hooks:` list; a file has its own name.
const ENTRY_NAME: &str = "handler";

/// Where a hook is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A file of its own in `.harness/hooks/`.
    File,
    /// An entry of a `hooks:` list.
    Entry,
}

/// What was read, as far as it could be.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) event: String,
    pub(super) event_span: Range<usize>,
    pub(super) priority: i64,
    pub(super) explicit_priority: bool,
    pub(super) when: Option<Node>,
    pub(super) script: Option<Node>,
    pub(super) component: Option<Node>,
    pub(super) limits: Limits,
    /// What the hook itself is granted, and where that is written.
    pub(super) grants: Grants,
    pub(super) granted: Vec<Granted>,
    pub(super) on_error: Option<OnError>,
    /// Whether no code is meant to be there.
    pub(super) placeholder: bool,
}

/// Reads fields and collects what is wrong with them.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) name: &'a str,
    pub(super) place: Place,
    pub(super) strict: bool,
    pub(super) limits: Limits,
    pub(super) root: &'a Dir,
    pub(super) problems: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Reads a hook; none if it has no event to subscribe to.
    pub(super) fn read(mut self, node: &Node) -> Option<Fields> {
        self.check_keys(node);
        let priority = self.priority(node);
        let (grants, granted) = self.grants(node);
        let fields = Fields {
            grants,
            granted,
            priority: priority.unwrap_or(0),
            explicit_priority: priority.is_some(),
            when: self.text(node, "when"),
            script: self.text(node, "script"),
            component: self.text(node, "component"),
            limits: self.limits(node),
            on_error: self.on_error(node),
            placeholder: !["script", "component"]
                .iter()
                .any(|key| says_something(node, key)),
            event: String::new(),
            event_span: node.span.clone(),
        };
        if let (Some(_), Some(component)) = (&fields.script, &fields.component) {
            self.error(
                "a hook has either a script or a component, not both",
                &component.span,
            );
        }
        let (event, event_span) = self.event(node)?;
        Some(Fields {
            event,
            event_span,
            ..fields
        })
    }

    fn event(&mut self, node: &Node) -> Option<(String, Range<usize>)> {
        let found = node.get("event");
        match found.map(|found| (&found.value, found)) {
            Some((Value::String(event), found)) if !event.trim().is_empty() => {
                Some((event.clone(), found.span.clone()))
            }
            None | Some((Value::Null | Value::String(_), _)) => {
                let span = found.map_or_else(|| start_of(&node.span), |found| found.span.clone());
                let message = format!(
                    "hook {:?}: event field is required in frontmatter",
                    self.name
                );
                self.problems.push(
                    Diagnostic::error(message).at(self.source, span).help(
                        "say which event the hook subscribes to, for example `event: tool.pre`",
                    ),
                );
                None
            }
            Some((_, found)) => {
                self.wrong_kind("event", found, "a string");
                None
            }
        }
    }

    fn priority(&mut self, node: &Node) -> Option<i64> {
        let Some(found) = node
            .get("priority")
            .filter(|found| found.value != Value::Null)
        else {
            self.missing_priority(node);
            return None;
        };
        let number = found.as_int();
        match (&found.value, number) {
            (_, Some(_)) => {}
            (Value::BigInt(_), None) => {
                self.wrong_value("priority", found, "a number of at most 64 bits")
            }
            (Value::Float(_), None) => self.wrong_value("priority", found, "a whole number"),
            _ => self.wrong_kind("priority", found, "a whole number"),
        }
        number
    }

    fn missing_priority(&mut self, node: &Node) {
        let span = start_of(&node.span);
        let message = format!(
            "hook {:?} has no priority, so it is 0 and runs before every hook with one",
            self.name
        );
        let diagnostic = if self.strict {
            Diagnostic::error(message)
        } else {
            Diagnostic::warning(message)
        };
        self.problems.push(diagnostic.at(self.source, span).help(
            "say `priority: N`; by convention 1-9 audits, 10-19 is hard policy, 20-29 soft policy, 30-39 guards the harness, 40 and up shapes output",
        ));
    }

    /// Reads a text; an empty one counts as left out.
    fn text(&mut self, node: &Node, key: &str) -> Option<Node> {
        let found = node.get(key)?;
        match &found.value {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(_) => Some(found.clone()),
            _ => {
                self.wrong_kind(key, found, "a string");
                None
            }
        }
    }

    fn on_error(&mut self, node: &Node) -> Option<OnError> {
        let found = node.get("on_error")?;
        match found.as_str() {
            Some("block") => Some(OnError::Block),
            Some("allow") => Some(OnError::Allow),
            _ => {
                self.error("on_error must be `block` or `allow`", &found.span);
                None
            }
        }
    }

    fn limits(&mut self, node: &Node) -> Limits {
        let found = node.get("limits");
        found.map_or(self.limits, |found| {
            config::limits::read(found, self.limits, &mut self.settings())
        })
    }

    fn grants(&mut self, node: &Node) -> (Grants, Vec<Granted>) {
        let found = node.get("grant");
        found.map_or_else(Default::default, |found| {
            config::grants::read(found, &mut self.settings())
        })
    }

    fn settings(&mut self) -> config::Reader<'_> {
        config::Reader {
            root: self.root,
            source: self.source,
            problems: self.problems,
        }
    }

    /// Typos are not errors in this format, but nobody wants them either.
    fn check_keys(&mut self, node: &Node) {
        let known = KEYS
            .into_iter()
            .chain((self.place == Place::Entry).then_some(ENTRY_NAME));
        for (key, _) in node.as_map().unwrap_or_default() {
            if known.clone().any(|known| known == key.name) {
                continue;
            }
            let guess = did_you_mean(&key.name, known.clone());
            if guess.is_none() && !self.strict {
                continue;
            }
            let message = format!(
                "hook {:?}: unknown key {:?} is ignored",
                self.name, key.name
            );
            let diagnostic = if self.strict {
                Diagnostic::error(message.replace(" is ignored", ""))
            } else {
                Diagnostic::warning(message)
            };
            let help = guess.map_or_else(
                || format!("a hook has the keys {}", KEYS.join(", ")),
                |guess| format!("did you mean `{guess}`?"),
            );
            self.problems
                .push(diagnostic.at(self.source, key.span.clone()).help(help));
        }
    }

    fn wrong_value(&mut self, key: &str, found: &Node, wanted: &str) {
        let written = self.source.text.get(found.span.clone()).unwrap_or_default();
        let message = format!(
            "parse hook {}: {key} must be {wanted}, not {written}",
            self.file()
        );
        self.error(&message, &found.span);
    }

    fn file(&self) -> &str {
        self.source.path.rsplit('/').next().unwrap_or_default()
    }

    fn wrong_kind(&mut self, key: &str, found: &Node, wanted: &str) {
        let message = format!(
            "parse hook {}: {key} must be {wanted}, not {}",
            self.file(),
            found.kind_name()
        );
        self.error(&message, &found.span);
    }

    fn error(&mut self, message: &str, span: &Range<usize>) {
        self.problems
            .push(Diagnostic::error(message).at(self.source, span.clone()));
    }
}

/// Says whether a key has a value, right or wrong.
fn says_something(node: &Node, key: &str) -> bool {
    match node.get(key).map(|found| &found.value) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(_) => true,
    }
}

/// The first character of a span: a caret under a whole block helps nobody.
fn start_of(span: &Range<usize>) -> Range<usize> {
    span.start..span.start.saturating_add(1).min(span.end.max(span.start))
}
