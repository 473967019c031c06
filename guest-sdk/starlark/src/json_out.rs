//! Starlark values into JSON text.

use std::fmt::Write as _;

use starlark::values::dict::DictRef;
use starlark::values::float::StarlarkFloat;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Value, ValueLike as _};

use crate::json_in::MAX_DEPTH;

/// Writes `value` as JSON. `root` is what an error calls the value, for
/// example `payload`.
pub fn encode(value: Value<'_>, root: &str) -> Result<String, String> {
    let mut text = String::new();
    match write(value, &mut text, 0) {
        Ok(()) => Ok(text),
        Err(Fault::TooDeep) => Err(format!(
            "{root} is nested deeper than {MAX_DEPTH} levels, or contains itself"
        )),
        Err(Fault::At { mut path, what }) => {
            path.reverse();
            Err(format!("{root}{} {what}", path.concat()))
        }
    }
}

enum Fault {
    TooDeep,
    At {
        /// Innermost step first: it is put together on the way out.
        path: Vec<String>,
        what: String,
    },
}

impl Fault {
    fn new(what: String) -> Self {
        Fault::At {
            path: Vec::new(),
            what,
        }
    }

    fn under(mut self, step: impl FnOnce() -> String) -> Self {
        if let Fault::At { path, .. } = &mut self {
            path.push(step());
        }
        self
    }
}

fn write(value: Value<'_>, text: &mut String, depth: usize) -> Result<(), Fault> {
    if value.is_none() {
        text.push_str("null");
    } else if let Some(flag) = value.unpack_bool() {
        text.push_str(if flag { "true" } else { "false" });
    } else if let Some(string) = value.unpack_str() {
        quote(string, text);
    } else if let Some(number) = value.downcast_ref::<StarlarkFloat>() {
        write_real(number.0, text)?;
    } else if value.get_type() == "int" {
        text.push_str(&value.to_str());
    } else if depth >= MAX_DEPTH {
        return Err(Fault::TooDeep);
    } else if let Some(dict) = DictRef::from_value(value) {
        text.push('{');
        for (index, (key, item)) in dict.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            let Some(name) = key.unpack_str() else {
                return Err(Fault::new(format!(
                    "has the key {}, but keys of JSON objects are strings",
                    key.to_repr()
                )));
            };
            quote(name, text);
            text.push(':');
            write(item, text, depth + 1).map_err(|fault| fault.under(|| key_step(name)))?;
        }
        text.push('}');
    } else if let Some(list) = ListRef::from_value(value) {
        write_items(list.content(), text, depth)?;
    } else if let Some(tuple) = TupleRef::from_value(value) {
        write_items(tuple.content(), text, depth)?;
    } else {
        return Err(Fault::new(format!(
            "is {}, which JSON cannot hold",
            with_article(value.get_type())
        )));
    }
    Ok(())
}

fn write_items(items: &[Value<'_>], text: &mut String, depth: usize) -> Result<(), Fault> {
    text.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(*item, text, depth + 1).map_err(|fault| fault.under(|| format!("[{index}]")))?;
    }
    text.push(']');
    Ok(())
}

fn write_real(number: f64, text: &mut String) -> Result<(), Fault> {
    if !number.is_finite() {
        let number = number.to_string().to_lowercase();
        return Err(Fault::new(format!("is {number}, which JSON cannot hold")));
    }
    // The debug form is the shortest that reads back the same, and keeps the
    // `.0` that tells a float from an integer.
    let _ = write!(text, "{number:?}");
    Ok(())
}

fn key_step(key: &str) -> String {
    let plain = !key.is_empty()
        && key.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !key.starts_with(|c: char| c.is_numeric());
    if plain {
        return format!(".{key}");
    }
    let mut step = String::from("[");
    quote(key, &mut step);
    step.push(']');
    step
}

/// Puts `a` or `an` before the name of a type.
pub fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

/// Appends a string in JSON's quotes.
pub fn quote(string: &str, text: &mut String) {
    text.push('"');
    let mut run = 0;
    for (index, byte) in string.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f | 0x7f => "",
            _ => continue,
        };
        text.push_str(&string[run..index]);
        if escape.is_empty() {
            let _ = write!(text, "\\u{byte:04x}");
        } else {
            text.push_str(escape);
        }
        run = index + 1;
    }
    text.push_str(&string[run..]);
    text.push('"');
}
