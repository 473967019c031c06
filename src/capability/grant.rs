//! What a hook may reach beyond its event. Nothing, unless its owner wrote it down.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::cache::{Namespace, Quota};
use super::http::HttpGrant;

/// The grants of one hook.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// The requests it may send.
    pub http: HttpGrant,
    /// Where its values are kept; none for a cache of its own that ends with the run.
    pub cache: Option<CacheGrant>,
    /// The environment variables it may read.
    pub env: BTreeSet<String>,
    /// The directories it may read.
    pub read: Vec<Folder>,
    /// The tools it may call.
    pub tools: BTreeSet<String>,
    /// Whether it may read the project's hooks.
    pub hooks: bool,
    /// Whether it sees the time.
    pub clock: bool,
    /// Whether its randomness is real.
    pub random: bool,
}

/// A namespace of the project's cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheGrant {
    /// The namespace it shares with others; none for one of its own.
    pub namespace: Option<Namespace>,
    /// How much the namespace may hold.
    pub quota: Quota,
    /// How long a value stays at most.
    pub ttl: Option<Duration>,
}

/// A directory below the project, open for reading.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The path from the project, without a slash at its end.
    pub path: String,
    /// The directory: opened when the hook loaded, so that nobody can put another
    /// one in its place.
    pub dir: Arc<cap_std::fs::Dir>,
}

/// One thing that takes a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Requests.
    Http,
    /// A namespace of the project's cache.
    Cache,
    /// Environment variables.
    Env,
    /// Directories.
    Read,
    /// The agent's tools.
    Tools,
    /// The project's hooks.
    Hooks,
    /// The time.
    Clock,
    /// Real randomness.
    Random,
}

impl Kind {
    /// All of them, in the order in which people read them.
    pub const ALL: [Self; 8] = [
        Self::Http,
        Self::Cache,
        Self::Env,
        Self::Read,
        Self::Tools,
        Self::Hooks,
        Self::Clock,
        Self::Random,
    ];

    /// Returns the key under `grant:`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Cache => "cache",
            Self::Env => "env",
            Self::Read => "read",
            Self::Tools => "tools",
            Self::Hooks => "hooks",
            Self::Clock => "clock",
            Self::Random => "random",
        }
    }

    /// Returns a line that would grant it.
    #[must_use]
    pub fn example(self) -> &'static str {
        match self {
            Self::Http => "http: [\"GET https://HOST/PATH/*\"]",
            Self::Cache => "cache: { namespace: NAME, max: 1 MiB, ttl: 1h }",
            Self::Env => "env: [NAME]",
            Self::Read => "read: [\"FOLDER/\"]",
            Self::Tools => "tools: [NAME]",
            Self::Hooks => "hooks: read",
            Self::Clock => "clock: real",
            Self::Random => "random: real",
        }
    }

    /// Returns the capability that an import or a built-in stands for. Nothing for
    /// those that need no grant.
    #[must_use]
    pub fn of_import(import: &str) -> Option<Self> {
        let name = import.split('@').next().unwrap_or(import);
        match name {
            "hookbox:hook/http" | "wasi:http/outgoing-handler" => Some(Self::Http),
            "hookbox:hook/tools" => Some(Self::Tools),
            "hookbox:hook/environment" => Some(Self::Env),
            "hookbox:hook/files" => Some(Self::Read),
            "hookbox:hook/hooks" => Some(Self::Hooks),
            _ => None,
        }
    }

    /// Says whether an import makes use of the grant.
    #[must_use]
    pub fn is_used_by(self, import: &str) -> bool {
        let name = import.split('@').next().unwrap_or(import);
        match self {
            Self::Http | Self::Tools | Self::Hooks => Self::of_import(import) == Some(self),
            Self::Cache => name == "hookbox:hook/cache",
            Self::Env => ["hookbox:hook/environment", "wasi:cli/environment"].contains(&name),
            Self::Read => ["hookbox:hook/files", "wasi:filesystem/preopens"].contains(&name),
            Self::Clock => name == "hookbox:hook/clock" || name.starts_with("wasi:clocks/"),
            Self::Random => name == "hookbox:hook/random" || name.starts_with("wasi:random/"),
        }
    }
}

impl Grants {
    /// Says whether anything of a kind is granted.
    #[must_use]
    pub fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Http => !self.http.entries.is_empty(),
            Kind::Cache => self.cache.is_some(),
            Kind::Env => !self.env.is_empty(),
            Kind::Read => !self.read.is_empty(),
            Kind::Tools => !self.tools.is_empty(),
            Kind::Hooks => self.hooks,
            Kind::Clock => self.clock,
            Kind::Random => self.random,
        }
    }

    /// Adds the grants of a hook to those of its project.
    #[must_use]
    pub fn and(mut self, own: Self) -> Self {
        self.http.entries.extend(own.http.entries);
        self.cache = own.cache.or(self.cache);
        self.env.extend(own.env);
        self.read.extend(own.read);
        self.tools.extend(own.tools);
        self.hooks |= own.hooks;
        self.clock |= own.clock;
        self.random |= own.random;
        self
    }

    /// Returns the grants as lines that people read: a key and what it allows.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        let mut add = |kind: Kind, text: String| lines.push((kind.key(), text));
        for entry in &self.http.entries {
            add(Kind::Http, entry.to_string());
        }
        if let Some(cache) = &self.cache {
            add(Kind::Cache, cache.to_string());
        }
        if !self.env.is_empty() {
            add(Kind::Env, joined(self.env.iter()));
        }
        if !self.read.is_empty() {
            let paths = self.read.iter().map(|folder| format!("{}/", folder.path));
            add(Kind::Read, joined(paths));
        }
        if !self.tools.is_empty() {
            add(Kind::Tools, joined(self.tools.iter()));
        }
        for (kind, granted, text) in [
            (Kind::Hooks, self.hooks, "read"),
            (Kind::Clock, self.clock, "real"),
            (Kind::Random, self.random, "real"),
        ] {
            if granted {
                add(kind, text.to_owned());
            }
        }
        lines
    }
}

fn joined(items: impl Iterator<Item = impl fmt::Display>) -> String {
    items
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

impl fmt::Display for CacheGrant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{namespace}, shared")?,
            None => formatter.write_str("its own namespace")?,
        }
        write!(
            formatter,
            ", at most {} in {} values",
            size(self.quota.bytes),
            self.quota.keys
        )?;
        match self.ttl {
            Some(ttl) => write!(formatter, ", for {}", time(ttl)),
            None => Ok(()),
        }
    }
}

/// A size as an owner would write it.
fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

/// A time as an owner would write it.
fn time(time: Duration) -> String {
    let milliseconds = time.as_millis();
    for (unit, name) in [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
    ] {
        if milliseconds >= unit && milliseconds.is_multiple_of(unit) {
            return format!("{}{name}", milliseconds / unit);
        }
    }
    format!("{milliseconds}ms")
}

/// For programs: the same lines, under their keys.
impl Serialize for Grants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serde_json::Map::new();
        for (key, text) in self.lines() {
            let list = map
                .entry(key)
                .or_insert_with(|| serde_json::Value::Array(Vec::new()));
            if let serde_json::Value::Array(list) = list {
                list.push(text.into());
            }
        }
        map.serialize(serializer)
    }
}
