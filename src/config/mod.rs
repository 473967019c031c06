//! What a project's owner sets for all hooks: in `hookbox.toml`, or under the same
//! keys in the frontmatter of `harness.md`.

mod backend;
mod build;
mod dialects;
pub(crate) mod grants;
pub(crate) mod json;
pub(crate) mod limits;
mod process;
pub(crate) mod reads;
pub(crate) mod toml;

use std::io::Read as _;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::capability::grant::{Grants, Kind};
use crate::capability::http::Domains;
use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::hook::OnError;
use crate::sandbox::limits::Limits;
use crate::yaml::{Node, Value};
pub use backend::Backend;
pub(crate) use backend::REDIS_VARIABLE;
pub use build::{BuildSettings, Language};
pub use process::Processes;

/// The file of settings that belong to no dialect.
const FILE: &str = "hookbox.toml";

/// Where it can lie as well, for those who like a tidy project.
const HIDDEN: &str = ".hookbox/config.toml";

/// Where events are recorded to if nothing else is said.
const TAPES: &str = ".hookbox/tapes";

/// How large it may be.
const MAX_BYTES: u64 = 1 << 20;

/// The keys it may have.
const KEYS: [&str; 15] = [
    "hooks",
    "limits",
    "grant",
    "network",
    "cache",
    "build",
    "tape",
    "on_error",
    "process",
    "dialects",
    "harness",
    "polytoken",
    "framework",
    "record",
    "self_defence",
];

/// The settings of a project.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The limits of hooks that set none.
    pub limits: Limits,
    /// What every hook is granted.
    pub grants: Grants,
    /// Where each of those grants is written.
    pub(crate) granted: Vec<Granted>,
    /// The domains no hook goes beyond, whatever it was granted.
    pub domains: Option<Domains>,
    /// Where granted cache namespaces are kept.
    pub cache: Option<Backend>,
    /// Whether a decision that is not on a tape counts.
    pub tape_required: bool,
    /// The folder that `hookbox hook` records every event to.
    pub record: Option<String>,
    /// Whether the agent may change what guards it. Only `self_defence = false` says so.
    pub defenceless: bool,
    /// Hook files outside of the folders of a dialect, relative to the project.
    pub hooks: Vec<String>,
    /// How the project's component is built.
    pub build: Option<BuildSettings>,
    /// Whether the wall time was set, or is the default.
    pub(crate) own_wall_time: bool,
    /// What the failure of a hook means that says nothing itself.
    pub on_error: Option<OnError>,
    /// Whether and how hooks run outside of the sandbox.
    pub process: Processes,
    /// The dialects that are loaded, in the order in which their hooks run; nothing for
    /// all in their own order.
    pub dialects: Option<Vec<&'static str>>,
    /// Whether a `when` sees what earlier hooks left of the payload.
    pub live_when: bool,
    /// Whether every hook of a dialect is heard, also after one refused: by its name.
    pub(crate) collecting: Vec<&'static str>,
}

/// Returns the directory of what the user decided, for all projects: `HOOKBOX_CONFIG_DIR`, or
/// `hookbox` in the platform's configuration directory.
pub(crate) fn user_directory() -> Option<PathBuf> {
    std::env::var_os("HOOKBOX_CONFIG_DIR")
        .filter(|given| !given.is_empty())
        .map(PathBuf::from)
        .or_else(|| dirs::config_dir().map(|base| base.join("hookbox")))
        .filter(|path| path.is_absolute())
}

/// A grant with its place in a file.
#[derive(Debug, Clone)]
pub(crate) struct Granted {
    pub(crate) kind: Kind,
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

/// What reading settings needs at every step.
pub(crate) struct Reader<'a> {
    pub(crate) root: &'a Dir,
    pub(crate) source: &'a Arc<Source>,
    pub(crate) problems: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(crate) fn error(&mut self, message: impl Into<String>, span: &Range<usize>) {
        self.problems
            .push(Diagnostic::error(message).at(self.source, span.clone()));
    }

    pub(crate) fn error_with_help(
        &mut self,
        message: impl Into<String>,
        span: &Range<usize>,
        help: impl Into<String>,
    ) {
        self.problems.push(
            Diagnostic::error(message)
                .at(self.source, span.clone())
                .help(help),
        );
    }

