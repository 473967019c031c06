//! Where the values of granted cache namespaces are kept.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Reader;
use crate::capability::cache::{CacheError, Disk, Memory, Redis, Store};
use crate::yaml::Node;

/// The environment variable with the address of Redis, for addresses that hold a
/// password and so do not belong into a file.
pub(crate) const REDIS_VARIABLE: &str = "HOOKBOX_REDIS_URL";

/// The keys of `cache:`.
const KEYS: [&str; 3] = ["backend", "path", "url"];

/// A place for values.
#[derive(Clone, PartialEq, Eq)]
pub enum Backend {
    /// In memory, for as long as the run.
    Memory,
    /// In a file, for all runs on this machine.
    Disk {
        /// The file, relative to the project; none for one in the user's own cache
        /// directory.
        path: Option<PathBuf>,
    },
    /// On a Redis or Valkey server, for all machines.
    Redis {
        /// Its address; none for the one in `HOOKBOX_REDIS_URL`.
        url: Option<String>,
    },
}

/// An address may hold a password.
impl fmt::Debug for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => formatter.write_str("Memory"),
            Self::Disk { path } => formatter.debug_struct("Disk").field("path", path).finish(),
            Self::Redis { .. } => formatter.write_str("Redis"),
        }
    }
}

impl Backend {
    /// Opens it.
    ///
    /// # Errors
    /// Returns why it cannot be used.
    pub(crate) fn open(&self, project: &Path) -> Result<Arc<dyn Store>, CacheError> {
        Ok(match self {
            Self::Memory => Arc::new(Memory::default()),
            Self::Disk { path: Some(path) } => {
                Arc::new(Disk::open(&without_links(project, path)?)?)
            }
            Self::Disk { path: None } => Arc::new(Disk::open(&own_file(project)?)?),
            Self::Redis { url: Some(url) } => Arc::new(Redis::open(url)?),
            Self::Redis { url: None } => {
                let url = std::env::var(REDIS_VARIABLE).map_err(|_| {
                    CacheError::Unavailable(format!(
                        "`cache: {{ backend: redis }}` has no address; set {REDIS_VARIABLE}, or write `url:` beside it"
                    ))
                })?;
                Arc::new(Redis::open(&url)?)
            }
        })
    }
}

/// Refuses a path with a link on its way: it could lead out of the project.
fn without_links(project: &Path, path: &Path) -> Result<PathBuf, CacheError> {
    let mut whole = project.to_owned();
    for part in path {
        whole.push(part);
        if whole.is_symlink() {
            return Err(CacheError::Unavailable(format!(
                "{} is a link; `cache.path` must not lead through one",
                whole.display()
            )));
        }
    }
    Ok(whole)
}

/// The user's own file for a project. It lies outside of the project, where an agent
/// that works there does not come across it.
fn own_file(project: &Path) -> Result<PathBuf, CacheError> {
    use sha2::{Digest as _, Sha256};
    let unavailable = |why: String| CacheError::Unavailable(why);
    let project = std::fs::canonicalize(project)
        .map_err(|error| unavailable(format!("{}: {error}", project.display())))?;
    let base = crate::sandbox::compiled::cache_directory().ok_or_else(|| {
        unavailable("there is no directory for it: set HOOKBOX_CACHE_DIR to one of your own".into())
    })?;
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    let name = crate::sandbox::engine::hex(&digest[..16]);
    Ok(base.join("projects").join(name).join("cache.redb"))
}

/// Reads a `cache:` block.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Backend> {
    let help = "write for example `cache: { backend: disk }` or `cache: { backend: redis, url: \"redis://localhost\" }`";
    let Some(entries) = node.as_map() else {
        let message = format!("cache must be a map, not {}", node.kind_name());
        reader.error_with_help(message, &node.span, help);
        return None;
    };
    for (key, _) in entries {
        if !KEYS.contains(&key.name.as_str()) {
            reader.unknown_key("keys of cache", key, KEYS);
        }
    }
    let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
    match text("backend").as_deref() {
        Some("memory") => Some(Backend::Memory),
        Some("disk") => Some(Backend::Disk {
            path: node.get("path").and_then(|path| below(path, reader)),
        }),
        Some("redis") => Some(Backend::Redis { url: text("url") }),
        _ => {
            let span = node.get("backend").map_or(&node.span, |node| &node.span);
            reader.error_with_help("cache.backend must be memory, disk or redis", span, help);
            None
        }
    }
}

/// Takes a path that stays in the project.
fn below(node: &Node, reader: &mut Reader<'_>) -> Option<PathBuf> {
    let path = node.as_str().map(PathBuf::from);
    let inside = path.filter(|path| {
        path.components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
    });
    if inside.is_none() {
        reader.error_with_help(
            "cache.path must be a path below the project, without `..`",
            &node.span,
            "leave it out to keep the file in your own cache directory",
        );
    }
    inside
}
