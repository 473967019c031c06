//! Finds what an edit is about, and puts changes into the text.

use std::fmt::Write;
use std::ops::Range;

use serde_json::{Map, Value};

use super::error::EditError;
use super::tree::{Kind, Node};
use super::{Document, MAX_DEPTH, Step};

/// Bytes, and what comes in their place.
pub(super) struct Change {
    pub(super) span: Range<usize>,
    pub(super) with: String,
}

impl Change {
    pub(super) fn cut(span: Range<usize>) -> Self {
        let with = String::new();
        Self { span, with }
    }

    pub(super) fn add(at: usize, with: String) -> Self {
        Self { span: at..at, with }
    }
}

/// What a path leads to.
enum Place<'d, 'p> {
    There {
        node: &'d Node,
        parent: Option<&'d Node>,
    },
    /// An object on the way lacks the key.
    Missing {
        object: &'d Node,
        key: &'p str,
        rest: &'p [Step<'p>],
    },
    /// The text has no value at all.
    Nowhere,
}

impl Document {
    /// Replaces the value at a path, or adds it with the objects on the way to it.
    ///
    /// Changes nothing if the value there is equal; objects are whatever the order of their keys.
    ///
    /// # Errors
    ///
    /// Something on the way is of another kind, an array lacks the element, or the value would
    /// be nested too deep.
    pub fn set(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), EditError> {
        check_depth(path, value, MAX_DEPTH)?;
        let changes = match self.locate(path)? {
            Place::There { node, .. } if node.to_value() == *value => return Ok(()),
            Place::There { node, parent } => vec![self.replacement(node, parent, value)],
            Place::Missing { object, key, rest } => {
                self.insertion(object, Some(key), &wrap(path, rest, value.clone())?)
            }
            Place::Nowhere => self.beginning(&wrap(path, path, value.clone())?),
        };
        self.commit(changes)
    }

    /// Appends to the array at a path, or adds it with the objects on the way to it.
    ///
    /// # Errors
    ///
    /// Something on the way or at the path is of another kind, an array lacks the element, or
    /// the value would be nested too deep.
    pub fn push(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), EditError> {
        check_depth(path, value, MAX_DEPTH - 1)?;
        let array = || Value::Array(vec![value.clone()]);
        let changes = match self.locate(path)? {
            Place::There { node, .. } if matches!(node.kind, Kind::Array(_)) => {
                self.insertion(node, None, value)
            }
            Place::There { node, .. } => return Err(wrong_kind(path, node, "an array")),
            Place::Missing { object, key, rest } => {
                self.insertion(object, Some(key), &wrap(path, rest, array())?)
            }
            Place::Nowhere => self.beginning(&wrap(path, path, array())?),
        };
        self.commit(changes)
    }

    /// Takes out what is at a path, with its comma and the comments behind it on its line, and
    /// tells whether it was there.
    ///
    /// # Errors
    ///
    /// Something on the way is of another kind.
    pub fn remove(&mut self, path: &[Step<'_>]) -> Result<bool, EditError> {
        let (parent, node) = match self.locate(path) {
            Ok(Place::There { node, parent }) => (parent, node),
            Ok(_) | Err(EditError::NoElement { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let index = path
            .last()
            .and_then(|step| parent.and_then(|parent| parent.position(*step)));
        let changes = match (parent, index) {
            (Some(parent), Some(index)) => self.removal(parent, index),
            _ => vec![Change::cut(node.span.clone())],
        };
        self.commit(changes)?;
        Ok(true)
    }

    fn locate<'p>(&self, path: &'p [Step<'p>]) -> Result<Place<'_, 'p>, EditError> {
        let Some(mut node) = self.root.as_ref() else {
            return Ok(Place::Nowhere);
        };
        let mut parent = None;
        let mut rest = path;
        while let Some((step, behind)) = rest.split_first() {
            let so_far = path.get(..path.len() - rest.len()).unwrap_or_default();
            let next = match (&node.kind, *step) {
                (Kind::Object(_), Step::Key(key)) => match node.child(*step) {
                    Some(next) => next,
                    None => {
                        return Ok(Place::Missing {
                            object: node,
                            key,
                            rest: behind,
                        });
                    }
                },
                (Kind::Array(items), Step::Index(index)) => node
                    .child(*step)
                    .ok_or_else(|| no_element(so_far, index, items.len()))?,
                (_, Step::Key(_)) => return Err(wrong_kind(so_far, node, "an object")),
                (_, Step::Index(_)) => return Err(wrong_kind(so_far, node, "an array")),
            };
            parent = Some(node);
            node = next;
            rest = behind;
        }
        Ok(Place::There { node, parent })
    }

    /// Reads the text anew, so that no span is ever stale, and keeps it only if that works.
    fn commit(&mut self, mut changes: Vec<Change>) -> Result<(), EditError> {
        changes.sort_by_key(|change| change.span.start);
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for change in &changes {
            text.push_str(self.slice(from..change.span.start));
            text.push_str(&change.with);
            from = change.span.end;
        }
        text.push_str(self.slice(from..self.text.len()));
        *self = Self::parse(&text)?;
        Ok(())
    }
}

/// Puts a value into the objects that are missing around it: those of `rest`, the end of `path`.
fn wrap(path: &[Step<'_>], rest: &[Step<'_>], value: Value) -> Result<Value, EditError> {
    let mut value = value;
    for (index, step) in rest.iter().enumerate().rev() {
        match step {
            Step::Key(key) => {
                value = Value::Object(Map::from_iter([((*key).to_owned(), value)]));
            }
            Step::Index(element) => {
                let end = path.len() - rest.len() + index;
                let so_far = path.get(..end).unwrap_or_default();
                return Err(no_element(so_far, *element, 0));
            }
        }
    }
    Ok(value)
}

/// Looks before anything walks down the value, as a walk may be deeper than the stack.
fn check_depth(path: &[Step<'_>], value: &Value, limit: usize) -> Result<(), EditError> {
    let fits = limit
        .checked_sub(path.len())
        .is_some_and(|levels| fits(value, levels));
    fits.then_some(())
        .ok_or_else(|| EditError::TooDeep { at: spell(path) })
}

fn fits(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return !value.is_array() && !value.is_object();
    };
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, below)),
        Value::Object(items) => items.values().all(|item| fits(item, below)),
        _ => true,
    }
}

fn wrong_kind(path: &[Step<'_>], node: &Node, wanted: &'static str) -> EditError {
    EditError::WrongKind {
        at: spell(path),
        found: node.name(),
        wanted,
    }
}

fn no_element(path: &[Step<'_>], index: usize, length: usize) -> EditError {
    EditError::NoElement {
        at: spell(path),
        index,
        length,
    }
}

/// Writes a path for people, like `hooks.PreToolUse[0]`.
fn spell(path: &[Step<'_>]) -> String {
    let plain = |key: &str| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_alphanumeric() || "_-$".contains(c))
    };
    let mut out = String::new();
    for step in path {
        // Writing to a string does not fail.
        let _ = match step {
            Step::Index(index) => write!(out, "[{index}]"),
            Step::Key(key) if !plain(key) => write!(out, "[{key:?}]"),
            Step::Key(key) if out.is_empty() => write!(out, "{key}"),
            Step::Key(key) => write!(out, ".{key}"),
        };
    }
    if out.is_empty() {
        out.push_str("the document");
    }
    out
}
