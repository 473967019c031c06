//! Keeps secrets off the tape: wherever one stands, in a payload, a log line or an
//! answer, its digest stands instead.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::record::{Entry, Fault, Used};
use crate::capability::grant::Grants;
use crate::capability::http::Redactor;
use crate::capability::services::Services;
use crate::decision::{Effect, Said};
use crate::outcome::TraceRow;

/// A shorter value would be found in innocent texts by chance.
const SHORTEST: usize = 8;

/// Words in the names of variables that hold secrets.
const SECRETIVE: [&str; 9] = [
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "PRIVATE",
    "APIKEY",
    "_KEY",
];

/// Replaces the secrets of a runtime by their digests.
#[derive(Default, Clone)]
pub(crate) struct Scrubber {
    redactor: Redactor,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Scrubber(…)")
    }
}

/// Says whether a variable holds a secret, going by its name.
pub(crate) fn is_secretive(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETIVE.iter().any(|word| name.contains(word))
}

/// Returns what stands on the tape for a secret. The name is part of what is hashed, so
/// that equal secrets under two names cannot be told from different ones.
pub(crate) fn label(kind: &str, name: &str, value: &str) -> String {
    let mut hasher = Sha256::new();
    for part in ["hookbox tape", kind, name, value] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest: String = hasher
        .finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("[{kind}:{name}:sha256:{digest}]")
}

impl Scrubber {
    /// Learns the secrets that grants name: those sent with requests, and the granted
    /// variables whose names say what they hold.
    pub(crate) fn of<'g>(grants: impl Iterator<Item = &'g Grants>, services: &Services) -> Self {
        let mut redactor = Redactor::default();
        let mut hide = |kind: &str, name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| value.len() >= SHORTEST) {
                redactor.hide(label(kind, name, &value), value.into_bytes());
            }
        };
        for grants in grants {
            let headers = grants.http.entries.iter().flat_map(|entry| &entry.headers);
            for name in headers.flat_map(|(_, template)| template.secrets()) {
                hide("secret", name, (services.secrets)(name));
            }
            for name in grants.env.iter().filter(|name| is_secretive(name)) {
                hide("env", name, (services.environment)(name));
            }
        }
        Self { redactor }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.redactor.is_empty()
    }

    /// Learns what another one knows.
    pub(crate) fn add(&mut self, other: Self) {
        self.redactor.absorb(other.redactor);
    }

    /// Takes the secrets out of a record.
    pub(crate) fn scrub(&self, entry: &mut Entry) {
        match entry {
            Entry::Dispatch(one) => {
                self.text(&mut one.payload);
                if let Some(about) = &mut one.about {
                    self.text(about);
                }
                self.string(&mut one.id);
                self.maybe(&mut one.subject);
            }
            Entry::Predicate(one) => {
                self.fault(&mut one.failure);
                self.used(&mut one.used);
            }
            Entry::HookCall(one) => self.text(&mut one.payload),
            Entry::HostCall(one) => {
                self.text(&mut one.request);
                self.text(&mut one.answer);
            }
            Entry::HookReturned(one) => {
                self.maybe(&mut one.reason);
                if let Some(payload) = &mut one.payload {
                    self.text(payload);
                }
                self.effects(&mut one.effects);
                self.said(&mut one.said);
                self.fault(&mut one.failure);
                self.used(&mut one.used);
            }
            Entry::HookVetoed(one) => self.string(&mut one.reason),
            Entry::Outcome(one) => {
                self.maybe(&mut one.reason);
                self.text(&mut one.payload);
                self.said(&mut one.said);
                self.effects(&mut one.effects);
                self.strings(&mut one.warnings);
                one.trace.iter_mut().for_each(|row| self.row(row));
            }
            Entry::Undecided(one) => self.string(&mut one.error),
            Entry::Header(_)
            | Entry::Session(_)
            | Entry::Lost(_)
            | Entry::Body(_)
            | Entry::Redaction(_)
            | Entry::Footer(_) => {}
        }
    }

    fn string(&self, text: &mut String) {
        *text = self.redactor.text(std::mem::take(text));
    }

    fn text(&self, text: &mut Arc<str>) {
        let clean = self.redactor.text(text.to_string());
        // The same text in memory is hashed once, so it is not replaced for nothing.
        if *clean != **text {
            *text = self.as_json(text, clean).into();
        }
    }

    /// A secret that is a number, or reaches from one text into the next, leaves no JSON
    /// behind. What was JSON stays JSON.
    fn as_json(&self, text: &str, clean: String) -> String {
        let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
        let Some(mut value) = parse(text).filter(|_| parse(&clean).is_none()) else {
            return clean;
        };
        self.value(&mut value);
        let apart = crate::json::to_text(&value);
        if self.redactor.text(apart.clone()) == apart {
            return apart;
        }
        crate::json::to_text(&Value::String(clean))
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let (written, clean) = (number.to_string(), self.redactor.text(number.to_string()));
                if written != clean {
                    *value = Value::String(clean);
                }
            }
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                for (mut key, mut value) in std::mem::take(map) {
                    self.string(&mut key);
                    self.value(&mut value);
                    map.insert(key, value);
                }
            }
        }
    }

    fn maybe(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.string(text);
        }
    }

    fn said(&self, said: &mut Option<Said>) {
        if let Some(said) = said {
            self.maybe(&mut said.reason);
            self.maybe(&mut said.stdout);
            self.maybe(&mut said.stderr);
        }
    }

    fn strings(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.string(text));
    }

    fn fault(&self, fault: &mut Option<Fault>) {
        if let Some(fault) = fault {
            self.string(&mut fault.message);
            self.maybe(&mut fault.stack);
        }
    }

    fn used(&self, used: &mut Used) {
        for line in &mut used.logs {
            self.string(&mut line.message);
        }
        self.strings(&mut used.warnings);
        self.strings(&mut used.refusals);
    }

    fn effects(&self, effects: &mut [Effect]) {
        for effect in effects {
            match effect {
                Effect::Context { text, .. } => self.string(text),
                Effect::Reminder(reminder) => {
                    self.string(&mut reminder.body);
                    self.strings(&mut reminder.tags);
                    self.maybe(&mut reminder.dedupe_key);
                }
            }
        }
    }

    fn row(&self, row: &mut TraceRow) {
        self.maybe(&mut row.reason);
        self.maybe(&mut row.error);
        self.maybe(&mut row.stack);
        self.strings(&mut row.refusals);
    }
}
