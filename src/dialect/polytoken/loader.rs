//! Reads `hooks.json`: the global one, and the project's own after it.

use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::DIALECT;
use super::events::{self, Rules};
use super::predicate::Matcher;
use crate::config::json;
use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::dialect::Loading;
use crate::dialect::program::{Programs, Script};
use crate::dialect::source::{File, read_text, start_of};
use crate::handler::Handler;
use crate::hook::{Hook, OnError, Origin, Predicate};
use crate::yaml::Node;

/// Where a project keeps its hooks.
const PROJECT: &str = ".polytoken/hooks.json";

/// Where the directory of the user's own configuration keeps them.
const GLOBAL: &str = "hooks.json";

/// How long a handler may take, unless the project says otherwise.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// The keys of an entry. The last two are hookbox's own.
const KEYS: [&str; 6] = ["name", "event", "matcher", "handler", "on_error", "limits"];

/// The keys of a handler, of which it has one.
const HANDLERS: [&str; 2] = ["bash", "wasm"];

/// Loads global and project hooks.
pub(super) fn load(loading: &mut Loading<'_>) {
    let mut hooks = Vec::new();
    if let Some(folder) = &loading.options.config_dir {
        global(folder, loading, &mut hooks);
    }
    let source = read_text(loading.root, PROJECT, PROJECT, &mut loading.problems);
    if let Some(source) = source {
        let before = hooks.len();
        let mut reader = Reader {
            source: &source,
            below: PROJECT,
            root: loading.root,
            loading,
            before,
            hooks: &mut hooks,
        };
        reader.file();
    }
    loading.hooks.extend(hooks);
}

fn global(folder: &Path, loading: &mut Loading<'_>, hooks: &mut Vec<Hook>) {
    let shown = folder.join(GLOBAL).display().to_string();
    let root = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(root) => root,
        Err(error) => {
            let message = format!("the configuration directory cannot be opened: {error}");
            let shown = folder.display().to_string();
            loading
                .problems
                .push(Diagnostic::error(message).in_file(shown));
            return;
        }
    };
    let source = read_text(&root, GLOBAL, &shown, &mut loading.problems);
    if let Some(source) = source {
        let mut reader = Reader {
            source: &source,
            below: GLOBAL,
            root: &root,
            loading,
            before: 0,
            hooks,
        };
        reader.file();
    }
}

/// Reads one file.
struct Reader<'r, 'l> {
    source: &'r Arc<Source>,
    /// Where the file lies below the root, which is not what people read for it.
    below: &'static str,
    root: &'r Dir,
    loading: &'r mut Loading<'l>,
    /// How many of the hooks are global ones, which this file can switch off.
    before: usize,
    hooks: &'r mut Vec<Hook>,
}

impl Reader<'_, '_> {
    fn file(&mut self) {
        let node = match json::parse(&self.source.text) {
            Ok(node) => node,
            Err((message, span)) => {
                let message = format!("parse hooks.json: {message}");
                self.said().error(message, &span, "");
                return;
            }
        };
        let Some(entries) = node.as_list() else {
            let message = format!(
                "hooks.json must be a list of hooks, not {}",
                node.kind_name()
            );
            let help = "put the hooks into brackets: `[ { \"name\": … } ]`";
            self.said().error(message, &start_of(&node.span), help);
            return;
        };
        for (index, entry) in entries.iter().enumerate() {
            match entry.as_str() {
                Some(text) => self.negation(text, entry),
                None => self.entry(index, entry),
            }
        }
    }

