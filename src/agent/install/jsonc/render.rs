//! Writes a value in the manner of the text around it.

use serde_json::Value;

/// How a text is written.
pub(super) struct Style<'t> {
    pub(super) line_end: &'static str,
    /// One level of indentation.
    pub(super) indent: &'t str,
    /// What is between a key and its value.
    pub(super) colon: &'t str,
}

impl Style<'_> {
    /// What follows a comma inside of a line: where colons have no space, commas have none.
    pub(super) fn gap(&self) -> &'static str {
        if self.colon == ":" { "" } else { " " }
    }

    /// Writes an element or a member: on one line, or with the indentation of its line.
    pub(super) fn item(&self, key: Option<&str>, value: &Value, indent: Option<&str>) -> String {
        let mut out = String::new();
        self.write(&mut out, key, value, indent);
        out
    }

    fn write(&self, out: &mut String, key: Option<&str>, value: &Value, indent: Option<&str>) {
        if let Some(key) = key {
            out.push_str(&Value::from(key).to_string());
            out.push_str(self.colon);
        }
        match value {
            Value::Array(items) if !items.is_empty() => {
                let items = items.iter().map(|item| (None, item));
                self.container(out, ['[', ']'], items, indent);
            }
            Value::Object(items) if !items.is_empty() => {
                let items = items.iter().map(|(key, item)| (Some(key.as_str()), item));
                self.container(out, ['{', '}'], items, indent);
            }
            _ => out.push_str(&value.to_string()),
        }
    }

    fn container<'v>(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        items: impl Iterator<Item = (Option<&'v str>, &'v Value)>,
        indent: Option<&str>,
    ) {
        let inner = indent.map(|indent| format!("{indent}{}", self.indent));
        out.push(open);
        for (index, (key, value)) in items.enumerate() {
            if index > 0 {
                out.push(',');
            }
            match &inner {
                Some(inner) => self.new_line(out, inner),
                None if index > 0 => out.push_str(self.gap()),
                None => {}
            }
            self.write(out, key, value, inner.as_deref());
        }
        if let Some(indent) = indent {
            self.new_line(out, indent);
        }
        out.push(close);
    }

    fn new_line(&self, out: &mut String, indent: &str) {
        out.push_str(self.line_end);
        out.push_str(indent);
    }
}
