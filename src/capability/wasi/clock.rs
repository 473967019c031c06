//! The clocks of `wasi:clocks`. Without a grant time stands still but for what
//! the guest itself waits for, so that it sees the same times on every run.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use wasmtime::component::Resource;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock};
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use crate::sandbox::instance::Call;
use crate::tape::reel::Reel;

/// Tells the time. A host gives another one to test hooks that were granted it.
pub type TellTime = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// How far a reading moves a virtual clock, in nanoseconds: a guest that waits
/// by looking at the clock gets somewhere.
const TICK: u64 = 1_000;

/// The clock of one call.
pub(crate) struct Clock {
    kind: Kind,
    /// When the guest wants to be woken, in nanoseconds since the call began.
    alarm: Mutex<Option<u64>>,
    /// Requests on their way: while there are any, a virtual clock does not jump.
    outside: AtomicUsize,
}

enum Kind {
    Virtual {
        start: Duration,
        elapsed: AtomicU64,
    },
    Real {
        began: Instant,
        now: TellTime,
        reel: Reel,
    },
    /// Readings come from a tape, and nobody waits.
    Played {
        elapsed: AtomicU64,
        reel: Reel,
    },
}

/// What the guest waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Something outside that will say when it is ready.
    Outside,
    /// Nothing: it can go on at once.
    Nothing,
    /// A moment.
    Until(Instant),
}

impl Clock {
    /// Makes a clock that starts at the event's own time.
    pub(crate) fn at(start: SystemTime) -> Self {
        let start = start.duration_since(SystemTime::UNIX_EPOCH);
        Self::of(Kind::Virtual {
            start: start.unwrap_or_default(),
            elapsed: AtomicU64::new(0),
        })
    }

    /// Makes a clock that tells the time, or that tells it again.
    pub(crate) fn real(now: TellTime, reel: Reel) -> Self {
        Self::of(if reel.plays() {
            Kind::Played {
                elapsed: AtomicU64::new(0),
                reel,
            }
        } else {
            Kind::Real {
                began: Instant::now(),
                now,
                reel,
            }
        })
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            alarm: Mutex::new(None),
            outside: AtomicUsize::new(0),
        }
    }

    /// Returns the time since 1970.
    pub(crate) fn wall(&self) -> Duration {
        match &self.kind {
            Kind::Virtual { start, .. } => *start + Duration::from_nanos(self.tick()),
            Kind::Real { now, reel, .. } => read(reel, "clock.now", || {
                let since = now().duration_since(SystemTime::UNIX_EPOCH);
                nanoseconds(since.unwrap_or_default())
            }),
            Kind::Played { reel, .. } => read(reel, "clock.now", || 0),
        }
    }

    /// Returns the nanoseconds since the call began, and moves a virtual clock on.
    fn tick(&self) -> u64 {
        match &self.kind {
            // A guest may have slept until the end of time, and time does not begin anew.
            Kind::Virtual { elapsed, .. } => elapsed
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                    Some(now.saturating_add(TICK))
                })
                .map_or(u64::MAX, |before| before.saturating_add(TICK)),
            Kind::Real { reel, .. } => nanoseconds(read(reel, "clock.elapsed", || self.elapsed())),
            Kind::Played { elapsed, reel } => {
                let told = nanoseconds(read(reel, "clock.elapsed", || 0));
                elapsed.fetch_max(told, Ordering::Relaxed);
                told
            }
        }
    }

    fn elapsed(&self) -> u64 {
        match &self.kind {
            Kind::Virtual { elapsed, .. } | Kind::Played { elapsed, .. } => {
                elapsed.load(Ordering::Relaxed)
            }
            Kind::Real { began, .. } => nanoseconds(began.elapsed()),
        }
    }

    fn set_alarm(&self, due: u64) {
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        *alarm = Some(alarm.map_or(due, |other| other.min(due)));
    }

    /// Says what a guest that stopped waits for. A virtual clock jumps to the alarm,
    /// unless something outside may still come before it.
    pub(crate) fn waiting(&self) -> Waiting {
        let alarm = self
            .alarm
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(due) = alarm else {
            return Waiting::Outside;
        };
        match &self.kind {
            Kind::Real { began, .. } => began
                .checked_add(Duration::from_nanos(due))
                .map_or(Waiting::Outside, Waiting::Until),
            Kind::Virtual { .. } | Kind::Played { .. }
                if self.outside.load(Ordering::Acquire) > 0 =>
            {
                Waiting::Outside
            }
            Kind::Virtual { elapsed, .. } | Kind::Played { elapsed, .. } => {
                elapsed.fetch_max(due, Ordering::Relaxed);
                Waiting::Nothing
            }
        }
    }

    /// Counts something that happens outside until the guard is dropped.
    pub(crate) fn outside(self: &Arc<Self>) -> Outside {
        self.outside.fetch_add(1, Ordering::AcqRel);
        Outside(Arc::clone(self))
    }
}

