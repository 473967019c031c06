//! Entries in a JSON file: which ones there are, which are ours, and how ours get in and
//! out without touching anything else.

use serde_json::Value;

use super::super::Agent;
use super::jsonc::{Document, EditError, Step};
use super::wiring::{Settings, Shape};
use super::{Command, Ours};

/// One entry of a settings file, ours or not.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Entry {
    /// The event it is for.
    pub(in crate::agent) event: String,
    /// What narrows it.
    pub(in crate::agent) matcher: Option<String>,
    pub(in crate::agent) value: Value,
    /// What it runs, if that is us.
    pub(in crate::agent) ours: Option<Ours>,
    /// The indices on the way to it, inside of the event's list.
    pub(in crate::agent) at: Vec<usize>,
}

impl Entry {
    fn new(agent: &Agent, event: &str, at: Vec<usize>, value: &Value, outer: &Value) -> Self {
        let matcher = value["matcher"].as_str().or(outer["matcher"].as_str());
        let matcher = matcher.filter(|matcher| !matches!(*matcher, "" | "*" | ".*"));
        Self {
            event: event.to_owned(),
            matcher: matcher.map(str::to_owned),
            value: value.clone(),
            ours: read(agent, value),
            at,
        }
    }

    fn path(&self, shape: Shape) -> Vec<Step<'_>> {
        let hooks = Step::Key("hooks");
        let mut path = vec![hooks];
        if shape != Shape::Triggers {
            path.push(Step::Key(&self.event));
        }
        for (depth, index) in self.at.iter().enumerate() {
            path.extend((depth > 0).then_some(hooks));
            path.push(Step::Index(*index));
        }
        path
    }
}

/// Reads the command of an entry, unless it is somebody else's.
fn read(agent: &Agent, entry: &Value) -> Option<Ours> {
    if let (Some(program), Some(arguments)) = (entry["command"].as_str(), entry["args"].as_array())
    {
        let arguments = arguments.iter().filter_map(Value::as_str);
        let words: Vec<String> = std::iter::once(program)
            .chain(arguments)
            .map(str::to_owned)
            .collect();
        return Ours::read(agent, &words);
    }
    let places = [
        &entry["command"],
        &entry["bash"],
        &entry["powershell"],
        &entry["action"]["command"],
    ];
    let mut lines = places.into_iter().filter_map(Value::as_str);
    lines.find_map(|line| Ours::read_line(agent, line))
}

