//! The five steps every event goes through: filter, sort, dispatch, compose, return.
//!
//! Pure: no I/O, no clock, no sandbox. What runs a hook is behind [`Runner`], and
//! what a dialect makes of an answer is in its rules.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::capability::Left;
use crate::capability::log::LogLine;
use crate::decision::{Answer, Decision, Effect, Ruling, Said};
use crate::dialect::{Dialect, PredicateFailure};
use crate::event::Event;
use crate::failure::Failure;
use crate::hook::{Hook, OnError};
use crate::json::Json;
use crate::outcome::{Outcome, Stages, TraceRow};

/// Runs one hook. The sandbox is one implementation, the tables of the property
/// tests are another.
pub trait Runner {
    /// Evaluates the predicate of a hook.
    fn matches(&self, hook: &Hook, event: &Event) -> Ran<bool>;
    /// Calls the handler of a hook.
    fn handle(&self, hook: &Hook, event: &Event) -> Ran<Answer>;
    /// Puts a hook's question to a person.
    fn ask(&self, _hook: &Hook, _question: &str) -> Reply {
        Reply::Later
    }
    /// Hears what was made of a hook's answer, or of its failure.
    fn heard(&self, _hook: &Hook, _row: &TraceRow, _control: &Control<'_>) {}
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The hook has nothing against the event any more. Later ones may.
    Yes,
    /// The event is refused, for this reason.
    No(String),
    /// Whoever fired the event asks.
    Later,
}

/// What was made of a hook's answer.
#[derive(Debug)]
pub struct Control<'a> {
    /// What it comes to.
    pub ruling: Ruling,
    /// The new payload.
    pub payload: Option<&'a Json>,
    /// What the hook wants beside it.
    pub effects: &'a [Effect],
    /// How its dialect puts it.
    pub said: Option<&'a Said>,
    /// Whether no later hook is asked, though nothing is refused.
    pub last: bool,
    /// How the hook failed.
    pub failure: Option<&'a Failure>,
}

/// What came of running a predicate or a handler, and what it cost.
#[derive(Debug, Clone)]
pub struct Ran<T> {
    /// The answer, or why there is none.
    pub result: Result<T, Failure>,
    /// What it cost.
    pub usage: Usage,
    /// What it left behind.
    pub left: Left,
}

impl<T> From<Result<T, Failure>> for Ran<T> {
    fn from(result: Result<T, Failure>) -> Self {
        Self {
            result,
            usage: Usage::default(),
            left: Left::default(),
        }
    }
}

impl<T> Ran<T> {
    /// Turns the answer into another one, or into a failure.
    pub fn and_then<U>(self, next: impl FnOnce(T) -> Result<U, Failure>) -> Ran<U> {
        Ran {
            result: self.result.and_then(next),
            usage: self.usage,
            left: self.left,
        }
    }
}

/// What a call cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fuel, if the call ended where counting it means something.
    pub fuel: Option<u64>,
    /// The most linear memory held.
    pub memory_bytes: u64,
    /// Whether the guest asked for more memory than it may have.
    pub refused_memory: bool,
    /// Wall time.
    pub duration: Duration,
}

/// Sends an event through the hooks that subscribe to it and composes their answers.
pub fn run(hooks: &[Arc<Hook>], event: &Event, runner: &impl Runner) -> Outcome {
    let mut progress = Progress::new(event);
    let mut links = filter(hooks, event, runner, &mut progress);
    sort(&mut links, &mut progress);
    for link in &mut links {
        if !progress.still_asks(link.hook) || link.row.background {
            continue;
        }
        if link.hook.live {
            narrow(link, runner, &mut progress);
        }
        if link.row.matched {
            let answer = dispatch(link, runner, &mut progress);
            compose(link, answer, &mut progress, runner);
        }
    }
    progress.hand_back(links)
}

/// A hook of this chain with the row it leaves in the trace.
struct Link<'a> {
    hook: &'a Hook,
    row: TraceRow,
    /// Why the predicate could not be evaluated, where that fails the hook.
    failed: Option<Failure>,
    /// How the hook failed in the end.
    failure: Option<Failure>,
}

/// What the chain has come to so far.
struct Progress {
    event: Event,
    settled: Option<Settled>,
    raised: bool,
    modified: bool,
    effects: Vec<Effect>,
    logs: Vec<LogLine>,
    warnings: Vec<String>,
    stages: Stages,
}

/// What the event came to, and through whom.
struct Settled {
    hook: Arc<str>,
    dialect: &'static Dialect,
    ruling: Ruling,
    reason: Option<String>,
    said: Option<Said>,
}

