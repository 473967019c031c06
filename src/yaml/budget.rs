//! Keeps a small file from becoming a large tree.

use super::{Node, Value};

/// Bytes of YAML that are read at all; what is longer is no frontmatter.
///
/// The scanner reads a flow collection to its end before it reports its start, so nothing but the
/// length of the text bounds the memory it takes.
pub(super) const MAX_SOURCE: usize = 1 << 20;
/// Values and keys in one tree, with aliases expanded.
pub(super) const MAX_NODES: usize = 10_000;
/// Bytes of text in one tree, with aliases expanded.
pub(super) const MAX_TEXT: usize = 4 << 20;
/// Collections inside of each other, and the value in the innermost one.
pub(super) const MAX_DEPTH: usize = 64;

/// Counts what a tree or a part of it holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) nodes: usize,
    pub(super) text: usize,
    pub(super) height: usize,
}

impl Weight {
    /// Weighs one scalar or one collection without what is in it.
    pub(super) fn leaf(text: usize) -> Self {
        Self {
            nodes: 1,
            text,
            height: 1,
        }
    }

    /// Weighs a finished node with everything in it.
    pub(super) fn of(node: &Node) -> Self {
        match &node.value {
            Value::String(text) | Value::BigInt(text) => Self::leaf(text.len()),
            Value::List(nodes) => Self::above(nodes.iter().map(Self::of)),
            Value::Map(entries) => Self::above(entries.iter().map(|(key, node)| {
                let mut weight = Self::of(node);
                weight.nodes += 1;
                weight.text += key.name.len();
                weight
            })),
            _ => Self::leaf(0),
        }
    }

    fn above(parts: impl Iterator<Item = Self>) -> Self {
        let mut sum = Self::leaf(0);
        for part in parts {
            sum.nodes += part.nodes;
            sum.text += part.text;
            sum.height = sum.height.max(part.height + 1);
        }
        sum
    }
}

/// Holds what was used up so far.
#[derive(Debug, Default)]
pub(super) struct Budget {
    nodes: usize,
    text: usize,
}

impl Budget {
    /// Takes a weight that hangs below `depth` collections, or says which limit it breaks.
    pub(super) fn charge(&mut self, weight: Weight, depth: usize) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(weight.nodes);
        self.text = self.text.saturating_add(weight.text);
        if depth + weight.height > MAX_DEPTH {
            return Err(too_deep());
        }
        if self.nodes > MAX_NODES {
            return Err(format!(
                "too many values: at most {MAX_NODES} are allowed, with every alias counted as what it stands for"
            ));
        }
        if self.text > MAX_TEXT {
            return Err(format!(
                "too much text: at most {MAX_TEXT} bytes are allowed, with every alias counted as what it stands for"
            ));
        }
        Ok(())
    }
}

pub(super) fn too_deep() -> String {
    format!("nested too deeply: at most {MAX_DEPTH} levels are allowed")
}
