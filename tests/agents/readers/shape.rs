//! A small description of JSON objects: just enough to say which keys an answer may have and of which type.

use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Text,
    TextOrNull,
    Flag,
    Object,
    ObjectOrNull,
    List,
    Texts,
    Any,
    OneOf(&'static [&'static str]),
    OneOfOrNull(&'static [&'static str]),
}

#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
}

pub const fn may(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: false,
    }
}

pub const fn must(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: true,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unknown {
    Refused,
    Dropped,
}

/// Checks one object; hands back the paths of the keys that nothing reads.
pub fn check(
    map: &Map<String, Value>,
    at: &str,
    fields: &[&[Field]],
    unknown: Unknown,
) -> Result<Vec<String>, String> {
    let find = |name: &str| {
        fields
            .iter()
            .copied()
            .flatten()
            .find(|field| field.name == name)
    };
    let mut dropped = vec![];
    for (name, value) in map {
        match find(name) {
            Some(field) if fits(value, field.kind) => {}
            Some(field) => return Err(format!("{at}{name}: is not {:?}", field.kind)),
            None if unknown == Unknown::Refused => return Err(format!("{at}{name}: unknown key")),
            None => dropped.push(format!("{at}{name}")),
        }
    }
    for field in fields.iter().copied().flatten() {
        if field.required && !map.contains_key(field.name) {
            return Err(format!("{at}{}: missing", field.name));
        }
    }
    Ok(dropped)
}

fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Text => value.is_string(),
        Kind::TextOrNull => value.is_string() || value.is_null(),
        Kind::Flag => value.is_boolean(),
        Kind::Object => value.is_object(),
        Kind::ObjectOrNull => value.is_object() || value.is_null(),
        Kind::List => value.is_array(),
        Kind::Texts => value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_string)),
        Kind::Any => true,
        Kind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Kind::OneOfOrNull(words) => {
            value.is_null() || value.as_str().is_some_and(|word| words.contains(&word))
        }
    }
}
