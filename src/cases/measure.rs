//! Measures a case: the same event again and again, each time in a fresh instance.

use std::time::{Duration, Instant};

use super::read::Case;
use super::run::{Used, event_time, fill_caches, used_by};
use crate::runtime::{DispatchError, LoadError, RuntimeBuilder};

/// What was measured.
#[derive(Debug, Clone)]
pub struct Measured {
    /// How long each dispatch took, the shortest first.
    pub times: Vec<Duration>,
    /// What the hooks used.
    pub used: Used,
}

impl Measured {
    /// Returns the time that so many of a hundred dispatches do not exceed.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Duration {
        let last = self.times.len().saturating_sub(1);
        let index = last * percent / 100;
        self.times.get(index).copied().unwrap_or_default()
    }
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The project does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The event cannot be decided.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
}

/// Dispatches the event of a case for about as long as given, at least ten times, after
/// it was dispatched a few times to warm up.
///
/// # Errors
/// Returns why it cannot be dispatched.
pub fn measure(
    case: &Case,
    builder: RuntimeBuilder,
    time: Duration,
) -> Result<Measured, MeasureError> {
    const WARM_UP: u32 = 5;
    const AT_LEAST: usize = 10;
    const AT_MOST: usize = 100_000;
    let (builder, _) = case.world.around(builder, event_time(case));
    let runtime = builder.load()?;
    fill_caches(case, &runtime, &mut Vec::new());
    let mut used = Used::default();
    for _ in 0..WARM_UP {
        let outcome = runtime.dispatch(&case.event, case.payload.clone())?;
        used = used.max(used_by(&outcome));
    }
    let started = Instant::now();
    let mut times = Vec::new();
    while times.len() < AT_MOST && (times.len() < AT_LEAST || started.elapsed() < time) {
        let payload = case.payload.clone();
        let begun = Instant::now();
        runtime.dispatch(&case.event, payload)?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(Measured { times, used })
}
