//! Finds where something that was opened ends. What is never closed ends with the text.

use super::here::{self, Mark};

/// What a scan is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Commands. They are part of a word unless they are a group. In each `case` that is
    /// open, parentheses end patterns.
    Commands {
        group: bool,
        cases: usize,
    },
    /// Parentheses of arithmetic and patterns, in which nothing is a comment or a document.
    Paren,
    /// A variable. In its default, single quotes may mean themselves.
    Brace {
        quotes: bool,
    },
    Quote,
}

impl Inside {
    const SUBSTITUTION: Self = Self::Commands {
        group: false,
        cases: 0,
    };
    const GROUP: Self = Self::Commands {
        group: true,
        cases: 0,
    };
}

/// Returns where the commands end whose parenthesis was opened before `from`.
pub(in crate::defence) fn commands(chars: &[char], from: usize, bare: bool) -> usize {
    scan(chars, from, Inside::SUBSTITUTION, bare)
}

/// Returns where the parenthesis of a pattern, or of arithmetic, that was opened before
/// `from` is closed.
pub(in crate::defence) fn paren(chars: &[char], from: usize, bare: bool) -> usize {
    scan(chars, from, Inside::Paren, bare)
}

/// Returns where the brace of a variable that was opened before `from` is closed.
///
/// In a default within quotes, single quotes mean themselves to some shells, and quote to
/// others: `bare` says to which.
pub(in crate::defence) fn brace(chars: &[char], from: usize, quoted: bool, bare: bool) -> usize {
    let quotes = !(bare && quoted && is_default(chars, from));
    scan(chars, from, Inside::Brace { quotes }, bare)
}

/// Returns where backticks end.
pub(in crate::defence) fn backtick(chars: &[char], from: usize) -> usize {
    unescaped(chars, from, '`')
}

/// Returns where `$'…'` ends.
pub(in crate::defence) fn ansi(chars: &[char], from: usize) -> usize {
    unescaped(chars, from, '\'')
}

fn unescaped(chars: &[char], from: usize, end: char) -> usize {
    let mut at = from;
    while let Some(c) = chars.get(at) {
        match *c {
            '\\' => at += 2,
            c if c == end => return at,
            _ => at += 1,
        }
    }
    chars.len()
}

/// Goes through nested quotes and brackets with a stack of its own, since an attacker
/// chooses how deep they are.
struct Scan<'c> {
    chars: &'c [char],
    at: usize,
    stack: Vec<Inside>,
    /// Documents that begin on the next line, and how deep they were announced.
    waiting: Vec<(usize, Mark)>,
    /// A word may begin here, or a comment.
    fresh: bool,
    /// The next word is the first of a command.
    first: bool,
    /// A document without an end was met. Whatever comes then is no document.
    endless: bool,
    /// Single quotes mean themselves in defaults within quotes.
    bare: bool,
}

