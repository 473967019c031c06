//! What stands at the border of the sandbox during one call of a hook: it writes down
//! what crosses, and in a replay it answers instead of the world.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lock::lock;
use super::part::Step;
use super::record::{Entry, HostCall, Phase};
use super::scene::Scene;
use crate::capability::Left;
use crate::chain::Usage;
use crate::failure::{Cause, Failure};

/// How many requests without an answer are named.
const MOST_NAMED: usize = 3;

/// What is said of requests without an answer.
pub(super) const NO_ANSWER: &str = ": the tape has no answer to it";

/// One call of a hook on the tape; nothing where no tape runs.
#[derive(Clone, Default)]
pub(crate) struct Reel {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    scene: Arc<Scene>,
    hook: Arc<str>,
    phase: Phase,
    /// What was recorded of this call, in a replay.
    step: Option<Mutex<Step>>,
    unanswered: Mutex<Vec<String>>,
}

impl fmt::Debug for Reel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Reel")
            .field(&self.inner.as_ref().map(|inner| &inner.hook))
            .finish()
    }
}

/// A result as it stands on a tape.
#[derive(Serialize, Deserialize)]
enum Reply<T, E> {
    #[serde(rename = "ok")]
    Ok(T),
    #[serde(rename = "error")]
    Error(E),
}

impl Reel {
    pub(super) fn new(scene: Arc<Scene>, hook: Arc<str>, phase: Phase) -> Self {
        let step = scene.part().map(|part| {
            let known = part.step(&hook, phase);
            Mutex::new(known.unwrap_or_else(|| Step::unknown(&hook, phase)))
        });
        Self {
            inner: Some(Arc::new(Inner {
                scene,
                hook,
                phase,
                step,
                unanswered: Mutex::default(),
            })),
        }
    }

    /// Says whether the answers come from a tape.
    pub(crate) fn plays(&self) -> bool {
        self.inner
            .as_ref()
            .is_some_and(|inner| inner.step.is_some())
    }

    /// Says whether anything is written down.
    pub(crate) fn runs(&self) -> bool {
        self.inner.is_some()
    }

    /// Returns the scene, for what the call causes.
    pub(crate) fn scene(&self) -> Option<&Arc<Scene>> {
        self.inner.as_ref().map(|inner| &inner.scene)
    }

    /// Lets a call across the border whose answer depends on the world.
    ///
    /// # Errors
    /// Returns that the tape has no answer.
    pub(crate) fn cross<T: Serialize + DeserializeOwned>(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        live: impl FnOnce() -> T,
    ) -> Result<T, Failure> {
        let Some(inner) = &self.inner else {
            return Ok(live());
        };
        let call = inner.call(capability, request);
        let answer = match &inner.step {
            None => live(),
            Some(step) => inner.recorded(step, capability, &call.request)?,
        };
        call.heard(&answer, false);
        Ok(answer)
    }

    /// Does the same for a call that can fail.
    ///
    /// # Errors
    /// Returns that the tape has no answer.
    pub(crate) fn cross_result<T, E>(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        live: impl FnOnce() -> Result<T, E>,
    ) -> Result<Result<T, E>, Failure>
    where
        T: Serialize + DeserializeOwned,
        E: Serialize + DeserializeOwned,
    {
        if self.inner.is_none() {
            return Ok(live());
        }
        let reply = self.cross(capability, request, || match live() {
            Ok(value) => Reply::Ok(value),
            Err(error) => Reply::Error(error),
        })?;
        Ok(match reply {
            Reply::Ok(value) => Ok(value),
            Reply::Error(error) => Err(error),
        })
    }

    /// Lets a call across whose answer follows from the event and the hooks: it is
    /// written down, and a replay works it out again.
    pub(crate) fn derive<T: Serialize>(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        live: impl FnOnce() -> T,
    ) -> T {
        let Some(inner) = &self.inner else {
            return live();
        };
        let call = inner.call(capability, request);
        let answer = live();
        call.heard(&answer, true);
        answer
    }

    /// Does the same for a call that can fail.
    pub(crate) fn derive_result<T: Serialize, E: Serialize>(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        live: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(inner) = &self.inner else {
            return live();
        };
        let call = inner.call(capability, request);
        let answer = live();
        let reply = match &answer {
            Ok(value) => Reply::Ok(value),
            Err(error) => Reply::Error(error),
        };
        call.heard(&reply, true);
        answer
    }

    /// Lets a call across that a replay answers itself where the tape does not know.
    pub(crate) fn cross_or<T: Serialize + DeserializeOwned>(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        live: impl FnOnce() -> T,
    ) -> T {
        let Some(inner) = &self.inner else {
            return live();
        };
        let call = inner.call(capability, request);
        let known = inner.step.as_ref().and_then(|step| {
            let answer = Inner::own(step, capability, &call.request)?;
            serde_json::from_str(&answer).ok()
        });
        let answer = known.unwrap_or_else(live);
        call.heard(&answer, false);
        answer
    }

