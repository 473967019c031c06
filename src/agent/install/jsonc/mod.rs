//! Edits JSON with comments and leaves every byte alone that an edit does not need to change.
//!
//! Files like `settings.json` belong to a person: comments, order and spacing are theirs.
//! So an edit is a few cuts and insertions in the text, found through a tree with spans.

mod edit;
mod error;
mod insert;
mod layout;
mod parser;
mod remove;
mod render;
mod scan;
mod tree;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use error::{EditError, ParseError, Problem};

use tree::{Comment, Node};

/// How deep objects and arrays may be nested.
pub const MAX_DEPTH: usize = 128;

/// Holds a text and what stands where in it.
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    /// Absent in a text of nothing but blanks and comments.
    root: Option<Node>,
    comments: Vec<Comment>,
    trailing_commas: bool,
}

/// Leads from a container to something in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// Names a member of an object.
    Key(&'a str),
    /// Counts the elements of an array from zero.
    Index(usize),
}

impl Document {
    /// Reads JSON that may have `//` and `/* */` comments and trailing commas.
    ///
    /// # Errors
    ///
    /// Anything else that strict JSON does not allow, a key twice in one object, and nesting
    /// deeper than [`MAX_DEPTH`].
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let parsed = parser::parse(text)?;
        Ok(Self {
            text: text.to_owned(),
            root: parsed.root,
            comments: parsed.comments,
            trailing_commas: parsed.trailing_commas,
        })
    }

    /// Tells whether a reader of plain JSON would stumble over comments or trailing commas.
    #[must_use]
    pub fn has_comments(&self) -> bool {
        self.trailing_commas || !self.comments.is_empty()
    }

    /// Returns the value of the whole text, `null` if there is none.
    #[must_use]
    pub fn value(&self) -> Value {
        self.root.as_ref().map_or(Value::Null, Node::to_value)
    }

    /// Returns the value at a path, if there is one.
    #[must_use]
    pub fn get(&self, path: &[Step<'_>]) -> Option<Value> {
        let root = self.root.as_ref()?;
        path.iter()
            .try_fold(root, |node, step| node.child(*step))
            .map(Node::to_value)
    }

    /// Returns the text as it is after all edits.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}
