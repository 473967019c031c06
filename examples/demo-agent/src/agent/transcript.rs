//! What happened, a line for each thing, in words that are the same every time.

use std::fmt;

use hookbox::Outcome;

/// Who did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The user said it.
    User,
    /// The model said it.
    Model,
    /// An event was fired and answered.
    Event,
    /// The loop did it.
    Agent,
    /// It is now part of what the model sees.
    Told,
    /// A hook wrote a log line.
    Log,
    /// Something was odd.
    Warning,
    /// A hook that nobody waited for is done.
    Background,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Event => "event",
            Self::Agent => "agent",
            Self::Told => "told",
            Self::Log => "log",
            Self::Warning => "warning",
            Self::Background => "later",
        }
    }
}

/// All that happened.
#[derive(Debug, Default)]
pub struct Transcript {
    /// The lines.
    pub lines: Vec<(Who, String)>,
    /// The names of the events that were fired, in order.
    pub fired: Vec<String>,
}

impl Transcript {
    pub(super) fn add(&mut self, who: Who, text: &str) {
        self.lines.push((who, text.replace('\n', "⏎")));
    }

    /// Writes down what the hooks of an event logged, and what was odd about them.
    pub(super) fn logs(&mut self, outcome: &Outcome) {
        for line in &outcome.logs {
            self.add(Who::Log, &format!("{}: {}", line.hook, line.message));
        }
        for warning in &outcome.warnings {
            self.add(Who::Warning, warning);
        }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (who, text) in &self.lines {
            writeln!(formatter, "{:<8} {text}", who.name())?;
        }
        Ok(())
    }
}
