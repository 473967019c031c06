//! Finds the hooks of a project: files in `.harness/hooks/` and those that
//! `hookbox.toml` names, the `hooks:` list of `harness.md`, and the `hooks:` lists of
//! bundles.
//!
//! Everything is read through a handle on the project's directory, so no link
//! leads out of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::DIALECT;
use super::events;
use super::fields::{Fields, Place, Reader};
use super::frontmatter::{Parts, first_line, split};
use crate::build::HookToBuild;
use crate::config::{self, BuildSettings, Config, read_bounded, reads};
use crate::diagnostic::{Diagnostic, Source};
use crate::dialect::Loading;
use crate::dialect::checks::{Checker, LazyParser};
use crate::dialect::kept::{Kept, Kind};
use crate::dialect::source::beside;
use crate::handler::Handler;
use crate::hook::{Hook, Origin, Predicate};
use crate::yaml::{self, Node};

/// The file whose frontmatter configures the project.
const HARNESS_FILE: &str = "harness.md";

/// The folder of everything else.
const HARNESS_FOLDER: &str = ".harness";

/// One hook a file.
const HOOKS: &str = ".harness/hooks";

/// Several hooks a file.
const BUNDLES: [&str; 3] = [
    ".harness/plugins",
    ".harness/builtins",
    ".harness/overrides",
];

/// How large a Markdown file may be.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Loads the hooks of a project.
pub(super) fn load(loading: &mut Loading<'_>) {
    let mut loader = Loader {
        strict: loading.options.strict,
        config: std::mem::take(&mut loading.config),
        drafts: Vec::new(),
        problems: std::mem::take(&mut loading.problems),
        kept: loading.kept.as_ref(),
    };
    loader.collect(loading.root);
    let drafts = std::mem::take(&mut loader.drafts);
    loading.config = loader.config;
    loading.problems = loader.problems;
    finish(drafts, loading);
}

/// What a project says before any code is looked at.
#[derive(Debug)]
pub struct Written {
    /// How its component is built.
    pub build: Option<BuildSettings>,
    /// The hooks that have a component.
    pub components: Vec<HookToBuild>,
}

/// Reads what a project says, without looking at code that may not be built yet.
///
/// # Errors
/// Returns everything that is wrong with it.
pub fn written(project: &Path) -> Result<Written, Vec<Diagnostic>> {
    let root = Dir::open_ambient_dir(project, ambient_authority()).map_err(|error| {
        let message = format!("the project directory cannot be opened: {error}");
        vec![Diagnostic::error(message).in_file(project.display().to_string())]
    })?;
    let mut problems = Vec::new();
    let mut loader = Loader {
        strict: false,
        config: Config::load(&root, &mut problems),
        drafts: Vec::new(),
        problems,
        kept: None,
    };
    loader.collect(&root);
    if loader.problems.iter().any(Diagnostic::is_error) {
        return Err(loader.problems);
    }
    let grants = loader.config.grants;
    let components = loader.drafts.into_iter().filter_map(|draft| {
        let component = draft.fields.component.as_ref()?.as_str()?;
        Some(HookToBuild {
            component: beside(&draft.source.path, component),
            name: draft.name,
            file: draft.source.path.clone(),
            grants: grants.clone().and(draft.fields.grants),
        })
    });
    Ok(Written {
        components: components.collect(),
        build: loader.config.build,
    })
}

/// A hook as it was written, before its code is looked at.
struct Draft {
    name: String,
    place: Place,
    source: Arc<Source>,
    summary: Option<String>,
    fields: Fields,
}

struct Loader<'k> {
    strict: bool,
    config: Config,
    drafts: Vec<Draft>,
    problems: Vec<Diagnostic>,
    /// What was found sound before; nothing else is looked at then.
    kept: Option<&'k Kept>,
}

