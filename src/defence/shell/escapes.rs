//! Escapes in quotes, in `printf` and in the strings of programs.

/// Reads the escapes of `$'…'`, which are those of most languages.
pub(in crate::defence) fn ansi(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        let (read, width) = match c {
            '\\' => escape(chars.get(at + 1..).unwrap_or_default()),
            c => (Read::Char(c), 0),
        };
        match read {
            Read::Byte(byte) => bytes.push(byte),
            Read::Char(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Read::Nothing => {}
        }
        at += width + 1;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

enum Read {
    Byte(u8),
    Char(char),
    Nothing,
}

/// Reads what follows a backslash, and says how much of it there is.
fn escape(after: &[char]) -> (Read, usize) {
    let Some(c) = after.first().copied() else {
        return (Read::Char('\\'), 0);
    };
    let simple = |c| (Read::Char(c), 1);
    match c {
        'n' => simple('\n'),
        't' => simple('\t'),
        'r' => simple('\r'),
        'a' | 'b' | 'f' | 'v' | 'e' | 'E' => simple(' '),
        'c' => (Read::Nothing, 2),
        '\n' => (Read::Nothing, 1),
        'x' if after.get(1) == Some(&'{') => bracketed(after),
        'u' if after.get(1) == Some(&'{') => bracketed(after),
        'x' => number(after, 1, 2, 16),
        'u' => number(after, 1, 4, 16),
        'U' => number(after, 1, 8, 16),
        '0' => number(after, 0, 4, 8),
        '1'..='7' => number(after, 0, 3, 8),
        c => simple(c),
    }
}

fn number(after: &[char], from: usize, most: usize, base: u32) -> (Read, usize) {
    let digits: String = after
        .iter()
        .skip(from)
        .take(most)
        .take_while(|c| c.is_digit(base))
        .collect();
    let width = from + digits.len();
    let Ok(code) = u32::from_str_radix(&digits, base) else {
        return (Read::Char(after.first().copied().unwrap_or('\\')), 1);
    };
    let short = most == 2 || base == 8;
    let read = match u8::try_from(code) {
        Ok(0) => Read::Nothing,
        Ok(byte) if short => Read::Byte(byte),
        _ => char::from_u32(code).map_or(Read::Nothing, Read::Char),
    };
    (read, width)
}

fn bracketed(after: &[char]) -> (Read, usize) {
    let digits: String = after
        .iter()
        .skip(2)
        .take(8)
        .take_while(|c| c.is_ascii_hexdigit())
        .collect();
    let code = u32::from_str_radix(&digits, 16).ok();
    let read = code.and_then(char::from_u32);
    (read.map_or(Read::Nothing, Read::Char), digits.len() + 3)
}

/// Reads the few escapes that there are in backticks.
pub(in crate::defence) fn backtick(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('`' | '\\' | '$')) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// Decodes base64, of either alphabet, with blanks and without its end.
pub(in crate::defence) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut held) = (0u32, 0u32);
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace()) {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Decodes pairs of hexadecimal digits.
pub(in crate::defence) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

/// Decodes what PowerShell calls an encoded command.
pub(in crate::defence) fn utf16(bytes: &[u8]) -> String {
    let unit = |pair: &[u8]| match pair {
        [low, high] => u16::from_le_bytes([*low, *high]),
        _ => u16::from(b'?'),
    };
    let units: Vec<u16> = bytes.chunks(2).map(unit).collect();
    String::from_utf16_lossy(&units)
}
