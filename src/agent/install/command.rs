//! The command that an agent is told to run, and how it is known again later.

use super::super::{Agent, AgentEvent};
use super::words;

/// What an agent is told to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The binary, as an absolute path.
    pub binary: String,
    /// The agent's name.
    pub agent: &'static str,
    /// The project whose hooks decide; without, the one that the agent works in.
    pub project: Option<String>,
    /// Whether the first event starts a server for the others.
    pub serve: bool,
    /// What somebody has added by hand.
    pub more: Vec<String>,
}

/// The argument that says so.
const SERVE: &str = "--serve";

impl Command {
    /// Returns the arguments for one event.
    #[must_use]
    pub fn arguments(&self, event: &AgentEvent) -> Vec<String> {
        let mut words = vec!["hook", self.agent, "--event", event.name];
        words.extend(self.further());
        words.into_iter().map(str::to_owned).collect()
    }

    /// Returns the arguments that are the same for all events.
    pub(super) fn further(&self) -> impl Iterator<Item = &str> {
        let project = self.project.iter();
        let project = project.flat_map(|project| ["--project", project]);
        let serve = self.serve.then_some(SERVE);
        project
            .chain(serve)
            .chain(self.more.iter().map(String::as_str))
    }

    /// Returns the line for agents that hand it to a shell.
    #[must_use]
    pub fn line(&self, event: &AgentEvent) -> String {
        let arguments = self.arguments(event);
        let words = std::iter::once(&self.binary).chain(&arguments);
        words::join(words.map(String::as_str))
    }

    /// Returns the same command with what somebody has added to an entry of ours.
    pub(in crate::agent) fn keeping(&self, ours: &Ours) -> Self {
        Self {
            more: ours.more.clone(),
            ..self.clone()
        }
    }
}

/// A command of ours as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ours {
    /// The binary.
    pub binary: String,
    /// The event that it says it is for.
    pub event: Option<String>,
    /// The project that it names.
    pub project: Option<String>,
    /// Whether it starts a server.
    pub serve: bool,
    /// Everything else.
    pub more: Vec<String>,
}

impl Ours {
    /// Reads a command, unless it is somebody else's: ours starts a program called
    /// hookbox with `hook` and the agent's name.
    pub(in crate::agent) fn read(agent: &Agent, words: &[String]) -> Option<Self> {
        let [binary, verb, name, rest @ ..] = words else {
            return None;
        };
        if !words::is_hookbox(binary) || verb != "hook" || name != agent.name {
            return None;
        }
        let mut ours = Self {
            binary: binary.clone(),
            event: None,
            project: None,
            serve: false,
            more: Vec::new(),
        };
        let mut rest = rest.iter().flat_map(|word| halves(word));
        while let Some(word) = rest.next() {
            match word {
                "--event" => ours.event = rest.next().map(str::to_owned),
                "--project" => ours.project = rest.next().map(str::to_owned),
                SERVE => ours.serve = true,
                word => ours.more.push(word.to_owned()),
            }
        }
        Some(ours)
    }

    /// Reads the line of an agent that has a shell.
    pub(in crate::agent) fn read_line(agent: &Agent, line: &str) -> Option<Self> {
        Self::read(agent, &words::split(line))
    }

    /// Returns the command that this one should be, with the binary and the additions
    /// that it has.
    pub(in crate::agent) fn as_written(&self, agent: &Agent, project: Option<String>) -> Command {
        Command {
            binary: self.binary.clone(),
            agent: agent.name,
            project,
            serve: self.serve,
            more: self.more.clone(),
        }
    }
}

/// `--event=X` is `--event X`.
fn halves(word: &str) -> Vec<&str> {
    match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => vec![name, value],
        _ => vec![word],
    }
}

#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use super::super::super::named;
    use super::*;

    #[test]
    fn only_what_is_ours_is_known_again() {
        let agent = named("codex").unwrap();
        for (line, is_ours) in [
            ("/usr/bin/hookbox hook codex --event Stop", true),
            ("'/a b/hookbox' hook codex --event=Stop", true),
            ("/nix/store/x-hookbox-2/bin/hookbox-2 hook codex", true),
            ("/usr/bin/hookbox hook gemini --event Stop", false),
            ("/usr/bin/other hook codex --event Stop", false),
            ("echo /usr/bin/hookbox hook codex", false),
            ("/usr/bin/hookbox run tool.pre", false),
            ("", false),
        ] {
            assert_eq!(Ours::read_line(agent, line).is_some(), is_ours, "{line}");
        }
    }

    #[test]
    fn a_command_is_read_as_it_was_written() {
        let agent = named("codex").unwrap();
        let command = Command {
            binary: "/opt/it's here/hookbox".to_owned(),
            agent: "codex",
            project: Some("/w/my project".to_owned()),
            serve: true,
            more: vec!["--tape".to_owned(), "/tmp/t".to_owned()],
        };
        let ours = Ours::read_line(agent, &command.line(&agent.events[0])).unwrap();
        assert_eq!(ours.event.as_deref(), Some(agent.events[0].name));
        assert_eq!(ours.as_written(agent, ours.project.clone()), command);
    }
}
