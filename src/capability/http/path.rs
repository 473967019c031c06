//! Paths of rules, and the spellings of paths that servers disagree about.

use url::Url;

use super::rule_error::RuleError;

/// A path in which each `*` stands for any run of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    pieces: Vec<String>,
}

impl PathPattern {
    /// Parses a path that begins with a slash.
    pub(super) fn parse(text: &str) -> Result<Self, RuleError> {
        let bad = || RuleError::Path(text.to_owned());
        if text.contains(['?', '#']) {
            return Err(RuleError::Query(text.to_owned()));
        }
        if text.contains('\\') || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(bad());
        }
        if is_ambiguous(text) {
            return Err(bad());
        }
        let url = Url::parse(&format!("http://host{text}")).map_err(|_| bad())?;
        let pieces = url.path().split('*').map(str::to_owned).collect();
        Ok(Self { pieces })
    }

    /// Returns whether this is `/*`, which covers every path.
    pub(super) fn is_every(&self) -> bool {
        matches!(self.pieces.as_slice(), [first, last] if first == "/" && last.is_empty())
    }

    /// Returns whether the whole of `path` matches.
    pub(super) fn covers(&self, path: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.pieces.first().is_some_and(|only| only == path);
        };
        let Some(mut rest) = path.strip_prefix(first.as_str()) else {
            return false;
        };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

/// Returns whether servers disagree about which resource `path` names.
///
/// That is so with an encoded slash, backslash or NUL, and with a dot segment
/// that is encoded or carries parameters (`..;x`). The path is looked at as it
/// is and decoded once, since some servers decode twice.
pub(super) fn is_ambiguous(path: &str) -> bool {
    let once = decode(path.as_bytes());
    looks_ambiguous(path.as_bytes()) || looks_ambiguous(&once)
}

fn looks_ambiguous(path: &[u8]) -> bool {
    let escapes = path.windows(3).filter(|three| three[0] == b'%');
    let hidden = |three: &[u8]| {
        let low = three[2].to_ascii_lowercase();
        matches!((three[1], low), (b'2', b'f') | (b'5', b'c') | (b'0', b'0'))
    };
    escapes.into_iter().any(hidden) || decode(path).split(|b| *b == b'/').any(is_dot_segment)
}

fn is_dot_segment(segment: &[u8]) -> bool {
    let name = segment.split(|b| *b == b';').next().unwrap_or(segment);
    name == b"." || name == b".."
}

fn decode(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    out.push(high * 16 + low);
                    rest = after;
                    continue;
                }
                _ => out.push(b'%'),
            },
            _ => out.push(*first),
        }
        rest = tail;
    }
    out
}

/// Returns the value of one hexadecimal digit.
pub(super) fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
