//! Puts the questions of hooks to whoever sits at the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::ValueEnum;

use super::style;
use crate::capability::services::Question;
use crate::runtime::RuntimeBuilder;

/// Who answers the questions of hooks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Who {
    /// Whoever sits at the terminal; nobody, and so no, where there is none
    #[default]
    Auto,
    /// Nobody: the answer is no
    Deny,
    /// Whoever called: the decision is `ask`, and the exit code 3
    Later,
}

impl Who {
    pub(super) fn on(self, builder: RuntimeBuilder) -> RuntimeBuilder {
        let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        match self {
            Self::Later => builder,
            Self::Auto if terminal => builder.ask(prompt),
            Self::Auto | Self::Deny => builder.ask_nobody(),
        }
    }
}

/// Asks until the answer is one. The end of the input is a no.
fn prompt(question: &Question) -> bool {
    let mut stderr = anstream::stderr();
    let hook = style::name(style::plain(&question.hook));
    let about = question.subject.as_deref().unwrap_or(&question.event);
    loop {
        let asked = write!(
            stderr,
            "{} {hook} about {}: {} {} ",
            style::notable("?"),
            style::plain(about),
            style::plain(&question.message),
            style::faint("[y/N]"),
        );
        let mut answer = String::new();
        let read = asked
            .and_then(|()| stderr.flush())
            .and_then(|()| io::stdin().lock().read_line(&mut answer));
        if !matches!(read, Ok(bytes) if bytes > 0) {
            return false;
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return true,
            "" | "n" | "no" => return false,
            _ => {}
        }
    }
}
