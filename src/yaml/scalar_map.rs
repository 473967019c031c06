//! Finds the place in the file that a place in a decoded YAML string comes from.

use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;

use crate::yaml::Style;

/// Maps lines and columns of a decoded scalar to bytes of the file it is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarMap {
    /// Where every character of the decoded text is written.
    places: Vec<Range<usize>>,
    /// The index of the first character of every decoded line.
    lines: Vec<usize>,
    /// Where the scalar ends.
    end: usize,
}

impl ScalarMap {
    /// Walks through the decoded text and the file side by side.
    ///
    /// Takes span and style of the [`Node`](crate::yaml::Node) that holds the decoded text.
    #[must_use]
    pub fn new(file_text: &str, node_span: Range<usize>, style: Style, decoded: &str) -> Self {
        let mut walk = Walk {
            text: file_text,
            at: file_text.floor_char_boundary(node_span.start),
            decoded: decoded.chars().peekable(),
            places: Vec::with_capacity(decoded.len()),
        };
        match style {
            Style::Literal | Style::Folded => walk.block(style == Style::Folded, decoded),
            Style::DoubleQuoted => walk.quoted('"'),
            Style::SingleQuoted => walk.quoted('\''),
            Style::Plain | Style::Block | Style::Flow => walk.flow(None),
        }
        let breaks = decoded.chars().enumerate().filter(|&(_, c)| c == '\n');
        let lines = std::iter::once(0).chain(breaks.map(|(index, _)| index + 1));
        Self {
            lines: lines.collect(),
            end: walk.at,
            places: walk.places,
        }
    }

    /// Returns the byte in the file where a character of the decoded text is written.
    ///
    /// Both numbers count from 0. What lies behind the end of a line counts as its end.
    #[must_use]
    pub fn locate(&self, line: usize, column: usize) -> usize {
        let index = self.index(line, column);
        self.places.get(index).map_or(self.end, |place| place.start)
    }

    /// Returns the bytes in the file between two places of the decoded text.
    ///
    /// Takes a line and a column each, both counted from 0; the end is not included.
    #[must_use]
    pub fn span(&self, begin: (usize, usize), end: (usize, usize)) -> Range<usize> {
        let first = self.index(begin.0, begin.1);
        let last = self.index(end.0, end.1);
        let start = self.locate(begin.0, begin.1);
        if last <= first {
            return start..start;
        }
        // The end of the last character, not the start of the next, which may be lines away.
        let end = self
            .places
            .get(last - 1)
            .map_or(self.end, |place| place.end);
        start..end.max(start)
    }

    /// Returns the index of a character in the decoded text.
    fn index(&self, line: usize, column: usize) -> usize {
        let Some(&start) = self.lines.get(line) else {
            return self.places.len();
        };
        let next = self.lines.get(line + 1);
        let end = next.map_or(self.places.len(), |next| next - 1);
        start.saturating_add(column).min(end)
    }
}

/// Stands at one place in the file and at one in the decoded text.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    decoded: Peekable<Chars<'a>>,
    places: Vec<Range<usize>>,
}

