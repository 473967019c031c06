//! Reads a command line into words and operators, quotes and escapes included.

use super::close;
use super::escapes;
use super::here::{self, Body, Mark};
use super::marks::{STAR, live};

/// How many characters are looked through for the ends of what may be arithmetic.
const PATIENCE: usize = 4_000_000;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::defence) enum Piece {
    /// Text, with marks where it stands without quotes.
    Text(String),
    /// A variable, with what follows its name in `${…}`.
    Variable {
        name: String,
        rest: String,
        quoted: bool,
    },
    /// The output of a command.
    Output { command: String, quoted: bool },
    /// A file that a command reads or writes: `<(…)`.
    Feed(String),
}

pub(in crate::defence) type Word = Vec<Piece>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::defence) enum Token {
    Word(Word),
    /// Comes before the word that says where to.
    Redirect(Direction),
    /// What a command reads on its standard input.
    Input(Word),
    And,
    Or,
    Pipe,
    Background,
    End,
    CaseEnd,
    Open,
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::defence) enum Direction {
    In,
    Out,
    /// `<<<`
    Text,
}

/// How a text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::defence) enum Kind {
    Posix,
    /// PowerShell and `cmd`: backslashes are part of paths.
    Windows,
}

/// Reads a command line.
///
/// `bare` says that single quotes mean themselves in defaults within quotes.
pub(in crate::defence) fn read(text: &str, kind: Kind, bare: bool) -> Vec<Token> {
    let mut lexer = Lexer::new(text, kind);
    lexer.bare = bare;
    while lexer.step() {}
    lexer.end_word();
    lexer.bodies();
    lexer.out
}

/// Returns what comes after the first thing in a command line that is never closed.
pub(in crate::defence) fn unclosed(text: &str, kind: Kind) -> Option<String> {
    let mut lexer = Lexer::new(text, kind);
    while lexer.step() {}
    let from = lexer.open?;
    Some(lexer.slice(from, lexer.chars.len()))
}

/// Reads a text in which only variables and commands are filled in, as in a here-document.
pub(in crate::defence) fn read_text(text: &str, bare: bool) -> Word {
    let mut lexer = Lexer::new(text, Kind::Posix);
    lexer.bare = bare;
    lexer.quoted_until(None);
    lexer.end_piece();
    lexer.word
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    kind: Kind,
    bare: bool,
    out: Vec<Token>,
    word: Word,
    text: String,
    /// A word has begun, even if it is empty so far: `''`.
    begun: bool,
    /// Here-documents whose bodies come after the line, and where their tokens are.
    waiting: Vec<(usize, Mark)>,
    /// A document without an end was met. Whatever comes then is no document.
    endless: bool,
    /// Up to here is what may be arithmetic, in which nothing is a document.
    sum: usize,
    /// Where something begins that is never closed.
    open: Option<usize>,
    /// How much may still be looked through for the ends of arithmetic.
    patience: usize,
}

