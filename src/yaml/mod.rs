//! A small YAML tree in which every value knows its place in the file.

mod budget;
mod place;
mod resolve;
mod scalar_map;
mod tree;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use place::{Style, YamlError};
pub use scalar_map::ScalarMap;
pub use tree::parse;

/// Holds one value and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// What the value is.
    pub value: Value,
    /// Where it is written, in bytes of the whole file.
    ///
    /// That of a block scalar begins at its first character of content, that of a quoted one at
    /// its quote. A value that came through an alias keeps the place where it was written.
    pub span: Range<usize>,
    /// How it is written.
    pub style: Style,
}

/// Holds the key of one entry of a map and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The key as it was written, without quotes.
    pub name: String,
    /// Where it is written, in bytes of the whole file.
    pub span: Range<usize>,
}

/// Is one of the kinds of values of the YAML core schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number that does not fit 64 bits, as it was written.
    BigInt(String),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    String(String),
    /// Values in order.
    List(Vec<Node>),
    /// Entries in the order of the file, no key twice.
    Map(Vec<(Key, Node)>),
}

impl Node {
    /// Returns the value that a key of a map has.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, node)| node)
    }

    /// Returns the entry that a key of a map has, with the place of the key.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&(Key, Node)> {
        self.as_map()?.iter().find(|(found, _)| found.name == key)
    }

    /// Returns the entries of a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[(Key, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the values of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a whole number that fits 64 bits.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self.value {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Tells whether there is no value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// Names the kind of the value for a message, with an article.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::BigInt(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

#[cfg(test)]
mod tests;