impl Walk<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next_raw(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Writes down that a decoded character stands in a number of bytes, and steps behind both.
    fn step(&mut self, length: usize) {
        let end = self.text.floor_char_boundary(self.at + length);
        if self.decoded.next().is_some() {
            self.places.push(self.at..end);
        }
        self.at = end;
    }

    /// Steps over spaces and tabs.
    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Steps over a line break and returns its place.
    fn take_break(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.at += break_len(self.rest());
        (self.at > start).then_some(start..self.at)
    }

    /// Walks through a block scalar from the start of its content.
    fn block(&mut self, folded: bool, decoded: &str) {
        let blank = decoded.len() - decoded.trim_start_matches('\n').len();
        if blank == decoded.len() {
            self.only_breaks();
            return;
        }
        let start = self.at;
        let line = self.text[..start]
            .rfind(['\n', '\r'])
            .map_or(0, |at| at + 1);
        // The content begins where the indentation ends.
        let indent = self.text[line..start].chars().count();
        self.breaks_before(line, blank);
        while let Some(&c) = self.decoded.peek() {
            let at_break = break_len(self.rest()) > 0;
            match c {
                '\n' | ' ' if folded && at_break => self.fold_block(indent),
                '\n' => self.end_line(indent),
                _ if at_break || self.rest().is_empty() => self.step(0),
                _ => {
                    let length = self.next_raw().map_or(0, char::len_utf8);
                    self.step(length);
                }
            }
        }
    }

    /// Walks through a block scalar without content, from anywhere in its header.
    fn only_breaks(&mut self) {
        let rest = self.rest();
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        self.take_break();
        while self.decoded.peek().is_some() {
            self.skip_blanks();
            self.step(break_len(self.rest()));
        }
    }

    /// Writes down the blank lines between the header and the first line of content.
    fn breaks_before(&mut self, line: usize, count: usize) {
        let mut end = line;
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            let start = break_start(&self.text[..end]);
            places.push(start..end);
            let blanks = self.text[..start].trim_end_matches([' ', '\t']);
            end = blanks.len();
        }
        for place in places.into_iter().rev() {
            self.decoded.next();
            self.places.push(place);
        }
    }

    /// Steps over a line break that is kept.
    fn end_line(&mut self, indent: usize) {
        let rest = self.rest();
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        self.step(break_len(self.rest()));
        self.skip_indent(indent);
    }

    fn skip_indent(&mut self, indent: usize) {
        let spaces = self.rest().bytes().take(indent);
        self.at += spaces.take_while(|&byte| byte == b' ').count();
    }

    /// Steps over the line breaks between two lines of a folded block scalar.
    fn fold_block(&mut self, indent: usize) {
        let mut breaks = Vec::new();
        while let Some(place) = self.take_break() {
            breaks.push(place);
            self.skip_indent(indent);
        }
        self.assign_breaks(&breaks);
    }

    /// Walks through a quoted scalar from its opening quote.
    fn quoted(&mut self, quote: char) {
        if self.next_raw() == Some(quote) {
            self.at += quote.len_utf8();
        }
        self.flow(Some(quote));
    }

    /// Walks through the lines of a plain or quoted scalar.
    fn flow(&mut self, quote: Option<char>) {
        // Blanks up to here are known to be followed by text.
        let mut kept_until = 0;
        while self.decoded.peek().is_some() {
            match self.next_raw() {
                Some(' ' | '\t' | '\n' | '\r') if self.at >= kept_until => {
                    kept_until = self.fold_flow();
                }
                Some('\'') if quote == Some('\'') => self.step(2),
                Some('\\') if quote == Some('"') => self.escape(),
                Some(c) => self.step(c.len_utf8()),
                None => self.step(0),
            }
        }
    }

    /// Steps over blanks with line breaks among them; returns the end of blanks without any.
    fn fold_flow(&mut self) -> usize {
        let start = self.at;
        let mut breaks = Vec::new();
        self.skip_blanks();
        while let Some(place) = self.take_break() {
            breaks.push(place);
            self.skip_blanks();
        }
        if breaks.is_empty() {
            return std::mem::replace(&mut self.at, start);
        }
        self.assign_breaks(&breaks);
        self.at
    }

    /// Writes down which line breaks the next decoded characters come from.
    fn assign_breaks(&mut self, breaks: &[Range<usize>]) {
        if self.decoded.next_if_eq(&' ').is_some() {
            self.places.extend(breaks.first().cloned());
            return;
        }
        let mut count = 0;
        while count < breaks.len() && self.decoded.next_if_eq(&'\n').is_some() {
            count += 1;
        }
        // One break is dropped between two lines, but not at the end nor around indented lines.
        let dropped = usize::from(count + 1 == breaks.len() && self.decoded.peek().is_some());
        self.places
            .extend(breaks.iter().skip(dropped).take(count).cloned());
    }

    /// Steps over a backslash and what it escapes.
    fn escape(&mut self) {
        let escaped = self.rest().chars().nth(1);
        match escaped {
            Some('\n' | '\r') => self.join_lines(),
            Some('x') => self.step(4),
            Some('u') => self.step(6),
            Some('U') => self.step(10),
            other => self.step(1 + other.map_or(0, char::len_utf8)),
        }
    }

    /// Steps over an escaped line break; blank lines behind it are kept.
    fn join_lines(&mut self) {
        self.at += 1;
        self.take_break();
        self.skip_blanks();
        while let Some(place) = self.take_break() {
            if self.decoded.next_if_eq(&'\n').is_some() {
                self.places.push(place);
            }
            self.skip_blanks();
        }
    }
}