impl Lexer {
    fn new(text: &str, kind: Kind) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            kind,
            bare: false,
            out: Vec::new(),
            word: Vec::new(),
            text: String::new(),
            begun: false,
            waiting: Vec::new(),
            endless: false,
            sum: 0,
            open: None,
            patience: PATIENCE,
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn starts(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn slice(&self, from: usize, to: usize) -> String {
        let to = to.min(self.chars.len());
        self.chars
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .collect()
    }

    /// Notes where something began, if its end is that of the text.
    fn note(&mut self, from: usize, end: usize) {
        if end >= self.chars.len() {
            self.open = Some(self.open.map_or(from, |open| open.min(from)));
        }
    }

    fn push(&mut self, c: char) {
        self.begun = true;
        self.text.push(c);
    }

    fn piece(&mut self, piece: Piece) {
        self.end_piece();
        self.begun = true;
        self.word.push(piece);
    }

    fn end_piece(&mut self) {
        if !self.text.is_empty() {
            self.word.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn end_word(&mut self) {
        self.end_piece();
        if std::mem::take(&mut self.begun) {
            let word = std::mem::take(&mut self.word);
            self.out.push(Token::Word(word));
        }
    }

    fn operator(&mut self, token: Token, width: usize) {
        self.end_word();
        self.out.push(token);
        self.at += width;
    }

    /// Reads one thing, and says whether there may be more.
    fn step(&mut self) -> bool {
        let Some(c) = self.peek(0) else {
            return false;
        };
        match c {
            '\\' if self.kind == Kind::Posix => self.backslash(),
            '`' if self.kind == Kind::Windows => self.escape_next(),
            '^' if self.kind == Kind::Windows => self.at += 1,
            '\'' => self.single(),
            '"' => {
                self.at += 1;
                self.begun = true;
                self.quoted_until(Some('"'));
            }
            '$' => self.dollar(false),
            '`' => self.backticks(false),
            ' ' | '\t' | '\r' if c != '\r' || self.is_blank_return() => {
                self.end_word();
                self.at += 1;
            }
            '\n' => {
                self.operator(Token::End, 1);
                self.bodies();
            }
            '#' if !self.begun => {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            '?' | '*' | '+' | '@' | '!' if self.peek(1) == Some('(') && self.extended(c) => {}
            ';' | '&' | '|' | '(' | ')' | '<' | '>' => self.symbol(c),
            c => {
                self.push(live(c));
                self.at += 1;
            }
        }
        true
    }

    /// Says whether a carriage return only ends a line: others are letters to most shells.
    fn is_blank_return(&self) -> bool {
        self.kind == Kind::Windows || matches!(self.peek(1), None | Some('\n'))
    }

    fn backslash(&mut self) {
        match self.peek(1) {
            Some('\n') => {}
            Some('\r') if self.peek(2) == Some('\n') => self.at += 1,
            Some(c) => self.push(c),
            None => self.push('\\'),
        }
        self.at += 2;
    }

    fn escape_next(&mut self) {
        match self.peek(1) {
            Some('\n') | None => {}
            Some(c) => self.push(c),
        }
        self.at += 2;
    }

    fn single(&mut self) {
        self.at += 1;
        self.begun = true;
        let from = self.at;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == '\'' {
                return;
            }
            self.push(c);
        }
        self.note(from, self.at);
    }

    /// Reads `!(…)` and its like as a wildcard. In other places than words `!` is a word.
    fn extended(&mut self, c: char) -> bool {
        let first = !matches!(self.out.last(), Some(Token::Word(_)));
        if self.kind == Kind::Windows || !self.begun && (first || c == '+') {
            return false;
        }
        let end = close::paren(&self.chars, self.at + 2, self.bare);
        self.note(self.at + 2, end);
        self.at = end + 1;
        self.push(STAR);
        true
    }

    /// Reads up to a quote, or up to the end.
    fn quoted_until(&mut self, quote: Option<char>) {
        let from = self.at;
        while let Some(c) = self.peek(0) {
            if Some(c) == quote {
                self.at += 1;
                return;
            }
            match c {
                '\\' if self.kind == Kind::Posix => match self.peek(1) {
                    Some('\n') => self.at += 2,
                    Some(next @ ('$' | '`' | '"' | '\\')) => {
                        self.push(next);
                        self.at += 2;
                    }
                    _ => {
                        self.push('\\');
                        self.at += 1;
                    }
                },
                '`' if self.kind == Kind::Windows => self.escape_next(),
                '`' => self.backticks(true),
                '$' => self.dollar(true),
                c => {
                    self.push(c);
                    self.at += 1;
                }
            }
        }
        self.note(from, self.at);
    }

    fn backticks(&mut self, quoted: bool) {
        let end = close::backtick(&self.chars, self.at + 1);
        self.note(self.at + 1, end);
        let command = escapes::backtick(&self.slice(self.at + 1, end));
        self.at = end + 1;
        self.piece(Piece::Output { command, quoted });
    }

    fn dollar(&mut self, quoted: bool) {
        match self.peek(1) {
            Some('(') if self.peek(2) == Some('(') => {
                let end = close::paren(&self.chars, self.at + 2, self.bare);
                self.note(self.at + 2, end);
                let command = self.slice(self.at + 2, end);
                self.at = end + 1;
                // It may be arithmetic, where `<<` announces nothing, or commands.
                if command.contains("<<") {
                    let command = command.replace("<<", " ");
                    self.piece(Piece::Output { command, quoted });
                }
                self.piece(Piece::Output { command, quoted });
            }
            Some('(') => {
                let end = close::commands(&self.chars, self.at + 2, self.bare);
                self.note(self.at + 2, end);
                let command = self.slice(self.at + 2, end);
                self.at = end + 1;
                self.piece(Piece::Output { command, quoted });
            }
            Some('{') => {
                let end = close::brace(&self.chars, self.at + 2, quoted, self.bare);
                self.note(self.at + 2, end);
                let inner = self.slice(self.at + 2, end);
                self.at = end + 1;
                self.braced(&inner, quoted);
            }
            Some('\'') if !quoted => {
                let end = close::ansi(&self.chars, self.at + 2);
                self.note(self.at + 2, end);
                let text = escapes::ansi(&self.slice(self.at + 2, end));
                self.at = end + 1;
                self.begun = true;
                self.text.push_str(&text);
            }
            Some('"') if !quoted => self.at += 1,
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 2;
                self.variable(c.to_string(), String::new(), quoted);
            }
            Some(c) if c.is_alphabetic() || c == '_' => self.named(quoted),
            _ => {
                self.push('$');
                self.at += 1;
            }
        }
    }

    fn named(&mut self, quoted: bool) {
        let from = self.at + 1;
        self.at = from;
        while self.peek(0).is_some_and(is_name) {
            self.at += 1;
        }
        let mut name = self.slice(from, self.at);
        // PowerShell's `$env:HOME`.
        if name.eq_ignore_ascii_case("env") && self.peek(0) == Some(':') {
            let from = self.at + 1;
            self.at = from;
            while self.peek(0).is_some_and(is_name) {
                self.at += 1;
            }
            name = self.slice(from, self.at);
        }
        self.variable(name, String::new(), quoted);
    }

    fn braced(&mut self, inner: &str, quoted: bool) {
        let inner = inner.strip_prefix("env:").unwrap_or(inner);
        let sign = inner.chars().take_while(|c| "!#".contains(*c)).count();
        let body = inner.get(sign..).unwrap_or_default();
        let length = body.find(|c| !is_name(c)).unwrap_or(body.len());
        let length = match body.chars().next() {
            Some('@' | '*') if length == 0 => 1,
            _ => length,
        };
        let name = body.get(..length).unwrap_or_default().to_owned();
        let mut rest = body.get(length..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix('[') {
            rest = after.split_once(']').map_or("", |(_, rest)| rest);
        }
        let sign = inner.get(..sign).unwrap_or_default();
        let rest = match sign {
            "" => rest.to_owned(),
            sign => format!("\0{sign}{rest}"),
        };
        self.variable(name, rest, quoted);
    }

    fn variable(&mut self, name: String, rest: String, quoted: bool) {
        self.piece(Piece::Variable { name, rest, quoted });
    }

    fn symbol(&mut self, c: char) {
        match c {
            ';' if self.starts(";;") => self.operator(Token::CaseEnd, 2),
            ';' if self.starts(";&") => self.operator(Token::CaseEnd, 2),
            ';' => self.operator(Token::End, 1),
            '&' if self.starts("&&") => self.operator(Token::And, 2),
            '&' if self.starts("&>>") => self.operator(Token::Redirect(Direction::Out), 3),
            '&' if self.starts("&>") => self.operator(Token::Redirect(Direction::Out), 2),
            '&' => self.operator(Token::Background, 1),
            '|' if self.starts("||") => self.operator(Token::Or, 2),
            '|' if self.starts("|&") => self.operator(Token::Pipe, 2),
            '|' => self.operator(Token::Pipe, 1),
            '(' => {
                self.arithmetic();
                self.operator(Token::Open, 1);
            }
            ')' => self.operator(Token::Close, 1),
            _ => self.arrow(c),
        }
    }

    /// Notes where `((…))` ends, if this is the beginning of one.
    fn arithmetic(&mut self) {
        if self.peek(1) != Some('(') || self.at < self.sum || self.endless {
            return;
        }
        let end = close::paren(&self.chars, self.at + 2, self.bare);
        if self.chars.get(end..end + 2) == Some(&[')', ')']) {
            self.sum = end;
        }
        self.patience = self.patience.saturating_sub(end - self.at);
        self.endless |= self.patience == 0;
    }

    fn arrow(&mut self, c: char) {
        if self.peek(1) == Some('(') && self.kind == Kind::Posix {
            let end = close::commands(&self.chars, self.at + 2, self.bare);
            self.note(self.at + 2, end);
            let command = self.slice(self.at + 2, end);
            self.at = end + 1;
            self.piece(Piece::Feed(command));
            return;
        }
        self.drop_descriptor();
        if c == '>' {
            let width = if self.starts(">>") || self.starts(">|") || self.starts(">&") {
                2
            } else {
                1
            };
            self.operator(Token::Redirect(Direction::Out), width);
        } else if self.starts("<<<") {
            self.operator(Token::Redirect(Direction::Text), 3);
        } else if self.starts("<<") && self.at >= self.sum {
            self.here_document();
        } else if self.starts("<>") {
            self.operator(Token::Redirect(Direction::Out), 2);
        } else {
            let width = if self.starts("<&") { 2 } else { 1 };
            self.operator(Token::Redirect(Direction::In), width);
        }
    }

    /// Forgets the number before an arrow, which is no word.
    fn drop_descriptor(&mut self) {
        let number = !self.text.is_empty() && self.text.chars().all(|c| c.is_ascii_digit());
        if self.word.is_empty() && number {
            self.text.clear();
            self.begun = false;
        }
    }

    fn here_document(&mut self) {
        self.end_word();
        let (mark, next) = here::mark(&self.chars, self.at + 2);
        self.at = next;
        if let Some(mark) = mark {
            self.waiting.push((self.out.len(), mark));
            self.out.push(Token::Input(Vec::new()));
        }
    }

    /// Reads the here-documents that the line before announced. One that has no end is read
    /// as commands, too: it may be none.
    fn bodies(&mut self) {
        for (place, mark) in std::mem::take(&mut self.waiting) {
            if self.endless {
                return;
            }
            let body = here::body(&self.chars, self.at, &mark, false);
            self.endless |= body.is_none();
            let body = body.unwrap_or_else(|| Body {
                text: self.slice(self.at, self.chars.len()),
                next: self.at,
            });
            self.at = body.next;
            let word = match mark.literal {
                true => vec![Piece::Text(body.text)],
                false => read_text(&body.text, self.bare),
            };
            if let Some(token) = self.out.get_mut(place) {
                *token = Token::Input(word);
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