impl Loader<'_> {
    /// Reads every source. The project's own file comes first because it sets
    /// the limits for all others.
    fn collect(&mut self, root: &Dir) {
        if let Some(kept) = self.kept {
            return self.collect_kept(root, kept);
        }
        if self.is_there(root, HARNESS_FILE) {
            self.bundle(root, HARNESS_FILE);
        }
        // A link that leads nowhere or out of the project is not the same as no
        // folder: what it stood for guards nothing.
        if self.is_there(root, HARNESS_FOLDER)
            && let Err(error) = root.read_dir(HARNESS_FOLDER)
        {
            self.unreadable(HARNESS_FOLDER, &error);
            return;
        }
        let mut files = self.config.hooks.clone();
        files.extend(self.markdown_files(root, HOOKS));
        for path in files {
            self.hook_file(root, &path);
        }
        for folder in BUNDLES {
            for path in self.markdown_files(root, folder) {
                self.bundle(root, &path);
            }
        }
        self.drop_overridden();
        // Registration order is the order of source paths; the sort is stable,
        // so entries of one file stay in their order.
        self.drafts
            .sort_by(|a, b| a.source.path.cmp(&b.source.path));
    }

    /// Brings back what was kept, in the same order.
    fn collect_kept(&mut self, root: &Dir, kept: &Kept) {
        if kept.has(HARNESS_FILE) {
            self.bundle(root, HARNESS_FILE);
        }
        for path in kept.paths(Kind::Hook) {
            self.hook_file(root, &path);
        }
        for path in kept.paths(Kind::Bundle) {
            self.bundle(root, &path);
        }
        self.drop_overridden();
        self.problems.clear();
        self.drafts
            .sort_by(|a, b| a.source.path.cmp(&b.source.path));
    }

    /// Says whether something has this name. Only that nothing has it is an answer;
    /// that nobody may know is a problem.
    fn is_there(&mut self, root: &Dir, path: &str) -> bool {
        match root.symlink_metadata(path) {
            Ok(_) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                reads::remember_absent(path);
                false
            }
            Err(error) => {
                self.unreadable(path, &error);
                false
            }
        }
    }

    /// Lists the Markdown files of a folder. Everything that looks like a hook
    /// but cannot be one is a problem: a guard must not be missing silently.
    fn markdown_files(&mut self, root: &Dir, folder: &str) -> Vec<String> {
        if !self.is_there(root, folder) {
            return Vec::new();
        }
        reads::remember(folder);
        let entries = match root.read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable(folder, &error);
                return Vec::new();
            }
        };
        let mut paths = Vec::new();
        for entry in entries {
            let name = match entry {
                Ok(entry) => entry.file_name(),
                Err(error) => {
                    self.unreadable(folder, &error);
                    continue;
                }
            };
            let Some(name) = name.to_str() else {
                let name = name.to_string_lossy();
                self.problems.push(
                    Diagnostic::error("the file's name is not UTF-8")
                        .in_file(format!("{folder}/{name}")),
                );
                continue;
            };
            let path = format!("{folder}/{name}");
            match name.rsplit_once('.') {
                Some((_, "md")) => paths.push(path),
                Some((stem, ending)) if looks_like_markdown(ending) => self.problems.push(
                    Diagnostic::warning("the file is not loaded: hook files end in `.md`")
                        .in_file(path)
                        .help(format!("rename it to `{stem}.md`")),
                ),
                _ => {}
            }
        }
        paths.sort();
        paths
    }

    fn hook_file(&mut self, root: &Dir, path: &str) {
        let file = path.rsplit('/').next().unwrap_or(path);
        let name = file.strip_suffix(".md").unwrap_or(file);
        if name.is_empty() {
            self.problems
                .push(Diagnostic::error("hook with empty handler name found").in_file(path));
            return;
        }
        if name.chars().any(char::is_control) {
            let message = "a hook's name must not have control characters";
            self.problems.push(Diagnostic::error(message).in_file(path));
            return;
        }
        let Some((source, parts, node)) = self.open(root, path) else {
            return;
        };
        let reader = Reader {
            source: &source,
            name,
            place: Place::File,
            strict: self.strict,
            limits: self.config.limits,
            root,
            problems: &mut self.problems,
        };
        if let Some(fields) = reader.read(&node) {
            self.drafts.push(Draft {
                name: name.to_owned(),
                place: Place::File,
                summary: first_line(&source.text[parts.body]),
                source,
                fields,
            });
        }
    }

    /// Reads a file with a `hooks:` list.
    fn bundle(&mut self, root: &Dir, path: &str) {
        let Some((source, _, node)) = self.open(root, path) else {
            return;
        };
        if path == HARNESS_FILE {
            let mut reader = config::Reader {
                root,
                source: &source,
                problems: &mut self.problems,
            };
            self.config.read(&node, &mut reader);
        }
        let Some((_, hooks)) = node.entry("hooks") else {
            return;
        };
        let Some(entries) = hooks.as_list() else {
            if hooks.value != yaml::Value::Null {
                self.problems.push(
                    Diagnostic::error(format!("hooks must be a list, not {}", hooks.kind_name()))
                        .at(&source, hooks.span.clone()),
                );
            }
            return;
        };
        for (index, entry) in entries.iter().enumerate() {
            self.entry(root, &source, index, entry);
        }
    }

    fn entry(&mut self, root: &Dir, source: &Arc<Source>, index: usize, entry: &Node) {
        if entry.as_map().is_none() {
            self.problems.push(
                Diagnostic::error(format!(
                    "hooks[{index}] must be a map, not {}",
                    entry.kind_name()
                ))
                .at(source, entry.span.clone()),
            );
            return;
        }
        let handler = entry.get("handler").and_then(Node::as_str);
        let Some(name) = handler.filter(|name| !name.trim().is_empty()) else {
            self.problems.push(
                Diagnostic::error(format!(
                    "hooks[{index}]: hook with empty handler name found"
                ))
                .at(source, entry.span.start..entry.span.start + 1)
                .help("name it with `handler: NAME`: it has no file name of its own"),
            );
            return;
        };
        if name.chars().any(char::is_control) {
            let message = format!("hooks[{index}]: a hook's name must not have control characters");
            self.problems.push(
                Diagnostic::error(message).at(source, entry.span.start..entry.span.start + 1),
            );
            return;
        }
        let reader = Reader {
            source,
            name,
            place: Place::Entry,
            strict: self.strict,
            limits: self.config.limits,
            root,
            problems: &mut self.problems,
        };
        if let Some(fields) = reader.read(entry) {
            self.drafts.push(Draft {
                name: name.to_owned(),
                place: Place::Entry,
                source: Arc::clone(source),
                summary: None,
                fields,
            });
        }
    }

    /// A hook file takes the place of the entry of `harness.md` with its name.
    /// Between other sources nothing is dropped: one guard too many is safer
    /// than one too few.
    fn drop_overridden(&mut self) {
        let files: HashMap<String, String> = self
            .drafts
            .iter()
            .filter(|draft| draft.place == Place::File)
            .map(|draft| (draft.name.clone(), draft.source.path.clone()))
            .collect();
        let problems = &mut self.problems;
        self.drafts.retain(|draft| {
            let by = files.get(&draft.name);
            match by.filter(|_| draft.source.path == HARNESS_FILE) {
                None => true,
                Some(by) => {
                    problems.push(
                        Diagnostic::warning(format!("hook {:?} is replaced by {by}", draft.name))
                            .at(&draft.source, draft.fields.event_span.clone()),
                    );
                    false
                }
            }
        });
    }

    /// Reads and parses a file, unless that was done before.
    fn open(&mut self, root: &Dir, path: &str) -> Option<(Arc<Source>, Parts, Node)> {
        if let Some(file) = self.kept.and_then(|kept| kept.take(path)) {
            let source = Source::new(path, file.text);
            let parts = split(&source.text).ok()?;
            return Some((source, parts, file.node));
        }
        let (source, parts) = self.read(root, path)?;
        let node = self.parse(&source, &parts)?;
        Some((source, parts, node))
    }

    fn read(&mut self, root: &Dir, path: &str) -> Option<(Arc<Source>, Parts)> {
        let bytes = match read_bounded(root, path, MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unreadable(path, &error);
                return None;
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..at]
                    .iter()
                    .filter(|&&byte| byte == b'\n')
                    .count()
                    + 1;
                self.problems.push(
                    Diagnostic::error(format!(
                        "the file is not UTF-8: line {line} has a byte that does not fit"
                    ))
                    .in_file(path)
                    .help("save it as UTF-8"),
                );
                return None;
            }
        };
        let source = Source::new(path, text);
        match split(&source.text) {
            Ok(parts) => Some((source, parts)),
            Err(error) => {
                let span = error.span();
                self.parse_error(&source, &error.to_string(), span);
                None
            }
        }
    }

    fn parse(&mut self, source: &Arc<Source>, parts: &Parts) -> Option<Node> {
        match yaml::parse(&source.text, parts.yaml.clone()) {
            Ok(node) if node.as_map().is_some() => Some(node),
            Ok(node) if node.value == yaml::Value::Null => Some(Node {
                value: yaml::Value::Map(Vec::new()),
                ..node
            }),
            Ok(node) => {
                let message = format!("the frontmatter must be a map, not {}", node.kind_name());
                self.parse_error(source, &message, node.span.clone());
                None
            }
            Err(error) => {
                let span = error.span.clone();
                self.parse_error(source, &error.to_string(), span);
                None
            }
        }
    }

    fn parse_error(&mut self, source: &Arc<Source>, message: &str, span: std::ops::Range<usize>) {
        let file = source.path.rsplit('/').next().unwrap_or(&source.path);
        let kind = if source.path == HARNESS_FILE {
            "parse"
        } else {
            "parse hook"
        };
        self.problems
            .push(Diagnostic::error(format!("{kind} {file}: {message}")).at(source, span));
    }

    fn unreadable(&mut self, path: &str, error: &std::io::Error) {
        self.problems
            .push(Diagnostic::error(format!("cannot be read: {error}")).in_file(path));
    }
}

