//! What a text says, and where it says so.

use std::ops::Range;

use serde_json::{Number, Value};

use super::Step;

/// A value and the bytes it takes.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Item>),
    Object(Vec<Item>),
}

/// An element, or a member: one type, as they come and go in the same way.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) key: Option<Key>,
    pub(super) value: Node,
    /// Where the comma behind it is.
    pub(super) comma: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Comment {
    /// Without the line end, if it is a line comment.
    pub(super) span: Range<usize>,
    pub(super) to_line_end: bool,
}

impl Item {
    pub(super) fn start(&self) -> usize {
        self.key
            .as_ref()
            .map_or(self.value.span.start, |key| key.span.start)
    }

    pub(super) fn end(&self) -> usize {
        self.value.span.end
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        self.key.as_ref().is_some_and(|key| key.name == name)
    }
}

impl Node {
    pub(super) fn items(&self) -> &[Item] {
        match &self.kind {
            Kind::Array(items) | Kind::Object(items) => items,
            _ => &[],
        }
    }

    /// The bytes between the brackets of a container.
    pub(super) fn inside(&self) -> Range<usize> {
        self.span.start + 1..self.span.end.saturating_sub(1)
    }

    pub(super) fn child(&self, step: Step<'_>) -> Option<&Self> {
        let index = self.position(step)?;
        self.items().get(index).map(|item| &item.value)
    }

    pub(super) fn position(&self, step: Step<'_>) -> Option<usize> {
        match (&self.kind, step) {
            (Kind::Array(items), Step::Index(index)) => (index < items.len()).then_some(index),
            (Kind::Object(items), Step::Key(name)) => {
                items.iter().position(|item| item.is_named(name))
            }
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }

    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(truth) => Value::Bool(*truth),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::Array(items) => items.iter().map(|item| item.value.to_value()).collect(),
            Kind::Object(items) => Value::Object(
                items
                    .iter()
                    .filter_map(|item| Some((item.key.as_ref()?.name.clone(), &item.value)))
                    .map(|(name, value)| (name, value.to_value()))
                    .collect(),
            ),
        }
    }
}
