//! Finds the YAML between two `---` lines at the top of a Markdown file.

use std::ops::Range;

const DELIMITER: &str = "---";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Says where the two parts of a Markdown file stand, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The lines between the delimiters, with their line breaks.
    pub yaml: Range<usize>,
    /// Everything behind the line of the closing delimiter.
    pub body: Range<usize>,
}

/// Says why a file has no frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    /// The first line is something else.
    #[error("markdown file must start with --- frontmatter delimiter")]
    NoOpening {
        /// The first line, in bytes.
        span: Range<usize>,
    },
    /// The file ends behind the first delimiter.
    #[error("no content after opening --- delimiter")]
    NoContent {
        /// The opening delimiter, in bytes.
        span: Range<usize>,
    },
    /// There is no second delimiter.
    #[error("no closing --- delimiter found for frontmatter")]
    NoClosing {
        /// The opening delimiter, in bytes.
        span: Range<usize>,
    },
}

impl FrontmatterError {
    /// Returns the place to point at, in bytes.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::NoOpening { span } | Self::NoContent { span } | Self::NoClosing { span } => {
                span.clone()
            }
        }
    }
}

/// Splits the text of a file into frontmatter and body.
///
/// # Errors
/// Fails when one of the two delimiters is missing or when nothing follows the first one.
pub fn split(text: &str) -> Result<Parts, FrontmatterError> {
    let start = leading(text);
    let first = line_at(text, start);
    let shown = text[first.clone()].trim_end();
    let span = start..start + shown.len();
    if shown != DELIMITER {
        return Err(FrontmatterError::NoOpening { span });
    }
    if text[first.end..].trim().is_empty() {
        return Err(FrontmatterError::NoContent { span });
    }
    let mut line = line_at(text, first.end);
    while !line.is_empty() {
        // An indented `---` belongs to a block scalar.
        if text[line.clone()].trim_end() == DELIMITER {
            return Ok(Parts {
                yaml: first.end..line.start,
                body: line.end..text.len(),
            });
        }
        line = line_at(text, line.end);
    }
    Err(FrontmatterError::NoClosing { span })
}

/// Returns how many bytes stand in front of the first visible character.
fn leading(text: &str) -> usize {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.len() - rest.trim_start().len()
}

/// Returns the line that begins at an offset, with its line break.
fn line_at(text: &str, start: usize) -> Range<usize> {
    let end = text[start..].find('\n');
    start..end.map_or(text.len(), |newline| start + newline + 1)
}

/// Returns the first line of prose in a Markdown body.
///
/// Headings, fenced code, HTML comments and rulers are passed over.
#[must_use]
pub fn first_line(body: &str) -> Option<String> {
    let mut fence: Option<String> = None;
    let mut in_comment = false;
    let mut lines = body.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if let Some(open) = &fence {
            if closes(line, open) {
                fence = None;
            }
            continue;
        }
        let line = without_comments(line, &mut in_comment);
        let line = line.trim();
        fence = opening_fence(line);
        if fence.is_some() || line.is_empty() || is_heading(line) || is_ruler(line) {
            continue;
        }
        if lines.next_if(|next| is_underline(next)).is_some() {
            continue;
        }
        return Some(line.to_owned());
    }
    None
}

/// Removes HTML comments from a line; one that stays open goes on in the next line.
fn without_comments(mut line: &str, in_comment: &mut bool) -> String {
    let mut kept = String::new();
    loop {
        let mark = if *in_comment { "-->" } else { "<!--" };
        let Some((before, after)) = line.split_once(mark) else {
            break;
        };
        if !*in_comment {
            kept.push_str(before);
        }
        *in_comment = !*in_comment;
        line = after;
    }
    if !*in_comment {
        kept.push_str(line);
    }
    kept
}

/// Returns the run of backticks or tildes that opens a fence.
fn opening_fence(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|mark| "`~".contains(*mark))?;
    let run: String = line.chars().take_while(|&c| c == mark).collect();
    // Backticks that come back in the same line are code inside of a sentence.
    let inline = mark == '`' && line[run.len()..].contains('`');
    (run.len() >= 3 && !inline).then_some(run)
}

fn closes(line: &str, open: &str) -> bool {
    let rest = line.strip_prefix(open);
    rest.is_some_and(|rest| rest.chars().all(|c| open.starts_with(c)))
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && (text.is_empty() || text.starts_with([' ', '\t']))
}

