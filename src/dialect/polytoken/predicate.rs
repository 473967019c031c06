//! The glob that narrows a hook to some subjects.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use super::events::after_tool;
use crate::dialect::harness::payload as native;
use crate::event::Event;
use crate::hook::Rule;

/// A glob on the subject of an event.
#[derive(Debug)]
pub(super) struct Matcher {
    event: &'static str,
    glob: Option<(String, GlobMatcher)>,
}

impl Matcher {
    /// Makes a matcher; without a glob it takes every instance of the event.
    ///
    /// # Errors
    /// Returns what is wrong with the glob.
    pub(super) fn new(event: &'static str, glob: Option<&str>) -> Result<Self, String> {
        let glob = glob.map(|text| compile(text).map(|matcher| (text.to_owned(), matcher)));
        Ok(Self {
            event,
            glob: glob.transpose()?,
        })
    }

    /// Says whether nothing can match: the glob is empty, or the event has only one
    /// subject, which is its own name, and the glob is about another one.
    pub(super) fn is_vain(&self, point: &str) -> bool {
        let Some((text, glob)) = &self.glob else {
            return false;
        };
        text.is_empty() || !has_subjects(point) && !glob.is_match(self.event)
    }
}

/// Says whether the events of a point are about different things.
fn has_subjects(point: &str) -> bool {
    matches!(
        point,
        "tool.pre" | "tool.post" | "delegation.start" | "delegation.post"
    )
}

/// `*` and `?` stay within a segment, `**` goes across.
fn compile(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

impl Rule for Matcher {
    fn matches(&self, event: &Event) -> bool {
        if let Some(failure) = after_tool(self.event)
            && failed(event) != failure
        {
            return false;
        }
        match &self.glob {
            None => true,
            Some((_, glob)) => glob.is_match(subject(self.event, event)),
        }
    }

    fn text(&self) -> Option<String> {
        self.glob.as_ref().map(|(text, _)| text.clone())
    }
}

fn failed(event: &Event) -> bool {
    event.payload.value().get("is_error") == Some(&Value::Bool(true))
}

/// Returns what a matcher looks at: the tool, the subagent's type, or the event itself.
pub(super) fn subject(name: &str, event: &Event) -> String {
    native::subject(&event.point, event.payload.value()).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, subject: &str) -> bool {
        compile(glob).unwrap().is_match(subject)
    }

    #[test]
    fn pt_039_globs_stay_within_segments_unless_they_have_two_stars() {
        for (glob, subject, expected) in [
            ("file_edit_*", "file_edit_search_replace", true),
            ("file_edit_*", "file_read", false),
            ("file_read", "file_read", true),
            ("file_read", "file_read_all", false),
            ("*", "anything", true),
            ("*", "mcp/server/tool", false),
            ("mcp/*", "mcp/tool", true),
            ("mcp/*", "mcp/server/tool", false),
            ("mcp/**", "mcp/server/tool", true),
            ("**", "mcp/server/tool", true),
            ("**/tool", "mcp/server/tool", true),
            ("file_rea?", "file_read", true),
            ("file_rea?", "file_rea", false),
            ("a?b", "a/b", false),
            ("tool_[a-c]", "tool_b", true),
            ("tool_[a-c]", "tool_d", false),
            ("tool_[!a-c]", "tool_d", true),
            ("Bash", "bash", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(glob, subject), expected, "{glob} on {subject}");
        }
    }

    #[test]
    fn pt_010_a_glob_that_cannot_be_parsed_is_an_error() {
        for glob in ["[", "a[b", "{a,b", "[z-a]"] {
            assert!(Matcher::new("pre_tool_use", Some(glob)).is_err(), "{glob}");
        }
    }
}