    fn said(&mut self) -> File<'_> {
        File {
            source: self.source,
            problems: &mut self.loading.problems,
        }
    }

    /// Switches a global hook off.
    fn negation(&mut self, text: &str, entry: &Node) {
        let Some(name) = text.strip_prefix('!') else {
            let help = format!("to switch the global hook of this name off, write `\"!{text}\"`");
            let message = format!("{text:?} is neither a hook nor the negation of one");
            self.said().error(message, &entry.span, &help);
            return;
        };
        let known = self.hooks[..self.before].iter();
        let names: Vec<String> = known.map(|hook| hook.name.to_string()).collect();
        if !names.iter().any(|known| known == name) {
            let guess = did_you_mean(name, names.iter().map(String::as_str));
            let help = match guess {
                Some(guess) => format!("did you mean `\"!{guess}\"`?"),
                None if names.is_empty() => {
                    "there are no global hooks; give their directory with --config-dir".to_owned()
                }
                None => format!("the global hooks are {}", names.join(", ")),
            };
            let message = format!("there is no global hook {name:?} to switch off");
            self.said().error(message, &entry.span, &help);
            return;
        }
        let before = self.before;
        let mut index = 0;
        self.hooks.retain(|hook| {
            index += 1;
            index > before || *hook.name != *name
        });
        self.before -= names.iter().filter(|known| *known == name).count();
    }

    fn entry(&mut self, index: usize, entry: &Node) {
        if entry.as_map().is_none() {
            let message = format!("hooks[{index}] must be a hook, not {}", entry.kind_name());
            self.said().error(message, &start_of(&entry.span), "");
            return;
        }
        let named = entry.get("name").and_then(Node::as_str);
        let whose = match named {
            Some(name) => format!("hook {name:?}"),
            None => format!("hooks[{index}]"),
        };
        let mut said = self.said();
        said.unknown_keys(entry, &KEYS, &whose, true);
        let name = said.text(entry, "name", &whose).and_then(Node::as_str);
        let event = said.text(entry, "event", &whose);
        let rules = event.and_then(|event| self.event(event, &whose));
        let matcher = rules.and_then(|rules| self.matcher(rules, entry, &whose));
        let handler = self.handler(entry, &whose);
        let on_error = self.said().on_error(entry);
        let limits = self.limits(entry);
        let (Some(name), Some(rules), Some(matcher), Some(handler)) =
            (name, rules, matcher, handler)
        else {
            return;
        };
        if name.chars().any(char::is_control) {
            let message = "a hook's name must not have control characters";
            self.said().error(message, &start_of(&entry.span), "");
            return;
        }
        let hook = self.hook(name, rules, matcher, handler, on_error);
        self.hooks.push(Hook { limits, ..hook });
    }

    fn hook(
        &self,
        name: &str,
        rules: &Rules,
        matcher: Matcher,
        handler: Handler,
        on_error: Option<OnError>,
    ) -> Hook {
        let info = &rules.info;
        Hook {
            name: name.into(),
            event: info.name.into(),
            point: info.point.into(),
            order: 0,
            priority: 0,
            position: 0,
            predicate: Predicate::Rule(Arc::new(matcher)),
            handler,
            limits: self.loading.config.limits,
            grants: self.loading.config.grants.clone(),
            on_error: self.loading.on_error(on_error, info),
            waits: info.waits,
            live: true,
            collects: self.loading.config.collecting.contains(&DIALECT.name),
            dialect: &DIALECT,
            origin: Origin {
                file: self.source.path.as_str().into(),
                summary: None,
                explicit_priority: true,
                source: Arc::clone(self.source),
                own_file: false,
            },
        }
    }

    fn event(&mut self, event: &Node, whose: &str) -> Option<&'static Rules> {
        let name = event.as_str()?;
        let rules = events::find(name);
        if rules.is_none() {
            let names = events::EVENTS.iter().map(|rules| rules.info.name);
            let help = match did_you_mean(name, names.clone()) {
                Some(guess) => format!("did you mean `{guess}`?"),
                None => format!("the events are {}", names.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("{whose}: there is no event {name:?}");
            self.said().error(message, &event.span, &help);
        }
        rules
    }

    fn matcher(&mut self, rules: &'static Rules, entry: &Node, whose: &str) -> Option<Matcher> {
        let found = entry.get("matcher");
        if let Some(found) = found
            && found.as_str().is_none()
        {
            let message = format!(
                "{whose}: \"matcher\" must be a string, not {}",
                found.kind_name()
            );
            self.said().error(message, &found.span, "");
            return None;
        }
        let glob = found.and_then(Node::as_str);
        match Matcher::new(rules.info.name, glob) {
            Ok(matcher) => {
                let never = found.filter(|_| matcher.is_vain(rules.info.point));
                if let Some(found) = never {
                    let message = format!("{whose} never runs: no subject of its event matches");
                    let help = "leave \"matcher\" out to run every time";
                    self.said().warning(message, &found.span, help);
                }
                Some(matcher)
            }
            Err(why) => {
                let span = found.map_or(&entry.span, |found| &found.span).clone();
                let message = format!("{whose}: the glob cannot be parsed: {why}");
                let help = "`*` matches within a segment, `**` across segments, `?` one character, `[a-z]` a range";
                self.said().error(message, &span, help);
                None
            }
        }
    }

    fn handler(&mut self, entry: &Node, whose: &str) -> Option<Handler> {
        let Some(handler) = entry.get("handler") else {
            let message = format!("{whose}: \"handler\" is missing");
            let help = "write for example `\"handler\": {\"wasm\": \"guard.wasm\"}`";
            self.said().error(message, &start_of(&entry.span), help);
            return None;
        };
        let Some(fields) = handler.as_map() else {
            let message = format!(
                "{whose}: \"handler\" must be an object, not {}",
                handler.kind_name()
            );
            let help = "write for example `{\"bash\": \"exit 0\"}` or `{\"wasm\": \"guard.wasm\"}`";
            self.said().error(message, &handler.span, help);
            return None;
        };
        self.said()
            .unknown_keys(handler, &HANDLERS, &format!("{whose}: handler"), true);
        let known: Vec<_> = fields
            .iter()
            .filter(|(key, _)| HANDLERS.contains(&key.name.as_str()))
            .collect();
        let [(key, code)] = known.as_slice() else {
            if known.len() != 1 && fields.len() == known.len() {
                let message = format!("{whose}: a handler has one of the keys bash and wasm");
                self.said().error(message, &handler.span, "");
            }
            return None;
        };
        let Some(text) = code.as_str() else {
            let message = format!(
                "{whose}: {:?} must be a string, not {}",
                key.name,
                code.kind_name()
            );
            self.said().error(message, &code.span, "");
            return None;
        };
        if key.name == "wasm" {
            let name = entry.get("name").and_then(Node::as_str);
            return self.component(code, name.unwrap_or(whose));
        }
        let mut programs = Programs {
            loading: self.loading,
            source: self.source,
            root: self.root,
            whose,
        };
        programs.process(&Script::Bash(text), &code.span)
    }

    /// Makes a component ready. It is looked for beside the file as the root knows it,
    /// and what is wrong with it is said of the file as people know it.
    fn component(&mut self, code: &Node, name: &str) -> Option<Handler> {
        let before = self.loading.problems.len();
        let mut programs = Programs {
            loading: self.loading,
            source: &Source::new(self.below, Arc::clone(&self.source.text)),
            root: self.root,
            whose: name,
        };
        let handler = programs.component(code, name);
        for problem in &mut self.loading.problems[before..] {
            problem.file.clone_from(&self.source.path);
            problem.source = Some(Arc::clone(self.source));
        }
        handler
    }

    fn limits(&mut self, entry: &Node) -> crate::sandbox::limits::Limits {
        let config = &self.loading.config;
        let mut limits = config.limits;
        if !config.own_wall_time {
            limits.wall_time = DEADLINE;
        }
        match entry.get("limits") {
            None => limits,
            Some(found) => crate::config::limits::read(
                found,
                limits,
                &mut crate::config::Reader {
                    root: self.root,
                    source: self.source,
                    problems: &mut self.loading.problems,
                },
            ),
        }
    }
}
