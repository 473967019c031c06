//! Reads the `hooks` of `settings.json`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::predicate::Fields;
use super::{DIALECT, events, header};
use crate::config::json;
use crate::diagnostic::{Source, did_you_mean};
use crate::dialect::program::{Programs, Script};
use crate::dialect::source::{File, read_text, start_of};
use crate::dialect::{EventInfo, Loading};
use crate::handler::Handler;
use crate::hook::{Hook, Origin, Predicate};
use crate::sandbox::limits::Limits;
use crate::yaml::{self, Node};

/// The file.
const FILE: &str = "settings.json";

/// The keys of an entry. The last one is hookbox's own.
const KEYS: [&str; 4] = ["path", "timeout", "matcher", "on_error"];

/// How long a hook may take that sets no timeout.
const TIMEOUT: Duration = Duration::from_millis(5_000);

/// Loads the hooks of a project.
pub(super) fn load(loading: &mut Loading<'_>) {
    let source = read_text(loading.root, FILE, FILE, &mut loading.problems);
    if let Some(source) = source {
        let mut reader = Reader {
            source: &source,
            loading,
        };
        reader.file();
    }
}

struct Reader<'r, 'l> {
    source: &'r Arc<Source>,
    loading: &'r mut Loading<'l>,
}

impl Reader<'_, '_> {
    fn file(&mut self) {
        let node = match json::parse(&self.source.text) {
            Ok(node) => node,
            Err((message, span)) => {
                let help = "if this file is of another program, leave the framework out with `dialects = [\"harness\", …]` in hookbox.toml";
                self.said()
                    .error(format!("parse settings.json: {message}"), &span, help);
                return;
            }
        };
        // Other keys are other people's.
        let Some(hooks) = node.get("hooks") else {
            return;
        };
        let Some(all) = hooks.as_map() else {
            let message = format!(
                "hooks must map events to lists, and is {}",
                hooks.kind_name()
            );
            self.said().error(message, &start_of(&hooks.span), "");
            return;
        };
        for (event, entries) in all {
            let Some(info) = events::find(&event.name) else {
                self.unknown(event);
                continue;
            };
            let Some(list) = entries.as_list() else {
                let message = format!(
                    "{}: must be a list of hooks, not {}",
                    event.name,
                    entries.kind_name()
                );
                self.said().error(message, &start_of(&entries.span), "");
                continue;
            };
            for (index, entry) in list.iter().enumerate() {
                self.entry(info, index, entry);
            }
        }
    }

