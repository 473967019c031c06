//! What can be wrong with a text or an edit.

use thiserror::Error;

use super::MAX_DEPTH;

/// Says what is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// Counts from one; LF, CR and both together end a line.
    pub line: usize,
    /// Counts characters from one.
    pub column: usize,
    /// Says what is wrong there.
    pub problem: Problem,
}

/// Says what is wrong with a text, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// Something else stands where the grammar wants a certain thing.
    #[error("found {found:?} where {wanted} has to be: correct or remove it")]
    Unexpected {
        /// Stands there.
        found: char,
        /// Names what may stand there.
        wanted: &'static str,
    },
    /// The text is over too early.
    #[error("the text ends where {wanted} has to be: add what is missing")]
    Ended {
        /// Names what has to follow.
        wanted: &'static str,
    },
    /// A string runs into the end of its line or of the text.
    #[error("a string is not closed on its line: add '\"', or write line ends as \\n")]
    OpenString,
    /// A block comment runs into the end of the text.
    #[error("a comment is not closed: add */")]
    OpenComment,
    /// A string has a raw control character.
    #[error("a string has the control character {0:?}: write it as \\u{code:04x}", code = u32::from(*.0))]
    Control(char),
    /// A backslash is not followed by what JSON knows.
    #[error("a string has an unknown escape: use one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX")]
    Escape,
    /// Half of a surrogate pair stands alone.
    #[error("a string has half of a surrogate pair: write both halves, or the character itself")]
    LoneSurrogate,
    /// Digits, signs and dots do not make a number.
    #[error("{0} is not a number of json: write it like -12.5e3")]
    Number(String),
    /// A bare word is none of the three that JSON knows.
    #[error("{0} is not a value of json: put text in double quotes")]
    Word(String),
    /// A key is in one object twice, and which one wins depends on the reader.
    #[error("the key {0:?} is in this object twice: remove one of them")]
    DuplicateKey(String),
    /// Containers are nested too deep.
    #[error("nested deeper than {MAX_DEPTH} levels: make it flatter")]
    TooDeep,
}

/// Says why an edit was not made; the text is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// Something on the way is of another kind.
    #[error("{at} is {found} where {wanted} has to be: change or remove it by hand")]
    WrongKind {
        /// Where it is.
        at: String,
        /// Names the kind it is.
        found: &'static str,
        /// Names the kind that the edit needs.
        wanted: &'static str,
    },
    /// An array has no element of that index.
    #[error("{at} has {length} elements and none at index {index}: push to add one")]
    NoElement {
        /// Where the array is, or would be.
        at: String,
        /// Tells which element was asked for.
        index: usize,
        /// Tells how many there are.
        length: usize,
    },
    /// The edit would nest containers too deep.
    #[error("{at} would be nested deeper than {MAX_DEPTH} levels: make the value flatter")]
    TooDeep {
        /// Where the value was to go.
        at: String,
    },
    /// The text after the edit cannot be read: the value given is not one of JSON.
    #[error("the text could not be read after the edit, so it was not made: {0}")]
    Unreadable(#[from] ParseError),
}
