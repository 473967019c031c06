//! What went wrong, where, and what to write instead.

use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{
    AnnotationKind, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Spans over more lines than this are underlined on their first line only.
const MAX_LINES: usize = 8;
/// Lines with more bytes than this are cut to a window around the span.
const MAX_LINE: usize = 240;
/// Characters shown in front of the span when a line is cut.
const BEFORE: usize = 40;
/// Characters shown from the start of the span on when a line is cut.
const AFTER: usize = 80;
/// Stands for what was cut off.
const CUT: &str = "...";

/// Says how bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but probably does not say what was meant.
    Warning,
}

/// Holds the text of a file together with the path shown to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path relative to the project, with forward slashes.
    pub path: String,
    /// The whole text of the file.
    pub text: Arc<str>,
}

impl Source {
    /// Makes a source that diagnostics can share.
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> Arc<Self> {
        Arc::new(Self {
            path: path.into(),
            text: text.into(),
        })
    }
}

/// Describes one problem in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// The path of the file, empty when there is none.
    pub file: String,
    /// The place in the source, in bytes.
    pub span: Option<Range<usize>>,
    /// The text that `span` points into.
    pub source: Option<Arc<Source>>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Makes an error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// Makes a warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            file: String::new(),
            span: None,
            source: None,
            help: None,
        }
    }

    /// Points at a span (in bytes) of a source.
    #[must_use]
    pub fn at(mut self, source: &Arc<Source>, span: Range<usize>) -> Self {
        self.file.clone_from(&source.path);
        self.source = Some(Arc::clone(source));
        self.span = Some(span);
        self
    }

    /// Points at a file as a whole.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.file = path.into();
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Tells whether this is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the line of the start of the span, counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.start().map(|(line, _)| line)
    }

    /// Returns the column of the start of the span in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.start().map(|(_, column)| column)
    }

    /// Returns the line of the end of the span, counted from 1.
    #[must_use]
    pub fn end_line(&self) -> Option<usize> {
        self.end().map(|(line, _)| line)
    }

    /// Returns the column just behind the span in characters, counted from 1.
    #[must_use]
    pub fn end_column(&self) -> Option<usize> {
        self.end().map(|(_, column)| column)
    }

    fn start(&self) -> Option<(usize, usize)> {
        let (source, span) = self.place()?;
        Some(line_and_column(&source.text, span.start))
    }

    fn end(&self) -> Option<(usize, usize)> {
        let (source, span) = self.place()?;
        Some(line_and_column(&source.text, span.end))
    }

    /// Returns source and span, the span moved to where the text can be cut.
    fn place(&self) -> Option<(&Source, Range<usize>)> {
        let source = self.source.as_deref()?;
        let span = self.span.as_ref()?;
        let start = source.text.floor_char_boundary(span.start);
        let end = source.text.floor_char_boundary(span.end).max(start);
        Some((source, start..end))
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = Some(self.file.as_str()).filter(|file| !file.is_empty());
        let (line, column) = self.start().unzip();
        let (end_line, end_column) = self.end().unzip();
        let mut object = serializer.serialize_struct("Diagnostic", 8)?;
        object.serialize_field("severity", &self.severity)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("file", &file)?;
        object.serialize_field("line", &line)?;
        object.serialize_field("column", &column)?;
        object.serialize_field("end_line", &end_line)?;
        object.serialize_field("end_column", &end_column)?;
        object.serialize_field("help", &self.help)?;
        object.end()
    }
}

impl Source {
    /// Returns line and column (in characters) of a byte offset, both counted from 1.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        line_and_column(&self.text, offset)
    }
}

/// Returns line and column (in characters) of a byte offset, both counted from 1.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let in_line = before[line_start..].trim_start_matches('\u{feff}');
    (line, in_line.chars().count() + 1)
}

