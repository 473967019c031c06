//! The only way out of the sandbox. Every call of a guest arrives here, is
//! counted, and is checked against what the hook may do.

pub mod cache;
pub mod events;
pub mod http;
pub mod log;
pub mod metrics;
pub mod tools;

use std::sync::Arc;
use std::time::Instant;

use crate::failure::{Cause, Failure};
use crate::sandbox::instance::Call;
use crate::sandbox::limits::Limits;
use events::Emit;
use log::{LogLine, Logs};

/// How many warnings one call may leave.
const MAX_WARNINGS: usize = 20;

/// What the hooks of one run share.
#[derive(Debug, Default)]
pub struct Run {
    /// The key-value store.
    pub cache: cache::Cache,
    /// Counters and gauges.
    pub metrics: metrics::Metrics,
}

/// One call's view of the host.
pub struct Border {
    hook: Arc<str>,
    limits: Limits,
    deadline: Instant,
    run: Arc<Run>,
    emit: Emit,
    logs: Logs,
    warnings: Vec<String>,
    calls: u64,
}

impl Border {
    /// Opens the border for one call, which ends at the latest when the call
    /// that caused it does.
    #[must_use]
    pub fn new(
        hook: Arc<str>,
        limits: Limits,
        run: Arc<Run>,
        emit: Emit,
        latest: Option<Instant>,
    ) -> Self {
        let own = Instant::now() + limits.wall_time;
        Self {
            logs: Logs::new(Arc::clone(&hook), &limits),
            hook,
            limits,
            deadline: latest.map_or(own, |latest| latest.min(own)),
            run,
            emit,
            warnings: Vec::new(),
            calls: 0,
        }
    }

    /// Makes a border with nothing behind it, for looking at code without running it.
    #[must_use]
    pub fn closed(hook: &str, limits: Limits) -> Self {
        let refuse = |_| events::Echo {
            result: Err(events::Refusal::Refused(
                "no event is on its way".to_owned(),
            )),
            logs: Vec::new(),
            warnings: Vec::new(),
        };
        Self::new(hook.into(), limits, Arc::default(), Arc::new(refuse), None)
    }

    /// Returns the limits of the hook.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns when the call has to be over.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Closes the border and hands over what was logged and what was odd.
    #[must_use]
    pub fn leave(self) -> (Vec<LogLine>, Vec<String>) {
        let mut warnings = self.warnings;
        let (lines, dropped) = self.logs.into_lines();
        if dropped > 0 {
            warnings.push(format!(
                "hook {:?}: {dropped} log lines were dropped; raise `log_lines` or `log_bytes` under `limits:` to keep more",
                self.hook
            ));
        }
        (lines, warnings)
    }

    /// Counts a call across the border.
    fn enter(&mut self) -> wasmtime::Result<()> {
        self.calls += 1;
        if self.calls > self.limits.host_calls {
            return Err(Failure::new(
                Cause::HostCalls,
                format!(
                    "the call went to the host more than {} times; raise `host_calls` under `limits:` if it has to",
                    self.limits.host_calls
                ),
            )
            .into());
        }
        if Instant::now() >= self.deadline {
            return Err(Failure::new(
                Cause::Deadline,
                format!(
                    "the call took longer than {:?}; if it has to, raise `wall_time` under `limits:`",
                    self.limits.wall_time
                ),
            )
            .into());
        }
        Ok(())
    }

    /// Remembers something odd, as long as a person would still read it.
    fn warn(&mut self, message: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings
                .push(format!("hook {:?}: {message}", self.hook));
        }
    }
}

impl Call {
    /// Counts a call across the border and gives access to it.
    fn enter(&mut self) -> wasmtime::Result<&mut Border> {
        self.border.enter()?;
        Ok(&mut self.border)
    }
}

impl crate::sandbox::bindings::types::Host for Call {}
