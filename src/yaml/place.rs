//! Turns the marks of the parser into places in the file.

use std::ops::Range;

use saphyr_parser::{ScalarStyle, ScanError, Span};

use super::budget::too_deep;

/// Says how a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Style {
    /// A scalar without quotes.
    Plain,
    /// A scalar in `'`.
    SingleQuoted,
    /// A scalar in `"`.
    DoubleQuoted,
    /// A block scalar after `|`.
    Literal,
    /// A block scalar after `>`.
    Folded,
    /// A collection that is indented.
    Block,
    /// A collection in `[]` or `{}`.
    Flow,
}

impl From<ScalarStyle> for Style {
    fn from(style: ScalarStyle) -> Self {
        match style {
            ScalarStyle::Plain => Self::Plain,
            ScalarStyle::SingleQuoted => Self::SingleQuoted,
            ScalarStyle::DoubleQuoted => Self::DoubleQuoted,
            ScalarStyle::Literal => Self::Literal,
            ScalarStyle::Folded => Self::Folded,
        }
    }
}

/// Says what is wrong with a piece of YAML, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("yaml: line {line}: {message}")]
pub struct YamlError {
    /// What is wrong, without the place.
    pub message: String,
    /// The place, in bytes of the whole file.
    pub span: Range<usize>,
    /// The line in the file, counted from 1.
    pub line: usize,
}

/// Characters between two remembered offsets.
const STEP: usize = 64;

/// Knows the text of a file and which part of it is parsed.
pub(super) struct Places<'a> {
    pub(super) text: &'a str,
    yaml: Range<usize>,
    /// The offset of every `STEP`th character of the YAML; empty if all of them are one byte long.
    offsets: Vec<usize>,
}

impl<'a> Places<'a> {
    /// Takes the text of a file and the range of YAML in it, moved to where it can be cut.
    pub(super) fn new(text: &'a str, yaml: Range<usize>) -> Self {
        let start = text.floor_char_boundary(yaml.start);
        let end = text.floor_char_boundary(yaml.end).max(start);
        let source = &text[start..end];
        let offsets = if source.is_ascii() {
            Vec::new()
        } else {
            let every = source.char_indices().step_by(STEP);
            every.map(|(offset, _)| start + offset).collect()
        };
        Self {
            text,
            yaml: start..end,
            offsets,
        }
    }

