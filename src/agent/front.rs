//! Where an agent's question arrives, and where it gets its answer: the project is found,
//! its hooks are asked, and whatever happens the agent hears something it understands.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::answer::{AgentError, Asked, Parsed, decide, directories, directory, refusal};
use super::heard::Heard;
use super::place::{self, Root};
use super::verdict::{Said, Verdict};
use super::{Agent, AgentEvent, DEFAULT_TIMEOUT, Reply, trust};
use crate::runtime::Runtime;

/// What is known of a question beside what the agent said.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The project that the agent was wired for.
    pub project: Option<PathBuf>,
    /// The directory that the agent itself was started in, if it tells.
    pub started: Option<PathBuf>,
    /// The directory that the agent started hookbox in.
    pub directory: Option<PathBuf>,
}

/// Something that went wrong, and the event if it was known by then.
type Undecided = (Option<&'static AgentEvent>, AgentError);

/// An answer, and what it came to.
#[derive(Debug, Clone)]
pub struct Answered {
    /// What goes back to the agent.
    pub reply: Reply,
    /// The event, if it is known.
    pub event: Option<&'static AgentEvent>,
    /// The word for what was decided; `error` if nothing was.
    pub word: &'static str,
}

/// How much sooner than the agent gives up it has an answer, at least.
const SOONER: Duration = Duration::from_millis(500);

/// Returns how long an answer may take: four fifths of what the agent gives, and at
/// least half a second less.
#[must_use]
pub fn deadline(agent: &Agent, wired: Option<&str>) -> Duration {
    let event = wired.and_then(|name| agent.event(name));
    let given = event.map_or(DEFAULT_TIMEOUT, |event| event.timeout);
    (given * 4 / 5).min(given.saturating_sub(SOONER))
}

/// Answers an agent. `load` returns the hooks of a project, as far as the event concerns
/// them.
pub fn answer(
    asked: &Asked<'_>,
    setting: &Setting,
    load: impl FnOnce(&Root, &Heard) -> Result<Runtime, AgentError>,
) -> Answered {
    let wired = asked.wired.and_then(|name| asked.agent.event(name));
    let tried = catch_unwind(AssertUnwindSafe(|| attempt(asked, setting, load)));
    let (event, error) = match tried {
        Ok(Ok(answered)) => return answered,
        Ok(Err((event, error))) => (event.or(wired), error),
        Err(panic) => (wired, AgentError::Broken(words(&*panic))),
    };
    Answered {
        reply: refusal(asked.agent, event, &error),
        event,
        word: "error",
    }
}

fn attempt(
    asked: &Asked<'_>,
    setting: &Setting,
    load: impl FnOnce(&Root, &Heard) -> Result<Runtime, AgentError>,
) -> Result<Answered, Undecided> {
    let parsed = asked.parse().map_err(|error| (None, error))?;
    let event = parsed.event;
    let known = |error| (Some(event), error);
    let Some(root) = root(setting, &parsed).map_err(known)? else {
        // Wired for all projects, and this is none. Some take silence for a no.
        return Ok(Answered {
            reply: (asked.agent.encode)(event, &Said::only(Verdict::Pass)),
            event: Some(event),
            word: "pass",
        });
    };
    let heard =
        Heard::new(asked.agent, event, &parsed.said, &root).map_err(|error| known(error.into()))?;
    let doubts = reviewed(&root, event).map_err(known)?;
    let runtime = load(&root, &heard).map_err(known)?;
    if setting.project.is_some() && runtime.has_nothing() {
        let place = root.real.display().to_string();
        return Err(known(AgentError::NoProject(place)));
    }
    let mut said = decide(asked.agent, &runtime, &heard, &root).map_err(known)?;
    said.notes.extend(doubts);
    Ok(Answered {
        reply: (asked.agent.encode)(event, &said),
        event: Some(event),
        word: said.verdict.word(),
    })
}

/// Finds the project: the one that was named, or the nearest one around where the agent
/// works.
fn root(setting: &Setting, parsed: &Parsed) -> Result<Option<Root>, AgentError> {
    let said = directory(&parsed.said);
    if let Some(named) = &setting.project {
        let real = std::fs::canonicalize(named).ok();
        return match real.filter(|real| place::is_project(real)) {
            Some(real) => Ok(Some(Root::new(real, said))),
            None => Err(AgentError::NoProject(named.display().to_string())),
        };
    }
    let started = setting.started.as_deref().into_iter();
    let places = started
        .chain(directories(&parsed.said))
        .chain(setting.directory.as_deref());
    let found = places
        .filter_map(|from| Some((place::project(from)?, from)))
        .next();
    Ok(found.map(|(real, from): (PathBuf, &Path)| Root::new(real, said.or(Some(from)))))
}

/// Says what changed since it was reviewed. Where that matters, nothing is decided by it.
fn reviewed(root: &Root, event: &AgentEvent) -> Result<Option<String>, AgentError> {
    match trust::compare(&root.real) {
        Ok(None) => Ok(None),
        Ok(Some(finding)) if finding.strict && event.guards => {
            Err(AgentError::Untrusted(finding.sentence()))
        }
        Ok(Some(finding)) => Ok(Some(format!("hookbox: {}", finding.sentence()))),
        // Whether it is strict is not known either.
        Err(error) => Err(AgentError::Untrusted(error.to_string())),
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked without a word").to_owned()
}
