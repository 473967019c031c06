//! Wildcards, matched against names that are known.

use super::shell::marks::{ANY, OPEN, STAR};

/// How far a pattern goes along a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Along {
    /// How many names it covers.
    pub length: usize,
    /// A shell fills the pattern in from the disk, so that what is not there is not meant.
    pub from_the_disk: bool,
}

/// Says whether a text holds a wildcard.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains([STAR, ANY, OPEN])
}

/// Says whether a name stands for any number of folders.
pub(super) fn is_deep(name: &str) -> bool {
    name.chars().all(|c| c == STAR) && name.chars().count() > 1
}

/// Matches the names of a pattern against those of a path, as far as the shorter goes.
pub(super) fn along(pattern: &[String], path: &[String], dots: bool) -> Option<Along> {
    let mut at = 0;
    let mut from_the_disk = false;
    for (index, name) in pattern.iter().enumerate() {
        let Some(part) = path.get(at) else { break };
        if is_deep(name) {
            return deep(pattern, path, index, at, dots);
        }
        if !one(name, part, dots) {
            return None;
        }
        from_the_disk |= name.starts_with([STAR, ANY, OPEN]);
        at += 1;
    }
    Some(Along {
        length: at,
        from_the_disk,
    })
}

/// Matches `**`, which stands for any number of folders.
fn deep(pattern: &[String], path: &[String], index: usize, at: usize, dots: bool) -> Option<Along> {
    let rest = pattern.get(index + 1..).unwrap_or_default();
    let nested = rest.iter().filter(|name| name.starts_with(STAR)).count();
    for skip in at..=path.len() {
        let tail = path.get(skip..).unwrap_or_default();
        let hidden = path.get(at..skip).unwrap_or_default();
        if !dots && hidden.iter().any(|name| name.starts_with('.')) {
            break;
        }
        // Several `**` are taken for one: more would cost more than they can tell.
        let found = if rest.is_empty() || nested > 4 {
            Some(tail.len())
        } else {
            along(rest, tail, dots).map(|found| found.length)
        };
        if let Some(length) = found.filter(|length| *length > 0 || !tail.is_empty()) {
            return Some(Along {
                length: skip + length,
                from_the_disk: true,
            });
        }
    }
    None
}

/// Matches one name.
pub(super) fn one(pattern: &str, name: &str, dots: bool) -> bool {
    if !is_pattern(pattern) {
        return pattern == name;
    }
    if name.starts_with('.') && !dots && pattern.starts_with([STAR, ANY, OPEN]) {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    if pattern.len() > 512 || name.len() > 512 {
        return true;
    }
    matches(&pattern, &name)
}

/// Matches with one star to go back to, which is enough: a later star takes over.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&STAR) {
            back = Some((p + 1, n));
            p += 1;
            continue;
        }
        if let Some(width) = single(pattern, p, name.get(n).copied().unwrap_or_default()) {
            p += width;
            n += 1;
            continue;
        }
        let Some((star, from)) = back else {
            return false;
        };
        p = star;
        n = from + 1;
        back = Some((star, from + 1));
    }
    pattern.iter().skip(p).all(|c| *c == STAR)
}

/// Says how much of a pattern one character uses up, if it matches.
fn single(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match *pattern.get(at)? {
        ANY => Some(1),
        OPEN => class(pattern, at, c),
        literal => (literal == c).then_some(1),
    }
}

fn class(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let body = pattern.get(at + 1..)?;
    let negated = matches!(body.first(), Some('!' | '^'));
    let from = usize::from(negated);
    let named = body.get(from) == Some(&OPEN) || body.get(from) == Some(&'[');
    let skip = from + 1;
    let close = body.iter().skip(skip).position(|c| *c == ']');
    let Some(close) = close.map(|close| close + skip) else {
        return (c == '[').then_some(1);
    };
    if named {
        // `[[:alpha:]]` and its like are taken for everything.
        let end = body.iter().skip(close).take_while(|c| **c == ']').count();
        return Some(close + end + 1);
    }
    let set = body.get(from..close)?;
    (in_set(set, c) != negated).then_some(close + 2)
}

fn in_set(set: &[char], c: char) -> bool {
    let mut at = 0;
    while let Some(low) = set.get(at) {
        match (set.get(at + 1), set.get(at + 2)) {
            (Some('-'), Some(high)) => {
                if (*low..=*high).contains(&c) {
                    return true;
                }
                at += 3;
            }
            _ if *low == c => return true,
            _ => at += 1,
        }
    }
    false
}
