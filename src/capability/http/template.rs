//! Header values with holes for secrets: `Bearer {secret:API_TOKEN}`.

use std::fmt;

use super::header::is_legal_value;

const OPEN: &str = "{secret:";

/// A header value whose holes are filled with secrets when a request is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text that is sent as it is.
    Text(String),
    /// The name of the secret that is sent here.
    Secret(String),
}

/// Says why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A brace is not part of a hole.
    #[error("{0:?} has a brace that is not part of a hole; write a hole as `{{secret:NAME}}`")]
    Brace(String),
    /// A name is not made of the right characters.
    #[error("{0:?} is not the name of a secret; use A to Z, 0 to 9 and `_`")]
    Name(String),
    /// The text cannot stand in a header.
    #[error("the header value is too long or has characters other than visible ascii; drop them")]
    Value,
}

impl Template {
    /// Parses a header value with `{secret:NAME}` holes.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if !is_legal_value(text) || text.trim() != text {
            return Err(TemplateError::Value);
        }
        let brace = || TemplateError::Brace(text.to_owned());
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            push_text(&mut pieces, &rest[..at]);
            let hole = rest[at..].strip_prefix(OPEN).ok_or_else(brace)?;
            let (name, after) = hole.split_once('}').ok_or_else(brace)?;
            if !is_secret_name(name) {
                return Err(TemplateError::Name(name.to_owned()));
            }
            pieces.push(Piece::Secret(name.to_owned()));
            rest = after;
        }
        push_text(&mut pieces, rest);
        Ok(Self { pieces })
    }

    /// Returns the names of the secrets it needs.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Secret(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Returns the parts in their order.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

fn is_secret_name(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    !name.is_empty() && name.bytes().all(legal)
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Secret(name) => write!(f, "{OPEN}{name}}}")?,
            }
        }
        Ok(())
    }
}