/// Writes diagnostics the way rustc does, with a blank line between two of them.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut out = String::new();
    for diagnostic in diagnostics {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&render_one(&renderer, diagnostic));
        out.push('\n');
    }
    out
}

fn render_one(renderer: &Renderer, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let excerpt = diagnostic
        .place()
        .map(|(source, span)| Excerpt::new(&source.text, span));
    let path = normalize_untrusted_str(&diagnostic.file);
    let mut group = level.primary_title(&diagnostic.message).elements(
        // The message is followed by at most one place.
        excerpt.iter().map(|excerpt| {
            Snippet::source(&excerpt.text)
                .line_start(excerpt.line)
                .path(Some(path.as_str()).filter(|path| !path.is_empty()))
                .annotation(AnnotationKind::Primary.span(excerpt.span.clone()))
        }),
    );
    if excerpt.is_none() && !path.is_empty() {
        group = group.element(Origin::path(&path));
    }
    if let Some(help) = &diagnostic.help {
        // Only titles and sources are made safe for a terminal by the renderer.
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    let rendered = renderer.render(&[group]);
    match excerpt {
        Some(excerpt) => excerpt.correct_column(rendered, &path),
        None => rendered,
    }
}

/// Holds the few lines of a source that a span touches.
struct Excerpt {
    text: String,
    line: usize,
    span: Range<usize>,
    /// The column the renderer computes and the true one, where a line was cut.
    columns: Option<(usize, usize)>,
}

impl Excerpt {
    fn new(text: &str, span: Range<usize>) -> Self {
        let (line, column) = line_and_column(text, span.start);
        let first = line_around(text, span.start);
        let last = line_around(text, span.end);
        let lines = &text[first.start..last.end];
        let fits = lines.split('\n').take(MAX_LINES + 1).count() <= MAX_LINES
            && lines.split('\n').all(|line| line.len() <= MAX_LINE);
        if fits {
            return Self {
                text: lines.to_owned(),
                line,
                span: span.start - first.start..span.end - first.start,
                columns: None,
            };
        }
        let end = span.end.min(first.end).max(span.start);
        let excerpt = Self {
            text: text[first.clone()].to_owned(),
            line,
            span: span.start - first.start..end - first.start,
            columns: None,
        };
        if first.len() <= MAX_LINE {
            return excerpt;
        }
        excerpt.cut(column)
    }

    /// Keeps only what stands near the start of the span.
    fn cut(self, column: usize) -> Self {
        let (head, tail) = self.text.split_at(self.span.start);
        let from = head.char_indices().rev().take(BEFORE).last();
        let from = from.map_or(self.span.start, |(index, _)| index);
        let until = tail.char_indices().nth(AFTER);
        let until = until.map_or(self.text.len(), |(index, _)| self.span.start + index);
        let mut text = String::new();
        if from > 0 {
            text.push_str(CUT);
        }
        let start = text.len() + self.span.start - from;
        let end = start + self.span.end.min(until) - self.span.start;
        text.push_str(&self.text[from..until]);
        if until < self.text.len() {
            text.push_str(CUT);
        }
        let shown = text[..start].chars().count() + 1;
        Self {
            text,
            span: start..end,
            columns: Some((shown, column)),
            ..self
        }
    }

    /// Puts the true column where the renderer could only know that of the cut line.
    fn correct_column(&self, rendered: String, path: &str) -> String {
        let Some((shown, column)) = self.columns else {
            return rendered;
        };
        let line = self.line;
        let wrong = format!("{path}:{line}:{shown}");
        rendered.replacen(&wrong, &format!("{path}:{line}:{column}"), 1)
    }
}

/// Returns the line an offset stands in, without its line break.
fn line_around(text: &str, offset: usize) -> Range<usize> {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    // A byte order mark has no width and would only shift the columns.
    let start = if text[start..offset].starts_with('\u{feff}') {
        start + '\u{feff}'.len_utf8()
    } else {
        start
    };
    let end = text[offset..].find('\n');
    let end = end.map_or(text.len(), |newline| offset + newline);
    let end = end.max(start);
    let trimmed = text[start..end].trim_end_matches('\r').len();
    start..(start + trimmed).max(offset)
}

/// Returns the candidate that was probably meant by a misspelt word.
///
/// The first one wins when two are equally near.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    let mut best = None;
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let other = lower.chars().count();
        let limit = (length.max(other) / 3).max(1);
        // Tells far apart words without comparing them, however long they are. A word of
        // one letter is near to every other one.
        if length.abs_diff(other) > limit || length < 2 {
            continue;
        }
        let distance = strsim::osa_distance(&word, &lower);
        if distance <= limit && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn find(source: &Arc<Source>, needle: &str) -> Range<usize> {
        let start = source.text.find(needle).unwrap();
        start..start + needle.len()
    }

    fn example() -> Arc<Source> {
        Source::new(
            ".harness/hooks/command_guard.md",
            "---\nevent: tool.pra\npriority: 10\nscript: |\n  def handle(event, payload):\n    return allow()\n---\n",
        )
    }

    #[test]
    fn renders_an_error_with_caret_and_help() {
        let source = example();
        let diagnostic = Diagnostic::error("unknown event `tool.pra`")
            .at(&source, find(&source, "tool.pra"))
            .help("did you mean `tool.pre`?");
        insta::assert_snapshot!(render(&[diagnostic], false), @r"
        error: unknown event `tool.pra`
         --> .harness/hooks/command_guard.md:2:8
          |
        2 | event: tool.pra
          |        ^^^^^^^^
          |
          = help: did you mean `tool.pre`?
        ");
    }

    #[test]
    fn renders_several_with_a_blank_line_between() {
        let source = example();
        let diagnostics = [
            Diagnostic::warning("no such key").at(&source, find(&source, "priority")),
            Diagnostic::error("cannot be read")
                .in_file("a.md")
                .help("check the permissions"),
            Diagnostic::error("nothing to do"),
        ];
        insta::assert_snapshot!(render(&diagnostics, false), @r"
        warning: no such key
         --> .harness/hooks/command_guard.md:3:1
          |
        3 | priority: 10
          | ^^^^^^^^

        error: cannot be read
        --> a.md
         = help: check the permissions

        error: nothing to do
        ");
    }

    #[test]
    fn renders_a_span_over_two_lines() {
        let source = example();
        let span = find(&source, "def handle(event, payload):\n    return allow()");
        insta::assert_snapshot!(render(&[Diagnostic::error("bad").at(&source, span)], false), @r"
        error: bad
         --> .harness/hooks/command_guard.md:5:3
          |
        5 | /   def handle(event, payload):
        6 | |     return allow()
          | |__________________^
        ");
    }

    #[test]
    fn counts_columns_in_characters() {
        let source = Source::new("a.md", "grün: ñandú\r\n\tübel: x\r\n");
        let diagnostic = Diagnostic::error("bad").at(&source, find(&source, "x"));
        assert_eq!((diagnostic.line(), diagnostic.column()), (Some(2), Some(8)));
        assert_eq!(diagnostic.end_column(), Some(9));
        insta::assert_snapshot!(render(&[diagnostic], false), @r"
        error: bad
         --> a.md:2:8
          |
        2 |     übel: x
          |           ^
        ");
    }

    #[test]
    fn ignores_a_byte_order_mark_in_columns() {
        let source = Source::new("a.md", "\u{feff}--x\n");
        let diagnostic = Diagnostic::error("bad").at(&source, find(&source, "--x"));
        assert_eq!(diagnostic.column(), Some(1));
        insta::assert_snapshot!(render(&[diagnostic], false), @r"
        error: bad
         --> a.md:1:1
          |
        1 | --x
          | ^^^
        ");
    }

    #[test]
    fn copes_with_empty_and_impossible_spans() {
        let empty = Source::new("a.md", "");
        assert!(render(&[Diagnostic::error("bad").at(&empty, 0..0)], false).contains("a.md:1:1"));
        let source = Source::new("a.md", "\u{feff}ü\r\nü\n");
        for start in 0..12 {
            for end in 0..12 {
                let diagnostic = Diagnostic::error("bad").at(&source, start..end);
                assert!(!render(&[diagnostic], true).is_empty());
            }
        }
    }

    #[test]
    fn cuts_a_very_long_line() {
        let text = format!(
            "---\n{}NEEDLE{}\n",
            "ü".repeat(5_000_000),
            "y".repeat(5_000_000)
        );
        let source = Source::new("a.md", text);
        let diagnostic = Diagnostic::error("bad").at(&source, find(&source, "NEEDLE"));
        let began = Instant::now();
        let rendered = render(std::slice::from_ref(&diagnostic), false);
        assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
        assert_eq!(diagnostic.column(), Some(5_000_001));
        insta::assert_snapshot!(rendered, @r"
        error: bad
         --> a.md:2:5000001
          |
        2 | ...üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüNEEDLEyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...
          |                                            ^^^^^^
        ");
        assert!(render(&[diagnostic], true).contains("a.md:2:5000001"));
    }

    #[test]
    fn underlines_only_the_first_of_many_lines() {
        let source = Source::new("a.md", "first line\n".repeat(100_000));
        let diagnostic = Diagnostic::error("bad").at(&source, 6..1_000_000);
        insta::assert_snapshot!(render(&[diagnostic], false), @r"
        error: bad
         --> a.md:1:7
          |
        1 | first line
          |       ^^^^
        ");
    }

    #[test]
    fn shows_no_control_characters() {
        let source = Source::new("a\u{1b}.md", "x: \u{1b}[31m\u{202e}\n");
        let diagnostic = Diagnostic::error("bad \u{1b}[2J")
            .at(&source, 3..9)
            .help("write \u{1b}[31mred");
        let diagnostics = [diagnostic, Diagnostic::error("bad").in_file("\u{1b}.md")];
        let rendered = render(&diagnostics, false);
        assert!(!rendered.contains(['\u{1b}', '\u{202e}']), "{rendered:?}");
        assert!(render(&diagnostics, true).contains('\u{1b}'));
    }

    #[test]
    fn serializes_places_and_nulls() {
        let source = example();
        let diagnostics = [
            Diagnostic::error("bad").at(&source, find(&source, "tool.pra")),
            Diagnostic::warning("odd").help("do"),
        ];
        insta::assert_json_snapshot!(diagnostics, @r#"
        [
          {
            "severity": "error",
            "message": "bad",
            "file": ".harness/hooks/command_guard.md",
            "line": 2,
            "column": 8,
            "end_line": 2,
            "end_column": 16,
            "help": null
          },
          {
            "severity": "warning",
            "message": "odd",
            "file": null,
            "line": null,
            "column": null,
            "end_line": null,
            "end_column": null,
            "help": "do"
          }
        ]
        "#);
    }

    #[test]
    fn guesses_what_was_meant() {
        let events = ["tool.pre", "tool.post", "session.start", "error"];
        assert_eq!(did_you_mean("tool.pra", events), Some("tool.pre"));
        assert_eq!(did_you_mean("tool_pre", events), Some("tool.pre"));
        assert_eq!(did_you_mean("Tool.Post", events), Some("tool.post"));
        assert_eq!(did_you_mean("eror", events), Some("error"));
        assert_eq!(did_you_mean("sesion.strat", events), Some("session.start"));
        assert_eq!(did_you_mean("completion", events), None);
        assert_eq!(did_you_mean("", events), None);
        assert_eq!(did_you_mean("x", ["y", "on"]), None);
        assert_eq!(did_you_mean(&"x".repeat(10_000_000), events), None);
    }
}