/// Returns the length of the line break at the start of a text.
fn break_len(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Returns where the line break at the end of a text begins.
fn break_start(text: &str) -> usize {
    match text.as_bytes() {
        [.., b'\r', b'\n'] => text.len() - 2,
        [.., b'\r' | b'\n'] => text.len() - 1,
        _ => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::yaml::parse;

    /// Parses `k: …` and maps the value.
    fn mapped(file: &str) -> (String, ScalarMap) {
        let node = parse(file, 0..file.len()).unwrap_or_else(|error| panic!("{error}: {file:?}"));
        let node = node.get("k").unwrap();
        let decoded = node.as_str().unwrap().to_owned();
        let map = ScalarMap::new(file, node.span.clone(), node.style, &decoded);
        (decoded, map)
    }

    /// Checks that every decoded character is found in the file, in order.
    fn check(file: &str) -> String {
        let (decoded, map) = mapped(file);
        let (mut line, mut column, mut last) = (0, 0, 0);
        for c in decoded.chars() {
            let at = map.locate(line, column);
            let raw = &file[at..];
            let found = raw.starts_with(c)
                || raw.starts_with('\\')
                || " \n".contains(c) && raw.starts_with(['\n', '\r'])
                || c == '\n' && raw.is_empty();
            assert!(found, "{c:?} of {decoded:?} is at {at} in {file:?}");
            assert!(
                at >= last,
                "{c:?} of {decoded:?} goes back to {at} in {file:?}"
            );
            let span = map.span((line, column), (line, column + 1));
            assert!(
                span.start == at && (c == '\n') == span.is_empty(),
                "{span:?} in {file:?}"
            );
            last = at + usize::from(!raw.is_empty());
            if c == '\n' {
                (line, column) = (line + 1, 0);
            } else {
                column += 1;
            }
        }
        assert!(map.locate(line, column) >= last || map.locate(line, column) == file.len());
        decoded
    }

    fn at(file: &str, line: usize, column: usize) -> &str {
        let (_, map) = mapped(file);
        &file[map.locate(line, column)..]
    }

    #[test]
    fn maps_literal_blocks() {
        let file = "k: |\n  def ü():\n    x = 1\n\n  y\nz: 1\n";
        check(file);
        assert!(at(file, 0, 4).starts_with("ü()"));
        assert!(at(file, 0, 99).starts_with("\n    x"));
        assert!(at(file, 1, 0).starts_with("  x = 1"));
        assert!(at(file, 1, 2).starts_with("x = 1"));
        assert!(at(file, 2, 0).starts_with("\n  y"));
        assert!(at(file, 3, 0).starts_with("y\nz"));
        assert!(at(file, 99, 0).starts_with("z: 1"));
    }

    #[test]
    fn maps_all_kinds_of_literal_headers() {
        for header in [
            "|",
            "|-",
            "|+",
            "|2",
            "|2-",
            "| # c",
            "!!str |",
            "&a |-",
            "&a !!str |2+ # c",
        ] {
            for newline in ["\n", "\r\n", "\r"] {
                for lead in ["", "\n", " \n\n", "  \n"] {
                    let file = format!("k: {header}\n{lead}  a\n\n   b \n \nz: 1\n");
                    check(&file.replace('\n', newline));
                }
            }
        }
        check("k: |2\n      a\n  b\n");
        check("o:\n- &a |1\n    a\n   b\nk: *a\n");
        check("k: |\n  a");
        check("k: |\n   \n   \t\n");
        check("k: |+\n\n\nz: 1\n");
        check("k: |+\n\n\n");
        check("k: |\nz: 1");
    }

    #[test]
    fn maps_content_that_looks_like_a_header() {
        assert!(at("k: |\n  |x\n  >y\n", 0, 0).starts_with("|x"));
        assert!(at("k: >\n  >\n  |\n", 0, 2).starts_with("|\n"));
    }

    #[test]
    fn maps_folded_blocks() {
        for newline in ["\n", "\r\n"] {
            for text in [
                "k: >\n  a\n  b\n\n  c\n\n\n  d\n",
                "k: >-\n  a\n    b\n    c\n  d\n\n    e\n\n  f\n\n",
                "k: >+\n\n\n  a\n\n\nz: 1\n",
                "k: >2\n    a\n\n   b\n  c\n   \n  d\n",
                "k: >\n  a  \n  b\t\n  c",
                "k: >\n  a\n  \tb\n  c\n",
            ] {
                check(&text.replace('\n', newline));
            }
        }
    }

    #[test]
    fn maps_plain_scalars() {
        let file = "ü: 1\nk: payload[\"ü\"] == 1 # c\n";
        assert!(at(file, 0, 8).starts_with("\"ü\"]"));
        assert!(at(file, 0, 12).starts_with(" == 1"));
        assert!(at(file, 0, 99).starts_with(" # c"));
        check(file);
        check("k: a b\n  c \t\n\n  d\r\n\r\n \t \r\n  e   f # c\n");
    }

    #[test]
    fn maps_quoted_scalars() {
        check("k: 'it''s \n  ''x''\n\n  y '\n");
        check("k: '\n a\n '");
        let file = r#"k: "a\n\u00e9\x41\U0001F600\\\"b\tc\/ \  \e" # d"#;
        assert_eq!(check(file), "a\né\u{41}😀\\\"b\tc/   \u{1b}");
        assert!(at(file, 1, 0).starts_with(r"\u00e9"));
        assert!(at(file, 1, 5).starts_with(r"b\tc"));
        assert!(at(file, 1, 99).starts_with('"'));
        check("k: \"a \\\n  b\\\n\n  c\\\r\n\r\n\r\n  \\  d\n\n  e\\\t\n f\"\n");
    }

    #[test]
    fn returns_spans() {
        let file = "k: \"a\\nfoo \\u00e9t\"\n";
        let (_, map) = mapped(file);
        assert_eq!(&file[map.span((1, 4), (1, 6))], r"\u00e9t");
        assert_eq!(&file[map.span((0, 0), (1, 3))], r"a\nfoo");
        assert_eq!(map.span((1, 2), (0, 0)).len(), 0);
        let file = "k: |\n  ab\n  cd\n";
        let (_, map) = mapped(file);
        assert_eq!(&file[map.span((0, 1), (0, 2))], "b");
        assert_eq!(&file[map.span((0, 1), (1, 1))], "b\n  c");
        assert_eq!(&file[map.span((0, 0), (9, 9))], "ab\n  cd\n");
    }

    #[test]
    fn maps_long_runs_of_blanks_in_one_pass() {
        let file = format!("k: a{}b", " ".repeat(200_000));
        assert!(at(&file, 0, 200_001).starts_with('b'));
    }

    const STYLES: [Style; 5] = [
        Style::Plain,
        Style::SingleQuoted,
        Style::DoubleQuoted,
        Style::Literal,
        Style::Folded,
    ];

    fn indented(text: &str) -> String {
        let lines = text.split('\n').map(|line| match line {
            "" => String::new(),
            line => format!("  {line}"),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn double_quoted(text: &str) -> String {
        let escaped = text.chars().map(|c| match c {
            '\n' => "\\n".to_owned(),
            '"' | '\\' => format!("\\{c}"),
            '\t' => "\\t".to_owned(),
            'é' => "\\u00e9".to_owned(),
            'z' => "\\\n  z".to_owned(),
            c => c.to_string(),
        });
        format!("\"{}\"", escaped.collect::<String>())
    }

    /// Writes text in a style, where that can hold it.
    fn emit(text: &str, style: Style) -> Option<String> {
        let unfolded = || {
            let lines: Vec<_> = text.split('\n').collect();
            let even = lines
                .iter()
                .all(|line| *line == line.trim() && !line.is_empty());
            even.then(|| lines.join("\n\n  "))
        };
        match style {
            Style::DoubleQuoted => Some(double_quoted(text)),
            Style::SingleQuoted => unfolded().map(|text| format!("'{}'", text.replace('\'', "''"))),
            Style::Plain => {
                let simple = |c: char| c.is_alphabetic() || c.is_whitespace();
                unfolded().filter(|text| text.chars().all(simple))
            }
            Style::Literal => {
                let header = if text.ends_with('\n') { "|2+" } else { "|2-" };
                let content = indented(text.strip_suffix('\n').unwrap_or(text));
                Some(format!("{header}\n{content}"))
            }
            _ => unfolded().map(|text| format!(">-\n  {text}")),
        }
    }

    proptest! {
        #[test]
        fn maps_every_character(
            text in "[az é😀'\"\\\\#:|>\\-\n\t]{1,20}",
            crlf: bool,
        ) {
            for style in STYLES {
                let Some(value) = emit(&text, style) else { continue };
                let mut file = format!("ü: ü\nk: {value}\nx: y\n");
                if crlf {
                    file = file.replace('\n', "\r\n");
                }
                prop_assert_eq!(&check(&file), &text);
            }
        }

        #[test]
        fn maps_whatever_parses(value in r#"(["'|>]|>-\n  |\|\n  )([ab 'é\\n\t:#"]|\n  |\n|\r\n |''){0,20}["']?"#) {
            let file = format!("k: {value}\n");
            if let Ok(node) = parse(&file, 0..file.len())
                && node.get("k").is_some_and(|node| node.as_str().is_some())
            {
                check(&file);
            }
        }

        #[test]
        fn never_panics(
            file in "[ab 'é\\\\\"|>\r\n\tx]{0,20}",
            decoded in "[ab 'é\\\\\n\t]{0,20}",
            start in 0usize..25,
            length in 0usize..25,
        ) {
            for style in [Style::Plain, Style::SingleQuoted, Style::DoubleQuoted, Style::Literal, Style::Folded, Style::Block] {
                let map = ScalarMap::new(&file, start..start + length, style, &decoded);
                prop_assert_eq!(map.places.len(), decoded.chars().count());
                for line in 0..5 {
                    for column in 0..5 {
                        let span = map.span((line, column), (column, line));
                        prop_assert!(file.get(span).is_some());
                        prop_assert!(file.is_char_boundary(map.locate(line, column)));
                    }
                }
            }
        }
    }
}