    pub(super) fn source(&self) -> &'a str {
        &self.text[self.yaml.clone()]
    }

    /// Returns where the YAML begins in the file.
    pub(super) fn start(&self) -> usize {
        self.yaml.start
    }

    /// Returns the offset in the file of a character that the parser counted.
    fn offset(&self, index: usize) -> usize {
        if self.offsets.is_empty() {
            return (self.yaml.start + index).min(self.yaml.end);
        }
        let Some(&near) = self.offsets.get(index / STEP) else {
            return self.yaml.end;
        };
        let mut rest = self.text[near..self.yaml.end].char_indices();
        rest.nth(index % STEP)
            .map_or(self.yaml.end, |(offset, _)| near + offset)
    }

    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let start = self.offset(span.start.index());
        start..self.offset(span.end.index()).max(start)
    }

    /// Returns the line of an offset, counted from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> YamlError {
        YamlError {
            message: message.into(),
            line: self.line(span.start),
            span,
        }
    }

    pub(super) fn scan_error(&self, error: &ScanError) -> YamlError {
        let at = self.offset(error.marker().index());
        let message = match error.info() {
            // The scanner stops at its own depth before the tree hears of any level.
            "recursion limit exceeded" => too_deep(),
            other => other.to_owned(),
        };
        self.error(at..self.token_end(at), message)
    }

    /// Returns the end of what a caret at an offset should underline.
    fn token_end(&self, at: usize) -> usize {
        let rest = &self.text[at..self.yaml.end];
        let end = rest.chars().next().filter(|c| !c.is_whitespace());
        at + end.map_or(0, char::len_utf8)
    }

    /// Narrows the place that the parser reports for a scalar to the scalar itself.
    ///
    /// The parser begins at a tag or an anchor, ends behind a comment, and points to the next key
    /// where a value is empty.
    pub(super) fn scalar(
        &self,
        span: Range<usize>,
        style: Style,
        has_properties: bool,
        decoded: &str,
    ) -> Range<usize> {
        if style == Style::Plain && decoded.is_empty() {
            return self.empty_plain(span, has_properties);
        }
        let start = if has_properties {
            self.skip_properties(span.start)
        } else {
            span.start
        };
        match style {
            Style::SingleQuoted | Style::DoubleQuoted => start..self.closing_quote(start),
            Style::Literal | Style::Folded => self.block(start, span.end, has_properties, decoded),
            _ => start..span.end.max(start),
        }
    }

    fn empty_plain(&self, span: Range<usize>, has_properties: bool) -> Range<usize> {
        if has_properties {
            return span;
        }
        if self.text[span.start..].starts_with(':') {
            return span.start + 1..span.start + 1;
        }
        let at = self.text[..span.start]
            .trim_end()
            .len()
            .max(self.yaml.start);
        at..at
    }

    /// Returns where a list or a map begins, and whether brackets hold it.
    pub(super) fn collection(&self, span: &Range<usize>, bracket: char) -> (usize, Style) {
        let first = self.skip_properties(span.start);
        // The parser gives a place without length to what is indented.
        if !span.is_empty() && self.text[first..].starts_with(bracket) {
            return (span.start, Style::Flow);
        }
        let before = self.text[self.yaml.start..span.start].trim_end_matches([' ', '\t']);
        // Where a list has the column of its key, the parser begins behind the first dash.
        let behind_dash = bracket == '[' && !self.text[first..].starts_with('-');
        match before.strip_suffix('-') {
            Some(before) if behind_dash => (self.yaml.start + before.len(), Style::Block),
            _ => (span.start, Style::Block),
        }
    }

    fn skip_properties(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(first) = self.text[at..self.yaml.end].chars().next() {
            let rest = &self.text[at..self.yaml.end];
            let skipped = match first {
                '&' | '!' => rest.find(char::is_whitespace),
                '#' => rest.find(['\n', '\r']),
                c if c.is_whitespace() => Some(c.len_utf8()),
                _ => return at,
            };
            at += skipped.unwrap_or(rest.len());
        }
        at
    }

    fn closing_quote(&self, start: usize) -> usize {
        let mut chars = self.text[start..self.yaml.end].char_indices();
        let quote = chars.next().map(|(_, quote)| quote);
        while let Some((offset, c)) = chars.next() {
            if c == '\\' && quote == Some('"') {
                chars.next();
            } else if Some(c) == quote {
                let end = offset + c.len_utf8();
                let doubled = self.text[start + end..].starts_with('\'');
                if c == '"' || !doubled {
                    return start + end;
                }
                chars.next();
            }
        }
        self.yaml.end
    }

    fn block(&self, at: usize, end: usize, at_header: bool, decoded: &str) -> Range<usize> {
        let content = decoded.trim_start_matches('\n');
        let start = if content.is_empty() {
            return self.header(at);
        } else if at_header {
            self.content(at, decoded.len() - content.len(), content)
        } else {
            at
        };
        let text = &self.text[start..end.max(start)];
        start..start + text.trim_end().len()
    }

    /// Returns the header of a block scalar that holds nothing but line breaks.
    fn header(&self, at: usize) -> Range<usize> {
        if self.text[at..].starts_with(['|', '>']) {
            let rest = &self.text[at..self.yaml.end];
            return at..at + rest.find(char::is_whitespace).unwrap_or(rest.len());
        }
        let before = self.text[..at].trim_end();
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        before.len() - last..before.len()
    }

    /// Returns where the content of a block scalar begins, counted from its header.
    fn content(&self, header: usize, blank_lines: usize, content: &str) -> usize {
        let mut at = header;
        for _ in 0..=blank_lines {
            at += break_end(&self.text[at..self.yaml.end]);
        }
        let spaces = |text: &str| text.len() - text.trim_start_matches(' ').len();
        // What the content begins with itself is no indentation.
        let indent = spaces(&self.text[at..self.yaml.end]).saturating_sub(spaces(content));
        at + indent
    }
}

/// Returns the offset behind the first line break.
fn break_end(text: &str) -> usize {
    let Some(at) = text.find(['\n', '\r']) else {
        return text.len();
    };
    at + if text[at..].starts_with("\r\n") { 2 } else { 1 }
}
