//! A persona works through its steps, within a budget.

use serde_json::json;

use super::Agent;
use super::script::{Persona, PersonaStep};
use super::voice::Moment;

/// The shares of the budget at which hooks are asked, in percent.
const THRESHOLDS: [u32; 3] = [50, 80, 100];

impl Agent<'_> {
    pub(super) fn persona(&mut self, persona: &Persona) {
        let name = &persona.name;
        let mut spent = 0;
        for step in &persona.steps {
            if !self.step(name, step) {
                continue;
            }
            let crossed = THRESHOLDS
                .iter()
                .any(|&threshold| spent < threshold && threshold <= step.spent);
            spent = step.spent;
            if crossed && !self.within_budget(name, step) {
                return;
            }
            if let Some(reason) = &step.pause
                && !self.pause(name, reason)
            {
                return;
            }
        }
        if let Some(to) = &persona.handoff {
            let fired = self.fire(Moment::Handoff, json!({"persona": name, "to": to}));
            match fired.refused() {
                Some(reason) => self.did(format!("{name} keeps its work: {reason}")),
                None => self.did(format!("{name} hands its work to {to}")),
            }
        }
    }

    /// Does a step, and says whether it was done: what is left out costs nothing.
    fn step(&mut self, persona: &str, step: &PersonaStep) -> bool {
        let name = &step.step;
        if let Some(request) = &step.approval
            && !self.approved(persona, name, request)
        {
            return false;
        }
        let facts = json!({"persona": persona, "step": name, "args": step.args});
        let before = self.fire(Moment::StepPre, facts);
        if let Some(reason) = before.refused() {
            self.did(format!("{persona} leaves {name} out: {reason}"));
            return false;
        }
        let args = before.rewritten("args").unwrap_or(&step.args);
        self.did(format!("{persona} does {name} {args}"));
        let facts = json!({"persona": persona, "step": name, "args": args, "output": step.output});
        let after = self.fire(Moment::StepPost, facts);
        match after.refused() {
            Some(reason) => self.did(format!("the output of {name} is not used: {reason}")),
            None => {
                let output = after.text("output", &step.output);
                self.did(format!("the output of {name} is: {output}"));
            }
        }
        true
    }

    fn approved(&mut self, persona: &str, step: &str, request: &str) -> bool {
        let facts = json!({"persona": persona, "step": step, "request": request});
        let fired = self.fire(Moment::Approval, facts);
        match fired.refused() {
            Some(reason) => self.did(format!("{persona} leaves {step} out: {reason}")),
            None => self.did(format!("asks the user to {request} The user says yes.")),
        }
        fired.refused().is_none()
    }

    fn within_budget(&mut self, persona: &str, step: &PersonaStep) -> bool {
        let facts = json!({"persona": persona, "step": step.step, "pct": step.spent});
        let fired = self.fire(Moment::Budget, facts);
        if let Some(reason) = fired.refused() {
            self.did(format!("{persona} ends: {reason}"));
        }
        fired.refused().is_none()
    }

    /// Pauses, unless the hooks want the persona to go on, and says whether it does so in
    /// the end.
    fn pause(&mut self, persona: &str, reason: &str) -> bool {
        let fired = self.fire(
            Moment::Paused,
            json!({"persona": persona, "reason": reason}),
        );
        if let Some(reason) = fired.refused() {
            self.did(format!("{persona} does not pause: {reason}"));
            return true;
        }
        self.did(format!("{persona} pauses: {reason}"));
        let fired = self.fire(Moment::Resumed, json!({"persona": persona}));
        match fired.refused() {
            Some(reason) => self.did(format!("{persona} stays paused: {reason}")),
            None => self.did(format!("{persona} goes on")),
        }
        fired.refused().is_none()
    }
}
