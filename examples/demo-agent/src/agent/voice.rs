//! What a dialect calls the moments of the loop. The tables are data: for each moment the
//! event, and its payload with `$facts` in their places.

use std::collections::BTreeMap;

use hookbox::dialect::Dialect;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A moment of the loop, whatever the dialects call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Moment {
    SessionStart,
    Prompt,
    ModelPre,
    ModelPost,
    ToolPre,
    ToolDone,
    ToolFailed,
    PermissionAsked,
    PermissionReplied,
    DelegationPre,
    DelegationStart,
    DelegationPost,
    DelegationVerify,
    FileEdited,
    TurnRecorded,
    Stop,
    TurnEnd,
    CompactPre,
    CompactPost,
    Notification,
    Facet,
    StepPre,
    StepPost,
    Approval,
    Handoff,
    Paused,
    Resumed,
    Budget,
    Idle,
    FinishPre,
    Unsettled,
    FinishPost,
    Custom,
    Meta,
    Error,
    SessionEnd,
}

/// The events of one dialect.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Voice(BTreeMap<Moment, Line>);

/// An event as its dialect has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    event: String,
    payload: Value,
}

impl Voice {
    /// Returns the table of a dialect.
    pub(super) fn of(dialect: &Dialect) -> anyhow::Result<Self> {
        let table = match dialect.name {
            "harness" => include_str!("voices/harness.json"),
            "polytoken" => include_str!("voices/polytoken.json"),
            "harn" => include_str!("voices/harn.json"),
            "framework" => include_str!("voices/framework.json"),
            other => anyhow::bail!("there is no table of events for the dialect {other}"),
        };
        Ok(serde_json::from_str(table)?)
    }

    /// Returns what the dialect says at a moment; nothing if it has no word for it.
    pub(super) fn line(&self, moment: Moment) -> Option<Line> {
        self.0.get(&moment).cloned()
    }
}

impl Line {
    /// Returns the event's name.
    pub(super) fn event(&self, facts: &Map<String, Value>) -> String {
        match (self.event.split_once('$'), facts.get("name")) {
            (Some((prefix, "name")), Some(Value::String(name))) => format!("{prefix}{name}"),
            _ => self.event.clone(),
        }
    }

    /// Returns the payload with the facts in their places.
    pub(super) fn payload(&self, facts: &Map<String, Value>) -> Value {
        fill(&self.payload, facts)
    }

    /// Finds a fact in a payload of this form: the way back, for what hooks rewrote.
    pub(super) fn find<'p>(&self, fact: &str, payload: &'p Value) -> Option<&'p Value> {
        find(&self.payload, fact, payload)
    }
}

fn fill(form: &Value, facts: &Map<String, Value>) -> Value {
    match form {
        Value::String(text) => match text.strip_prefix('$') {
            Some(fact) => facts.get(fact).cloned().unwrap_or_default(),
            None => form.clone(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, facts)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let filled = fields.map(|(key, form)| (key.clone(), fill(form, facts)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

fn find<'p>(form: &Value, fact: &str, payload: &'p Value) -> Option<&'p Value> {
    match form {
        Value::String(text) => (text.strip_prefix('$') == Some(fact)).then_some(payload),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, form)| find(form, fact, payload.get(index)?))
        }
        Value::Object(fields) => {
            let mut fields = fields.iter();
            fields.find_map(|(key, form)| find(form, fact, payload.get(key)?))
        }
        _ => None,
    }
}