/// Reads a clock in nanoseconds. Where the tape has no reading, the call fails when it
/// ends.
fn read(reel: &Reel, capability: &'static str, live: impl FnOnce() -> u64) -> Duration {
    let told = reel.cross(capability, || json!({}), live);
    Duration::from_nanos(told.unwrap_or_default())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Something happens outside of the sandbox.
pub(crate) struct Outside(Arc<Clock>);

impl Drop for Outside {
    fn drop(&mut self) {
        self.0.outside.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The clock as `wasi:clocks/wall-clock` wants it.
pub(super) struct Wall(pub(super) Arc<Clock>);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(TICK)
    }

    fn now(&self) -> Duration {
        self.0.wall()
    }
}

/// The clock where `wasi:filesystem` and others ask for it.
pub(super) struct Monotonic(pub(super) Arc<Clock>);

impl HostMonotonicClock for Monotonic {
    fn resolution(&self) -> u64 {
        TICK
    }

    fn now(&self) -> u64 {
        self.0.tick()
    }
}

/// Becomes ready when the clock reaches its time.
struct Timer {
    clock: Arc<Clock>,
    due: u64,
}

#[async_trait]
impl Pollable for Timer {
    async fn ready(&mut self) {
        poll_fn(|_| {
            if self.clock.elapsed() >= self.due {
                return Poll::Ready(());
            }
            self.clock.set_alarm(self.due);
            Poll::Pending
        })
        .await;
    }
}

/// In the place of wasmtime's own, whose timers follow the machine's clock.
impl monotonic_clock::Host for Call {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.clock().tick())
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(TICK)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let clock = Arc::clone(self.clock());
        let table = self.table();
        let timer = table.push(Timer { clock, due: when })?;
        subscribe(table, timer)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let due = self.clock().elapsed().saturating_add(duration);
        self.subscribe_instant(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_clock_moves_only_by_readings_and_waiting() {
        let clock = Arc::new(Clock::at(SystemTime::UNIX_EPOCH + Duration::from_secs(5)));
        assert_eq!(clock.wall(), Duration::new(5, 1_000));
        assert_eq!(clock.tick(), 2_000);
        clock.set_alarm(9_000_000);
        clock.set_alarm(3_000_000);
        assert_eq!(clock.waiting(), Waiting::Nothing);
        assert_eq!(clock.elapsed(), 3_000_000);
        assert_eq!(clock.waiting(), Waiting::Outside);
    }

    #[test]
    fn a_guest_that_sleeps_until_the_end_of_time_is_not_sent_back() {
        let clock = Clock::at(SystemTime::UNIX_EPOCH);
        clock.set_alarm(u64::MAX);
        assert_eq!(clock.waiting(), Waiting::Nothing);
        assert_eq!((clock.tick(), clock.tick()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn a_virtual_clock_waits_for_what_is_outside() {
        let clock = Arc::new(Clock::at(SystemTime::UNIX_EPOCH));
        let outside = clock.outside();
        clock.set_alarm(1_000_000);
        assert_eq!(clock.waiting(), Waiting::Outside);
        drop(outside);
        clock.set_alarm(1_000_000);
        assert_eq!(clock.waiting(), Waiting::Nothing);
    }

    #[test]
    fn a_real_clock_says_when_to_look_again() {
        let clock = Clock::real(Arc::new(SystemTime::now), Reel::default());
        clock.set_alarm(1_000_000_000);
        assert!(matches!(clock.waiting(), Waiting::Until(_)));
    }
}
