//! Reports as JUnit XML, which every CI reads.

use std::fmt::Write as _;
use std::time::Duration;

/// One case in the report.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The file or hook it belongs to.
    pub class: String,
    /// Its name.
    pub name: String,
    /// How long it took.
    pub duration: Duration,
    /// What is wrong: one line, and everything there is to say.
    pub failure: Option<(String, String)>,
}

/// Writes a report.
#[must_use]
pub fn xml(suite: &str, entries: &[Entry]) -> String {
    suites(&[(suite.to_owned(), entries.to_vec())])
}

/// Writes a report with several suites.
#[must_use]
pub fn suites(suites: &[(String, Vec<Entry>)]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = counts(suites.iter().flat_map(|(_, entries)| entries));
    let _ = writeln!(out, "<testsuites name=\"hookbox\" {all}>");
    for (name, entries) in suites {
        let (name, own) = (escaped(name), counts(entries.iter()));
        let _ = writeln!(out, "  <testsuite name=\"{name}\" {own}>");
        entries.iter().for_each(|entry| write_case(&mut out, entry));
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

fn counts<'e>(entries: impl Iterator<Item = &'e Entry> + Clone) -> String {
    let failures = entries
        .clone()
        .filter(|entry| entry.failure.is_some())
        .count();
    let time: Duration = entries.clone().map(|entry| entry.duration).sum();
    let (tests, seconds) = (entries.count(), time.as_secs_f64());
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.6}\"")
}

fn write_case(out: &mut String, entry: &Entry) {
    let (class, name) = (escaped(&entry.class), escaped(&entry.name));
    let seconds = entry.duration.as_secs_f64();
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.6}\"");
    match &entry.failure {
        None => {
            let _ = writeln!(out, "{head}/>");
        }
        Some((message, text)) => {
            let (message, text) = (escaped(message), escaped(text));
            let _ = writeln!(
                out,
                "{head}>\n      <failure message=\"{message}\">{text}</failure>\n    </testcase>"
            );
        }
    }
}

/// Escapes a text, and replaces what XML cannot say at all.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(c),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_hook_says_stays_text() {
        let entry = Entry {
            class: "a<b>".to_owned(),
            name: "\"quoted\"".to_owned(),
            duration: Duration::from_millis(2),
            failure: Some(("one\u{1b}[31m".to_owned(), "</failure>&\n".to_owned())),
        };
        let xml = xml("suite", &[entry]);
        assert!(
            xml.contains("classname=\"a&lt;b&gt;\" name=\"&quot;quoted&quot;\""),
            "{xml}"
        );
        assert!(
            xml.contains("message=\"one\u{fffd}[31m\">&lt;/failure&gt;&amp;&#10;</failure>"),
            "{xml}"
        );
        assert!(xml.contains("tests=\"1\" failures=\"1\""), "{xml}");
    }
}