/// Checks events and code, and makes hooks of the drafts.
fn finish(drafts: Vec<Draft>, loading: &mut Loading<'_>) {
    let strict = loading.options.strict;
    let mut parser = LazyParser::new(loading.workshop);
    for (index, draft) in drafts.into_iter().enumerate() {
        let Some(info) = events::find(&draft.fields.event) else {
            loading.problems.push(unknown_event(index, &draft));
            continue;
        };
        let mut checker = Checker {
            workshop: loading.workshop,
            source: &draft.source,
            name: &draft.name,
            parser: &mut parser,
            strict,
            grants_itself: true,
            uses: Vec::new(),
            problems: &mut loading.problems,
        };
        let kept = loading.kept.as_ref();
        let predicate = match &draft.fields.when {
            None => Some(Predicate::Always),
            Some(when) if kept.is_some() => Some(Predicate::When(checker.known_when(when))),
            Some(when) => checker.when(when).map(Predicate::When),
        };
        let grants = loading.config.grants.clone().and(draft.fields.grants);
        let handler = match (&draft.fields.script, &draft.fields.component) {
            (Some(script), _) if kept.is_some() => {
                Some(Handler::Starlark(checker.known_script(script)))
            }
            (None, Some(component)) if let Some(kept) = kept => {
                checker.known_component(loading.root, component, kept)
            }
            (Some(script), _) => checker
                .script(script, draft.fields.when.is_some())
                .map(Handler::Starlark),
            (None, Some(component)) => {
                let granted = &draft.fields.granted;
                checker.component(loading.root, component, &grants, granted)
            }
            (None, None) if draft.fields.placeholder => {
                if kept.is_none() {
                    checker.placeholder(&draft.fields.event_span);
                }
                Some(Handler::Placeholder)
            }
            // What is wrong with the code was said where it was read.
            (None, None) => None,
        };
        if handler.is_some() && kept.is_none() {
            loading
                .used
                .extend(checker.grants(&grants, &draft.fields.granted));
        }
        let (Some(predicate), Some(handler)) = (predicate, handler) else {
            continue;
        };
        let event: Arc<str> = draft.fields.event.into();
        loading.hooks.push(Hook {
            name: draft.name.into(),
            point: Arc::clone(&event),
            event,
            order: 0,
            priority: draft.fields.priority,
            position: 0,
            predicate,
            handler,
            limits: draft.fields.limits,
            grants,
            on_error: loading.on_error(draft.fields.on_error, info),
            waits: info.waits,
            live: loading.config.live_when,
            collects: false,
            dialect: &DIALECT,
            origin: Origin {
                file: draft.source.path.as_str().into(),
                summary: draft.summary,
                explicit_priority: draft.fields.explicit_priority,
                source: draft.source,
                own_file: draft.place == Place::File,
            },
        });
    }
}

fn unknown_event(position: usize, draft: &Draft) -> Diagnostic {
    let event = &draft.fields.event;
    Diagnostic::error(format!("hooks[{position}].event {event:?} is invalid"))
        .at(&draft.source, draft.fields.event_span.clone())
        .help(events::advice(event))
}

fn looks_like_markdown(ending: &str) -> bool {
    ["md", "markdown", "mdown", "mkd"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(ending))
}
