//! Shortens a long output to what a model can read.

/// Shortens a text to at most `cap` characters; none if it fits already.
///
/// What is kept is the beginning, the end, and of what is between them the lines
/// that are most likely looked for: those that name a place in a file or a failure.
#[must_use]
pub fn snip(text: &str, cap: usize) -> Option<String> {
    text.chars().nth(cap)?;
    let total = text.chars().count();
    // Digits only shrink when more is kept.
    let marks = marker(total).chars().count() + GAP.chars().count();
    let room = cap.saturating_sub(marks);
    if room < LEAST {
        return Some(text.chars().take(cap).collect());
    }
    Some(compose(text, total, room))
}

/// What follows the lines that are kept from the middle.
const GAP: &str = "[…]\n";

/// With less room than this, a marker would say more than the text around it.
const LEAST: usize = 24;

fn marker(snipped: usize) -> String {
    format!("\n[… {snipped} characters snipped …]\n")
}

fn compose(text: &str, total: usize, room: usize) -> String {
    let third = room / 3;
    let middle = start_of(text, third)..start_of(text, total - third);
    let telling = telling_lines(&text[middle.clone()], room - 2 * third);
    // What the lines leave free goes to the beginning, up to the first of them.
    let free = room - 2 * third - telling.used;
    let cut = start_of(text, third + free).min(middle.start + telling.first);
    let head = &text[..cut];
    let kept = head.chars().count() + telling.used + third;

    let mut short = head.to_owned();
    short.push_str(&marker(total - kept));
    for line in &telling.lines {
        short.push_str(line);
        short.push('\n');
    }
    if !telling.lines.is_empty() {
        short.push_str(GAP);
    }
    short.push_str(&text[middle.end..]);
    short
}

/// Returns where the character with a number begins.
fn start_of(text: &str, number: usize) -> usize {
    let mut starts = text.char_indices();
    starts.nth(number).map_or(text.len(), |(start, _)| start)
}

/// The lines worth keeping.
struct Telling<'a> {
    lines: Vec<&'a str>,
    /// How many characters they have, with their line breaks.
    used: usize,
    /// Where the first of them begins; the end if there is none.
    first: usize,
}

/// Collects whole lines in order as far as they fit.
fn telling_lines(middle: &str, room: usize) -> Telling<'_> {
    let mut telling = Telling {
        lines: Vec::new(),
        used: 0,
        first: middle.len(),
    };
    // What the cuts left of a line, before and after, is not looked at.
    let mut at = middle.find('\n').map_or(middle.len(), |end| end + 1);
    while let Some(end) = middle[at..].find('\n') {
        let line = &middle[at..at + end];
        let left = room - telling.used;
        // Longer lines do not fit, whatever they say.
        if line.chars().nth(left.saturating_sub(1)).is_none() && is_telling(line) {
            telling.first = telling.first.min(at);
            telling.used += line.chars().count() + 1;
            telling.lines.push(line);
        }
        at += end + 1;
    }
    telling
}

fn is_telling(line: &str) -> bool {
    let words = ["FAIL", "panic", "error", "Error", "ERROR"];
    words.iter().any(|word| line.contains(word)) || names_a_place(line)
}

/// Finds `.rs:12`: a dot, letters, a colon and a digit.
fn names_a_place(line: &str) -> bool {
    line.match_indices(':').any(|(at, _)| {
        let before = line[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric());
        let extension = &line[before.len()..at];
        before.ends_with('.')
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && line[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn length(text: &str) -> usize {
        text.chars().count()
    }

    /// Returns the number in the marker.
    fn snipped(short: &str) -> Option<usize> {
        let (_, rest) = short.split_once("\n[… ")?;
        rest.split_once(" characters snipped …]\n")?.0.parse().ok()
    }

    #[test]
    fn hn_010_a_short_result_is_left_alone() {
        assert_eq!(snip("0123456789", 4000), None);
        assert_eq!(snip("0123456789", 10), None);
        assert_eq!(snip("éééé", 4), None);
        assert_eq!(snip("", 0), None);
    }

    #[test]
    fn hn_010_a_long_result_keeps_its_ends_around_a_marker() {
        let text: String = (0..5000)
            .map(|n| char::from(b'a' + (n % 26) as u8))
            .collect();
        let short = snip(&text, 4000).unwrap();
        assert!(length(&short) <= 4000 && length(&short) > 3900);
        let (head, rest) = short.split_once("\n[… ").unwrap();
        let (number, tail) = rest.split_once(" characters snipped …]\n").unwrap();
        assert!(text.starts_with(head) && text.ends_with(tail));
        let snipped: usize = number.parse().unwrap();
        assert_eq!(length(head) + length(tail) + snipped, 5000);
    }

    #[test]
    fn hn_010_lines_with_a_place_or_a_failure_are_kept() {
        let noise = "nothing to see here at all\n".repeat(50);
        let text = format!(
            "{noise}src/x.rs:12 is odd\n{noise}test a ... FAILED\n{noise}\
             thread panicked\nerror: no\n{noise}done: 127.0.0.1:80\n{noise}"
        );
        let short = snip(&text, 600).unwrap();
        assert!(length(&short) <= 600);
        let kept =
            "snipped …]\nsrc/x.rs:12 is odd\ntest a ... FAILED\nthread panicked\nerror: no\n[…]\n";
        assert!(short.contains(kept), "{short}");
        assert!(!short.contains("127"), "{short}");
        assert!(text.starts_with(short.split_once("\n[… ").unwrap().0));
        assert!(text.ends_with(short.split_once("[…]\n").unwrap().1));
    }

    #[test]
    fn hn_010_lines_that_do_not_fit_are_passed_over() {
        let long = format!("error: {}\n", "x".repeat(500));
        let text = format!("{0}{long}error: short\n{0}", "noise\n".repeat(200));
        let short = snip(&text, 300).unwrap();
        assert!(short.contains("]\nerror: short\n[…]\n"), "{short}");
    }

    #[test]
    fn hn_010_a_tiny_cap_leaves_the_first_characters() {
        assert_eq!(snip("äöü", 2).as_deref(), Some("äö"));
        assert_eq!(snip("abc", 0).as_deref(), Some(""));
        let text = "x".repeat(100);
        assert_eq!(snip(&text, 30).unwrap(), "x".repeat(30));
    }

    #[test]
    fn places_are_told_from_times_and_addresses() {
        for line in ["src/x.rs:12", "at a.py:1: no", "(main.go:3:4)"] {
            assert!(names_a_place(line), "{line}");
        }
        for line in [
            "12:30",
            "10.0.0.1:80",
            "a.rs: 1",
            "x:1",
            ".:1",
            "é.:1",
            ":",
            "",
        ] {
            assert!(!names_a_place(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn hn_010_never_longer_than_the_cap(
            lines in prop::collection::vec("[a-zé]{0,30}|error [a-zü]{0,9}|x.rs:1|\\PC{0,20}|\r", 0..60),
            cap in 0_usize..400,
        ) {
            let text = lines.join("\n");
            match snip(&text, cap) {
                None => prop_assert!(length(&text) <= cap),
                Some(short) => {
                    prop_assert!(length(&text) > cap);
                    prop_assert!(length(&short) <= cap);
                    if let Some(number) = snipped(&short) {
                        let gap = if short.contains(GAP) { length(GAP) } else { 0 };
                        let kept = length(&short) - length(&marker(number)) - gap;
                        prop_assert_eq!(kept + number, length(&text));
                    }
                }
            }
        }
    }
}
