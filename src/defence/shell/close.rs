//! Finds where something that was opened ends. What is never closed ends with the text.

/// What a scan is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Paren,
    Brace,
    Quote,
}

/// Returns where the parenthesis that was opened before `from` is closed.
pub(in crate::defence) fn paren(chars: &[char], from: usize) -> usize {
    scan(chars, from, Inside::Paren)
}

/// Returns where the brace that was opened before `from` is closed.
pub(in crate::defence) fn brace(chars: &[char], from: usize) -> usize {
    scan(chars, from, Inside::Brace)
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
fn scan(chars: &[char], from: usize, first: Inside) -> usize {
    let mut stack = vec![first];
    let mut at = from;
    while let (Some(c), Some(inside)) = (chars.get(at), stack.last().copied()) {
        let quoted = inside == Inside::Quote;
        match *c {
            '\\' => at += 1,
            '\'' if !quoted => at = literal(chars, at),
            '"' if quoted => {
                stack.pop();
            }
            '"' => stack.push(Inside::Quote),
            '`' => at = backtick(chars, at + 1),
            '$' if chars.get(at + 1) == Some(&'(') => {
                stack.push(Inside::Paren);
                at += 1;
            }
            '$' if chars.get(at + 1) == Some(&'{') => {
                stack.push(Inside::Brace);
                at += 1;
            }
            '(' if inside == Inside::Paren => stack.push(Inside::Paren),
            ')' if inside == Inside::Paren => {
                stack.pop();
            }
            '}' if inside == Inside::Brace => {
                stack.pop();
            }
            _ => {}
        }
        if stack.is_empty() {
            return at;
        }
        at += 1;
    }
    chars.len()
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
