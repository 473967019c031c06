//! Reads `[[hooks]]` of `harn.toml`, after the hooks that the host registered. Only the
//! project's own manifest counts: a package cannot bring hooks along.

use std::ops::Range;
use std::sync::Arc;

use super::DIALECT;
use super::events::{self, Info};
use super::predicate::Narrowed;
use super::register::{Registered, Runs, pattern_of};
use crate::config::{reads, toml};
use crate::diagnostic::{Source, did_you_mean};
use crate::dialect::Loading;
use crate::dialect::checks::{Checker, LazyParser};
use crate::dialect::program::Programs;
use crate::dialect::source::{File, read_text, start_of};
use crate::handler::Handler;
use crate::hook::{Hook, OnError, Origin, Predicate};
use crate::yaml::{Node, Style, Value};

/// The manifest.
const FILE: &str = "harn.toml";

/// The keys of an entry. The last one is hookbox's own.
const KEYS: [&str; 4] = ["event", "pattern", "handler", "on_error"];

/// Where modules lie, in this order.
const FOLDERS: [&str; 2] = ["", "src/"];

/// Loads registered and manifest hooks.
pub(super) fn load(loading: &mut Loading<'_>) {
    for hook in loading.options.harn.registered.clone() {
        registered(hook, loading);
    }
    let source = read_text(loading.root, FILE, FILE, &mut loading.problems);
    if let Some(source) = source {
        let mut reader = Reader {
            source: &source,
            loading,
        };
        reader.file();
    }
}

/// Makes a hook of what the host registered.
fn registered(hook: Registered, loading: &mut Loading<'_>) {
    let source = Source::new("(registered by the host)", "");
    let handler = match hook.runs {
        Runs::Native(native) => Some(Handler::Native(Arc::new(native))),
        Runs::Named(name) => {
            let node = Node {
                value: Value::String(name),
                span: 0..0,
                style: Style::Plain,
            };
            let mut reader = Reader {
                source: &source,
                loading,
            };
            reader.handler(&node)
        }
    };
    if let Some(handler) = handler {
        let entry = Entry {
            name: &hook.name,
            info: hook.info,
            narrowed: hook.narrowed,
            handler,
            on_error: None,
        };
        let hook = entry.hook(&source, loading);
        loading.hooks.push(hook);
    }
}

/// All that makes a hook.
struct Entry<'e> {
    name: &'e str,
    info: &'static Info,
    narrowed: Arc<Narrowed>,
    handler: Handler,
    on_error: Option<OnError>,
}

impl Entry<'_> {
    fn hook(self, source: &Arc<Source>, loading: &Loading<'_>) -> Hook {
        let own = self.on_error.or(loading.config.on_error);
        Hook {
            name: self.name.into(),
            event: self.info.name.into(),
            point: self.info.canonical.into(),
            order: 0,
            priority: 0,
            position: 0,
            predicate: Predicate::Rule(self.narrowed),
            handler: self.handler,
            limits: loading.config.limits,
            grants: loading.config.grants.clone(),
            // Misuse fails loudly, whatever the event.
            on_error: own.unwrap_or(OnError::Raise),
            waits: true,
            live: true,
            collects: false,
            dialect: &DIALECT,
            origin: Origin {
                file: source.path.as_str().into(),
                summary: Some(format!("{} surface", self.info.surface)),
                explicit_priority: true,
                source: Arc::clone(source),
                own_file: false,
            },
        }
    }
}

struct Reader<'r, 'l> {
    source: &'r Arc<Source>,
    loading: &'r mut Loading<'l>,
}

impl Reader<'_, '_> {
    fn file(&mut self) {
        let node = match toml::parse(FILE, &self.source.text) {
            Ok(node) => node,
            Err((message, span)) => {
                self.said().error(message, &span, "");
                return;
            }
        };
        // Everything else in a manifest is about the package.
        let Some(hooks) = node.get("hooks") else {
            return;
        };
        let Some(entries) = hooks.as_list() else {
            let message = format!(
                "hooks must be written as `[[hooks]]`, and is {}",
                hooks.kind_name()
            );
            self.said().error(message, &start_of(&hooks.span), "");
            return;
        };
        for (index, entry) in entries.iter().enumerate() {
            self.entry(index, entry);
        }
    }

