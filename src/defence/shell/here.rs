//! Here-documents: what announces them, and where they end.

use super::{close, escapes};

/// What comes behind `<<`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::defence) struct Mark {
    /// The line that ends the document.
    pub end: String,
    /// Nothing is filled in.
    pub literal: bool,
    /// Tabs at the beginning of lines are left out.
    pub tabs: bool,
}

/// A document, and where the text goes on behind it.
pub(in crate::defence) struct Body {
    pub text: String,
    pub next: usize,
}

/// Reads what comes behind `<<`, and says where that ends; nothing if no word is there.
pub(in crate::defence) fn mark(chars: &[char], from: usize) -> (Option<Mark>, usize) {
    let mut at = from;
    let tabs = chars.get(at) == Some(&'-');
    at += usize::from(tabs);
    while matches!(chars.get(at), Some(' ' | '\t')) {
        at += 1;
    }
    let mut word = Word {
        chars,
        at,
        end: String::new(),
        literal: false,
    };
    while word.step() {}
    let Word {
        at, end, literal, ..
    } = word;
    let there = literal || !end.is_empty();
    let mark = Mark { end, literal, tabs };
    (there.then_some(mark), at)
}

/// The word that ends a document. Quotes are taken off, and nothing is filled in.
struct Word<'c> {
    chars: &'c [char],
    at: usize,
    end: String,
    literal: bool,
}

impl Word<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn step(&mut self) -> bool {
        let Some(c) = self.peek(0) else { return false };
        match (c, self.peek(1)) {
            (' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')', _) => return false,
            ('\\', Some('\n')) => self.at += 2,
            ('\\', next) => {
                self.literal = true;
                self.end.extend(next);
                self.at += 2;
            }
            ('\'', _) => self.quoted('\''),
            ('"', _) => self.quoted('"'),
            ('$', Some('"')) => self.at += 1,
            ('$', Some('\'')) => {
                let close = close::ansi(self.chars, self.at + 2);
                let inner = self.chars.get(self.at + 2..close).unwrap_or_default();
                self.end
                    .push_str(&escapes::ansi(&inner.iter().collect::<String>()));
                self.literal = true;
                self.at = close + 1;
            }
            ('$', Some('(')) => self.bracketed('(', ')'),
            ('$', Some('{')) => self.bracketed('{', '}'),
            (c, _) => {
                self.end.push(c);
                self.at += 1;
            }
        }
        true
    }

    fn quoted(&mut self, quote: char) {
        self.literal = true;
        self.at += 1;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match self.peek(0) {
                _ if c == quote => return,
                Some(next @ ('"' | '\\' | '$' | '`')) if c == '\\' && quote == '"' => {
                    self.end.push(next);
                    self.at += 1;
                }
                _ => self.end.push(c),
            }
        }
    }

    /// Takes brackets as they are. They are only counted: what is in them is no command here.
    fn bracketed(&mut self, open: char, close: char) {
        let mut depth = 0usize;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            self.end.push(c);
            depth += usize::from(c == open);
            depth -= usize::from(c == close && depth > 0);
            if c == close && depth == 0 {
                return;
            }
        }
    }
}

/// Reads a document from where its first line begins; nothing if it has no end. In a
/// substitution a parenthesis may come behind the word that ends it, too.
pub(in crate::defence) fn body(
    chars: &[char],
    from: usize,
    mark: &Mark,
    substituted: bool,
) -> Option<Body> {
    let mut text = String::new();
    let mut at = from;
    while at < chars.len() {
        let (line, next) = line(chars, at, mark.literal);
        let bare = match mark.tabs {
            true => line.trim_start_matches('\t'),
            false => &line,
        };
        if bare == mark.end {
            return Some(Body { text, next });
        }
        let rest = bare.strip_prefix(mark.end.as_str());
        if substituted && rest.is_some_and(|rest| rest.contains(')')) {
            let tabs = line.len() - bare.len();
            let next = at + tabs + mark.end.chars().count();
            return Some(Body { text, next });
        }
        text.push_str(bare);
        text.push('\n');
        at = next;
    }
    None
}

/// Reads a line, and the next one where a backslash joins them.
fn line(chars: &[char], from: usize, literal: bool) -> (String, usize) {
    let mut line = String::new();
    let mut at = from;
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match (c, chars.get(at).copied()) {
            ('\n', _) => break,
            ('\\', Some('\n')) if !literal => at += 1,
            ('\\', Some(next)) if !literal => {
                line.extend(['\\', next]);
                at += 1;
            }
            (c, _) => line.push(c),
        }
    }
    (line, at)
}
