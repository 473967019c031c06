//! One replayed event with all that the reports say about it.

use serde_json::Value;

use crate::decision::Ruling;
use crate::tape::{Checked, Difference, Dispatch, Verdict, view};

/// One event of a tape.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) tape: String,
    pub(super) number: u64,
    pub(super) event: String,
    pub(super) subject: Option<String>,
    pub(super) time: u64,
    pub(super) was: Told,
    pub(super) took_us: u64,
    pub(super) hooks: usize,
    pub(super) checked: Option<Today>,
    /// For programs and pages; nothing where only people read.
    pub(super) views: Vec<Value>,
}

/// A decision, who made it and why.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) decision: Option<Ruling>,
    pub(super) hook: Option<String>,
    pub(super) reason: Option<String>,
}

/// What today's hooks do with the event.
#[derive(Debug, Clone)]
pub(super) struct Today {
    pub(super) told: Told,
    pub(super) verdict: Verdict,
    pub(super) fuel: (u64, u64),
    pub(super) difference: Option<Difference>,
    pub(super) new_requests: Vec<String>,
    /// The payload before and after, where that is what changed.
    pub(super) payloads: Option<(String, String)>,
}

impl Item {
    /// Makes an item of a dispatch.
    pub(super) fn new(
        tape: &str,
        dispatch: &Dispatch,
        checked: Option<&Checked>,
        views: bool,
    ) -> Self {
        let (start, end) = (dispatch.start(), dispatch.end());
        let mut item = Self {
            tape: tape.to_owned(),
            number: dispatch.number,
            event: start.event.to_string(),
            subject: start.subject.clone(),
            time: start.time,
            was: Told {
                decision: end.map(|end| end.decision),
                hook: end.and_then(|end| end.hook.as_deref().map(str::to_owned)),
                reason: end.and_then(|end| end.reason.clone()),
            },
            took_us: end.map_or(0, |end| end.took_us),
            hooks: end.map_or(0, |end| end.stages.dispatch.len()),
            checked: checked.map(|checked| Today::new(dispatch, checked)),
            views: Vec::new(),
        };
        if views {
            item.views = view::tree(tape, dispatch);
            if let (Some(checked), Some(first)) = (checked, item.views.first_mut()) {
                view::add_checked(first, checked);
            }
        }
        item
    }

    /// Makes an item of what another replay wrote; nothing if that is no event. One that
    /// a hook caused belongs to the one before it.
    pub(super) fn read(view: Value) -> Option<Self> {
        let text = |key: &str| view.get(key)?.as_str().map(str::to_owned);
        let number = |key: &str| view.get(key).and_then(Value::as_u64);
        Some(Self {
            tape: text("tape")?,
            number: number("dispatch")?,
            event: text("event")?,
            subject: text("subject"),
            time: number("time").unwrap_or(0),
            was: Told::read(&view),
            took_us: number("took_us").unwrap_or(0),
            hooks: view["steps"].as_array().map_or(0, |steps| {
                let called = |step: &&Value| step["called"] == true;
                steps.iter().filter(called).count()
            }),
            checked: Today::read(&view),
            views: vec![view],
        })
    }

    /// Says whether a hook of another event caused it.
    pub(super) fn is_caused(&self) -> bool {
        self.views
            .first()
            .is_some_and(|view| !view["parent"].is_null())
    }

    /// Says whether today's hooks do anything else than the recorded ones.
    pub(super) fn differs(&self) -> bool {
        let today = self.checked.as_ref();
        today.is_some_and(|today| today.difference.is_some())
    }

    /// Returns what it is called in reports.
    pub(super) fn title(&self) -> String {
        match &self.subject {
            Some(subject) => format!("dispatch {} {} {subject}", self.number, self.event),
            None => format!("dispatch {} {}", self.number, self.event),
        }
    }
}

impl Told {
    fn read(view: &Value) -> Self {
        let text = |key: &str| view.get(key)?.as_str().map(str::to_owned);
        Self {
            decision: serde_json::from_value(view["decision"].clone()).ok(),
            hook: text("hook"),
            reason: text("reason"),
        }
    }
}

impl Today {
    fn new(dispatch: &Dispatch, checked: &Checked) -> Self {
        let outcome = &checked.outcome;
        let before = || dispatch.end().map(|end| view::unfolded(&end.payload));
        let payloads = (checked.verdict == Verdict::PayloadChanged)
            .then(before)
            .flatten()
            .map(|before| (pretty(&before), pretty(outcome.payload.value())));
        Self {
            told: Told {
                decision: Some(outcome.decision),
                hook: outcome.hook.as_deref().map(str::to_owned),
                reason: outcome.reason.clone(),
            },
            verdict: checked.verdict,
            fuel: checked.fuel,
            difference: checked.difference.clone(),
            new_requests: checked.new_requests.clone(),
            payloads,
        }
    }

    fn read(view: &Value) -> Option<Self> {
        let verdict = Verdict::parse(view.get("verdict")?.as_str()?)?;
        let today = view.get("today")?;
        let difference = &view["difference"];
        let text = |key: &str| difference[key].as_str().unwrap_or_default().to_owned();
        let requests = view.get("new_requests").cloned().unwrap_or_default();
        Some(Self {
            told: Told::read(today),
            verdict,
            fuel: (
                view["fuel"].as_u64().unwrap_or(0),
                today["fuel"].as_u64().unwrap_or(0),
            ),
            difference: difference.is_object().then(|| Difference {
                record: difference["record"].as_u64().unwrap_or(0),
                what: text("what"),
                expected: text("expected"),
                found: text("found"),
            }),
            new_requests: serde_json::from_value(requests).unwrap_or_default(),
            payloads: (verdict == Verdict::PayloadChanged)
                .then(|| (pretty(&view["payload"]), pretty(&today["payload"]))),
        })
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
