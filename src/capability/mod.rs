//! The only way out of the sandbox. Every call of a guest arrives here, is
//! counted, and is checked against what the hook may do.

pub mod back;
pub mod cache;
mod clock;
pub mod doors;
mod environment;
pub mod events;
mod fatal;
mod files;
pub mod grant;
mod hooks;
pub mod http;
pub mod log;
pub mod metrics;
pub(crate) mod refusal;
pub mod services;
pub mod tools;
pub(crate) mod wasi;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::json::Json;
use crate::sandbox::instance::Call;
use crate::sandbox::limits::Limits;
use crate::tape::reel::Reel;
use back::{Back, Echo, Nowhere, Refusal};
use doors::Doors;
use grant::{Grants, Kind};
use log::{LogLine, Logs};
use refusal::Refusals;
use services::Services;
use wasi::Printed;
pub use wasi::TellTime;

/// How many warnings one call may leave.
const MAX_WARNINGS: usize = 20;

/// How long before the end of a call a request is given up, so that the guest can
/// still say what it makes of that.
const TIME_TO_REPLY: Duration = Duration::from_millis(250);

/// What the hooks of one run share.
#[derive(Debug, Default)]
pub struct Run {
    /// Counters and gauges.
    pub metrics: Arc<metrics::Metrics>,
    /// What the host lends.
    pub services: Services,
}

/// Who crosses the border, on which occasion, and where it may lead.
#[derive(Clone)]
pub struct Pass {
    /// The hook's name.
    pub hook: Arc<str>,
    /// What it may use up.
    pub limits: Limits,
    /// The event it was called for.
    pub event: Event,
    /// What it can go through.
    pub doors: Arc<Doors>,
    /// What it shares with other hooks.
    pub run: Arc<Run>,
    /// The way back into the runtime.
    pub back: Arc<dyn Back>,
    /// When the call that caused this one has to be over.
    pub latest: Option<Instant>,
    /// What writes down or plays back what crosses.
    pub(crate) reel: Reel,
}

impl Pass {
    /// Makes a pass that leads nowhere, for looking at code without running it.
    #[must_use]
    pub fn nowhere() -> Self {
        static NOWHERE: LazyLock<Pass> = LazyLock::new(|| Pass {
            hook: "".into(),
            limits: Limits::default(),
            event: Event::native("", "", Json::from(serde_json::Value::Null)),
            doors: Doors::closed(),
            run: Arc::default(),
            back: Arc::new(Nowhere),
            latest: None,
            reel: Reel::default(),
        });
        NOWHERE.clone()
    }
}

/// How long a replayed call may take: fuel ends it long before, on any machine.
const REPLAY_TIME: Duration = Duration::from_secs(3_600);

/// Returns when a call has to be over. In a replay the tape says whether its time was up.
fn deadline(pass: &Pass) -> Instant {
    let now = Instant::now();
    if pass.reel.plays() {
        return now + REPLAY_TIME;
    }
    let own = now + pass.limits.wall_time;
    pass.latest.map_or(own, |latest| latest.min(own))
}

/// One call's view of the host.
pub struct Border {
    pass: Pass,
    deadline: Instant,
    logs: Logs,
    warnings: Vec<String>,
    refusals: Refusals,
    calls: u64,
    requests: u32,
}

/// What a call leaves behind.
#[derive(Debug, Clone, Default)]
pub struct Left {
    /// What was logged.
    pub logs: Vec<LogLine>,
    /// What was odd.
    pub warnings: Vec<String>,
    /// What was refused.
    pub refusals: Vec<String>,
}

impl Border {
    /// Opens the border for one call, which ends at the latest when the call
    /// that caused it does.
    #[must_use]
    pub fn new(pass: Pass) -> Self {
        let deadline = deadline(&pass);
        Self {
            logs: Logs::new(
                Arc::clone(&pass.hook),
                Arc::clone(&pass.event.name),
                &pass.limits,
            ),
            deadline,
            pass,
            warnings: Vec::new(),
            refusals: Refusals::default(),
            calls: 0,
            requests: 0,
        }
    }

