//! Makes a tree of a text.

use std::collections::HashSet;

use super::MAX_DEPTH;
use super::error::{ParseError, Problem};
use super::scan::Scanner;
use super::tree::{Comment, Item, Key, Kind, Node};

/// What a text is made of.
pub(super) struct Parsed {
    pub(super) root: Option<Node>,
    pub(super) comments: Vec<Comment>,
    pub(super) trailing_commas: bool,
}

pub(super) fn parse(text: &str) -> Result<Parsed, ParseError> {
    let mut parser = Parser {
        scanner: Scanner::new(text),
        depth: 0,
        trailing_commas: false,
    };
    parser.scanner.trivia()?;
    let mut root = None;
    if parser.scanner.peek().is_some() {
        root = Some(parser.value()?);
        parser.scanner.trivia()?;
    }
    if parser.scanner.peek().is_some() {
        return Err(parser.scanner.unexpected("the end of the text"));
    }
    Ok(Parsed {
        root,
        comments: parser.scanner.comments,
        trailing_commas: parser.trailing_commas,
    })
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    depth: usize,
    trailing_commas: bool,
}

impl Parser<'_> {
    fn value(&mut self) -> Result<Node, ParseError> {
        let start = self.scanner.at;
        let kind = match self.scanner.peek() {
            Some('{') => Kind::Object(self.container('}')?),
            Some('[') => Kind::Array(self.container(']')?),
            Some('"') => Kind::String(self.scanner.string()?.0),
            _ => self.scanner.scalar()?,
        };
        Ok(Node {
            span: start..self.scanner.at,
            kind,
        })
    }

    fn container(&mut self, close: char) -> Result<Vec<Item>, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.scanner.error(self.scanner.at, Problem::TooDeep));
        }
        self.depth += 1;
        self.scanner.at += 1;
        let items = self.items(close)?;
        self.depth -= 1;
        Ok(items)
    }

    /// Reads what is in a container, and its closing bracket.
    fn items(&mut self, close: char) -> Result<Vec<Item>, ParseError> {
        let mut items = Vec::new();
        let mut names = HashSet::new();
        let mut comma = None;
        loop {
            self.scanner.trivia()?;
            if self.scanner.take(close) {
                self.trailing_commas |= comma.is_some();
                return Ok(items);
            }
            let key = if close == '}' {
                Some(self.key(&mut names)?)
            } else {
                None
            };
            let value = self.value()?;
            comma = self.comma(close)?;
            items.push(Item { key, value, comma });
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self, names: &mut HashSet<String>) -> Result<Key, ParseError> {
        if self.scanner.peek() != Some('"') {
            return Err(self.scanner.unexpected("a key in double quotes or '}'"));
        }
        let (name, span) = self.scanner.string()?;
        if !names.insert(name.clone()) {
            let problem = Problem::DuplicateKey(name);
            return Err(self.scanner.error(span.start, problem));
        }
        self.scanner.trivia()?;
        if !self.scanner.take(':') {
            return Err(self.scanner.unexpected("':'"));
        }
        self.scanner.trivia()?;
        Ok(Key { name, span })
    }

    fn comma(&mut self, close: char) -> Result<Option<usize>, ParseError> {
        self.scanner.trivia()?;
        let at = self.scanner.at;
        if self.scanner.take(',') {
            return Ok(Some(at));
        }
        if self.scanner.peek() == Some(close) {
            return Ok(None);
        }
        let wanted = if close == '}' {
            "',' or '}'"
        } else {
            "',' or ']'"
        };
        Err(self.scanner.unexpected(wanted))
    }
}
