//! Reads a case from its file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::expect::{Expectation, Failing, Line, Text};
use super::world::{Canned, CannedAnswer, World};
use crate::capability::http::{HttpError, Response};
use crate::decision::Ruling;
use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::timestamp;
use crate::yaml::{self, Node};

/// A test case.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it is called: its file's name.
    pub name: String,
    /// The event.
    pub event: String,
    /// What the event carries.
    pub payload: Value,
    /// What is there before the event.
    pub world: World,
    /// What is expected; nothing in a case that was only begun.
    pub expect: Option<Expectation>,
    /// Where the expectation is written, key and all.
    pub(super) expect_span: Option<Range<usize>>,
    /// The kinds of hook it does not hold for. Only whoever runs cases against several
    /// hooks looks at it.
    pub skip: Vec<String>,
    /// The file.
    pub source: Arc<Source>,
}

const KEYS: [&str; 9] = [
    "event", "payload", "cache", "http", "tools", "env", "clock", "expect", "skip",
];

const EXPECTED: [&str; 9] = [
    "decision", "reason", "hook", "payload", "effects", "logs", "metrics", "cache", "error",
];

const CANNED: [&str; 7] = [
    "request", "status", "headers", "body", "json", "error", "message",
];

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// Returns everything that is wrong with the file.
    pub fn read(name: &str, source: &Arc<Source>) -> Result<Self, Vec<Diagnostic>> {
        let mut reader = Reader {
            source,
            problems: Vec::new(),
        };
        match reader.case(name) {
            Some(case) if reader.problems.is_empty() => Ok(case),
            _ => Err(reader.problems),
        }
    }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn case(&mut self, name: &str) -> Option<Case> {
        let node = match yaml::parse(&self.source.text, 0..self.source.text.len()) {
            Ok(node) => node,
            Err(error) => {
                let span = error.span.clone();
                self.wrong(format!("parse case: {error}"), &span, None);
                return None;
            }
        };
        self.keys(&node, "keys of a case", &KEYS)?;
        let event = match node.entry("event") {
            Some((_, event)) => self.string(event, "event")?,
            None => {
                let help = "add for example `event: tool.pre`";
                self.wrong("the case has no event", &(0..0), Some(help));
                return None;
            }
        };
        let expect = node.entry("expect");
        let skip = node.get("skip").map(|skip| self.strings(skip, "skip"));
        Some(Case {
            name: name.to_owned(),
            event,
            payload: node.get("payload").map_or(Value::Null, json),
            world: self.world(&node),
            expect: expect.and_then(|(_, node)| self.expectation(node)),
            expect_span: expect.map(|(key, node)| key.span.start..node.span.end),
            skip: skip.unwrap_or_default(),
            source: Arc::clone(self.source),
        })
    }

    fn world(&mut self, node: &Node) -> World {
        let mut world = World::default();
        if let Some(cache) = node.get("cache") {
            world.cache = self.map(cache, "cache");
        }
        if let Some(tools) = node.get("tools") {
            world.tools = self.map(tools, "tools");
        }
        if let Some(env) = node.get("env") {
            world.env = self.variables(env);
        }
        if let Some(answers) = node.get("http") {
            world.http = self.answers(answers);
        }
        if let Some(clock) = node.get("clock") {
            world.clock = clock.as_str().and_then(timestamp::parse);
            if world.clock.is_none() {
                let help = "write for example `clock: \"2026-05-04T10:00:00Z\"`";
                self.wrong("this is not a time", &clock.span, Some(help));
            }
        }
        world
    }

    fn variables(&mut self, node: &Node) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        for (key, value) in self.map(node, "env") {
            let text = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            variables.insert(key, text);
        }
        variables
    }

    fn answers(&mut self, node: &Node) -> Vec<Canned> {
        let Some(entries) = node.as_list() else {
            let help =
                "write `http:` and below it `- request: GET https://…` with `status:` and `body:`";
            let message = format!("http must be a list, not {}", node.kind_name());
            self.wrong(message, &node.span, Some(help));
            return Vec::new();
        };
        entries
            .iter()
            .filter_map(|entry| self.answer(entry))
            .collect()
    }

    fn answer(&mut self, node: &Node) -> Option<Canned> {
        self.keys(node, "keys of a canned answer", &CANNED)?;
        let Some((_, request)) = node.entry("request") else {
            let help = "add for example `request: GET https://api.example.com/v1`";
            self.wrong("the answer says to no request", &node.span, Some(help));
            return None;
        };
        let text = self.string(request, "request")?;
        let Some((method, url)) = text.split_once(' ') else {
            let help = "write a method and a URL, for example `GET https://api.example.com/v1`";
            self.wrong("this is not a request", &request.span, Some(help));
            return None;
        };
        let answer = match node.get("error") {
            Some(error) => CannedAnswer::Error(self.http_error(error, node.get("message"))?),
            None => CannedAnswer::Response(self.response(node, url.trim())?),
        };
        Some(Canned {
            method: method.to_owned(),
            url: url.trim().to_owned(),
            answer,
        })
    }

    fn http_error(&mut self, node: &Node, message: Option<&Node>) -> Option<HttpError> {
        let text = message.and_then(Node::as_str).unwrap_or("as the case says");
        let text = text.to_owned();
        match node.as_str() {
            Some("timeout") => Some(HttpError::Timeout(text)),
            Some("failed") => Some(HttpError::Failed(text)),
            Some("too-large") => Some(HttpError::TooLarge(text)),
            _ => {
                let help = "write `error: timeout`, `error: failed` or `error: too-large`; what is not granted shows by itself";
                self.wrong("there is no such error", &node.span, Some(help));
                None
            }
        }
    }

    fn response(&mut self, node: &Node, url: &str) -> Option<Response> {
        let status = match node.get("status") {
            None => Some(200),
            Some(status) => status
                .as_int()
                .and_then(|status| u16::try_from(status).ok())
                .filter(|status| (200..600).contains(status)),
        };
        let Some(status) = status else {
            let span = node.get("status").map_or(0..0, |node| node.span.clone());
            let help = Some("write a number from 200 to 599");
            self.wrong("this is not a status", &span, help);
            return None;
        };
        let mut headers = Vec::new();
        if let Some(given) = node.get("headers") {
            for (name, value) in self.map(given, "headers") {
                let value = value.as_str().map_or(value.to_string(), str::to_owned);
                headers.push((name.to_ascii_lowercase(), value));
            }
        }
        let body = match (node.get("body"), node.get("json")) {
            (Some(body), _) => self.string(body, "body")?,
            (None, Some(value)) => {
                if !headers.iter().any(|(name, _)| name == "content-type") {
                    headers.push(("content-type".to_owned(), "application/json".to_owned()));
                }
                json(value).to_string()
            }
            (None, None) => String::new(),
        };
        Some(Response {
            status,
            headers,
            body: body.into_bytes(),
            url: url.to_owned(),
        })
    }

    fn expectation(&mut self, node: &Node) -> Option<Expectation> {
        self.keys(node, "things a case can expect", &EXPECTED)?;
        let mut expect = Expectation {
            payload: node.get("payload").map(json),
            ..Expectation::default()
        };
        if let Some(decision) = node.get("decision") {
            expect.decision = self.ruling(decision);
        }
        if let Some(reason) = node.get("reason") {
            expect.reason = self.text(reason, "reason");
        }
        if let Some(hook) = node.get("hook") {
            expect.hook = self.string(hook, "hook");
        }
        if let Some(effects) = node.get("effects") {
            expect.effects = self.list(effects, "effects");
        }
        if let Some(metrics) = node.get("metrics") {
            expect.metrics = Some(self.map(metrics, "metrics"));
        }
        if let Some(cache) = node.get("cache") {
            expect.cache = Some(self.map(cache, "cache"));
        }
        if let Some(logs) = node.get("logs") {
            expect.logs = Some(self.lines(logs));
        }
        if let Some(error) = node.get("error") {
            expect.error = self.failing(error);
        }
        Some(expect)
    }

    fn ruling(&mut self, node: &Node) -> Option<Ruling> {
        let found = match node.as_str() {
            Some("allow") => Some(Ruling::Allow),
            Some("block") => Some(Ruling::Block),
            Some("modify") => Some(Ruling::Modify),
            Some("ask") => Some(Ruling::Ask),
            _ => None,
        };
        if found.is_none() {
            let help = Some("write allow, block, modify or ask");
            self.wrong("this is not a decision", &node.span, help);
        }
        found
    }

    fn failing(&mut self, node: &Node) -> Option<Failing> {
        if node.as_str().is_some() {
            let message = self.text(node, "error");
            return Some(Failing {
                cause: None,
                message,
            });
        }
        self.keys(node, "things an error has", &["cause", "message"])?;
        Some(Failing {
            cause: node
                .get("cause")
                .and_then(|cause| self.string(cause, "cause")),
            message: node
                .get("message")
                .and_then(|message| self.text(message, "message")),
        })
    }

    fn lines(&mut self, node: &Node) -> Vec<Line> {
        let entries = node.as_list().unwrap_or(std::slice::from_ref(node));
        entries
            .iter()
            .filter_map(|entry| {
                if entry.as_str().is_some() || entry.get("contains").is_some() {
                    let message = self.text(entry, "a log line")?;
                    return Some(Line {
                        level: None,
                        message,
                    });
                }
                self.keys(entry, "things a log line has", &["level", "message"])?;
                let message = entry
                    .get("message")
                    .and_then(|text| self.text(text, "message"));
                Some(Line {
                    level: entry
                        .get("level")
                        .and_then(|level| self.string(level, "level")),
                    message: message.unwrap_or(Text::Contains(String::new())),
                })
            })
            .collect()
    }

    /// Reads `text` or `{ contains: part }`.
    fn text(&mut self, node: &Node, what: &str) -> Option<Text> {
        if let Some(part) = node.get("contains") {
            self.keys(node, "ways to compare a text", &["contains"])?;
            return self.string(part, "contains").map(Text::Contains);
        }
        self.string(node, what).map(Text::Is)
    }

    fn string(&mut self, node: &Node, what: &str) -> Option<String> {
        if node.as_str().is_none() {
            let message = format!("{what} must be a string, not {}", node.kind_name());
            self.wrong(message, &node.span, Some("put it in quotes"));
        }
        node.as_str().map(str::to_owned)
    }

    fn strings(&mut self, node: &Node, what: &str) -> Vec<String> {
        let entries = node.as_list().unwrap_or(std::slice::from_ref(node));
        entries
            .iter()
            .filter_map(|entry| self.string(entry, what))
            .collect()
    }

    fn list(&mut self, node: &Node, what: &str) -> Option<Vec<Value>> {
        let found = node.as_list().map(|items| items.iter().map(json).collect());
        if found.is_none() {
            let message = format!("{what} must be a list, not {}", node.kind_name());
            self.wrong(message, &node.span, None);
        }
        found
    }

    fn map(&mut self, node: &Node, what: &str) -> Map<String, Value> {
        match json(node) {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            _ => {
                let message = format!("{what} must be a map, not {}", node.kind_name());
                self.wrong(message, &node.span, None);
                Map::new()
            }
        }
    }

    /// Refuses keys that are none: a misspelled expectation would expect nothing.
    fn keys(&mut self, node: &Node, what: &str, known: &[&str]) -> Option<()> {
        let Some(entries) = node.as_map() else {
            let message = format!("this must be a map, not {}", node.kind_name());
            let help = format!("the {what} are {}", known.join(", "));
            self.wrong(message, &node.span, Some(&help));
            return None;
        };
        for (key, _) in entries {
            if !known.contains(&key.name.as_str()) {
                let help = match did_you_mean(&key.name, known.iter().copied()) {
                    Some(guess) => format!("did you mean `{guess}`?"),
                    None => format!("the {what} are {}", known.join(", ")),
                };
                let message = format!("{:?} is none of the {what}", key.name);
                self.wrong(message, &key.span, Some(&help));
            }
        }
        Some(())
    }

    fn wrong(&mut self, message: impl Into<String>, span: &Range<usize>, help: Option<&str>) {
        let problem = Diagnostic::error(message).at(self.source, span.clone());
        self.problems.push(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }
}

/// Makes JSON of YAML. Its core schema has nothing that JSON has not, but for numbers
/// that are none.
fn json(node: &Node) -> Value {
    match &node.value {
        yaml::Value::Null => Value::Null,
        yaml::Value::Bool(truth) => Value::Bool(*truth),
        yaml::Value::Int(number) => Value::from(*number),
        yaml::Value::BigInt(digits) => number(digits),
        yaml::Value::Float(float) => Number::from_f64(*float).map_or(Value::Null, Value::Number),
        yaml::Value::String(text) => Value::String(text.clone()),
        yaml::Value::List(items) => Value::Array(items.iter().map(json).collect()),
        yaml::Value::Map(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| (key.name.clone(), json(value)))
                .collect(),
        ),
    }
}

fn number(digits: &str) -> Value {
    serde_json::from_str(digits).unwrap_or_else(|_| Value::String(digits.to_owned()))
}
