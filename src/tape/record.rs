//! What is on a tape. Texts are whole here; how they are stored is a matter of the line.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::seal::Hash;
use crate::capability::log::LogLine;
use crate::decision::{Effect, Ruling, Said};
use crate::failure::{Cause, Failure};
use crate::outcome::{Outcome, Stages, TraceRow};

/// One record, with its place on the tape.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number, counted from 0.
    pub number: u64,
    /// The dispatch it belongs to, if it belongs to one.
    pub dispatch: Option<u64>,
    /// Whether and how it was redacted.
    pub redacted: Option<Redacted>,
    /// What it says.
    pub entry: Entry,
}

/// What was taken out of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redacted {
    /// How long the text of a body was, in bytes, with what was left out of it. Whoever
    /// reads the tape forgets bodies where its writer did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Which places, as JSON pointers.
    pub paths: Vec<String>,
    /// The hash of the record as it was.
    pub was: Hash,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// The beginning of a tape.
    Header(Project),
    /// Another runtime, process or version of the hooks goes on with the tape.
    Session(Project),
    /// An event came in and goes through its chain.
    Dispatch(Start),
    /// A predicate was evaluated.
    Predicate(Predicate),
    /// A handler is about to be called.
    HookCall(HookCall),
    /// A guest called the host.
    HostCall(HostCall),
    /// A handler returned, and this is what was made of it.
    HookReturned(HookReturned),
    /// A hook blocked or asked.
    HookVetoed(HookVetoed),
    /// The chain came to its end.
    Outcome(End),
    /// An event could not be decided.
    Undecided(Undecided),
    /// Records could not be written.
    Lost(Lost),
    /// A long text, for the records after it.
    Body(Body),
    /// The tape was redacted; this seals what is left.
    Redaction(Seal),
    /// The tape was closed.
    Footer(Footer),
}

/// The hooks of a session, and what ran them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// The hash of the settings that hold for all hooks.
    pub config: Option<Hash>,
    /// Where the tape was cut from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// The version and the configuration of the engine.
    pub engine: String,
    /// The version of hookbox.
    pub hookbox: String,
    /// The hooks, in the order of registration.
    pub hooks: Vec<HookPrint>,
    /// How many bytes of an unfinished record were dropped before this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_bytes: Option<u64>,
    /// When the session began, in milliseconds since 1970.
    pub time: u64,
    /// The tools the host lends.
    pub tools: Vec<String>,
}

/// Where a tape was cut from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// How many dispatches that tape had.
    pub dispatches: u64,
    /// The hash of the last record of the tape it was cut from.
    pub head: Hash,
}

/// What tells one version of a hook from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookPrint {
    /// The digest of its component's bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// The dialect it is written in.
    pub dialect: String,
    /// The event it subscribes to.
    pub event: String,
    /// The file it is written in.
    pub file: String,
    /// What runs.
    pub handler: String,
    /// Its name.
    pub name: String,
    /// Lower numbers run first.
    pub priority: i64,
    /// The hash of that file.
    pub source: Hash,
}

/// An event as it enters its chain: decoded, checked and complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The event's name, in its dialect.
    pub event: Arc<str>,
    /// The dialect it came in.
    pub dialect: Cow<'static, str>,
    /// What came with it, as JSON text.
    pub about: Option<Arc<str>>,
    /// Whether the hooks run that nobody waits for.
    pub background: bool,
    /// What tells it from other events.
    pub id: String,
    /// What it is about.
    pub subject: Option<String>,
    /// How deep it is nested.
    pub depth: u32,
    /// What it carries, as JSON text, in the native form of its point.
    pub payload: Arc<str>,
    /// The dispatch whose hook caused it.
    pub parent: Option<u64>,
    /// The session it belongs to: 0 is the header's.
    pub session: u64,
    /// When it came in, in milliseconds since 1970.
    pub time: u64,
}

/// What a call used and left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Used {
    /// Fuel, where counting it means something.
    pub fuel: Option<u64>,
    /// The most linear memory held.
    pub memory_bytes: u64,
    /// When it began, in microseconds since the dispatch did.
    pub at_us: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// What was logged.
    pub logs: Vec<LogLine>,
    /// What was odd.
    pub warnings: Vec<String>,
    /// What was refused.
    pub refusals: Vec<String>,
}

/// A failure as it stands on a tape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The way it ended.
    pub cause: Cause,
    /// What happened.
    pub message: String,
    /// The guest's own stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

impl From<&Failure> for Fault {
    fn from(failure: &Failure) -> Self {
        Self {
            cause: failure.cause,
            message: failure.message.clone(),
            stack: failure.stack.clone(),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self {
            cause: fault.cause,
            message: fault.message,
            stack: fault.stack,
        }
    }
}

/// A predicate that was evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predicate {
    /// The hook it narrows.
    pub hook: Arc<str>,
    /// Whether it matched.
    pub matched: bool,
    /// How it failed.
    pub failure: Option<Fault>,
    /// What it used.
    pub used: Used,
}

/// A handler that is about to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The hook.
    pub hook: Arc<str>,
    /// What runs.
    pub handler: Cow<'static, str>,
    /// What it gets, as JSON text, in the native form.
    pub payload: Arc<str>,
    /// Whether it is heard beside another one that refused already.
    pub collected: bool,
    /// When, in microseconds since the dispatch began.
    pub at_us: u64,
}