    /// Returns the answer that a tape has to a question, and writes it down again.
    pub(crate) fn recall<T: Serialize + DeserializeOwned>(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
    ) -> Option<T> {
        let inner = self.inner.as_ref()?;
        let call = inner.call(capability, request);
        let answer = Inner::own(inner.step.as_ref()?, capability, &call.request)?;
        let answer: T = serde_json::from_str(&answer).ok()?;
        call.heard(&answer, false);
        Some(answer)
    }

    /// Writes down that a call was refused.
    pub(crate) fn refused(
        &self,
        capability: &'static str,
        request: impl FnOnce() -> Value,
        why: &str,
    ) {
        self.derive(
            capability,
            request,
            || json!({"error": {"not_granted": why}}),
        );
    }

    /// Returns how the call ended, if the tape has the last word on it.
    pub(crate) fn honoured(&self) -> Option<(Failure, Usage, Left)> {
        let step = self.inner.as_ref()?.step.as_ref()?;
        lock(step).honour()
    }

    /// Returns the requests that the tape has no answer to, as a failure.
    pub(crate) fn unanswered(&self) -> Option<Failure> {
        let unanswered = lock(&self.inner.as_ref()?.unanswered);
        let first: Vec<&str> = unanswered
            .iter()
            .take(MOST_NAMED)
            .map(String::as_str)
            .collect();
        (!first.is_empty()).then(|| new_request(&first.join(", ")))
    }
}

fn new_request(what: &str) -> Failure {
    Failure::new(Cause::NewRequest, format!("{what}{NO_ANSWER}"))
}

/// A call that is crossing.
struct Crossing<'r> {
    reel: &'r Inner,
    capability: &'static str,
    request: Arc<str>,
    at_us: u64,
}

impl Crossing<'_> {
    /// Writes the call down with its answer.
    fn heard<T: Serialize>(self, answer: &T, derived: bool) {
        let scene = &self.reel.scene;
        // Answers are made of texts and numbers, which always are JSON.
        let answer = serde_json::to_string(answer).unwrap_or_default();
        scene.push(Entry::HostCall(HostCall {
            hook: Arc::clone(&self.reel.hook),
            phase: self.reel.phase,
            capability: self.capability.into(),
            request: self.request,
            answer: answer.into(),
            derived,
            at_us: self.at_us,
            took_us: scene.elapsed().saturating_sub(self.at_us),
        }));
    }
}

impl Inner {
    fn call(&self, capability: &'static str, request: impl FnOnce() -> Value) -> Crossing<'_> {
        Crossing {
            reel: self,
            capability,
            request: crate::json::to_text(&request()).into(),
            at_us: self.scene.elapsed(),
        }
    }

    /// Finds the answer on the tape. Each one is given once; a hook that did not ask
    /// before hears what others heard, if it is about the world outside.
    fn recorded<T: DeserializeOwned>(
        &self,
        step: &Mutex<Step>,
        capability: &str,
        request: &str,
    ) -> Result<T, Failure> {
        let own = Self::own(step, capability, request);
        let answer = own.or_else(|| self.otherwise(capability, request));
        let parsed = answer.and_then(|answer| serde_json::from_str(&answer).ok());
        parsed.ok_or_else(|| {
            let what = describe(capability, request);
            lock(&self.unanswered).push(what.clone());
            new_request(&what)
        })
    }

    /// Takes the answer that this call got.
    fn own(step: &Mutex<Step>, capability: &str, request: &str) -> Option<Arc<str>> {
        let fits = |call: &HostCall| call.capability == capability && *call.request == *request;
        let mut step = lock(step);
        // Mostly it is the next one, and the others need not move.
        let found = step.calls.iter().position(fits)?;
        step.calls.remove(found).map(|call| call.answer)
    }

    fn otherwise(&self, capability: &str, request: &str) -> Option<Arc<str>> {
        let part = self.scene.part()?;
        match capability {
            "http.send" | "environment.get" | "files.read" | "files.entries" => {
                part.elsewhere(capability, request)
            }
            // The tape knows what time it was.
            "clock.now" => Some(part.time.saturating_mul(1_000_000).to_string().into()),
            _ => None,
        }
    }
}

/// Puts a request into words.
fn describe(capability: &str, request: &str) -> String {
    let value: Value = serde_json::from_str(request).unwrap_or_default();
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    match capability {
        "http.send" => format!("{} {}", text("method"), text("url")),
        "tools.run" => format!("tool {:?}", text("name")),
        "process.run" => format!("process {:?}", text("program")),
        "environment.get" => format!("variable {:?}", text("name")),
        "files.read" | "files.entries" => format!("{capability} {:?}", text("path")),
        _ if value.get("key").is_some() => format!("{capability} {:?}", text("key")),
        _ => capability.to_owned(),
    }
}