    fn said(&mut self) -> File<'_> {
        File {
            source: self.source,
            problems: &mut self.loading.problems,
        }
    }

    /// A hook that never fires is a gate that stands open.
    fn unknown(&mut self, event: &yaml::Key) {
        let names = events::EVENTS.iter().map(|info| info.name);
        let help = match did_you_mean(&event.name, names.clone()) {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => format!("the events are {}", names.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no event {:?}", event.name);
        self.said().error(message, &event.span, &help);
    }

    fn entry(&mut self, info: &'static EventInfo, index: usize, entry: &Node) {
        let place = format!("{}[{index}]", info.name);
        if entry.as_map().is_none() {
            let message = format!("{place} must be a hook, not {}", entry.kind_name());
            self.said().error(message, &start_of(&entry.span), "");
            return;
        }
        let path = entry.get("path").and_then(Node::as_str);
        let name = path.map_or(place.as_str(), stem).to_owned();
        let whose = path.map_or_else(|| place.clone(), |_| format!("hook {name:?}"));
        let strict = self.loading.options.strict;
        let mut said = self.said();
        said.unknown_keys(entry, &KEYS, &whose, strict);
        let path = said.text(entry, "path", &whose);
        let on_error = said.on_error(entry);
        let limits = self.limits(entry, &whose);
        let wanted = self.matcher(entry, &whose);
        let handler = path.and_then(|path| self.handler(path, &name, &whose, wanted.as_ref()));
        let (Some(wanted), Some(handler)) = (wanted, handler) else {
            return;
        };
        let hook = Hook {
            name: name.as_str().into(),
            event: info.name.into(),
            point: info.point.into(),
            order: 0,
            priority: 0,
            position: 0,
            predicate: Predicate::Rule(Arc::new(Fields {
                event: info.name,
                wanted,
            })),
            handler,
            limits,
            grants: self.loading.config.grants.clone(),
            on_error: self.loading.on_error(on_error, info),
            waits: info.waits,
            live: true,
            collects: self.loading.config.collecting.contains(&DIALECT.name),
            dialect: &DIALECT,
            origin: Origin {
                file: FILE.into(),
                summary: None,
                explicit_priority: true,
                source: Arc::clone(self.source),
                own_file: false,
            },
        };
        self.loading.hooks.push(hook);
    }

    fn limits(&mut self, entry: &Node, whose: &str) -> Limits {
        let mut limits = self.loading.config.limits;
        limits.wall_time = if self.loading.config.own_wall_time {
            limits.wall_time
        } else {
            TIMEOUT
        };
        let Some(found) = entry.get("timeout") else {
            return limits;
        };
        let milliseconds = match found.value {
            yaml::Value::Int(number) => u64::try_from(number).ok(),
            yaml::Value::Float(number) if number > 0.0 => Some(number as u64),
            _ => None,
        };
        let most = Limits::ceiling().wall_time;
        match milliseconds.map(Duration::from_millis) {
            Some(timeout) if timeout > most => {
                let message = format!("{whose}: the timeout is cut to {} ms", most.as_millis());
                self.said()
                    .warning(message, &found.span, "no hook may take longer");
                limits.wall_time = most;
            }
            Some(timeout) if !timeout.is_zero() => limits.wall_time = timeout,
            _ => {
                let message = format!("{whose}: \"timeout\" must be a number of milliseconds");
                self.said().error(
                    message,
                    &found.span,
                    "write for example `\"timeout\": 3000`",
                );
            }
        }
        limits
    }

    fn matcher(&mut self, entry: &Node, whose: &str) -> Option<Map<String, Value>> {
        let Some(found) = entry.get("matcher") else {
            return Some(Map::new());
        };
        if found.as_map().is_none() {
            let message = format!(
                "{whose}: \"matcher\" must be an object, not {}",
                found.kind_name()
            );
            let help = "write for example `\"matcher\": {\"tool_name\": \"Bash\"}`";
            self.said().error(message, &found.span, help);
            return None;
        }
        // Its text is JSON that was read already.
        let text = self.source.text.get(found.span.clone()).unwrap_or_default();
        match crate::json::parse_value(text) {
            Ok(Value::Object(wanted)) => Some(wanted),
            _ => {
                let message = format!("{whose}: \"matcher\" cannot be read");
                self.said().error(message, &found.span, "");
                None
            }
        }
    }

    fn handler(
        &mut self,
        path: &Node,
        name: &str,
        whose: &str,
        wanted: Option<&Map<String, Value>>,
    ) -> Option<Handler> {
        let text = path.as_str()?;
        let root = self.loading.root;
        let mut programs = Programs {
            loading: self.loading,
            source: self.source,
            root,
            whose,
        };
        if text.ends_with(".wasm") {
            return programs.component(path, name);
        }
        let handler = programs.process(&Script::File(text), &path.span);
        if handler.is_some() {
            self.lint(
                text,
                path,
                whose,
                wanted.is_some_and(|wanted| !wanted.is_empty()),
            );
        }
        handler
    }

    /// Says what the header of a script lacks. That is never fatal.
    fn lint(&mut self, path: &str, node: &Node, whose: &str, has_matcher: bool) {
        let Ok(bytes) = crate::config::read_bounded(self.loading.root, path, 1 << 20) else {
            return;
        };
        let Ok(script) = String::from_utf8(bytes) else {
            return;
        };
        let missing = header::missing(&script, has_matcher);
        if !missing.is_empty() {
            let lines: Vec<String> = missing
                .iter()
                .map(|line| format!("`// {line}: …`"))
                .collect();
            let message = format!("{whose} does not say at its top what it is for");
            self.said()
                .warning(message, &node.span, &format!("add {}", lines.join(", ")));
        }
    }
}

/// The name of a hook: that of its file, without folders and ending.
fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split_once('.').map_or(file, |(stem, _)| stem)
}