    /// Makes a border with nothing behind it, for looking at code without running it.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(Pass::nowhere())
    }

    /// Returns the limits of the hook.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.pass.limits
    }

    /// Returns when the call has to be over.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns when an answer from outside has to be there.
    pub(crate) fn reply_by(&self) -> Instant {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let by = self.deadline.checked_sub(TIME_TO_REPLY.min(left / 5));
        by.unwrap_or(self.deadline)
    }

    pub(crate) fn hook(&self) -> &str {
        &self.pass.hook
    }

    pub(crate) fn event(&self) -> &Event {
        &self.pass.event
    }

    pub(crate) fn grants(&self) -> &Grants {
        &self.pass.doors.grants
    }

    pub(crate) fn doors(&self) -> Arc<Doors> {
        Arc::clone(&self.pass.doors)
    }

    pub(crate) fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    pub(crate) fn tell_time(&self) -> TellTime {
        Arc::clone(&self.pass.run.services.clock)
    }

    pub(crate) fn reel(&self) -> &Reel {
        &self.pass.reel
    }

    /// Closes the border and hands over what was logged, odd and refused.
    #[must_use]
    pub fn leave(mut self) -> Left {
        let (logs, dropped) = self.logs.into_lines();
        if dropped > 0 {
            self.warnings.push(format!(
                "hook {:?}: {dropped} log lines were dropped; raise `log_lines` or `log_bytes` under `limits:` to keep more",
                self.pass.hook
            ));
        }
        Left {
            logs,
            warnings: self.warnings,
            refusals: self.refusals.take(),
        }
    }

    /// Logs what a guest printed.
    pub(crate) fn log_printed(&mut self, printed: Printed) {
        for (level, line) in printed.lines {
            self.logs.write(level, line);
        }
        self.logs.count_dropped(printed.dropped);
    }

    /// Logs the lines of a text.
    pub(crate) fn log_lines(&mut self, level: log::Level, text: &str) {
        for line in text.lines() {
            self.logs.write(level, line.to_owned());
        }
    }

    /// Counts a call across the border.
    fn enter(&mut self) -> wasmtime::Result<()> {
        self.calls += 1;
        if self.calls > self.limits().host_calls {
            return Err(Failure::new(
                Cause::HostCalls,
                format!(
                    "the call went to the host more than {} times; raise `host_calls` under `limits:` if it has to",
                    self.limits().host_calls
                ),
            )
            .into());
        }
        self.check_time()
    }

    /// Ends the call if its time is up.
    pub(crate) fn check_time(&self) -> wasmtime::Result<()> {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        Err(Failure::new(
            Cause::Deadline,
            format!(
                "the call took longer than {:?}; if it has to, raise `wall_time` under `limits:`",
                self.limits().wall_time
            ),
        )
        .into())
    }

    /// Remembers something odd, as long as a person would still read it.
    fn warn(&mut self, message: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings
                .push(format!("hook {:?}: {message}", self.pass.hook));
        }
    }

    /// Says no: the guest gets the sentence, and the trace has it too.
    fn refuse(&self, kind: Kind, what: &str) -> String {
        let why = format!(
            "{what} is not granted to hook {:?}; grant it with `{}` under `grant:`",
            self.pass.hook,
            kind.example()
        );
        self.refusals.push(format!("{}: {why}", kind.key()));
        why
    }

    /// Takes over what came of going back in.
    fn hear(&mut self, echo: Echo) -> Result<Json, Refusal> {
        self.logs.append(echo.logs);
        let room = MAX_WARNINGS.saturating_sub(self.warnings.len());
        self.warnings.extend(echo.warnings.into_iter().take(room));
        for refusal in echo.refusals {
            self.refusals.push(refusal);
        }
        echo.result
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