fn scan(chars: &[char], from: usize, first: Inside, bare: bool) -> usize {
    let mut scan = Scan {
        chars,
        at: from,
        stack: vec![first],
        waiting: Vec::new(),
        fresh: true,
        first: true,
        endless: false,
        bare,
    };
    while let Some(inside) = scan.stack.last().copied() {
        let Some(c) = scan.peek(0) else {
            return chars.len();
        };
        match inside {
            Inside::Commands { group, cases } => scan.in_commands(c, group, cases),
            inside => scan.anywhere(c, inside),
        }
    }
    scan.at - 1
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn push(&mut self, inside: Inside, width: usize) {
        self.stack.push(inside);
        self.at += width;
        self.fresh = true;
        self.first = true;
    }

    fn pop(&mut self) {
        self.stack.pop();
        self.at += 1;
        self.fresh = false;
        self.first = false;
        let depth = self.stack.len();
        self.waiting.retain(|(place, _)| *place <= depth);
    }

    fn in_commands(&mut self, c: char, group: bool, cases: usize) {
        let fresh = std::mem::replace(&mut self.fresh, true);
        match c {
            ' ' | '\t' | '>' => self.at += 1,
            ';' | '&' | '|' => {
                self.at += 1;
                self.first = true;
            }
            '\n' => {
                self.at += 1;
                self.first = true;
                self.documents();
            }
            '#' if fresh => {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            '(' => self.push(Inside::GROUP, 1),
            ')' if cases > 0 => {
                self.at += 1;
                self.first = true;
            }
            ')' => {
                self.pop();
                self.fresh = group;
            }
            '<' => self.arrow(),
            '\\' if self.peek(1) == Some('\n') => {
                self.at += 2;
                self.fresh = fresh;
            }
            c => {
                self.fresh = false;
                let first = std::mem::replace(&mut self.first, false);
                if !fresh || !self.keyword(first, cases) {
                    self.anywhere(c, Inside::SUBSTITUTION);
                }
            }
        }
    }

    /// Reads a word that tells commands from others, if one begins here.
    fn keyword(&mut self, first: bool, cases: usize) -> bool {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let ends = |c: &char| c.is_whitespace() || ";&|()<>".contains(*c);
        let word: String = rest.iter().take(6).take_while(|c| !ends(c)).collect();
        let open = match word.as_str() {
            "case" if first => cases + 1,
            "esac" if cases > 0 => cases - 1,
            "do" | "then" | "else" | "elif" | "if" | "while" | "until" | "{" | "!" if first => {
                self.first = true;
                cases
            }
            _ => return false,
        };
        if let Some(Inside::Commands { cases, .. }) = self.stack.last_mut() {
            *cases = open;
        }
        self.at += word.len();
        true
    }

    fn arrow(&mut self) {
        match (self.peek(1), self.peek(2)) {
            (Some('<'), Some('<')) => self.at += 3,
            (Some('<'), _) => {
                let (mark, next) = here::mark(self.chars, self.at + 2);
                let depth = self.stack.len();
                self.waiting.extend(mark.map(|mark| (depth, mark)));
                self.at = next;
            }
            _ => self.at += 1,
        }
    }

    /// Goes over the documents that the line before announced.
    fn documents(&mut self) {
        let depth = self.stack.len();
        let waiting = std::mem::take(&mut self.waiting);
        for (place, mark) in waiting {
            if place != depth {
                self.waiting.push((place, mark));
            } else if !self.endless {
                let body = here::body(self.chars, self.at, &mark, true);
                self.endless |= body.is_none();
                self.at = body.map_or(self.at, |body| body.next);
            }
        }
    }

    fn anywhere(&mut self, c: char, inside: Inside) {
        let quotes = !matches!(inside, Inside::Quote | Inside::Brace { quotes: false });
        match c {
            '\\' => self.at += 2,
            '\'' if quotes => self.at = literal(self.chars, self.at) + 1,
            '"' if inside == Inside::Quote => self.pop(),
            '"' => self.push(Inside::Quote, 1),
            '`' => self.at = backtick(self.chars, self.at + 1) + 1,
            '$' if self.peek(1) == Some('(') => self.substitution(),
            '$' if self.peek(1) == Some('{') => {
                let quoted = matches!(inside, Inside::Quote | Inside::Brace { quotes: false });
                let quotes = !(self.bare && quoted && is_default(self.chars, self.at + 2));
                self.push(Inside::Brace { quotes }, 2);
            }
            '(' if inside == Inside::Paren => self.push(Inside::Paren, 1),
            ')' if inside == Inside::Paren => self.pop(),
            '}' if matches!(inside, Inside::Brace { .. }) => self.pop(),
            _ => self.at += 1,
        }
    }

    fn substitution(&mut self) {
        match self.peek(2) {
            // Shells take what looks like arithmetic for that as long as they look for its end.
            Some('(') => {
                self.push(Inside::Paren, 2);
                self.push(Inside::Paren, 1);
            }
            _ => self.push(Inside::SUBSTITUTION, 2),
        }
    }
}

/// Says whether what is in braces is a variable with a default, in which quotes within
/// quotes mean themselves.
fn is_default(chars: &[char], from: usize) -> bool {
    let is_name = |c: &char| c.is_alphanumeric() || "_@*!".contains(*c);
    let rest = chars.get(from..).unwrap_or_default();
    let mut rest = rest.iter().copied().skip_while(is_name);
    match rest.next() {
        Some(':') => rest.next().is_some_and(|c| "-=?+".contains(c)),
        next => next.is_some_and(|c| "-=?+".contains(c)),
    }
}

fn literal(chars: &[char], at: usize) -> usize {
    if at > 0 && chars.get(at - 1) == Some(&'$') {
        return ansi(chars, at + 1);
    }
    let rest = chars.get(at + 1..).unwrap_or_default();
    rest.iter()
        .position(|c| *c == '\'')
        .map_or(chars.len(), |more| at + 1 + more)
}