/// Which part of a hook was at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Its predicate.
    When,
    /// Its handler.
    Handle,
}

/// A call across the border of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// The hook that called.
    pub hook: Arc<str>,
    /// Which part of it.
    pub phase: Phase,
    /// What it called, for example `http.send`.
    pub capability: Cow<'static, str>,
    /// What it asked, as JSON text.
    pub request: Arc<str>,
    /// What it got, as JSON text.
    pub answer: Arc<str>,
    /// Whether the answer follows from the event and the hooks alone.
    pub derived: bool,
    /// When, in microseconds since the dispatch began.
    pub at_us: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// What was made of a handler's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReturned {
    /// The hook.
    pub hook: Arc<str>,
    /// What it decided, or what its failure means.
    pub decision: Ruling,
    /// Why it blocked, or what it asks.
    pub reason: Option<String>,
    /// The new payload, as JSON text.
    pub payload: Option<Arc<str>>,
    /// What it wants beside its decision.
    pub effects: Vec<Effect>,
    /// How its dialect puts it.
    pub said: Option<Said>,
    /// Whether no later hook is asked, though nothing is refused.
    pub last: bool,
    /// How it failed.
    pub failure: Option<Fault>,
    /// What it used.
    pub used: Used,
}

/// A hook that blocked or asked, or whose word is the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookVetoed {
    /// The hook.
    pub hook: Arc<str>,
    /// `block`, `ask`, or `allow` if no later hook has a say.
    pub decision: Ruling,
    /// Why, or what it asks.
    pub reason: String,
}

/// What a chain came to.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// The final decision.
    pub decision: Ruling,
    /// Why it was blocked, or what a person is asked.
    pub reason: Option<String>,
    /// The hook that blocked or asked.
    pub hook: Option<Arc<str>>,
    /// How its dialect puts it.
    pub said: Option<Said>,
    /// Whether its failure is an error of the whole event.
    pub raised: bool,
    /// The final payload, as JSON text, in the native form.
    pub payload: Arc<str>,
    /// What the hooks want beside their decisions.
    pub effects: Vec<Effect>,
    /// What was odd.
    pub warnings: Vec<String>,
    /// What each of the five steps left.
    pub stages: Stages,
    /// A row for each hook.
    pub trace: Vec<TraceRow>,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// An event that could not be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// The event's name.
    pub event: String,
    /// Why.
    pub error: String,
    /// When it came in, in milliseconds since 1970.
    pub time: u64,
}

/// Records that could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// How many.
    pub count: u64,
    /// The dispatches they belong to, of which nothing further is on the tape.
    pub dispatches: Vec<u64>,
    /// Why.
    pub error: String,
}

/// A long text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Its hash.
    pub hash: Hash,
    /// The text.
    pub text: Arc<str>,
}

/// What seals a redacted tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// How many records were redacted.
    pub count: u64,
    /// The hash over all lines before this one, as they stand now.
    pub lines: Hash,
}

/// The end of a tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// How many records are before it.
    pub count: u64,
    /// The highest number of a dispatch.
    pub dispatches: u64,
    /// The hash of the last record before it.
    pub head: Hash,
    /// How many sessions there were after the header's.
    pub sessions: u64,
}

impl End {
    /// Keeps what a chain came to.
    pub(super) fn of(outcome: &Outcome, took_us: u64) -> Self {
        Self {
            decision: outcome.decision,
            reason: outcome.reason.clone(),
            hook: outcome.hook.clone(),
            said: outcome.said.clone(),
            raised: outcome.raised,
            payload: outcome.payload.shared_text(),
            effects: outcome.effects.clone(),
            warnings: outcome.warnings.clone(),
            stages: outcome.stages.clone(),
            trace: outcome.trace.clone(),
            took_us,
        }
    }
}

impl Entry {
    /// Returns the word for its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Header(_) => "header",
            Self::Session(_) => "session",
            Self::Dispatch(_) => "dispatch",
            Self::Predicate(_) => "predicate",
            Self::HookCall(_) => "hook_call",
            Self::HostCall(_) => "host_call",
            Self::HookReturned(_) => "hook_returned",
            Self::HookVetoed(_) => "hook_vetoed",
            Self::Outcome(_) => "outcome",
            Self::Undecided(_) => "undecided",
            Self::Lost(_) => "lost",
            Self::Body(_) => "body",
            Self::Redaction(_) => "redaction",
            Self::Footer(_) => "footer",
        }
    }

    /// Returns the hook it is about.
    #[must_use]
    pub fn hook(&self) -> Option<&str> {
        match self {
            Self::Predicate(one) => Some(&one.hook),
            Self::HookCall(one) => Some(&one.hook),
            Self::HostCall(one) => Some(&one.hook),
            Self::HookReturned(one) => Some(&one.hook),
            Self::HookVetoed(one) => Some(&one.hook),
            _ => None,
        }
    }
}

impl Record {
    /// Returns the words for it in messages: its number, its kind and its hook.
    #[must_use]
    pub fn name(&self) -> String {
        match self.entry.hook() {
            Some(hook) => format!("record {} ({} of {hook:?})", self.number, self.entry.kind()),
            None => format!("record {} ({})", self.number, self.entry.kind()),
        }
    }
}
