//! What can happen in a dispatch, and in which order. A tape that tells anything else
//! was not recorded by anybody.

use std::sync::Arc;

use super::error::TapeError;
use super::record::{Entry, HookReturned, HookVetoed, Phase, Predicate, Record, Start};
use super::text;
use crate::decision::{Effect, Ruling};

/// Where a dispatch stands.
#[derive(Debug)]
pub(super) struct Story {
    payload: Arc<str>,
    /// Texts that were redacted need not be equal any more.
    redacted: bool,
    modified: bool,
    chapter: Chapter,
    /// Hooks whose predicates failed.
    failed: Vec<Arc<str>>,
    effects: Vec<Effect>,
    vetoed: Option<(Arc<str>, Ruling, Option<String>)>,
}

#[derive(Debug)]
enum Chapter {
    /// Predicates are evaluated.
    Filter,
    /// A handler runs.
    Call(Arc<str>),
    /// A handler returned, and has to veto now.
    MustVeto(Arc<str>, Ruling, Option<String>),
    /// The next handler can be called.
    Between,
    /// This one has to be called.
    Due(Arc<str>),
    /// A hook has vetoed.
    Vetoed,
}

type Told = Result<(), String>;

impl Story {
    pub(super) fn begin(start: &Start, redacted: bool) -> Self {
        Self {
            payload: Arc::clone(&start.payload),
            redacted,
            modified: false,
            chapter: Chapter::Filter,
            failed: Vec::new(),
            effects: Vec::new(),
            vetoed: None,
        }
    }

    /// Says whether a hook runs that could cause another dispatch.
    pub(super) fn can_cause(&self) -> bool {
        matches!(self.chapter, Chapter::Filter | Chapter::Call(_))
    }

    /// Takes the next record of the dispatch.
    pub(super) fn tell(&mut self, record: &Record) -> Result<(), TapeError> {
        self.redacted |= record.redacted.is_some();
        self.next(&record.entry).map_err(|why| TapeError::Story {
            record: record.number,
            why,
        })
    }

    fn next(&mut self, entry: &Entry) -> Told {
        if let Chapter::MustVeto(hook, ..) = &self.chapter
            && !matches!(entry, Entry::HookVetoed(_))
        {
            return Err(format!(
                "the hook_vetoed of {hook:?} is missing before this {}",
                entry.kind()
            ));
        }
        match entry {
            Entry::Predicate(one) => self.predicate(one),
            Entry::HookCall(one) => {
                self.can_call(&one.hook, one.collected)?;
                self.same_payload(&one.payload, "the hook gets")?;
                self.chapter = Chapter::Call(Arc::clone(&one.hook));
                Ok(())
            }
            Entry::HostCall(one) => match (&self.chapter, one.phase) {
                (Chapter::Filter | Chapter::Between, Phase::When) => Ok(()),
                (Chapter::Call(hook), Phase::Handle) if *hook == one.hook => Ok(()),
                _ => Err(format!("hook {:?} is not running", one.hook)),
            },
            Entry::HookReturned(one) => self.returned(one),
            Entry::HookVetoed(one) => self.veto(one),
            Entry::Outcome(end) => {
                self.can_end()?;
                self.same_payload(&end.payload, "the outcome has")?;
                if !self.redacted && end.effects != self.effects {
                    return Err("the outcome has other effects than the hooks wanted".to_owned());
                }
                self.same_decision(end.decision, end.hook.as_ref(), end.reason.as_ref())
            }
            other => Err(format!("a {} inside a dispatch", other.kind())),
        }
    }

    /// Most predicates are evaluated before any handler is called. Those of live hooks
    /// wait for their turn, and then the hook is next.
    fn predicate(&mut self, one: &Predicate) -> Told {
        let live = match self.chapter {
            Chapter::Filter => false,
            Chapter::Between => true,
            _ => return Err("a predicate while a handler runs, or after a veto".to_owned()),
        };
        if one.failure.is_some() {
            self.failed.push(Arc::clone(&one.hook));
        } else if live && one.matched {
            self.chapter = Chapter::Due(Arc::clone(&one.hook));
        }
        Ok(())
    }

