//! `hookbox hook`: what an agent runs.

#[cfg(unix)]
mod abort;
mod ahead;
mod deadline;
mod input;
mod watch;

use std::ffi::OsString;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(unix)]
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;

use crate::agent::{self, Agent, AgentError, Asked, Reply, Root, Setting};
use crate::dialect::kept::Narrow;
use crate::runtime::Runtime;
use crate::sandbox::engine::Lifetime;
#[cfg(unix)]
use crate::serve;
use ahead::Ahead;
use deadline::Deadline;
use watch::Watch;

/// How long starting a server may keep this process from ending: an agent that waits too long
/// for that goes on as if there had been no answer.
#[cfg(unix)]
const STARTING: Duration = Duration::from_millis(250);

const NO_THREAD: &str = "this machine has no thread left";

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
    /// Start a server for the events to come, if there is none; it ends by itself
    #[cfg(unix)]
    #[arg(long)]
    serve: bool,
}

/// Finds the agent that an argument names.
pub(super) fn agent(name: &str) -> std::result::Result<&'static Agent, String> {
    agent::named(name).ok_or_else(|| {
        let known: Vec<&str> = agent::ALL.iter().map(|known| known.name).collect();
        format!("the agents are {}", known.join(", "))
    })
}

/// Answers an entry that cannot be understood, which somebody wrote by hand or for another
/// version: what was meant to be guarded is refused. Nothing if it is another verb, or if
/// somebody only asks for help.
pub(super) fn mistaken(
    mut arguments: impl Iterator<Item = OsString>,
    error: &clap::Error,
) -> Option<i32> {
    if arguments.next()? != "hook" || !error.use_stderr() {
        return None;
    }
    let words: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let told = error.to_string();
    let why = told.lines().next().unwrap_or_default();
    let agent = words.first().and_then(|name| agent::named(name));
    let named = words.iter().skip_while(|word| *word != "--event").nth(1);
    let reply = match agent {
        Some(agent) => {
            let event = named.and_then(|name| agent.event(name));
            agent::refusal(agent, event, &AgentError::Entry(why.to_owned()))
        }
        None => Reply::refusal(&AgentError::Entry(why.to_owned()).to_string()),
    };
    Some(hand_over(&reply, reply.code != 0))
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
            #[cfg(unix)]
            serve: false,
        };
        while let Some(flag) = arguments.next() {
            match flag.to_str()? {
                "--event" => args.event = Some(arguments.next()?.into_string().ok()?),
                "--project" => args.project = Some(arguments.next()?.into()),
                #[cfg(unix)]
                "--serve" => args.serve = true,
                _ => return None,
            }
        }
        Some(args)
    }

    pub(super) fn run(self, before_names: fn()) -> i32 {
        // Whose home this is, the system knows by the name of the user.
        if std::env::var_os("HOME").is_none_or(|home| home.is_empty()) {
            before_names();
        }
        let guards = self.guards();
        #[cfg(unix)]
        if guards {
            abort::refuses();
        }
        let mut watch = None;
        // An exit code of a panic would let the action pass.
        let reply = catch_unwind(AssertUnwindSafe(|| self.reply(&mut watch, before_names)));
        let reply = reply.unwrap_or_else(|_| self.broken("it panicked"));
        // Only what is decided here is watched.
        let alone = watch.is_some();
        if let Some(watch) = watch {
            watch.end();
        }
        let code = hand_over(&reply, guards);
        if alone {
            self.provide();
        }
        code
    }

    /// Starts a server, if that is wanted. The agent has its answer.
    #[cfg(unix)]
    fn provide(&self) {
        if !self.serve || self.tape.is_some() {
            return;
        }
        let (end, ended) = mpsc::channel::<()>();
        let started = std::thread::Builder::new().spawn(move || {
            serve::start::unless_there();
            drop(end);
        });
        if started.is_ok() {
            let _ = ended.recv_timeout(STARTING);
        }
    }

    #[cfg(not(unix))]
    fn provide(&self) {}

    fn broken(&self, why: &str) -> Reply {
        let event = self.event.as_deref();
        let event = event.and_then(|name| self.agent.event(name));
        agent::refusal(self.agent, event, &AgentError::Broken(why.to_owned()))
    }

    /// Whether something may wait for the answer.
    fn guards(&self) -> bool {
        let name = self.event.as_deref();
        let event = name.and_then(|name| self.agent.event(name));
        event.is_none_or(|event| event.guards)
    }

    /// Less than the agent gives, unless it was set.
    fn deadline(&self) -> Duration {
        if let Some(deadline) = self.deadline {
            return Duration::from_millis(deadline);
        }
        agent::deadline(self.agent, self.event.as_deref())
    }

    /// Answers, and starts the watch before any hook runs.
    fn reply(&self, watch: &mut Option<Watch>, before_names: fn()) -> Reply {
        let deadline = Deadline::within(self.deadline());
        let mut start_watch = || {
            let event = self.event.clone();
            *watch = Watch::start(self.agent, event, deadline, self.guards()).ok();
            watch.is_some()
        };
        let mut asked = Asked {
            agent: self.agent,
            wired: self.event.as_deref(),
            input: &[],
        };
        let ahead = self.is_alone().then(Ahead::start).flatten();
        if cfg!(not(unix)) && !start_watch() {
            return self.broken(NO_THREAD);
        }
        let input = match input::read(deadline) {
            Ok(input) => input,
            Err(error) => return asked.refusal(&error),
        };
        asked.input = &input;
        if let Some(reply) = self.served(&input, deadline) {
            return reply;
        }
        // Not sooner: waiting for input and for a server have an end of their own, and a
        // process of one thread starts and ends faster.
        if cfg!(unix) && !start_watch() {
            return self.broken(NO_THREAD);
        }
        before_names();
        let setting = Setting {
            project: self.project.clone(),
            started: agent::started_in(),
            directory: std::env::current_dir().ok(),
        };
        let mut recorder = None;
        let mut loaded = None;
        let mut notes = Vec::new();
        let reply = agent::answer(&asked, &setting, |root, heard| {
            let project = root.real.clone();
            let mut builder = Runtime::builder(&root.real)
                .lifetime(Lifetime::OneShot)
                .on_progress(Arc::new(move |progress| {
                    watch::compiling(&progress, &project)
                }))
                .ask_agent(agent::hand_on)
                .self_defence(true);
            let ready = ahead.and_then(|ahead| ahead.workshop(root.real.clone()));
            if let Some(workshop) = &ready {
                builder = builder.workshop(workshop);
            }
            match self
                .tape(root)
                .and_then(|path| path.as_deref().map(agent::recorder).transpose())
            {
                Ok(None) => {}
                Ok(Some(tape)) => {
                    let runtime = builder.tape(&tape).load()?;
                    recorder = Some((tape, runtime.clone()));
                    return Ok(runtime);
                }
                // Where a tape is required, nothing is decided without one.
                Err(error) => notes.push(format!("hookbox: {error}")),
            }
            let points = heard.points();
            let narrow = Narrow {
                points: points.as_deref(),
                tool: heard.tool(),
            };
            let runtime = builder.load_for(&narrow)?;
            loaded = Some(runtime.clone());
            Ok(runtime)
        })
        .reply;
        if let Some(runtime) = loaded {
            runtime.flush();
            // Taking it apart takes time that the agent would wait for.
            std::mem::forget(runtime);
        }
        if let Some((tape, runtime)) = recorder {
            runtime.flush();
            match tape.close() {
                Ok(()) => {}
                Err(error) if runtime.requires_tape() => {
                    return asked.refusal(&AgentError::Tape(error.to_string()));
                }
                Err(error) => notes.push(format!("hookbox: the tape is not whole: {error}")),
            }
        }
        reply.noting(&notes)
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

    /// Says whether nobody else is there to ask.
    #[cfg(unix)]
    fn is_alone(&self) -> bool {
        self.tape.is_some() || !serve::client::is_there()
    }

    #[cfg(not(unix))]
    fn is_alone(&self) -> bool {
        true
    }

    /// Asks a server, if there is one that can answer as well as this process. What is
    /// recorded is recorded here.
    #[cfg(unix)]
    fn served(&self, input: &[u8], deadline: Deadline) -> Option<Reply> {
        if self.tape.is_some() {
            return None;
        }
        serve::client::ask(&serve::client::Question {
            agent: self.agent.name,
            event: self.event.as_deref(),
            project: self.project.as_deref(),
            input,
            deadline: deadline.left(),
        })
    }

    #[cfg(not(unix))]
    fn served(&self, _: &[u8], _: Deadline) -> Option<Reply> {
        None
    }
}

/// Writes the answer. One that does not arrive is none, and exit code 2 is a no to
/// everybody.
fn hand_over(reply: &Reply, guards: bool) -> i32 {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(reply.stderr.as_bytes());
    let mut stdout = std::io::stdout().lock();
    let wrote = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    let lost = wrote.is_err() || leads_nowhere(&stdout);
    if lost && guards && !reply.stdout.is_empty() {
        let _ = stderr.write_all(b"hookbox could not answer on standard output");
        return 2;
    }
    reply.code
}

/// Says whether nobody can read what is written: a closed output is opened again on the
/// null device before anything of ours runs.
#[cfg(unix)]
fn leads_nowhere(output: &impl std::os::fd::AsFd) -> bool {
    let there = rustix::fs::fstat(output).map(|file| file.st_rdev);
    let null = rustix::fs::stat("/dev/null").map(|file| file.st_rdev);
    there.is_ok_and(|there| null == Ok(there))
}

#[cfg(not(unix))]
fn leads_nowhere<T>(_: &T) -> bool {
    false
}
