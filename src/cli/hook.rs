//! `hookbox hook`: what an agent runs.

mod watch;

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::agent::{self, Agent, AgentError, Asked, Reply, Root, Setting};
use crate::dialect::kept::Narrow;
use crate::runtime::Runtime;
use crate::sandbox::engine::Lifetime;
use crate::tape::Recorder;
use watch::Watch;

/// Answer one event of an agent: what an agent runs, wired by `hookbox install`
///
/// Reads the agent's JSON from standard input and answers on standard output, standard
/// error and by exit code, in the agent's own words and before it stops waiting. What
/// cannot be decided is a no.
#[derive(Debug, Args)]
pub(super) struct HookArgs {
    /// The agent, for example claude-code
    #[arg(value_parser = agent)]
    agent: &'static Agent,
    /// The event that the agent's settings have this entry for
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// The project whose hooks decide; without, the nearest one around where the agent works
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Record the event: to a new tape, or at the end of one that is there
    #[arg(long, value_name = "FILE")]
    tape: Option<PathBuf>,
    /// How long to take at most, in milliseconds; less than the agent waits unless set
    #[arg(long, value_name = "MS")]
    deadline: Option<u64>,
}

/// Finds the agent that an argument names.
pub(super) fn agent(name: &str) -> std::result::Result<&'static Agent, String> {
    agent::named(name).ok_or_else(|| {
        let known: Vec<&str> = agent::ALL.iter().map(|known| known.name).collect();
        format!("the agents are {}", known.join(", "))
    })
}

impl HookArgs {
    /// Takes the arguments as `install` writes them; nothing if they are any others.
    pub(super) fn plain(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        if arguments.next()? != "hook" {
            return None;
        }
        let mut args = Self {
            agent: agent::named(arguments.next()?.to_str()?)?,
            event: None,
            project: None,
            tape: None,
            deadline: None,
        };
        while let Some(flag) = arguments.next() {
            let value = arguments.next()?;
            match flag.to_str()? {
                "--event" => args.event = Some(value.into_string().ok()?),
                "--project" => args.project = Some(value.into()),
                _ => return None,
            }
        }
        Some(args)
    }

    pub(super) fn run(self) -> i32 {
        let watch = Watch::start(self.agent, self.event.clone(), self.deadline());
        let reply = self.reply();
        watch.end();
        hand_over(&reply)
    }

    /// Four fifths of what the agent gives, and at least half a second less.
    fn deadline(&self) -> Duration {
        if let Some(deadline) = self.deadline {
            return Duration::from_millis(deadline);
        }
        let event = self
            .event
            .as_deref()
            .and_then(|name| self.agent.event(name));
        let given = event.map_or(agent::DEFAULT_TIMEOUT, |event| event.timeout);
        (given * 4 / 5).min(given.saturating_sub(Duration::from_millis(500)))
    }

    fn reply(&self) -> Reply {
        let mut asked = Asked {
            agent: self.agent,
            wired: self.event.as_deref(),
            input: &[],
        };
        let input = match read() {
            Ok(input) => input,
            Err(error) => return asked.refusal(&AgentError::Unreadable(error.to_string())),
        };
        asked.input = &input;
        let setting = Setting {
            project: self.project.clone(),
            directory: std::env::current_dir().ok(),
        };
        let mut recorder = None;
        let reply = agent::answer(&asked, &setting, |root, heard| {
            let project = root.real.clone();
            let builder = Runtime::builder(&root.real)
                .lifetime(Lifetime::OneShot)
                .on_progress(Arc::new(move |progress| {
                    watch::compiling(&progress, &project)
                }))
                .ask_agent(agent::hand_on)
                .self_defence(true);
            if let Some(path) = self.tape(root)? {
                let tape = agent::recorder(&path)?;
                let runtime = builder.tape(&tape).load()?;
                recorder = Some(tape);
                return Ok(runtime);
            }
            let narrow = Narrow {
                point: heard.point(),
                tool: heard.tool(),
            };
            let runtime = builder.load_for(&narrow)?;
            // Taking it apart takes time that the agent would wait for.
            std::mem::forget(runtime.clone());
            Ok(runtime)
        });
        match recorder.map(Recorder::close) {
            Some(Err(error)) => asked.refusal(&AgentError::Tape(error.to_string())),
            _ => reply,
        }
    }
}

impl HookArgs {
    /// Returns the tape to record to, if the command or the project asks for one.
    fn tape(&self, root: &Root) -> Result<Option<PathBuf>, AgentError> {
        match &self.tape {
            Some(path) => Ok(Some(path.clone())),
            None => agent::tape_of(&root.real),
        }
    }
}

/// Reads one JSON value. Not every agent closes the pipe, so a value that is whole is
/// enough.
fn read() -> std::io::Result<Vec<u8>> {
    let mut input = Vec::with_capacity(16 << 10);
    let mut stdin = std::io::stdin().lock();
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = stdin.read(&mut chunk)?;
        input.extend_from_slice(&chunk[..read]);
        if read == 0 || input.len() > agent::MAX_INPUT || is_whole(&input) {
            return Ok(input);
        }
    }
}

fn is_whole(input: &[u8]) -> bool {
    input.trim_ascii_end().ends_with(b"}")
        && serde_json::from_slice::<serde::de::IgnoredAny>(input).is_ok()
}

/// Writes the answer. One that does not arrive is none, and exit code 2 is a no to
/// everybody.
fn hand_over(reply: &Reply) -> i32 {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(reply.stderr.as_bytes());
    let mut stdout = std::io::stdout().lock();
    let wrote = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    if wrote.is_err() && !reply.stdout.is_empty() {
        let _ = stderr.write_all(b"hookbox could not answer on standard output");
        return 2;
    }
    reply.code
}
