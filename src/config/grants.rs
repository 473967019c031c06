//! The `grant:` block, of a hook or of a project.

use std::sync::Arc;
use std::time::Duration;

use super::limits::amount;
use super::{Granted, Reader};
use crate::capability::cache::{Namespace, Quota};
use crate::capability::grant::{CacheGrant, Folder, Grants, Kind};
use crate::capability::http::{Entry, HeaderName, HttpGrant, Network, Rule, Template};
use crate::capability::services::SECRET_PREFIX;
use crate::sandbox::limits::{self, Parsed};
use crate::yaml::{Key, Node, Value};

/// The keys of an entry of `http:` that is more than a rule.
const HTTP_KEYS: [&str; 5] = ["allow", "headers", "redirects", "networks", "timeout"];

/// The keys of `cache:`.
const CACHE_KEYS: [&str; 4] = ["namespace", "max", "keys", "ttl"];

/// How much a namespace may be granted.
const MOST: Quota = Quota {
    bytes: 64 << 20,
    keys: 100_000,
};

/// Reads a `grant:` block, and the place of each of its keys.
pub(crate) fn read(node: &Node, reader: &mut Reader<'_>) -> (Grants, Vec<Granted>) {
    let mut grants = Grants::default();
    let mut granted = Vec::new();
    if node.is_null() {
        return (grants, granted);
    }
    let Some(entries) = node.as_map() else {
        reader.error_with_help(
            format!("grant must be a map, not {}", node.kind_name()),
            &node.span,
            "write for example `grant: { http: [\"GET https://api.example.com/v1/*\"] }`",
        );
        return (grants, granted);
    };
    for (key, value) in entries {
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.key() == key.name) else {
            reader.unknown_key("grants", key, Kind::ALL.map(Kind::key));
            continue;
        };
        read_kind(kind, value, &mut grants, reader);
        granted.push(Granted {
            kind,
            source: Arc::clone(reader.source),
            span: key.span.clone(),
        });
    }
    (grants, granted)
}

fn read_kind(kind: Kind, node: &Node, grants: &mut Grants, reader: &mut Reader<'_>) {
    match kind {
        Kind::Http => grants.http = http(node, reader),
        Kind::Cache => grants.cache = cache(node, reader),
        Kind::Env => grants.env = strings(kind, node, reader, variable).into_iter().collect(),
        Kind::Read => grants.read = strings(kind, node, reader, folder),
        Kind::Tools => grants.tools = strings(kind, node, reader, tool).into_iter().collect(),
        Kind::Hooks => grants.hooks = word(kind, node, "read", reader),
        Kind::Clock => grants.clock = word(kind, node, "real", reader),
        Kind::Random => grants.random = word(kind, node, "real", reader),
    }
}

