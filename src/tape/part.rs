//! What a tape knows of one dispatch, ready to be asked: the answers its hooks got, in
//! order, and the dispatches they caused.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::lock::lock;
use super::record::{Entry, Fault, HostCall, Phase, Used};
use super::replay::Dispatch;
use crate::capability::Left;
use crate::chain::Usage;
use crate::failure::{Cause, Failure};

/// One recorded dispatch in the role of the world.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The tools there were.
    pub(crate) tools: Arc<[String]>,
    /// The time the event came in, in milliseconds since 1970.
    pub(crate) time: u64,
    /// All answers, for hooks that did not ask before.
    heard: Vec<HostCall>,
    steps: Mutex<Vec<Step>>,
    children: Mutex<Vec<(Arc<str>, Arc<Part>)>>,
}

/// One call of a hook.
#[derive(Debug, Clone)]
pub(super) struct Step {
    hook: Arc<str>,
    phase: Phase,
    /// What it asked and heard, in order.
    pub(super) calls: VecDeque<HostCall>,
    /// How it ended, if that follows from nothing the tape knows.
    pub(super) honoured: Option<(Fault, Used)>,
}

impl Step {
    /// A call that nobody recorded.
    pub(super) fn unknown(hook: &Arc<str>, phase: Phase) -> Self {
        Self::new(hook, phase)
    }

    fn new(hook: &Arc<str>, phase: Phase) -> Self {
        Self {
            hook: Arc::clone(hook),
            phase,
            calls: VecDeque::new(),
            honoured: None,
        }
    }

    /// A clock on the wall or a machine without room ended the call; running it again
    /// would tell something else.
    fn end(&mut self, failure: Option<&Fault>, used: &Used) {
        if let Some(fault) = failure
            && matches!(fault.cause, Cause::Deadline | Cause::Busy)
            // That a program ran out of time is what the tape answers when it is run.
            && !self.calls.iter().any(|call| call.capability == "process.run")
        {
            self.honoured = Some((fault.clone(), used.clone()));
        }
    }
}

impl Part {
    /// Makes a part of a dispatch and all it caused.
    pub(crate) fn of(dispatch: &Dispatch, tools: &Arc<[String]>) -> Arc<Self> {
        let mut steps: Vec<Step> = Vec::new();
        for record in &dispatch.records {
            match &record.entry {
                // What is worked out again is not asked of the tape.
                Entry::HostCall(call) if call.derived => {}
                Entry::HostCall(call) => {
                    let step = open(&mut steps, &call.hook, call.phase);
                    step.calls.push_back(call.clone());
                }
                Entry::Predicate(one) => {
                    open(&mut steps, &one.hook, Phase::When).end(one.failure.as_ref(), &one.used);
                    // The next predicate of that name is another hook's.
                    steps.push(Step::new(&"".into(), Phase::When));
                }
                Entry::HookCall(one) => steps.push(Step::new(&one.hook, Phase::Handle)),
                Entry::HookReturned(one) => {
                    open(&mut steps, &one.hook, Phase::Handle).end(one.failure.as_ref(), &one.used);
                }
                _ => {}
            }
        }
        let children = dispatch.children.iter().map(|child| {
            let event = Arc::clone(&child.start().event);
            (event, Self::of(child, tools))
        });
        Arc::new(Self {
            tools: Arc::clone(tools),
            time: dispatch.start().time,
            heard: steps.iter().flat_map(|step| step.calls.clone()).collect(),
            steps: Mutex::new(steps),
            children: Mutex::new(children.collect()),
        })
    }

    /// Hands over what was recorded of the next call of a hook.
    pub(super) fn step(&self, hook: &str, phase: Phase) -> Option<Step> {
        let mut steps = lock(&self.steps);
        let found = steps
            .iter()
            .position(|step| *step.hook == *hook && step.phase == phase)?;
        Some(steps.remove(found))
    }

    /// Returns the answer that any hook got to a request about the world outside, for a
    /// hook that did not ask before.
    pub(super) fn elsewhere(&self, capability: &str, request: &str) -> Option<Arc<str>> {
        let mut calls = self.heard.iter();
        let found = calls.find(|call| call.capability == capability && *call.request == *request);
        found.map(|call| Arc::clone(&call.answer))
    }

    /// Hands over the next dispatch of an event that a hook caused. One that nobody
    /// caused before knows nothing but the time and the tools.
    pub(super) fn child(&self, event: &str) -> Arc<Self> {
        let mut children = lock(&self.children);
        match children.iter().position(|(name, _)| **name == *event) {
            Some(found) => children.remove(found).1,
            None => Arc::new(Self {
                tools: Arc::clone(&self.tools),
                time: self.time,
                ..Self::default()
            }),
        }
    }
}

/// Returns the call of a hook that is under way.
fn open<'s>(steps: &'s mut Vec<Step>, hook: &Arc<str>, phase: Phase) -> &'s mut Step {
    let fits = |step: &Step| step.hook == *hook && step.phase == phase;
    let last = match steps.last() {
        Some(step) if fits(step) => steps.len() - 1,
        _ => {
            steps.push(Step::new(hook, phase));
            steps.len() - 1
        }
    };
    &mut steps[last]
}

impl Step {
    /// Returns how the call ended, if the tape has the last word on it.
    pub(super) fn honour(&self) -> Option<(Failure, Usage, Left)> {
        let (fault, used) = self.honoured.clone()?;
        let usage = Usage {
            fuel: used.fuel,
            memory_bytes: used.memory_bytes,
            refused_memory: false,
            duration: Duration::from_micros(used.took_us),
        };
        let left = Left {
            logs: used.logs,
            warnings: used.warnings,
            refusals: used.refusals,
        };
        Some((fault.into(), usage, left))
    }
}
