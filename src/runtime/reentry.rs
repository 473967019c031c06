//! How a hook in the middle of an event comes back in: its own events, and its calls
//! of tools. Both go through chains, so both could go round in a circle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use super::inner::{Caller, Inner, Parent};
use crate::capability::back::{Back, Echo, Entering, Refusal};
use crate::decision::Ruling;
use crate::dialect::harness;
use crate::event::{About, Event};
use crate::json::Json;
use crate::outcome::Outcome;
use crate::sandbox::bindings::hooks::Hook;
use crate::tape::reel::Reel;

/// How deep events may be nested.
const MAX_DEPTH: u32 = 8;

/// What made a hook come back in.
struct Cause {
    /// The tool that the event is about, if a hook calls it.
    tool: Option<Arc<str>>,
    latest: Instant,
    reel: Reel,
}

/// The way back in for the hooks of one event.
pub(super) struct Reentry {
    inner: Arc<Inner>,
    path: Vec<Arc<str>>,
    id: String,
    depth: u32,
    caused: AtomicU64,
}

impl Reentry {
    pub(super) fn new(inner: Arc<Inner>, path: Vec<Arc<str>>, event: &Event) -> Self {
        Self {
            inner,
            path,
            id: event.id.clone(),
            depth: event.depth,
            caused: AtomicU64::new(0),
        }
    }

    /// Refuses a step that was taken before on this way, and ways that are too long.
    fn check(&self, step: &str, verb: &str) -> Result<(), Refusal> {
        if self.path.iter().any(|earlier| **earlier == *step) {
            let mut way: Vec<&str> = self.path.iter().map(|step| &**step).collect();
            way.push(step);
            return Err(Refusal::Refused(format!(
                "hooks {verb} in a circle: {}; narrow the hook with `when`",
                way.join(" → ")
            )));
        }
        if self.depth + 1 > MAX_DEPTH {
            return Err(Refusal::Refused(format!(
                "events may be nested {MAX_DEPTH} deep"
            )));
        }
        Ok(())
    }

    /// Sends an event through its chain, as a consequence of this one.
    fn dispatch(
        &self,
        name: &str,
        payload: Value,
        cause: &Cause,
        echo: &mut Echo,
    ) -> Result<Json, Refusal> {
        let parent = Parent {
            id: &self.id,
            depth: self.depth,
            number: self.caused.fetch_add(1, Ordering::Relaxed) + 1,
        };
        let event = self
            .inner
            .decode(
                &harness::DIALECT,
                name,
                payload,
                About::default(),
                Some(&parent),
            )
            .map_err(|error| Refusal::Refused(error.to_string()))?;
        let scene = cause.reel.scene().map(|scene| scene.child(&event));
        let caller = Caller {
            path: self.path.clone(),
            tool: cause.tool.clone(),
            latest: Some(cause.latest),
            scene: scene.clone(),
        };
        let mut outcome = Inner::dispatch(&self.inner, &event, &caller);
        let live = scene.as_ref().is_none_or(|scene| scene.part().is_none());
        if let Some(scene) = scene {
            scene.close(&outcome);
        }
        if live {
            Inner::go_on_in_background(&self.inner, &event, &mut outcome);
        }
        listen(outcome, echo)
    }

    fn emit_event(&self, event: Entering, echo: &mut Echo) -> Result<Json, Refusal> {
        let name = event.name;
        if !name.starts_with("custom.") {
            return Err(Refusal::Refused(format!(
                "event must start with \"custom.\", and {name:?} does not"
            )));
        }
        self.check(&name, "emit")?;
        let cause = Cause {
            tool: None,
            latest: event.latest,
            reel: event.reel,
        };
        self.dispatch(&name, event.payload.into_value(), &cause, echo)
    }

    /// Says no to a tool that the host does not have, or did not have when the tape was
    /// recorded.
    fn check_known(&self, name: &str, reel: &Reel) -> Result<(), Refusal> {
        let part = reel.scene().and_then(|scene| scene.part());
        let known: Vec<&str> = match part {
            Some(part) => part.tools.iter().map(String::as_str).collect(),
            None => self
                .inner
                .run
                .services
                .tools
                .keys()
                .map(String::as_str)
                .collect(),
        };
        if known.contains(&name) {
            return Ok(());
        }
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        Err(Refusal::UnknownTool(format!(
            "the host has no tool {name:?}; the tools are: {known}"
        )))
    }

