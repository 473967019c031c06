//! TOML as the tree that settings are read from, with the place of every value.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::yaml::{Key, Node, Style, Value};

/// Parses a file of this name.
pub(crate) fn parse(file: &str, text: &str) -> Result<Node, (String, Range<usize>)> {
    match DeTable::parse(text) {
        Ok(table) => {
            let span = table.span();
            Ok(node(table_value(table.into_inner()), span))
        }
        Err(error) => Err((
            format!("parse {file}: {}", error.message()),
            error.span().unwrap_or(0..0),
        )),
    }
}

fn node(value: Value, span: Range<usize>) -> Node {
    Node {
        value,
        span,
        style: Style::Plain,
    }
}

fn table_value(table: DeTable<'_>) -> Value {
    let entries = table.into_iter().map(|(key, value)| {
        let span = key.span();
        let name = key.into_inner().into_owned();
        (Key { name, span }, spanned(value))
    });
    Value::Map(entries.collect())
}

fn spanned(value: Spanned<DeValue<'_>>) -> Node {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Boolean(truth) => Value::Bool(truth),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::BigInt(number.as_str().to_owned()),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Float(number),
            Err(_) => Value::String(number.as_str().to_owned()),
        },
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(values) => Value::List(values.into_iter().map(spanned).collect()),
        DeValue::Table(table) => table_value(table),
    };
    node(value, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_places() {
        let text = "[limits]\nfuel = 1_000\n[grant]\nenv = [\"CI\"]\nhooks = true\n";
        let node = parse("hookbox.toml", text).unwrap();
        let fuel = node.get("limits").unwrap().get("fuel").unwrap();
        assert_eq!(fuel.as_int(), Some(1_000));
        assert_eq!(&text[fuel.span.clone()], "1_000");
        let (key, env) = node.get("grant").unwrap().entry("env").unwrap();
        assert_eq!(&text[key.span.clone()], "env");
        assert_eq!(env.as_list().unwrap()[0].as_str(), Some("CI"));
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let text = "[limits]\nfuel = \n";
        let (message, span) = parse("hookbox.toml", text).unwrap_err();
        assert!(message.starts_with("parse hookbox.toml: "), "{message}");
        assert!(span.start >= 9, "{span:?}");
    }
}