/// Lists the entries of a file, in the order in which they stand.
pub(in crate::agent) fn entries(agent: &Agent, shape: Shape, file: &Value) -> Vec<Entry> {
    let hooks = &file["hooks"];
    if shape == Shape::Triggers {
        let one = |(index, entry): (usize, &Value)| {
            let event = entry["trigger"].as_str().unwrap_or_default();
            Entry::new(agent, event, vec![index], entry, &Value::Null)
        };
        return list(hooks).enumerate().map(one).collect();
    }
    let events = hooks.as_object().into_iter().flatten();
    let mut found = Vec::new();
    for (event, entries) in events {
        for (index, entry) in list(entries).enumerate() {
            if shape == Shape::Lists {
                found.push(Entry::new(agent, event, vec![index], entry, &Value::Null));
                continue;
            }
            for (inner, handler) in list(&entry["hooks"]).enumerate() {
                found.push(Entry::new(agent, event, vec![index, inner], handler, entry));
            }
        }
    }
    found
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn ours(agent: &Agent, shape: Shape, document: &Document) -> Vec<Entry> {
    let mut entries = entries(agent, shape, &document.value());
    entries.retain(|entry| entry.ours.is_some());
    entries
}

/// Puts one entry for each event into a file, and takes out what is ours and not needed.
pub(super) fn install(
    document: &mut Document,
    agent: &Agent,
    settings: &Settings,
    command: &Command,
) -> Result<(), EditError> {
    let version = settings.version.map(super::Version::value);
    if let Some(version) = version
        && document.get(&[Step::Key("version")]).is_none()
    {
        document.set(&[Step::Key("version")], &version)?;
    }
    remove_where(document, agent, settings.shape, None, |entry, before| {
        let wired = agent.event(&entry.event).is_some_and(|event| event.wired);
        !wired || before.iter().any(|other| other.event == entry.event)
    })?;
    // What is added goes behind what is there, so these keep their places.
    let there = ours(agent, settings.shape, document);
    for event in agent.events.iter().filter(|event| event.wired) {
        let found = there.iter().find(|entry| entry.event == event.name);
        let Some((entry, ours)) = found.and_then(|entry| Some((entry, entry.ours.as_ref()?)))
        else {
            add(
                document,
                settings,
                event.name,
                &(settings.entry)(event, command),
            )?;
            continue;
        };
        let wanted = (settings.entry)(event, &command.keeping(ours));
        // Key by key: what a person has added to an entry stays.
        for (key, value) in wanted.as_object().into_iter().flatten() {
            let mut path = entry.path(settings.shape);
            path.push(Step::Key(key));
            document.set(&path, value)?;
        }
    }
    Ok(())
}

fn add(
    document: &mut Document,
    settings: &Settings,
    event: &str,
    entry: &Value,
) -> Result<(), EditError> {
    let hooks = Step::Key("hooks");
    match settings.shape {
        Shape::Groups => {
            let group = serde_json::json!({"hooks": [entry]});
            document.push(&[hooks, Step::Key(event)], &group)
        }
        Shape::Lists => document.push(&[hooks, Step::Key(event)], entry),
        Shape::Triggers => document.push(&[hooks], entry),
    }
}

/// Takes everything of ours out of a file, and tells whether there was anything. What is
/// empty then stays if it was in the original.
pub(super) fn uninstall(
    document: &mut Document,
    agent: &Agent,
    shape: Shape,
    original: Option<&Document>,
) -> Result<bool, EditError> {
    remove_where(document, agent, shape, original, |_, _| true)
}

/// Takes out entries of ours, given each with those of ours before it.
fn remove_where(
    document: &mut Document,
    agent: &Agent,
    shape: Shape,
    original: Option<&Document>,
    is_meant: impl Fn(&Entry, &[Entry]) -> bool,
) -> Result<bool, EditError> {
    let entries = ours(agent, shape, document);
    let mut any = false;
    // From behind, so that those before keep their places.
    for (index, entry) in entries.iter().enumerate().rev() {
        if is_meant(entry, entries.get(..index).unwrap_or_default()) {
            any |= document.remove(&entry.path(shape))?;
            prune(document, entry.path(shape), original)?;
        }
    }
    Ok(any)
}

/// Takes out the lists, groups and objects on the way to an entry that are empty now.
fn prune(
    document: &mut Document,
    mut path: Vec<Step<'_>>,
    original: Option<&Document>,
) -> Result<(), EditError> {
    path.pop();
    while !path.is_empty() {
        let is_empty = match document.get(&path) {
            Some(Value::Array(list)) => list.is_empty(),
            Some(Value::Object(object)) => object.is_empty(),
            _ => false,
        };
        let has_name = !path.iter().any(|step| matches!(step, Step::Index(_)));
        let was_there = has_name && original.is_some_and(|document| document.get(&path).is_some());
        if !is_empty || was_there {
            break;
        }
        document.remove(&path)?;
        path.pop();
    }
    Ok(())
}

/// Tells whether a file has nothing in it but what we wrote around the entries.
pub(super) fn is_bare(document: &Document, settings: &Settings) -> bool {
    let version = settings.version.map(super::Version::value);
    let bare = match document.value() {
        Value::Null => true,
        Value::Object(object) => object
            .iter()
            .all(|(key, value)| key == "version" && Some(value) == version.as_ref()),
        _ => false,
    };
    bare && !document.has_comments()
}
