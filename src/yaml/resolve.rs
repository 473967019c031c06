//! Decides what a scalar is: the core schema of YAML 1.2.

use saphyr_parser::Tag;

use super::{Style, Value};

/// Decides by tag, style and text; the error is the message.
pub(super) fn scalar(text: String, style: Style, tag: Option<&Tag>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return Ok(match style {
            Style::Plain => plain(text),
            _ => Value::String(text),
        });
    };
    match core_name(tag)? {
        "str" => Ok(Value::String(text)),
        name @ ("null" | "bool" | "int" | "float") => tagged(text, name),
        name => Err(format!("the tag `!!{name}` does not fit a scalar")),
    }
}

/// Checks the tag of a collection; the error is the message.
pub(super) fn collection(tag: Option<&Tag>, expected: &str) -> Result<(), String> {
    let Some(tag) = tag else { return Ok(()) };
    match core_name(tag)? {
        name if name == expected => Ok(()),
        // The tag `!` says only that nothing is to be guessed.
        "str" if is_non_specific(tag) => Ok(()),
        name => Err(format!(
            "the tag `!!{name}` does not fit {}",
            long(expected)
        )),
    }
}

fn long(name: &str) -> &'static str {
    if name == "seq" { "a list" } else { "a map" }
}

fn is_non_specific(tag: &Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!" || tag.handle == "!" && tag.suffix.is_empty()
}

/// Returns the name of a core schema tag; a lone `!` makes a scalar a string.
fn core_name(tag: &Tag) -> Result<&str, String> {
    if is_non_specific(tag) {
        return Ok("str");
    }
    let name = if tag.is_yaml_core_schema() {
        Some(tag.suffix.as_str())
    } else if tag.handle.is_empty() {
        tag.suffix.strip_prefix("tag:yaml.org,2002:")
    } else {
        None
    };
    match name {
        Some(name @ ("str" | "null" | "bool" | "int" | "float" | "seq" | "map")) => Ok(name),
        Some(name) => Err(format!("the tag `!!{name}` is not supported")),
        None => Err(format!(
            "the tag `{}{}` is not supported",
            tag.handle, tag.suffix
        )),
    }
}

fn tagged(text: String, name: &str) -> Result<Value, String> {
    let value = plain(text.clone());
    match (name, value) {
        ("float", Value::Int(_) | Value::BigInt(_)) => match text.parse() {
            Ok(number) => Ok(Value::Float(number)),
            Err(_) => Err(format!("`{text}` does not fit the tag `!!float`")),
        },
        ("null", value @ Value::Null)
        | ("bool", value @ Value::Bool(_))
        | ("int", value @ (Value::Int(_) | Value::BigInt(_)))
        | ("float", value @ Value::Float(_)) => Ok(value),
        _ => Err(format!("`{text}` does not fit the tag `!!{name}`")),
    }
}

fn plain(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(&text).unwrap_or(Value::String(text)),
    }
}

fn number(text: &str) -> Option<Value> {
    let first = text.bytes().next()?;
    if !first.is_ascii_digit() && !b"+-.".contains(&first) {
        return None;
    }
    integer(text).or_else(|| float(text))
}

fn integer(text: &str) -> Option<Value> {
    let (digits, radix) = if let Some(digits) = text.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = text.strip_prefix("0o") {
        (digits, 8)
    } else {
        (text.strip_prefix(['+', '-']).unwrap_or(text), 10)
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let signed = if radix == 10 { text } else { digits };
    let number = i64::from_str_radix(signed, radix);
    Some(number.map_or_else(|_| Value::BigInt(text.to_owned()), Value::Int))
}

fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    match unsigned {
        ".inf" | ".Inf" | ".INF" if negative => return Some(Value::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Value::Float(f64::INFINITY)),
        _ => {}
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Value::Float(f64::NAN));
    }
    // The standard library reads the same numbers, and `inf`, `nan` and the like.
    let known = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let starts = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !known || !starts {
        return None;
    }
    text.parse().ok().map(Value::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> Value {
        plain(text.to_owned())
    }

    #[test]
    fn resolves_the_core_schema() {
        assert_eq!(resolved("~"), Value::Null);
        assert_eq!(resolved("True"), Value::Bool(true));
        assert_eq!(resolved("FALSE"), Value::Bool(false));
        assert_eq!(resolved("-12"), Value::Int(-12));
        assert_eq!(resolved("+012"), Value::Int(12));
        assert_eq!(resolved("0x1F"), Value::Int(31));
        assert_eq!(resolved("0o17"), Value::Int(15));
        assert_eq!(resolved("9223372036854775807"), Value::Int(i64::MAX));
        assert_eq!(resolved("-9223372036854775808"), Value::Int(i64::MIN));
        let big = "9223372036854775808";
        assert_eq!(resolved(big), Value::BigInt(big.to_owned()));
        assert_eq!(resolved("1.5"), Value::Float(1.5));
        assert_eq!(resolved("-.5e1"), Value::Float(-5.0));
        assert_eq!(resolved("1e3"), Value::Float(1000.0));
        assert_eq!(resolved("1."), Value::Float(1.0));
        assert_eq!(resolved("-.inf"), Value::Float(f64::NEG_INFINITY));
        assert!(matches!(resolved(".NaN"), Value::Float(number) if number.is_nan()));
    }

    #[test]
    fn leaves_the_rest_as_text() {
        for text in [
            "yes", "no", "on", "tRUE", "nULL", "inf", "nan", "infinity", "-inf", "+.nan", ".", "-",
            "+", "1_000", "0b1", "0x", "0xg", "-0x1", "1e", "e1", "1.2.3", "1-2", "tool.pre",
            "12:30", "٣",
        ] {
            assert_eq!(resolved(text), Value::String(text.to_owned()), "{text}");
        }
    }
}
