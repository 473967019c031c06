//! A command line as a shell reads it: how words become one, and one becomes words.

use std::path::Path;

/// Writes words so that a POSIX shell reads them as they are.
pub(super) fn join<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(quote).collect();
    quoted.join(" ")
}

/// Quotes a word where it needs to be.
pub(super) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if cfg!(windows) {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Takes a line apart at blanks, with quotes and backslashes as in a POSIX shell. What a
/// shell would expand stays as it is.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quoted = Some(c);
                word.get_or_insert_default();
            }
            (Some(quote), c) if c == quote => quoted = None,
            (None | Some('"'), '\\') if escapes(quoted, chars.peek()) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Whether a backslash takes the meaning of what follows. On Windows it is a part of paths.
fn escapes(quoted: Option<char>, next: Option<&char>) -> bool {
    let inside = quoted.is_some();
    !cfg!(windows) && next.is_some_and(|next| !inside || "\"\\$`".contains(*next))
}

/// Whether a program is called hookbox.
pub(super) fn is_hookbox(program: &str) -> bool {
    let name = Path::new(program).file_name();
    name.is_some_and(|name| name.to_string_lossy().contains("hookbox"))
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_read_as_a_shell_reads_it() {
        for (line, wanted) in [
            ("", &[][..]),
            ("  a  b\t", &["a", "b"]),
            ("'a b' \"c d\"", &["a b", "c d"]),
            (r"'it'\''s' ''", &["it's", ""]),
            (r#"a\ b "c\"d\e""#, &["a b", "c\"d\\e"]),
        ] {
            assert_eq!(split(line), wanted, "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_joined_comes_apart_again(words in prop::collection::vec(any::<String>(), 0..6)) {
            let line = join(words.iter().map(String::as_str));
            prop_assert_eq!(split(&line), words);
        }
    }
}
