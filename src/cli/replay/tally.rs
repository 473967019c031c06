//! Adds up what a replay comes to.

use std::collections::BTreeMap;

use super::item::Item;
use crate::decision::Ruling;
use crate::tape::Verdict;

/// What a replay comes to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) tapes: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) events: u64,
    pub(super) allowed: u64,
    pub(super) modified: u64,
    pub(super) blocked: u64,
    pub(super) asked: u64,
    pub(super) undecided: u64,
    pub(super) differing: u64,
    pub(super) verdicts: BTreeMap<Verdict, u64>,
    pub(super) fuel: (u64, u64),
    pub(super) fuel_changed: u64,
    /// What keeps a tape from being whole.
    pub(super) faults: u64,
}

impl Tally {
    pub(super) fn add(&mut self, item: &Item) {
        self.events += 1;
        match item.was.decision {
            Some(Ruling::Allow) => self.allowed += 1,
            Some(Ruling::Modify) => self.modified += 1,
            Some(Ruling::Block) => self.blocked += 1,
            Some(Ruling::Ask) => self.asked += 1,
            None => self.undecided += 1,
        }
        let Some(today) = &item.checked else { return };
        self.differing += u64::from(item.differs());
        *self.verdicts.entry(today.verdict).or_default() += 1;
        self.fuel.0 += today.fuel.0;
        self.fuel.1 += today.fuel.1;
        self.fuel_changed += u64::from(today.fuel.0 != today.fuel.1);
    }
}