/// Reads a list of strings, each turned into what it stands for.
fn strings<T>(
    kind: Kind,
    node: &Node,
    reader: &mut Reader<'_>,
    make: impl Fn(&str, &Reader<'_>) -> Result<T, String>,
) -> Vec<T> {
    let help = || format!("write for example `{}`", kind.example());
    let Some(entries) = node.as_list() else {
        let message = format!(
            "grant: {} must be a list, not {}",
            kind.key(),
            node.kind_name()
        );
        reader.error_with_help(message, &node.span, help());
        return Vec::new();
    };
    let mut made = Vec::new();
    for entry in entries {
        let result = match entry.as_str() {
            Some(text) => make(text, reader),
            None => Err(format!("must be a string, not {}", entry.kind_name())),
        };
        match result {
            Ok(value) => made.push(value),
            Err(why) => {
                let message = format!("grant: {}: {why}", kind.key());
                reader.error_with_help(message, &entry.span, help());
            }
        }
    }
    made
}

fn word(kind: Kind, node: &Node, only: &str, reader: &mut Reader<'_>) -> bool {
    let granted = node.as_str() == Some(only);
    if !granted {
        reader.error_with_help(
            format!("grant: {} can only be `{only}`", kind.key()),
            &node.span,
            "leave it out to grant nothing",
        );
    }
    granted
}

fn variable(name: &str, _: &Reader<'_>) -> Result<String, String> {
    let legal = name.bytes().enumerate().all(|(at, byte)| {
        byte == b'_' || byte.is_ascii_alphabetic() || at > 0 && byte.is_ascii_digit()
    });
    if name.is_empty() || !legal {
        return Err(format!("{name:?} is not the name of a variable"));
    }
    if name.starts_with(SECRET_PREFIX) {
        return Err(format!(
            "{name} is a secret, which no hook may read; use it in a header under `http:`"
        ));
    }
    Ok(name.to_owned())
}

fn tool(name: &str, _: &Reader<'_>) -> Result<String, String> {
    if name.trim().is_empty() || name.contains('*') {
        return Err(format!(
            "{name:?} is not the name of a tool; patterns are not granted"
        ));
    }
    Ok(name.to_owned())
}

/// Opens a directory below the project, through links only as far as they stay there.
fn folder(path: &str, reader: &Reader<'_>) -> Result<Folder, String> {
    let trimmed = path.trim_start_matches("./").trim_end_matches('/');
    let trimmed = if trimmed.is_empty() { "." } else { trimmed };
    let plain = std::path::Path::new(trimmed).components().all(|part| {
        use std::path::Component;
        matches!(part, Component::Normal(_) | Component::CurDir)
    });
    if !plain || path.starts_with('/') {
        return Err(format!(
            "{path:?} is not below the project; paths start at the project and have no `..`"
        ));
    }
    match reader.root.open_dir(trimmed) {
        Ok(dir) => Ok(Folder {
            path: trimmed.to_owned(),
            dir: Arc::new(dir),
        }),
        Err(error) => Err(format!(
            "{path:?} is not a directory that can be read: {error}"
        )),
    }
}

fn cache(node: &Node, reader: &mut Reader<'_>) -> Option<CacheGrant> {
    let mut grant = CacheGrant {
        namespace: None,
        quota: Quota::default(),
        ttl: None,
    };
    let Some(entries) = node.as_map() else {
        let message = format!("grant: cache must be a map, not {}", node.kind_name());
        let help = format!("write for example `{}`", Kind::Cache.example());
        reader.error_with_help(message, &node.span, help);
        return None;
    };
    for (key, value) in entries {
        if let Err(why) = cache_key(&mut grant, key, value) {
            match why {
                Some(why) => {
                    reader.error(format!("grant: cache: {}: {why}", key.name), &value.span)
                }
                None => reader.unknown_key("keys of cache", key, CACHE_KEYS),
            }
        }
    }
    Some(grant)
}

/// Sets one key; no reason means that there is no such key.
fn cache_key(grant: &mut CacheGrant, key: &Key, node: &Node) -> Result<(), Option<String>> {
    let written = || amount(node).ok_or_else(|| Some(format!("not {}", node.kind_name())));
    match key.name.as_str() {
        "namespace" => {
            let name = node
                .as_str()
                .ok_or_else(|| Some("must be a string".to_owned()))?;
            let namespace = Namespace::shared(name).map_err(|error| Some(error.to_string()))?;
            grant.namespace = Some(namespace);
        }
        "max" => {
            let bytes = wanted(limits::size(&written()?))? as u64;
            grant.quota.bytes = at_most(bytes, MOST.bytes)?;
        }
        "keys" => grant.quota.keys = at_most(wanted(limits::count(&written()?))?, MOST.keys)?,
        "ttl" => grant.ttl = Some(wanted(limits::duration(&written()?))?),
        _ => return Err(None),
    }
    Ok(())
}

fn wanted<T>(parsed: Parsed<T>) -> Result<T, Option<String>> {
    parsed.map_err(|(written, wanted)| Some(format!("{written:?} is not {wanted}")))
}

fn at_most(value: u64, most: u64) -> Result<u64, Option<String>> {
    if value > most {
        return Err(Some(format!("the most a namespace may hold is {most}")));
    }
    Ok(value)
}

fn http(node: &Node, reader: &mut Reader<'_>) -> HttpGrant {
    let mut grant = HttpGrant::default();
    let Some(entries) = node.as_list() else {
        let message = format!("grant: http must be a list, not {}", node.kind_name());
        let help = format!("write for example `{}`", Kind::Http.example());
        reader.error_with_help(message, &node.span, help);
        return grant;
    };
    for node in entries {
        let entry = match &node.value {
            Value::String(text) => rule(text, node, reader),
            Value::Map(_) => http_entry(node, reader),
            _ => {
                let kind = node.kind_name();
                let message = format!("grant: http: a rule must be a string or a map, not {kind}");
                reader.error(message, &node.span);
                None
            }
        };
        grant.entries.extend(entry);
    }
    grant
}

fn rule(text: &str, node: &Node, reader: &mut Reader<'_>) -> Option<Entry> {
    match Rule::parse(text) {
        Ok(rule) => Some(Entry::new(rule)),
        Err(error) => {
            reader.error(format!("grant: http: {error}"), &node.span);
            None
        }
    }
}

/// Reads an entry with headers, redirects, networks or a time of its own.
fn http_entry(node: &Node, reader: &mut Reader<'_>) -> Option<Entry> {
    let Some(allow) = node.get("allow") else {
        reader.error_with_help(
            "grant: http: the entry does not say what it allows",
            &node.span,
            "write for example `allow: \"GET https://api.example.com/v1/*\"`",
        );
        return None;
    };
    let mut entry = rule(allow.as_str().unwrap_or_default(), allow, reader)?;
    for (key, value) in node.as_map().unwrap_or_default() {
        let read = match key.name.as_str() {
            "allow" => Ok(()),
            "headers" => headers(value).map(|headers| entry.headers = headers),
            "redirects" => redirects(value).map(|redirects| entry.redirects = redirects),
            "networks" => networks(value).map(|networks| entry.networks = networks),
            "timeout" => timeout(value).map(|timeout| entry.timeout = Some(timeout)),
            _ => {
                reader.unknown_key("keys of an http entry", key, HTTP_KEYS);
                Ok(())
            }
        };
        if let Err(why) = read {
            reader.error(format!("grant: http: {}: {why}", key.name), &value.span);
        }
    }
    if let Err(error) = entry.check() {
        reader.error(format!("grant: http: {error}"), &node.span);
    }
    Some(entry)
}

fn headers(node: &Node) -> Result<Vec<(HeaderName, Template)>, String> {
    let entries = node.as_map().ok_or("must be a map of names to values")?;
    entries
        .iter()
        .map(|(key, value)| {
            let name = HeaderName::parse(&key.name).map_err(|error| error.to_string())?;
            let text = value
                .as_str()
                .ok_or("the value of a header must be a string")?;
            let template = Template::parse(text).map_err(|error| error.to_string())?;
            Ok((name, template))
        })
        .collect()
}

fn redirects(node: &Node) -> Result<u8, String> {
    let number = node.as_int().and_then(|number| u8::try_from(number).ok());
    number.ok_or_else(|| "must be a number from 0 to 10".to_owned())
}

fn networks(node: &Node) -> Result<Vec<Network>, String> {
    let entries = node
        .as_list()
        .ok_or("must be a list, for example `[loopback]`")?;
    entries
        .iter()
        .map(|entry| {
            let text = entry.as_str().unwrap_or_default();
            Network::parse(text).map_err(|error| error.to_string())
        })
        .collect()
}

fn timeout(node: &Node) -> Result<Duration, String> {
    let written = amount(node).ok_or("must be a time like 500ms or 2s")?;
    limits::duration(&written).map_err(|(written, wanted)| format!("{written:?} is not {wanted}"))
}
