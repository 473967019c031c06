//! Whether hooks may run outside of the sandbox, and what such programs are kept to.

use std::path::{Path, PathBuf};

use super::Reader;
use crate::yaml::Node;

/// What a project says of programs outside of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processes {
    /// Whether there may be any.
    pub allow: bool,
    /// The only paths they read and execute; nothing for all.
    pub read: Option<Vec<PathBuf>>,
    /// The only paths they write; nothing for all.
    pub write: Option<Vec<PathBuf>>,
    /// The only TCP ports they connect to; nothing for all.
    pub connect: Option<Vec<u16>>,
}

/// The keys of the table.
const KEYS: [&str; 4] = ["allow", "read", "write", "connect"];

/// What the word is, and what the table looks like.
const HELP: &str = "write `process = \"allow\"`, or for example `process = { allow = true, write = [\"/tmp\"], connect = [] }`";

/// Reads `process`. What cannot be read allows nothing.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> Processes {
    if let Some(word) = node.as_str() {
        if !["allow", "deny"].contains(&word) {
            reader.error_with_help("process must be `allow` or `deny`", &node.span, HELP);
        }
        return Processes {
            allow: word == "allow",
            ..Processes::default()
        };
    }
    let Some(entries) = node.as_map() else {
        let message = format!(
            "process must be a word or a table, not {}",
            node.kind_name()
        );
        reader.error_with_help(message, &node.span, HELP);
        return Processes::default();
    };
    let mut processes = Processes::default();
    for (key, value) in entries {
        match key.name.as_str() {
            "allow" => match value.as_bool() {
                Some(allow) => processes.allow = allow,
                None => reader.error_with_help("allow must be true or false", &value.span, HELP),
            },
            "read" => processes.read = Some(list(value, reader, path)),
            "write" => processes.write = Some(list(value, reader, path)),
            "connect" => processes.connect = Some(list(value, reader, port)),
            _ => reader.unknown_key("keys of process", key, KEYS),
        }
    }
    processes
}

fn list<T>(
    node: &Node,
    reader: &mut Reader<'_>,
    make: impl Fn(&Node) -> Result<T, &'static str>,
) -> Vec<T> {
    let Some(entries) = node.as_list() else {
        reader.error_with_help("this must be a list", &node.span, HELP);
        return Vec::new();
    };
    let mut made = Vec::new();
    for entry in entries {
        match make(entry) {
            Ok(value) => made.push(value),
            Err(why) => reader.error_with_help(why, &entry.span, HELP),
        }
    }
    made
}

fn path(node: &Node) -> Result<PathBuf, &'static str> {
    match node.as_str() {
        Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
        _ => Err("a path must be a string"),
    }
}

fn port(node: &Node) -> Result<u16, &'static str> {
    let number = node.as_int().and_then(|number| u16::try_from(number).ok());
    number.ok_or("a port must be a number from 0 to 65535")
}

impl Processes {
    /// Returns the paths as seen from a project.
    #[must_use]
    pub fn below(&self, project: &Path) -> Self {
        let all = |paths: &Option<Vec<PathBuf>>| {
            let join = |path: &PathBuf| project.join(path);
            paths.as_ref().map(|paths| paths.iter().map(join).collect())
        };
        Self {
            read: all(&self.read),
            write: all(&self.write),
            ..self.clone()
        }
    }
}