fn is_ruler(line: &str) -> bool {
    ['-', '*', '_'].iter().any(|mark| {
        let marks = line.chars().filter(|c| c == mark).count();
        marks >= 3 && line.chars().all(|c| c == *mark || c == ' ')
    })
}

/// Tells whether a line makes the one above it a heading.
fn is_underline(line: &str) -> bool {
    let all = |mark: char| line.chars().all(|c| c == mark);
    !line.is_empty() && (all('=') || all('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str) -> (&str, &str) {
        let parts = split(text).unwrap();
        (&text[parts.yaml], &text[parts.body])
    }

    fn fails(text: &str) -> (String, &str) {
        let error = split(text).unwrap_err();
        (error.to_string(), &text[error.span()])
    }

    #[test]
    fn splits() {
        assert_eq!(parts("---\na: 1\n---\n# b\n"), ("a: 1\n", "# b\n"));
        assert_eq!(parts("---\na: 1\n---"), ("a: 1\n", ""));
        assert_eq!(parts("---\n---\nb"), ("", "b"));
        assert_eq!(parts("---  \na: 1\n--- \t\nb"), ("a: 1\n", "b"));
    }

    #[test]
    fn tolerates_what_stands_in_front() {
        assert_eq!(parts("\u{feff}---\na: 1\n---\n"), ("a: 1\n", ""));
        assert_eq!(parts("\n \n\t---\na: 1\n---\n"), ("a: 1\n", ""));
        assert_eq!(
            parts("\u{feff}\r\n---\r\na: 1\r\n---\r\nb\r\n"),
            ("a: 1\r\n", "b\r\n")
        );
    }

    #[test]
    fn closes_only_in_the_first_column() {
        let text = "---\na: |\n  ---\n  x\nb: ----\n---x\n--- y\n---\n---\nbody";
        assert_eq!(
            parts(text),
            ("a: |\n  ---\n  x\nb: ----\n---x\n--- y\n", "---\nbody")
        );
    }

    #[test]
    fn says_what_is_missing() {
        let opening = "markdown file must start with --- frontmatter delimiter";
        let content = "no content after opening --- delimiter";
        let closing = "no closing --- delimiter found for frontmatter";
        assert_eq!(fails(""), (opening.into(), ""));
        assert_eq!(fails(" \n\n"), (opening.into(), ""));
        assert_eq!(fails("# Übung \nx"), (opening.into(), "# Übung"));
        assert_eq!(
            fails("\u{feff}\n----\na: 1\n---\n"),
            (opening.into(), "----")
        );
        assert_eq!(fails("---"), (content.into(), "---"));
        assert_eq!(fails("---\r\n \n"), (content.into(), "---"));
        assert_eq!(fails("---\na: 1\n ---\n"), (closing.into(), "---"));
    }

    #[test]
    fn finds_the_first_line_of_prose() {
        let body = "\n# command_guard\n\n  Hard-blocks **bad** `rm`.\nMore.\n";
        assert_eq!(
            first_line(body).as_deref(),
            Some("Hard-blocks **bad** `rm`.")
        );
        let body =
            "<!-- a\n# b\nc --> \r\n```sh\nrm\n~~~\n```\r\n***\r\nTitle\r\n=====\r\n- item\r\n";
        assert_eq!(first_line(body).as_deref(), Some("- item"));
        assert_eq!(
            first_line("<!-- x -->Text<!-- y -->").as_deref(),
            Some("Text")
        );
        assert_eq!(first_line("#hashtag").as_deref(), Some("#hashtag"));
        assert_eq!(
            first_line("```x``` is code").as_deref(),
            Some("```x``` is code")
        );
    }

    #[test]
    fn finds_no_prose() {
        for body in [
            "",
            "\n\n",
            "# a\n## b",
            "```\ntext",
            "<!-- text",
            "#\n---\n",
        ] {
            assert_eq!(first_line(body), None, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[-\u{feff}\r\n aü#`~<!>=]{0,40}") {
            if let Ok(parts) = split(&text) {
                prop_assert!(parts.yaml.end < parts.body.start);
                prop_assert_eq!(parts.body.end, text.len());
            }
            let _ = first_line(&text);
        }
    }
}