    fn can_call(&self, hook: &Arc<str>, collected: bool) -> Told {
        match &self.chapter {
            Chapter::Due(due) if due == hook => Ok(()),
            Chapter::Due(due) => Err(format!("the hook_call of {due:?} is missing")),
            Chapter::Filter | Chapter::Between if collected && self.vetoed.is_none() => {
                Err("a hook is heard beside a veto that nobody made".to_owned())
            }
            Chapter::Filter | Chapter::Between => Ok(()),
            Chapter::Vetoed if collected => Ok(()),
            Chapter::Call(hook) => Err(format!("the hook_returned of {hook:?} is missing")),
            Chapter::Vetoed | Chapter::MustVeto(..) => {
                Err("a hook is called after another one has vetoed".to_owned())
            }
        }
    }

    fn can_end(&self) -> Told {
        match &self.chapter {
            Chapter::Call(hook) => Err(format!("the hook_returned of {hook:?} is missing")),
            Chapter::Due(hook) => Err(format!("the hook_call of {hook:?} is missing")),
            _ => Ok(()),
        }
    }

    fn returned(&mut self, one: &HookReturned) -> Told {
        match &self.chapter {
            Chapter::Call(hook) if *hook == one.hook => {}
            _ => return Err(format!("the hook_call of {:?} is missing", one.hook)),
        }
        Effect::gather(&mut self.effects, one.effects.clone());
        let next = if self.vetoed.is_some() {
            Chapter::Vetoed
        } else {
            Chapter::Between
        };
        self.chapter = match (one.decision, &one.reason, &one.payload) {
            (Ruling::Allow, None, None) if one.last => {
                Chapter::MustVeto(Arc::clone(&one.hook), one.decision, None)
            }
            (Ruling::Allow, None, None) => next,
            (Ruling::Modify, None, Some(payload)) => {
                self.modified = true;
                self.payload = Arc::clone(payload);
                next
            }
            (Ruling::Block | Ruling::Ask, Some(reason), None) => {
                Chapter::MustVeto(Arc::clone(&one.hook), one.decision, Some(reason.clone()))
            }
            _ => {
                return Err("decision, reason and payload do not belong together".to_owned());
            }
        };
        Ok(())
    }

    fn veto(&mut self, one: &HookVetoed) -> Told {
        let own = match &self.chapter {
            Chapter::MustVeto(hook, decision, reason) => {
                let same = self.redacted || reason.as_deref().unwrap_or_default() == one.reason;
                *hook == one.hook && *decision == one.decision && same
            }
            // A guard whose predicate failed blocks without being called.
            Chapter::Filter | Chapter::Between => {
                one.decision == Ruling::Block && self.failed.contains(&one.hook)
            }
            Chapter::Call(_) | Chapter::Due(_) | Chapter::Vetoed => false,
        };
        if !own {
            return Err(format!(
                "hook {:?} vetoes, and has not returned that",
                one.hook
            ));
        }
        let reason = (one.decision != Ruling::Allow).then(|| one.reason.clone());
        // The first word counts.
        self.vetoed
            .get_or_insert((Arc::clone(&one.hook), one.decision, reason));
        self.chapter = Chapter::Vetoed;
        Ok(())
    }

    fn same_payload(&self, payload: &Arc<str>, who: &str) -> Told {
        if self.redacted || text::same(payload, &self.payload) {
            return Ok(());
        }
        Err(format!("{who} another payload than the hooks before left"))
    }

    fn same_decision(
        &self,
        decision: Ruling,
        hook: Option<&Arc<str>>,
        reason: Option<&String>,
    ) -> Told {
        let fits = match &self.vetoed {
            Some((by, ruling, why)) => {
                decision == *ruling && hook == Some(by) && (self.redacted || reason == why.as_ref())
            }
            None if hook.is_some() || reason.is_some() => false,
            None if self.modified => decision == Ruling::Modify,
            None => decision == Ruling::Allow,
        };
        if fits {
            return Ok(());
        }
        Err("the outcome does not follow from what the hooks decided".to_owned())
    }
}