    /// Says that a key is none of those there are. `what` is the plural of what
    /// it should be.
    pub(crate) fn unknown_key<'k>(
        &mut self,
        what: &str,
        key: &crate::yaml::Key,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) {
        let help = match did_you_mean(&key.name, known.clone()) {
            Some(guess) => format!("did you mean `{guess}`?"),
            None => {
                let known: Vec<&str> = known.into_iter().collect();
                format!("the {what} are {}", known.join(", "))
            }
        };
        self.error_with_help(
            format!("{:?} is none of the {what}", key.name),
            &key.span,
            help,
        );
    }
}

impl Config {
    /// Reads `hookbox.toml`, if the project has one.
    pub(crate) fn load(root: &Dir, problems: &mut Vec<Diagnostic>) -> Self {
        let mut config = Self::default();
        let mut found = Vec::new();
        for file in [FILE, HIDDEN] {
            match read(root, file) {
                Ok(Some(text)) => found.push((file, text)),
                Ok(None) => {}
                Err(error) => {
                    let message = format!("cannot be read: {error}");
                    problems.push(Diagnostic::error(message).in_file(file));
                    return config;
                }
            }
        }
        if found.len() > 1 {
            let message = format!("{FILE} and {HIDDEN} are both there, and only one can count");
            let help = "move everything into one of them";
            problems.push(Diagnostic::error(message).in_file(HIDDEN).help(help));
        }
        let Some((file, text)) = found.into_iter().next() else {
            return config;
        };
        let source = Source::new(file, text);
        match toml::parse(file, &source.text) {
            Ok(node) => {
                let mut reader = Reader {
                    root,
                    source: &source,
                    problems,
                };
                for (key, _) in node.as_map().unwrap_or_default() {
                    if !KEYS.contains(&key.name.as_str()) {
                        reader.unknown_key("settings", key, KEYS);
                    }
                }
                config.read(&node, &mut reader);
                if let Some(node) = node.get("hooks") {
                    config.hooks = hook_files(node, &mut reader);
                }
                config.read_own(&node, &mut reader);
                if let Some(node) = node.get("build") {
                    config.build = build::read(node, &mut reader);
                }
            }
            Err((message, span)) => {
                problems.push(Diagnostic::error(message).at(&source, span));
            }
        }
        config
    }

    /// Reads the keys that only `hookbox.toml` has: what they allow is not for a file
    /// that can have hooks in it.
    fn read_own(&mut self, node: &Node, reader: &mut Reader<'_>) {
        if let Some(node) = node.get("on_error") {
            self.on_error = match node.as_str() {
                Some("block") => Some(OnError::Block),
                Some("allow") => Some(OnError::Allow),
                _ => {
                    reader.error("on_error must be `block` or `allow`", &node.span);
                    Some(OnError::Block)
                }
            };
        }
        if let Some(node) = node.get("record") {
            self.record = record(node, reader);
        }
        if let Some(node) = node.get("self_defence") {
            match node.as_bool() {
                Some(on) => self.defenceless = !on,
                None => reader.error("self_defence must be true or false", &node.span),
            }
        }
        if let Some(node) = node.get("process") {
            self.process = process::read(node, reader);
        }
        if let Some(node) = node.get("dialects") {
            self.dialects = dialects::order(node, reader);
        }
        if let Some(node) = node.get("harness") {
            let words = ["snapshot", "live"];
            self.live_when = dialects::choice(node, "harness", "when_eval", words, reader);
        }
        for name in ["polytoken", "framework"] {
            if let Some(node) = node.get(name)
                && dialects::choice(node, name, "collect", ["first", "all"], reader)
            {
                self.collecting.push(name);
            }
        }
    }

    /// Returns the names of the dialects that are loaded, in their order.
    #[must_use]
    pub fn order(&self) -> Vec<&'static str> {
        self.dialects.clone().unwrap_or_else(|| {
            let all = crate::dialect::ALL.iter();
            all.map(|dialect| dialect.name).collect()
        })
    }

    /// Reads the keys that `hookbox.toml` and `harness.md` have in common.
    pub(crate) fn read(&mut self, node: &Node, reader: &mut Reader<'_>) {
        if let Some(node) = node.get("limits") {
            self.own_wall_time |= node.get("wall_time").is_some();
            self.limits = limits::read(node, self.limits, reader);
        }
        if let Some(node) = node.get("grant") {
            let (grants, granted) = grants::read(node, reader);
            self.grants = std::mem::take(&mut self.grants).and(grants);
            self.granted.extend(granted);
        }
        if let Some((key, node)) = node.entry("network")
            && let Some(domains) = allowed_domains(node, reader)
        {
            if self.domains.is_some() {
                reader.error(
                    "network.allowed_domains is set in hookbox.toml already",
                    &key.span,
                );
            }
            self.domains = Some(domains);
        }
        if let Some(node) = node.get("tape") {
            // Of two files that say different things the stricter one counts.
            self.tape_required |= tape_required(node, reader);
        }
        if let Some((key, node)) = node.entry("cache") {
            if self.cache.is_some() {
                reader.error("cache is set in hookbox.toml already", &key.span);
            }
            self.cache = backend::read(node, reader);
        }
    }
}

