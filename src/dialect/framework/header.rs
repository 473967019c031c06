//! The comment that every hook file should begin with.

/// What it should say.
const LINES: [&str; 4] = ["Hook", "Event", "Description", "Matcher"];

/// How far into a file it is looked for.
const DEPTH: usize = 20;

/// Returns what the header of a script lacks. The matcher is only missed where the hook
/// has one.
pub(super) fn missing(script: &str, has_matcher: bool) -> Vec<&'static str> {
    let lines: Vec<&str> = script.lines().take(DEPTH).map(str::trim_start).collect();
    let says = |wanted: &str| {
        lines.iter().any(|line| {
            let text = ["//", "#", "--", ";", "*"]
                .iter()
                .find_map(|mark| line.strip_prefix(mark));
            let rest = text.and_then(|text| text.trim_start().strip_prefix(wanted));
            rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    };
    let wanted = LINES
        .into_iter()
        .filter(|line| has_matcher || *line != "Matcher");
    wanted.filter(|line| !says(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hf_020_the_header_is_four_lines_in_any_comment_style() {
        let whole = "#!/usr/bin/env bun\n// Hook: A\n// Event: PreToolUse\n// Description: b\n// Matcher: c\n";
        assert!(missing(whole, true).is_empty());
        assert!(missing(&whole.replace("//", "#"), true).is_empty());
        let some = "#!/bin/sh\n# Hook: A\n#Event : Stop\necho Description: x\n";
        assert_eq!(missing(some, true), ["Description", "Matcher"]);
        assert_eq!(missing(some, false), ["Description"]);
        assert_eq!(missing("", false), ["Hook", "Event", "Description"]);
    }
}