    /// Lets the host's tool work, which is beyond the border.
    fn use_tool(
        &self,
        name: &str,
        args: Value,
        reel: &Reel,
    ) -> Result<Result<Value, String>, Refusal> {
        let request = || json!({"name": name, "args": args});
        let request = reel.runs().then(request);
        let live = || match self.inner.run.services.tools.get(name) {
            Some(tool) => tool(args),
            None => Err(format!("the host has no tool {name:?}")),
        };
        reel.cross_result("tools.run", || request.unwrap_or_default(), live)
            .map_err(|failure| Refusal::Failed(failure.message))
    }

    /// Calls a tool as the model would: its call can be blocked or changed before,
    /// and its result after.
    fn call(&self, call: Entering, echo: &mut Echo) -> Result<Json, Refusal> {
        let name = call.name.as_str();
        let step: Arc<str> = format!("tool {name}").into();
        self.check(&step, "call tools")?;
        self.check_known(name, &call.reel)?;
        let args = call.payload.into_value();
        let before = json!({"name": name, "args": args});
        let cause = Cause {
            tool: Some(step),
            latest: call.latest,
            reel: call.reel,
        };
        let before = self.dispatch("tool.pre", before, &cause, echo)?;
        let mut before = before.into_value();
        if before["name"] != name {
            return Err(Refusal::Refused(format!(
                "a hook of tool.pre made another tool of {name:?}"
            )));
        }
        let id = before["id"].take();
        let result = self.use_tool(name, before["args"].take(), &cause.reel)?;
        let failed = result.is_err();
        let after = json!({
            "call_id": id,
            "name": name,
            "result": result.unwrap_or_else(Value::from),
            "is_error": failed,
        });
        let after = self.dispatch("tool.post", after, &cause, echo)?;
        let result = after.into_value()["result"].take();
        if failed {
            let why = result
                .as_str()
                .map_or_else(|| result.to_string(), str::to_owned);
            return Err(Refusal::Failed(format!("the tool {name:?} failed: {why}")));
        }
        Ok(Json::from(result))
    }
}

/// Takes over what hooks said on the way. In the middle of a call nobody can be
/// asked, so a question is a no.
fn listen(outcome: Outcome, echo: &mut Echo) -> Result<Json, Refusal> {
    echo.logs.extend(outcome.logs);
    echo.warnings.extend(outcome.warnings);
    for row in outcome.trace {
        let hook = row.hook;
        let refusals = row.refusals.into_iter();
        echo.refusals
            .extend(refusals.map(|refusal| format!("{}: {hook}: {refusal}", outcome.event)));
    }
    match outcome.decision {
        Ruling::Allow | Ruling::Modify => Ok(outcome.payload),
        Ruling::Block | Ruling::Ask => Err(Refusal::Blocked(outcome.reason.unwrap_or_default())),
    }
}

fn echoed(work: impl FnOnce(&mut Echo) -> Result<Json, Refusal>) -> Echo {
    let mut echo = Echo::from(Err(Refusal::Refused(String::new())));
    echo.result = work(&mut echo);
    echo
}

impl Back for Reentry {
    fn emit(&self, event: Entering) -> Echo {
        echoed(|echo| self.emit_event(event, echo))
    }

    fn call_tool(&self, call: Entering) -> Echo {
        echoed(|echo| self.call(call, echo))
    }

    fn hooks(&self) -> Vec<Hook> {
        let hooks = self.inner.loaded.hooks.iter();
        hooks
            .map(|hook| Hook {
                name: hook.name.to_string(),
                event: hook.event.to_string(),
                priority: hook.priority,
                explicit_priority: hook.origin.explicit_priority,
                when: hook.condition(),
                handler: hook.handler.kind().to_owned(),
                file: hook.origin.file.to_string(),
            })
            .collect()
    }

    fn hook_source(&self, name: &str) -> Option<String> {
        let mut hooks = self.inner.loaded.hooks.iter();
        let hook = hooks.find(|hook| *hook.name == *name)?;
        Some(hook.origin.source.text.to_string())
    }
}
