//! How a text is laid out: its lines, indentation, line ends and spacing.

use std::ops::Range;

use super::Document;
use super::render::Style;
use super::scan::{BOM, LINE_ENDS};
use super::tree::{Comment, Item, Node};

pub(super) const BLANKS: [char; 2] = [' ', '\t'];
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

impl Document {
    pub(super) fn slice(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    pub(super) fn comments_in(&self, span: Range<usize>) -> &[Comment] {
        let first = self.comments.partition_point(|c| c.span.start < span.start);
        let rest = self.comments.get(first..).unwrap_or_default();
        let count = rest.partition_point(|c| c.span.start < span.end);
        rest.get(..count).unwrap_or_default()
    }

    pub(super) fn comment_at(&self, at: usize) -> Option<&Comment> {
        self.comments_in(at..at + 1).first()
    }

    /// Whether a line ends between two tokens; one that ends inside of a comment does not count.
    pub(super) fn breaks(&self, gap: Range<usize>) -> bool {
        let mut from = gap.start;
        let mut bare = Vec::new();
        for comment in self.comments_in(gap.clone()) {
            bare.push(from..comment.span.start);
            from = comment.span.end;
        }
        bare.push(from..gap.end);
        bare.into_iter()
            .any(|span| self.slice(span).contains(LINE_ENDS))
    }

    /// Whether the items of a container are on lines of their own; what is in them does not count.
    pub(super) fn spreads(&self, container: &Node) -> bool {
        let inside = container.inside();
        let starts = container.items().iter().map(Item::start);
        let ends = container.items().iter().map(Item::end);
        std::iter::once(inside.start)
            .chain(ends)
            .zip(starts.chain(std::iter::once(inside.end)))
            .any(|(from, to)| self.breaks(from..to))
    }

    /// Where the white space starts that ends at a place.
    pub(super) fn space_before(&self, at: usize) -> usize {
        self.slice(0..at).trim_end_matches(SPACE).len()
    }

    /// Where the blanks end that start at a place.
    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        at + rest.len() - rest.trim_start_matches(BLANKS).len()
    }

    /// The indentation of the line that a place is on.
    pub(super) fn indent_of_line(&self, at: usize) -> &str {
        let before = self.slice(0..at);
        let start = before.rfind(LINE_ENDS).map_or(0, |end| end + 1);
        let line = self.slice(start..self.text.len());
        let line = line.strip_prefix(BOM).unwrap_or(line);
        let length = line.len() - line.trim_start_matches(BLANKS).len();
        line.get(..length).unwrap_or_default()
    }

    /// The indentation of what stands at a place, if it is the first on its line.
    pub(super) fn indent_of_first(&self, at: usize) -> Option<&str> {
        let before = self.slice(0..at);
        let rest = before.trim_end_matches(BLANKS);
        rest.ends_with(LINE_ENDS)
            .then(|| before.get(rest.len()..))
            .flatten()
    }

    pub(super) fn style(&self) -> Style<'_> {
        let root = self.root.as_ref();
        Style {
            line_end: self.line_end(),
            indent: root.and_then(|node| self.indent_in(node)).unwrap_or("  "),
            colon: root.and_then(|node| self.colon_in(node)).unwrap_or(": "),
        }
    }

    /// The line end that most lines have; a text may have been edited by tools that disagree.
    fn line_end(&self) -> &'static str {
        let both = self.text.matches("\r\n").count();
        let feeds = self.text.matches('\n').count() - both;
        let returns = self.text.matches('\r').count() - both;
        if both > feeds && both >= returns {
            "\r\n"
        } else if returns > feeds {
            "\r"
        } else {
            "\n"
        }
    }

    /// What the first indented item has more than the line its container opens on.
    fn indent_in(&self, node: &Node) -> Option<&str> {
        let items = node.items();
        items
            .iter()
            .filter_map(|item| self.indent_of_first(item.start()))
            .find_map(|indent| indent.strip_prefix(self.indent_of_line(node.span.start)))
            .filter(|more| !more.is_empty())
            .or_else(|| items.iter().find_map(|item| self.indent_in(&item.value)))
    }

    /// What is between a key and its value, if that is a usual way to write it.
    fn colon_in(&self, node: &Node) -> Option<&str> {
        node.items().iter().find_map(|item| {
            let key = item.key.as_ref();
            key.map(|key| self.slice(key.span.end..item.value.span.start))
                .filter(|colon| [":", ": ", " : "].contains(colon))
                .or_else(|| self.colon_in(&item.value))
        })
    }
}