/// Evaluates predicates against the payload the chain starts with, before any handler
/// runs: no hook can talk a later one out of looking. In dialects that want to see what
/// earlier hooks left, that waits for the hook's turn.
fn filter<'a>(
    hooks: &'a [Arc<Hook>],
    event: &Event,
    runner: &impl Runner,
    progress: &mut Progress,
) -> Vec<Link<'a>> {
    let mut links = Vec::new();
    for hook in hooks.iter().filter(|hook| hook.point == event.point) {
        // Those that an event waits for are done when the background begins.
        if event.background && hook.waits {
            continue;
        }
        let mut link = Link {
            hook,
            row: TraceRow::new(hook),
            failed: None,
            failure: None,
        };
        link.row.background = !hook.waits && !event.background;
        if !link.row.background && !hook.live {
            narrow(&mut link, runner, progress);
        }
        links.push(link);
    }
    links
}

/// Evaluates one predicate against the payload as it stands.
fn narrow(link: &mut Link<'_>, runner: &impl Runner, progress: &mut Progress) {
    let hook = link.hook;
    let ran = runner.matches(hook, &progress.event);
    let row = &mut link.row;
    progress.keep(ran.left, row);
    row.when_fuel = ran.usage.fuel;
    row.add(ran.usage);
    match ran.result {
        Ok(matched) => row.matched = matched,
        Err(failure) => {
            row.fail(&failure);
            match (hook.dialect.predicate_failure)(&failure) {
                PredicateFailure::Fail => link.failed = Some(failure),
                PredicateFailure::Skip => progress.warnings.push(format!(
                    "hook {:?}: `when` failed, so the hook sits this event out: {failure}",
                    hook.name
                )),
            }
        }
    }
    row.matched |= link.failed.is_some();
    if row.matched {
        progress.stages.filter.push(Arc::clone(&hook.name));
    }
}

