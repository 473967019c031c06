//! What was found, told without telling it.

use std::fmt;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is, for example `a GitHub token`.
    pub kind: &'static str,
    /// Its first characters, if they say nothing but its kind.
    pub start: Option<String>,
    /// How many characters it has, if that is known.
    pub length: Option<usize>,
}

impl Secret {
    /// Makes a secret whose first characters are the same for all of its kind.
    pub fn with_start(kind: &'static str, text: &str) -> Self {
        Self {
            kind,
            start: Some(text.chars().take(4).collect()),
            length: Some(text.chars().count()),
        }
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind)?;
        match (&self.start, self.length) {
            (Some(start), Some(length)) => write!(formatter, " ({start}…, {length} characters)"),
            (_, Some(length)) => write!(formatter, " ({length} characters)"),
            _ => Ok(()),
        }
    }
}

/// A credential and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The credential.
    pub secret: Secret,
    /// The path of the text, for example `args.files[0].content`.
    pub path: String,
    /// The line in the text, from 1; 0 for a key, which has none.
    pub line: usize,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { secret, path, line } = self;
        match line {
            0 => write!(formatter, "{secret} in a key of {path}"),
            line => write!(formatter, "{secret} in {path}, line {line}"),
        }
    }
}