    fn said(&mut self) -> File<'_> {
        File {
            source: self.source,
            problems: &mut self.loading.problems,
        }
    }

    fn entry(&mut self, index: usize, entry: &Node) {
        let whose = format!("hooks[{index}]");
        if entry.as_map().is_none() {
            let message = format!("{whose} must be a table, not {}", entry.kind_name());
            self.said().error(message, &start_of(&entry.span), "");
            return;
        }
        let mut said = self.said();
        said.unknown_keys(entry, &KEYS, &whose, true);
        let event = said.text(entry, "event", &whose);
        let handler = said.text(entry, "handler", &whose);
        let on_error = said.on_error(entry);
        let narrowed = event.and_then(|event| self.narrowed(event, entry, &whose));
        let name = handler.and_then(Node::as_str);
        let handler = handler.and_then(|handler| self.handler(handler));
        let (Some((info, narrowed)), Some(name), Some(handler)) = (narrowed, name, handler) else {
            return;
        };
        let entry = Entry {
            name,
            info,
            narrowed: Arc::new(narrowed),
            handler,
            on_error,
        };
        let hook = entry.hook(self.source, self.loading);
        self.loading.hooks.push(hook);
    }

    fn narrowed(
        &mut self,
        event: &Node,
        entry: &Node,
        whose: &str,
    ) -> Option<(&'static Info, Narrowed)> {
        let name = event.as_str()?;
        let (info, least) = match events::parse(name) {
            Ok(parsed) => parsed,
            Err(error) => {
                let names = events::CATALOGUE.iter().map(|info| info.name);
                let help = match did_you_mean(name, names.clone()) {
                    Some(guess) => format!("did you mean `{guess}`?"),
                    None => format!("the events are {}", names.collect::<Vec<_>>().join(", ")),
                };
                self.said()
                    .error(format!("{whose}: {error}"), &event.span, &help);
                return None;
            }
        };
        let found = entry.get("pattern");
        if let Some(found) = found
            && found.as_str().is_none()
        {
            let message = format!(
                "{whose}: \"pattern\" must be a string, not {}",
                found.kind_name()
            );
            self.said().error(message, &found.span, "");
            return None;
        }
        let text = found.and_then(Node::as_str).unwrap_or("*");
        match pattern_of(text, least) {
            Ok(by) => Some((
                info,
                Narrowed {
                    event: info.name,
                    by,
                },
            )),
            Err(error) => {
                let span = found.map_or(&entry.span, |found| &found.span).clone();
                self.said().error(format!("{whose}: {error}"), &span, "");
                None
            }
        }
    }

    /// Resolves `module::function` to a component or to a function of a Starlark module.
    fn handler(&mut self, node: &Node) -> Option<Handler> {
        let written = node.as_str()?;
        let Some((module, function)) = written.rsplit_once("::").filter(|(module, function)| {
            !module.is_empty() && is_name(function) && module.split("::").all(is_name)
        }) else {
            let message =
                format!("invalid hook handler '{written}': expected <module>::<function>");
            self.said().error(
                message,
                &node.span,
                "write for example `policy::reject_secrets`",
            );
            return None;
        };
        let path = module.replace("::", "/");
        for folder in FOLDERS {
            let component = format!("{folder}{path}.wasm");
            if self.is_there(&component) {
                return self.component(component, node, written);
            }
            let script = format!("{folder}{path}.star");
            if self.is_there(&script) {
                return self.function(&script, function, node, written);
            }
        }
        let message =
            format!("hook handler '{written}' does not resolve: there is no module '{module}'");
        let help = format!("add {path}.wasm, or {path}.star with `def {function}(event):`");
        self.said().error(message, &node.span, &help);
        None
    }

    /// Says whether there is a module. One that comes into being later may come first.
    fn is_there(&self, path: &str) -> bool {
        let there = self.loading.root.exists(path);
        if !there {
            reads::remember_absent(path);
        }
        there
    }

    /// A component hears by its hook's name which function is meant.
    fn component(&mut self, path: String, node: &Node, written: &str) -> Option<Handler> {
        let node = Node {
            value: Value::String(path),
            ..node.clone()
        };
        let root = self.loading.root;
        let mut programs = Programs {
            loading: self.loading,
            source: self.source,
            root,
            whose: written,
        };
        programs.component(&node, written)
    }

    fn function(
        &mut self,
        path: &str,
        function: &str,
        node: &Node,
        written: &str,
    ) -> Option<Handler> {
        let module = read_text(self.loading.root, path, path, &mut self.loading.problems)?;
        if let Some((name, span)) = reserved(&module.text) {
            let message = format!("the module defines `{name}`, a name that hookbox needs in it");
            let mut said = File {
                source: &module,
                problems: &mut self.loading.problems,
            };
            said.error(message, &span, "give it another name");
            return None;
        }
        if !exports(&module.text, function) {
            let (module, _) = written.rsplit_once("::").unwrap_or_default();
            let message = format!("hook handler '{function}' is not exported by module '{module}'");
            let help = format!("define `def {function}(event):` at the top level of {path}");
            self.said().error(message, &node.span, &help);
            return None;
        }
        let grants = self.loading.config.grants.clone();
        let mut parser = LazyParser::new(self.loading.workshop);
        let mut checker = Checker {
            workshop: self.loading.workshop,
            parser: &mut parser,
            source: &module,
            name: written,
            strict: self.loading.options.strict,
            grants_itself: false,
            uses: Vec::new(),
            problems: &mut self.loading.problems,
        };
        let handler = checker.function(function)?;
        let used = checker.grants(&grants, &[]);
        self.loading.used.extend(used);
        Some(Handler::Function(handler))
    }
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name of the entry point that is added to a module: its functions would call that
/// instead of their own.
const RESERVED: [&str; 1] = ["handle"];

/// Finds a name that a module must not define, and where it does. In doubt it is found:
/// the source is only looked at, not parsed.
fn reserved(module: &str) -> Option<(&'static str, Range<usize>)> {
    let mut start = 0;
    for line in module.split_inclusive('\n') {
        let head = match line.strip_prefix("def ") {
            Some(rest) => rest.split('(').next(),
            None if line.starts_with([' ', '\t', '#', '"', '\'']) => None,
            None => line.split_once('=').map(|(left, _)| left),
        };
        let words = head.unwrap_or_default();
        for word in words.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if let Some(name) = RESERVED.into_iter().find(|name| *name == word) {
                let at = start + line.find(name).unwrap_or_default();
                return Some((name, at..at + name.len()));
            }
        }
        start += line.len();
    }
    None
}

/// Says whether a module defines a function that others may call.
fn exports(module: &str, function: &str) -> bool {
    let defines = |line: &str| {
        let rest = line.strip_prefix("def ").map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix(function));
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    };
    !function.starts_with('_') && module.lines().any(defines)
}
