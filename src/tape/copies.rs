//! Takes out what says the same as something that was taken out.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

use super::redact::{GONE, as_json};

/// A text of so many bytes goes wherever it stands. Shorter ones only go where they are all
/// there is: every second text has an "a" in it.
const LONG: usize = 8;

/// A number of so many characters is taken for one that nothing else has by chance.
const TELLING: usize = 4;

/// The texts and numbers that were taken out of a field.
#[derive(Debug, Default)]
pub(super) struct Copies(BTreeSet<String>);

impl Copies {
    /// Notes what is taken out.
    pub(super) fn note(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                if let Some(inner) = as_json(text) {
                    self.note(&inner);
                }
                if !text.is_empty() {
                    self.0.insert(text.clone());
                }
            }
            Value::Number(number) => self.0.extend(telling(number)),
            Value::Array(items) => items.iter().for_each(|item| self.note(item)),
            Value::Object(map) => map.values().for_each(|value| self.note(value)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Takes them out of the whole field, also inside of JSON that is written as a text.
    pub(super) fn take_out(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let (new, changed) = self.without(text);
                if changed {
                    *text = new;
                }
                changed
            }
            Value::Number(number) => {
                let gone = telling(number).is_some_and(|number| self.0.contains(&number));
                if gone {
                    *value = Value::String(GONE.to_owned());
                }
                gone
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.take_out(item) | changed),
            Value::Object(map) => map
                .values_mut()
                .fold(false, |changed, value| self.take_out(value) | changed),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn without(&self, text: &str) -> (String, bool) {
        if self.0.contains(text) {
            return (GONE.to_owned(), true);
        }
        if let Some(mut inner) = as_json(text) {
            return if self.take_out(&mut inner) {
                (inner.to_string(), true)
            } else {
                (text.to_owned(), false)
            };
        }
        let mut new = text.to_owned();
        // The longest first: a shorter one may be a part of it.
        let mut long: Vec<&String> = self.0.iter().filter(|one| one.len() >= LONG).collect();
        long.sort_by_key(|one| std::cmp::Reverse(one.len()));
        for one in long {
            if new.contains(one.as_str()) {
                new = new.replace(one.as_str(), GONE);
            }
        }
        let changed = new != text;
        (new, changed)
    }
}

fn telling(number: &Number) -> Option<String> {
    Some(number.to_string()).filter(|number| number.len() >= TELLING)
}
