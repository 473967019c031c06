//! One text for every way to write the same JSON: keys sorted, numbers as JavaScript
//! writes them (RFC 8785), but for integers, which keep all of their digits.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// Writes a value in its canonical form.
#[must_use]
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Says whether two values are the same, however their numbers are written.
#[must_use]
pub fn same(one: &Value, other: &Value) -> bool {
    text(one) == text(other)
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(written) => out.push_str(&number(written)),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => object(map, out),
    }
}

fn object(map: &Map<String, Value>, out: &mut String) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    // The order of UTF-16 units, which differs from that of bytes above U+FFFF.
    entries.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push('{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        string(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn number(number: &Number) -> String {
    let written = number.to_string();
    let digits = written.strip_prefix('-').unwrap_or(&written);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return if digits == "0" {
            digits.to_owned()
        } else {
            written
        };
    }
    match written.parse::<f64>() {
        Ok(float) if float.is_finite() => javascript(float),
        // More than a double holds: as it was written is all there is.
        _ => written.to_ascii_lowercase(),
    }
}

/// Writes a double the way JavaScript does: the fewest digits that read back as it.
fn javascript(float: f64) -> String {
    if float == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{float:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if float < 0.0 { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // Where the point stands, counted from the first digit.
    let point = exponent + 1;
    let body = if count <= point && point <= 21 {
        digits + &"0".repeat(usize::try_from(point - count).unwrap_or(0))
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{rest}")
    } else if -6 < point && point <= 0 {
        let zeros = "0".repeat(usize::try_from(-point).unwrap_or(0));
        format!("0.{zeros}{digits}")
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let plus = if exponent < 0 { "" } else { "+" };
        format!("{first}{dot}{rest}e{plus}{exponent}")
    };
    format!("{sign}{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_does_and_integers_whole() {
        for (written, expected) in [
            ("1.0", "1"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("1e2", "100"),
            ("0.1", "0.1"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("1.5e300", "1.5e+300"),
            ("1e21", "1e+21"),
            ("123456789012345680000.0", "123456789012345680000"),
            ("333333333.33333329", "333333333.3333333"),
            ("9007199254740993", "9007199254740993"),
            (
                "-123456789012345678901234567890",
                "-123456789012345678901234567890",
            ),
            ("1E400", "1e+400"),
        ] {
            let value: Value = serde_json::from_str(written).unwrap();
            assert_eq!(text(&value), expected, "{written}");
        }
    }

    #[test]
    fn keys_are_sorted_by_their_utf_16_units_and_texts_escaped_as_little_as_possible() {
        let value: Value = serde_json::from_str(
            "{\"\u{10000}\": 1, \"\u{fb33}\": 2, \"a\": \"é\\u0000\\u001f\\/\\\"\"}",
        )
        .unwrap();
        assert_eq!(
            text(&value),
            "{\"a\":\"é\\u0000\\u001f/\\\"\",\"\u{10000}\":1,\"\u{fb33}\":2}"
        );
    }
}
