//! Annotations that GitHub shows beside a change.

use super::item::Item;

/// Writes an error about a tape.
pub(super) fn error(title: &str, text: &str) -> String {
    format!("::error title={}::{}\n", property(title), message(text))
}

/// Writes an error about an event that today's hooks treat differently.
pub(super) fn difference(item: &Item) -> Option<String> {
    let today = item.checked.as_ref()?;
    let difference = today.difference.as_ref()?;
    let title = format!("{}: {}", item.tape, today.verdict.name());
    let text = format!(
        "{}: {}\nexpected:\n{}\nfound:\n{}",
        item.title(),
        difference.what,
        difference.expected,
        difference.found
    );
    Some(error(&title, &text))
}

/// What ends a command must not come from a hook.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_cannot_write_commands_of_its_own() {
        assert_eq!(
            error("a,b: c", "one\n::set-output name=x::y\r 100%"),
            "::error title=a%2Cb%3A c::one%0A::set-output name=x::y%0D 100%25\n"
        );
    }
}