/// Puts the hooks in the order in which they run.
fn sort(links: &mut [Link<'_>], progress: &mut Progress) {
    links.sort_by_key(|link| link.hook.rank());
    progress.stages.sort = links
        .iter()
        .filter(|link| link.row.matched || link.hook.live && !link.row.background)
        .map(|link| Arc::clone(&link.hook.name))
        .collect();
}

/// Calls one handler with the payload as it stands now. A failure becomes what
/// the hook's owner wants it to mean.
fn dispatch(link: &mut Link<'_>, runner: &impl Runner, progress: &mut Progress) -> Answer {
    let hook = link.hook;
    if let Some(failure) = link.failed.take() {
        let answer = on_failure(hook, &failure, progress);
        link.failure = Some(failure);
        return answer;
    }
    progress.stages.dispatch.push(Arc::clone(&hook.name));
    let ran = runner.handle(hook, &progress.event);
    progress.keep(ran.left, &mut link.row);
    link.row.fuel = ran.usage.fuel;
    link.row.add(ran.usage);
    match ran
        .result
        .and_then(|answer| (hook.dialect.judge)(hook, &progress.event, answer))
    {
        Ok(answer) => answer,
        Err(failure) => {
            link.row.fail(&failure);
            let answer = on_failure(hook, &failure, progress);
            link.failure = Some(failure);
            answer
        }
    }
}

fn on_failure(hook: &Hook, failure: &Failure, progress: &mut Progress) -> Answer {
    match hook.on_error {
        OnError::Block => Decision::Block(format!("hook {:?} failed: {failure}", hook.name)).into(),
        OnError::Raise => {
            progress.raised = true;
            Decision::Block(format!("hook {:?} failed: {failure}", hook.name)).into()
        }
        OnError::Allow => {
            progress.warnings.push(format!(
                "hook {:?} failed and was passed over, as failures of this hook let the event pass: {failure}",
                hook.name
            ));
            Decision::Allow.into()
        }
    }
}

/// Lets one answer take effect: a block or a question ends the chain, a new
/// payload is what later hooks see.
fn compose(link: &mut Link<'_>, answer: Answer, progress: &mut Progress, runner: &impl Runner) {
    let decision = put(link.hook, answer.decision, runner);
    let ruling = decision.ruling();
    link.row.decision = Some(ruling);
    link.row.reason = decision.reason().map(str::to_owned);
    if ruling != Ruling::Allow || !answer.effects.is_empty() || answer.last {
        progress.stages.compose.push(Arc::clone(&link.hook.name));
    }
    progress.warnings.extend(
        (answer.warnings.into_iter())
            .map(|warning| format!("hook {:?}: {warning}", link.hook.name)),
    );
    let (said, last) = (answer.said, answer.last);
    match decision {
        Decision::Allow if last => progress.settle(link, Ruling::Allow, None, said.clone()),
        Decision::Allow => {}
        Decision::Modify(payload) => {
            progress.modified = true;
            progress.event = progress.event.with_payload(Json::from(payload));
        }
        Decision::Block(reason) | Decision::Ask(reason) => {
            progress.settle(link, ruling, Some(reason), said.clone());
        }
    }
    let control = Control {
        ruling,
        payload: (ruling == Ruling::Modify).then_some(&progress.event.payload),
        effects: &answer.effects,
        said: said.as_ref(),
        last,
        failure: link.failure.as_ref(),
    };
    runner.heard(link.hook, &link.row, &control);
    Effect::gather(&mut progress.effects, answer.effects);
}

/// Puts a question to whoever can answer it. A yes is the asking hook's alone: later
/// hooks look at the event all the same.
fn put(hook: &Hook, decision: Decision, runner: &impl Runner) -> Decision {
    let Decision::Ask(question) = decision else {
        return decision;
    };
    match runner.ask(hook, &question) {
        Reply::Yes => Decision::Allow,
        Reply::No(reason) => Decision::Block(reason),
        Reply::Later => Decision::Ask(question),
    }
}

impl Progress {
    /// Says whether a hook still has a say: nothing is settled, or it wants to be heard
    /// beside the one of its dialect that settled it.
    fn still_asks(&self, hook: &Hook) -> bool {
        match &self.settled {
            None => true,
            Some(settled) => hook.collects && *settled.dialect == *hook.dialect,
        }
    }

    /// Ends the chain. The first word counts.
    fn settle(
        &mut self,
        link: &Link<'_>,
        ruling: Ruling,
        reason: Option<String>,
        said: Option<Said>,
    ) {
        self.settled.get_or_insert(Settled {
            hook: Arc::clone(&link.hook.name),
            dialect: link.hook.dialect,
            ruling,
            reason,
            said,
        });
    }

    /// Takes over what a call left behind.
    fn keep(&mut self, left: Left, row: &mut TraceRow) {
        self.logs.extend(left.logs);
        self.warnings.extend(left.warnings);
        row.refusals.extend(left.refusals);
    }

    fn new(event: &Event) -> Self {
        Self {
            event: event.clone(),
            settled: None,
            raised: false,
            modified: false,
            effects: Vec::new(),
            logs: Vec::new(),
            warnings: Vec::new(),
            stages: Stages::default(),
        }
    }

    /// Hands the decision and the payload back to whoever fired the event.
    fn hand_back(mut self, links: Vec<Link<'_>>) -> Outcome {
        let through = if self.modified {
            Ruling::Modify
        } else {
            Ruling::Allow
        };
        let (hook, decision, reason, said) = match self.settled {
            Some(end) => (Some(end.hook), end.ruling, end.reason, end.said),
            None => (None, through, None, None),
        };
        self.stages.r#return = Some(decision);
        Outcome {
            event: self.event.name,
            id: self.event.id,
            decision,
            reason,
            hook,
            said,
            raised: self.raised,
            payload: self.event.payload,
            effects: self.effects,
            metrics: std::collections::BTreeMap::new(),
            logs: self.logs,
            warnings: self.warnings,
            stages: self.stages,
            trace: links.into_iter().map(|link| link.row).collect(),
        }
    }
}

impl Hook {
    /// Returns the place in a chain: the dialect's, then the priority, then the source's.
    pub(crate) fn rank(&self) -> (usize, i64, usize) {
        (self.order, self.priority, self.position)
    }
}

impl TraceRow {
    fn new(hook: &Hook) -> Self {
        Self {
            priority: hook.priority,
            ..Self::empty(Arc::clone(&hook.name), hook.dialect.name.into())
        }
    }

    /// Makes the row of a hook of which nothing is known yet.
    pub(crate) fn empty(hook: Arc<str>, dialect: Cow<'static, str>) -> Self {
        Self {
            hook,
            dialect,
            priority: 0,
            matched: false,
            background: false,
            decision: None,
            reason: None,
            error: None,
            cause: None,
            stack: None,
            fuel: None,
            when_fuel: None,
            refusals: Vec::new(),
            memory_bytes: 0,
            duration: Duration::ZERO,
        }
    }

    fn add(&mut self, usage: Usage) {
        self.memory_bytes = self.memory_bytes.max(usage.memory_bytes);
        self.duration += usage.duration;
    }

    fn fail(&mut self, failure: &Failure) {
        self.error = Some(failure.to_string());
        self.cause = Some(failure.cause);
        self.stack.clone_from(&failure.stack);
    }
}
