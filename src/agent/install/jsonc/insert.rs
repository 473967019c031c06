//! Finds the place for something new, and writes it as its neighbours are written.

use serde_json::Value;

use super::Document;
use super::edit::Change;
use super::scan::{BOM, LINE_ENDS};
use super::tree::{Item, Node};

impl Document {
    /// Puts a value in the place of another.
    pub(super) fn replacement(&self, old: &Node, parent: Option<&Node>, new: &Value) -> Change {
        let on_one_line = |node: &Node| !self.slice(node.span.clone()).contains(LINE_ENDS);
        let in_line = parent.is_some_and(on_one_line)
            || (is_flat(new) && !old.items().is_empty() && on_one_line(old));
        let indent = (!in_line).then(|| self.indent_of_line(old.span.start));
        Change {
            span: old.span.clone(),
            with: self.style().item(None, new, indent),
        }
    }

    /// Adds an element or a member behind the last one of a container.
    pub(super) fn insertion(&self, node: &Node, key: Option<&str>, value: &Value) -> Vec<Change> {
        match node.items() {
            [] => vec![self.first(node, key, value)],
            [.., last] if self.spreads(node) => self.on_new_line(node, last, key, value),
            [before @ .., last] => {
                vec![self.in_line(node, before.last(), last, key, value)]
            }
        }
    }

    /// Where something new goes: behind all that is in the container, so that comments stay with
    /// what they are about.
    fn end_of_content(&self, node: &Node) -> usize {
        let inside = node.inside();
        let last = node.items().last();
        let item = last.map_or(inside.start, Item::end);
        let comma = last.and_then(|last| last.comma).map_or(item, |at| at + 1);
        let comment = self.comments_in(item..inside.end).last();
        comment.map_or(comma, |comment| comma.max(comment.span.end))
    }

    fn first(&self, node: &Node, key: Option<&str>, value: &Value) -> Change {
        let style = self.style();
        let at = self.end_of_content(node);
        let outer = self.indent_of_line(node.span.start);
        let inner = format!("{outer}{}", style.indent);
        let item = style.item(key, value, Some(&inner));
        let end = style.line_end;
        let tail = at..node.inside().end;
        if self.comments_in(node.inside()).is_empty() || !self.breaks(tail.clone()) {
            let with = format!("{end}{inner}{item}{end}{outer}");
            return Change { span: tail, with };
        }
        Change::add(at, format!("{end}{inner}{item}"))
    }

    fn on_new_line(
        &self,
        node: &Node,
        last: &Item,
        key: Option<&str>,
        value: &Value,
    ) -> Vec<Change> {
        let style = self.style();
        let mut items = node.items().iter().rev();
        let indent = items
            .find_map(|item| self.indent_of_first(item.start()))
            .map_or_else(
                || format!("{}{}", self.indent_of_line(node.span.start), style.indent),
                str::to_owned,
            );
        let item = style.item(key, value, Some(&indent));
        let end = style.line_end;
        let at = self.end_of_content(node);
        match last.comma {
            Some(_) => vec![Change::add(at, format!("{end}{indent}{item},"))],
            None => vec![
                Change::add(last.end(), ",".to_owned()),
                Change::add(at, format!("{end}{indent}{item}")),
            ],
        }
    }

    fn in_line(
        &self,
        node: &Node,
        before: Option<&Item>,
        last: &Item,
        key: Option<&str>,
        value: &Value,
    ) -> Change {
        let style = self.style();
        let at = self.end_of_content(node);
        let gap = before
            .and_then(|before| before.comma)
            .map(|comma| self.slice(comma + 1..last.start()))
            .filter(|gap| ["", " "].contains(gap))
            .unwrap_or(style.gap());
        let wide = self.slice(node.span.clone()).contains(LINE_ENDS);
        let item = style.item(key, value, wide.then(|| self.indent_of_line(at)));
        let with = match last.comma {
            Some(_) => format!("{gap}{item},"),
            None => format!(",{gap}{item}"),
        };
        Change::add(at, with)
    }

    /// Gives a value to a text that has none.
    pub(super) fn beginning(&self, value: &Value) -> Vec<Change> {
        let style = self.style();
        let value = style.item(None, value, Some(""));
        let end = style.line_end;
        let (at, with) = match self.comments.last() {
            Some(comment) => (comment.span.end, format!("{end}{value}")),
            None if self.text.starts_with(BOM) => (BOM.len_utf8(), value),
            None => (0, value),
        };
        let mut changes = vec![Change::add(at, with)];
        if !self.breaks(at..self.text.len()) {
            changes.push(Change::add(self.text.len(), end.to_owned()));
        }
        changes
    }
}

/// Whether a value is a scalar or has only such in it.
fn is_flat(value: &Value) -> bool {
    let scalar = |value: &Value| !value.is_array() && !value.is_object();
    match value {
        Value::Array(items) => items.iter().all(scalar),
        Value::Object(items) => items.values().all(scalar),
        _ => true,
    }
}