/// Reads `tape`. What cannot be read counts as required.
fn tape_required(node: &Node, reader: &mut Reader<'_>) -> bool {
    match node.as_str() {
        Some("required") => true,
        Some("optional") => false,
        _ => {
            reader.error_with_help(
                "tape must be `required` or `optional`",
                &node.span,
                "`required`: what cannot be recorded is not decided",
            );
            true
        }
    }
}

/// Reads `network.allowed_domains`. A list that is there but empty allows nothing.
fn allowed_domains(network: &Node, reader: &mut Reader<'_>) -> Option<Domains> {
    let node = network.get("allowed_domains")?;
    let help = "write for example `allowed_domains: [example.com]`";
    let Some(entries) = node.as_list() else {
        if node.value == Value::Null {
            return Some(Domains::new(Vec::<String>::new()));
        }
        let message = format!(
            "network.allowed_domains must be a list, not {}",
            node.kind_name()
        );
        reader.error_with_help(message, &node.span, help);
        return Some(Domains::new(Vec::<String>::new()));
    };
    let mut domains = Vec::new();
    for entry in entries {
        match entry.as_str() {
            Some(domain) => domains.push(domain),
            None => reader.error_with_help(
                format!("a domain must be a string, not {}", entry.kind_name()),
                &entry.span,
                help,
            ),
        }
    }
    Some(Domains::new(domains))
}

/// Reads the list of hook files.
fn hook_files(node: &Node, reader: &mut Reader<'_>) -> Vec<String> {
    const HELP: &str = "write for example `hooks = [\"guard.md\"]`";
    let Some(entries) = node.as_list() else {
        let message = format!("hooks must be a list, not {}", node.kind_name());
        reader.error_with_help(message, &node.span, HELP);
        return Vec::new();
    };
    let mut files = Vec::new();
    for entry in entries {
        match entry.as_str() {
            Some(file) if file.ends_with(".md") => files.push(file.to_owned()),
            Some(file) => {
                let message = format!("{file:?} is not a hook file: hook files end in `.md`");
                reader.error_with_help(message, &entry.span, HELP);
            }
            None => {
                let message = format!("a hook file must be a string, not {}", entry.kind_name());
                reader.error_with_help(message, &entry.span, HELP);
            }
        }
    }
    files
}

/// Reads `record`: whether events are recorded, or the folder they are recorded to.
fn record(node: &Node, reader: &mut Reader<'_>) -> Option<String> {
    match (node.as_bool(), node.as_str()) {
        (Some(on), _) => on.then(|| TAPES.to_owned()),
        (None, Some(folder)) if is_inside(folder) => Some(folder.to_owned()),
        _ => {
            let help = "write `record = true`, or a folder in the project for the tapes";
            let message = "record must be true, false or a folder in the project";
            reader.error_with_help(message, &node.span, help);
            None
        }
    }
}

/// Says whether a path stays in the project.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.trim().is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn read(root: &Dir, file: &str) -> std::io::Result<Option<String>> {
    use std::io::{Error, ErrorKind};
    match root.symlink_metadata(file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            reads::remember_absent(file);
            return Ok(None);
        }
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    let bytes = read_bounded(root, file, MAX_BYTES)?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads a file that is one, and not a large one.
pub(crate) fn read_bounded(root: &Dir, path: &str, limit: u64) -> std::io::Result<Vec<u8>> {
    use std::io::{Error, ErrorKind};
    reads::remember(path);
    let metadata = root.metadata(path)?;
    if metadata.is_dir() {
        return Err(Error::new(
            ErrorKind::IsADirectory,
            "it is a directory, not a file",
        ));
    }
    // A pipe would never end, and never start either.
    if !metadata.is_file() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    root.open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it is larger than {} KiB", limit >> 10),
        ));
    }
    Ok(bytes)
}
