//! Where a reader has doubts about an answer that is the best there is.

/// Something that an agent does not hear, or that not all its versions do.
#[derive(Debug)]
pub(crate) struct Exception {
    pub(crate) agent: &'static str,
    pub(crate) events: &'static [&'static str],
    /// Words of what the reader found.
    pub(crate) found: &'static str,
    #[expect(dead_code, reason = "for whoever reads the table")]
    pub(crate) why: &'static str,
}

pub(crate) fn exceptions() -> Vec<Exception> {
    vec![
        Exception {
            agent: "copilot",
            events: &["preToolUse"],
            found: "the cloud agent takes ask as deny",
            why: "a no where nobody can be asked is what hookbox says itself",
        },
        Exception {
            agent: "kiro",
            events: &["Stop"],
            found: "says Stop cannot block",
            why: "nothing waits for it: where it is not heard, the agent stops",
        },
        Exception {
            agent: "cline",
            events: &["TaskStart", "TaskResume", "UserPromptSubmit"],
            found: "only the VS Code extension waits",
            why: "the other runner throws every answer away, so there is none that it hears",
        },
    ]
}
