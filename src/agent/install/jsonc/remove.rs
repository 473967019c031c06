//! Takes something out with what is its own, and leaves what is its neighbours'.

use std::ops::Range;

use super::Document;
use super::edit::Change;
use super::layout::BLANKS;
use super::scan::LINE_ENDS;
use super::tree::{Item, Node};

impl Document {
    /// Takes an element or a member out of a container.
    pub(super) fn removal(&self, node: &Node, index: usize) -> Vec<Change> {
        let items = node.items();
        let Some(item) = items.get(index) else {
            return Vec::new();
        };
        if let (Some(comma), Some(next)) = (item.comma, items.get(index + 1))
            && !self.breaks(item.end()..next.start())
        {
            // Something follows on the line: it, and the comments before it, move up.
            return vec![Change::cut(item.start()..self.skip_blanks(comma + 1))];
        }
        let own = self.own(item);
        if items.len() == 1 && !self.has_other_comments(node, &own) {
            return vec![Change::cut(node.inside())];
        }
        let before = index.checked_sub(1).and_then(|index| items.get(index));
        let comma = match item.comma {
            Some(comma) => Some(comma).filter(|comma| !own.contains(comma)),
            // The one before is the last now, and the last has no comma.
            None => before.and_then(|before| before.comma),
        };
        let comma = comma.map(|comma| Change::cut(comma..comma + 1));
        comma.into_iter().chain([Change::cut(own)]).collect()
    }

    /// The bytes of an item, the line end and indentation or blanks before it, and the comments
    /// behind it on its line.
    fn own(&self, item: &Item) -> Range<usize> {
        let end = self.own_end(item);
        self.own_start(item, end)..end
    }

    fn own_end(&self, item: &Item) -> usize {
        let mut end = item.end();
        loop {
            let at = self.skip_blanks(end);
            if item.comma == Some(at) {
                end = at + 1;
            } else if let Some(comment) = self.comment_at(at) {
                end = comment.span.end;
            } else {
                return end;
            }
        }
    }

    fn own_start(&self, item: &Item, end: usize) -> usize {
        let space = self.space_before(item.start());
        let before = self.slice(space..item.start());
        let Some(last) = before.rfind(LINE_ENDS) else {
            return space;
        };
        let pair = before.get(..=last).is_some_and(|s| s.ends_with("\r\n"));
        let start = space + last - usize::from(pair);
        let rest = self.slice(end..self.text.len());
        let line_goes_on = !rest.trim_start_matches(BLANKS).starts_with(LINE_ENDS);
        // The line end may be what keeps a comment from eating what is behind the item.
        if start == space && line_goes_on && self.is_line_comment_end(space) {
            return space + last + 1;
        }
        start
    }

    fn is_line_comment_end(&self, at: usize) -> bool {
        let comments = self.comments_in(0..at);
        comments
            .last()
            .is_some_and(|comment| comment.to_line_end && comment.span.end >= at)
    }

    fn has_other_comments(&self, node: &Node, own: &Range<usize>) -> bool {
        let is_inside = |span: &Range<usize>| own.start <= span.start && span.end <= own.end;
        // Those inside of the item are its own as well, being between its ends.
        self.comments_in(node.inside())
            .iter()
            .any(|comment| !is_inside(&comment.span))
    }
}
