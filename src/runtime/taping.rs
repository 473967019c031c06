//! Whether and how a runtime is recorded.

use serde_json::json;

use super::DispatchError;
use crate::canonical;
use crate::capability::services::Services;
use crate::config::Config;
use crate::dialect::Loaded;
use crate::handler::Workshop;
use crate::hook::Hook;
use crate::outcome::Outcome;
use crate::tape::scene::now;
use crate::tape::scrub::Scrubber;
use crate::tape::{Entry, Hash, HookPrint, Project, RecordError, Recorder, Undecided};

/// Whether a runtime is recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct Taping {
    /// Who records it.
    pub(super) recorder: Option<Recorder>,
    /// Whether what the project requires counts.
    pub(super) waived: bool,
}

impl Taping {
    /// Begins a session on the tape and returns its number.
    pub(super) fn begin(&self, workshop: &Workshop, loaded: &Loaded, services: &Services) -> u64 {
        let Some(recorder) = &self.recorder else {
            return 0;
        };
        let grants = loaded.hooks.iter().map(|hook| &hook.grants);
        let scrubber = Scrubber::of(grants, services);
        recorder.begin(describe(workshop, loaded, services), scrubber)
    }

    /// Refuses to decide what could not be recorded. Returns how often records were lost
    /// before.
    pub(super) fn check(&self, config: &Config) -> Result<u64, DispatchError> {
        let Some(recorder) = &self.recorder else {
            if config.tape_required && !self.waived {
                return Err(DispatchError::NoTape);
            }
            return Ok(0);
        };
        // Before the file is written, or what is lost then would not count.
        let losses = recorder.losses();
        if self.is_required(config) {
            recorder.flush().map_err(DispatchError::Tape)?;
        }
        Ok(losses)
    }

    /// Returns how often records were lost.
    pub(super) fn losses(&self) -> u64 {
        self.recorder.as_ref().map_or(0, Recorder::losses)
    }

    fn is_required(&self, config: &Config) -> bool {
        let recorder = self.recorder.as_ref();
        config.tape_required || recorder.is_some_and(Recorder::is_required)
    }

    /// Records an event that was not decided.
    pub(super) fn undecided(&self, event: &str, error: &DispatchError) {
        if let Some(recorder) = &self.recorder {
            let undecided = Undecided {
                event: event.to_owned(),
                error: error.to_string(),
                time: now(),
            };
            recorder.push(None, Entry::Undecided(undecided));
            // That it was not decided is known without the tape.
            let _ = recorder.settle();
        }
    }

    /// Sees to it that the outcome is recorded where it must be, and says so where it
    /// is not. `losses` is how often records were lost before.
    pub(super) fn settle(
        &self,
        config: &Config,
        losses: u64,
        outcome: &mut Outcome,
    ) -> Result<(), DispatchError> {
        let Some(recorder) = &self.recorder else {
            return Ok(());
        };
        let mut settled = recorder.settle();
        if self.is_required(config) {
            settled = settled.and_then(|()| recorder.flush());
        }
        match settled.err().or_else(|| recorder.trouble(losses)) {
            Some(error) => self.not_recorded(config, error, outcome),
            None => Ok(()),
        }
    }

    /// Lets the policy decide what a gap on the tape means.
    pub(super) fn not_recorded(
        &self,
        config: &Config,
        error: RecordError,
        outcome: &mut Outcome,
    ) -> Result<(), DispatchError> {
        if self.is_required(config) {
            return Err(DispatchError::Tape(error));
        }
        let warning = format!("this run is not whole on its tape: {error}");
        if !outcome.warnings.contains(&warning) {
            outcome.warnings.push(warning);
        }
        Ok(())
    }
}

/// Says which hooks a session has, and what runs them.
fn describe(workshop: &Workshop, loaded: &Loaded, services: &Services) -> Project {
    Project {
        config: Some(config_hash(loaded)),
        cut: None,
        engine: workshop.engine_name(),
        hookbox: env!("CARGO_PKG_VERSION").to_owned(),
        hooks: loaded.hooks.iter().map(|hook| print(hook)).collect(),
        recovered_bytes: None,
        time: now(),
        tools: services.tools.keys().cloned().collect(),
    }
}

/// Returns what tells this version of a hook from another.
pub(super) fn print(hook: &Hook) -> HookPrint {
    HookPrint {
        component: hook.handler.digest(),
        dialect: hook.dialect.name.to_owned(),
        event: hook.event.to_string(),
        file: hook.origin.file.to_string(),
        handler: hook.handler.kind().to_owned(),
        name: hook.name.to_string(),
        priority: hook.priority,
        source: Hash::of(hook.origin.source.text.as_bytes()),
    }
}

/// Hashes what decides about hooks beside their own files: limits, grants and domains.
fn config_hash(loaded: &Loaded) -> Hash {
    let config = &loaded.config;
    let settings = json!({
        "limits": format!("{:?}", config.limits),
        "grants": config.grants,
        "domains": config.domains.as_ref().map(|domains| format!("{domains:?}")),
        "tape_required": config.tape_required,
        "on_error": config.on_error,
        "process": format!("{:?}", config.process),
        "dialects": config.order(),
        "live_when": config.live_when,
        "collecting": config.collecting,
    });
    Hash::of(canonical::text(&settings).as_bytes())
}
