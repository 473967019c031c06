//! Adds up what is on a tape, in an amount of memory that does not depend on its length.

use std::collections::BTreeMap;

use super::record::Entry;
use super::replay::{Dispatch, Replayed};
use crate::decision::Ruling;

/// How many names are counted one by one; the rest comes under one name.
const MOST_NAMES: usize = 10_000;

/// What a tape comes to.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Events, also those that hooks caused and those not decided.
    pub events: u64,
    /// Events by decision.
    pub decisions: BTreeMap<String, u64>,
    /// Events by name.
    pub by_event: BTreeMap<String, u64>,
    /// Events that could not be decided.
    pub undecided: u64,
    /// Records that were lost.
    pub lost: u64,
    /// What each hook did.
    pub hooks: BTreeMap<String, HookStats>,
    /// Calls across the border, by capability.
    pub host_calls: BTreeMap<String, u64>,
}

/// What a hook did.
#[derive(Debug, Clone)]
pub struct HookStats {
    /// How often it was called.
    pub called: u64,
    /// How often it blocked or asked.
    pub vetoed: u64,
    /// How often it failed.
    pub failed: u64,
    /// The fuel of all calls.
    pub fuel: u64,
    /// The fuel of the most expensive one.
    pub most_fuel: u64,
    /// How many calls took between 2^n and 2^(n+1) eighths of a power of two of
    /// microseconds: exact enough for people, whatever the number of calls.
    times: [u64; BUCKETS],
}

/// Eight buckets for each doubling of the time.
const PER_DOUBLING: u32 = 8;
const BUCKETS: usize = 64 * PER_DOUBLING as usize;

impl Default for HookStats {
    fn default() -> Self {
        Self {
            called: 0,
            vetoed: 0,
            failed: 0,
            fuel: 0,
            most_fuel: 0,
            times: [0; BUCKETS],
        }
    }
}

impl Stats {
    /// Counts what a replay came across.
    pub fn add(&mut self, replayed: &Replayed) {
        match replayed {
            Replayed::Dispatch(dispatch) => self.dispatch(dispatch),
            Replayed::Undecided(one) => {
                self.events += 1;
                self.undecided += 1;
                count(&mut self.by_event, &one.event);
            }
            Replayed::Lost(lost) => self.lost += lost.count,
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) {
        self.events += 1;
        count(&mut self.by_event, &dispatch.start().event);
        if let Some(end) = dispatch.end() {
            count(&mut self.decisions, end.decision.name());
        }
        for record in &dispatch.records {
            self.entry(&record.entry);
        }
        for child in &dispatch.children {
            self.dispatch(child);
        }
    }

    fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::HostCall(one) => count(&mut self.host_calls, &one.capability),
            Entry::HookReturned(one) => {
                let hook = known(&mut self.hooks, &one.hook);
                hook.called += 1;
                hook.vetoed += u64::from(matches!(one.decision, Ruling::Block | Ruling::Ask));
                hook.failed += u64::from(one.failure.is_some());
                let fuel = one.used.fuel.unwrap_or(0);
                hook.fuel = hook.fuel.saturating_add(fuel);
                hook.most_fuel = hook.most_fuel.max(fuel);
                hook.times[bucket(one.used.took_us)] += 1;
            }
            _ => {}
        }
    }
}

impl HookStats {
    /// Returns the time in microseconds that a part of the calls did not exceed, to
    /// about a tenth.
    #[must_use]
    pub fn took_us(&self, part: f64) -> u64 {
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a list"
        )]
        let wanted = (self.called as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (index, times) in self.times.iter().enumerate() {
            seen += times;
            if *times > 0 && seen >= wanted {
                return middle(index);
            }
        }
        0
    }
}

/// Small numbers have a bucket each.
fn bucket(time: u64) -> usize {
    let per = u64::from(PER_DOUBLING);
    if time < per {
        return usize::try_from(time).unwrap_or(0);
    }
    let doubling = time.ilog2();
    let step = (time >> (doubling - 3)) & (per - 1);
    let index = u64::from(doubling - 2) * per + step;
    usize::try_from(index).map_or(BUCKETS - 1, |index| index.min(BUCKETS - 1))
}

fn middle(index: usize) -> u64 {
    let per = PER_DOUBLING as usize;
    if index < per {
        return index as u64;
    }
    let (doubling, step) = (index / per + 2, index % per);
    let width = 1_u64 << (doubling - 3).min(60);
    (1_u64 << doubling.min(63)).saturating_add(step as u64 * width + width / 2)
}

fn known<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    let name = if map.len() >= MOST_NAMES && !map.contains_key(name) {
        "(others)"
    } else {
        name
    };
    map.entry(name.to_owned()).or_default()
}

fn count(map: &mut BTreeMap<String, u64>, name: &str) {
    *known(map, name) += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_within_a_tenth() {
        for time in [0, 1, 7, 8, 9, 100, 1_000, 123_456, 10_000_000_000] {
            let back = middle(bucket(time));
            let off = back.abs_diff(time) as f64;
            assert!(off <= time as f64 / 10.0 + 0.5, "{time} → {back}");
        }
        assert_eq!(bucket(u64::MAX), bucket(u64::MAX - 1));
    }

    #[test]
    fn a_part_of_the_calls_is_found() {
        let mut hook = HookStats::default();
        for time in 1..=100_u64 {
            hook.called += 1;
            hook.times[bucket(time)] += 1;
        }
        assert!(hook.took_us(0.5).abs_diff(50) <= 5, "{}", hook.took_us(0.5));
        assert!(hook.took_us(0.95).abs_diff(95) <= 9);
        assert_eq!(HookStats::default().took_us(0.5), 0);
    }
}
