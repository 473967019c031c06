//! The checks that every agent has: which events are wired, by what, and beside what.

use std::path::Path;

use super::super::AgentEvent;
use super::super::install::Scope;
use super::state::{State, Wire};
use super::{Finding, Look, binary};

/// Checks the entries of one place.
pub(super) fn checks(look: &Look<'_>, state: &State) -> Vec<Finding> {
    let mut findings = vec![wired(look, state)];
    findings.extend(missing(look, state));
    findings.extend(binary::checks(look, &state.wired));
    findings.extend(elsewhere(look, state));
    findings.extend(off(look, state));
    findings.extend(different(look, state));
    findings.extend(narrowed(state));
    findings.extend(repeated(look, state));
    findings.extend(beside(state));
    findings
}

fn install(look: &Look<'_>) -> String {
    let scope = match look.scope {
        Scope::Project => "",
        Scope::User => " --user",
    };
    format!("hookbox install {}{scope}", look.agent.name)
}

fn wanted(look: &Look<'_>) -> impl Iterator<Item = &'static AgentEvent> {
    look.agent.events.iter().filter(|event| event.wired)
}

fn is_wired(state: &State, event: &AgentEvent) -> bool {
    state.wired.iter().any(|wire| wire.event == event.name)
}

fn wired(look: &Look<'_>, state: &State) -> Finding {
    let all = wanted(look).count();
    let there = wanted(look).filter(|event| is_wired(state, event)).count();
    let path = look.shown(&look.spot.path);
    let count = match there == all {
        true => format!("all {all} events"),
        false => format!("{there} of {all} events"),
    };
    Finding::good("wired", format!("{path}: {count} wired"))
}

fn missing(look: &Look<'_>, state: &State) -> Option<Finding> {
    let missing: Vec<_> = wanted(look)
        .filter(|event| !is_wired(state, event))
        .collect();
    let guards: Vec<_> = missing.iter().filter(|event| event.guards).collect();
    if let Some(first) = guards.first() {
        let more = names(guards.iter().map(|event| event.name));
        let says = format!("not wired: {more}; nothing stops at {}", first.name);
        return Some(Finding::bad("missing", says).so(install(look)));
    }
    let names = names(missing.iter().map(|event| event.name));
    let says = format!("not wired: {names}");
    (!missing.is_empty()).then(|| Finding::warning("missing", says).so(install(look)))
}

/// Entries that name another project than the one they stand in.
fn elsewhere(look: &Look<'_>, state: &State) -> Option<Finding> {
    let here = match look.scope {
        Scope::Project => Some(look.spot.root.as_path()),
        Scope::User => None,
    };
    let other = |wire: &&Wire| wire.ours.project.as_deref().map(Path::new) != here;
    let found = state.wired.iter().find(other)?;
    let event = found.event;
    let finding = match &found.ours.project {
        Some(project) if Path::new(project).is_dir() => {
            Finding::bad("project", format!("{event}: the hooks of {project} decide"))
        }
        Some(project) => {
            let says = format!("{event}: {project} is gone, so all that is guarded is refused");
            Finding::bad("project", says)
        }
        None => {
            let says = format!("{event}: the project around the agent's folder decides");
            Finding::warning("project", says)
        }
    };
    Some(finding.so(install(look)))
}

fn off(look: &Look<'_>, state: &State) -> Vec<Finding> {
    let found = state.wired.iter();
    let found = found.filter_map(|wire| Some((wire, wire.off.as_ref()?)));
    found
        .map(|(wire, off)| {
            let says = format!("{}: {off}, so the answer comes to nothing", wire.event);
            Finding::bad("off", says).so(format!("correct it in {}", look.shown(&look.spot.path)))
        })
        .collect()
}

fn different(look: &Look<'_>, state: &State) -> Option<Finding> {
    let found: Vec<_> = state
        .wired
        .iter()
        .filter(|wire| !wire.differs.is_empty())
        .collect();
    let first = found.first()?;
    let more = match found.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let what = first.differs.join(", ");
    let says = format!("{}: {what} not as install writes it{more}", first.event);
    Some(Finding::warning("current", says).so(install(look)))
}

fn narrowed(state: &State) -> Vec<Finding> {
    let found = state.wired.iter();
    let found = found.filter_map(|wire| Some((wire, wire.matcher.as_ref()?)));
    found
        .map(|(wire, matcher)| {
            let says = format!("{}: asked only where {matcher} matches", wire.event);
            Finding::warning("matcher", says).so("remove the matcher; the hooks select themselves")
        })
        .collect()
}

fn repeated(look: &Look<'_>, state: &State) -> Option<Finding> {
    let mut seen = Vec::new();
    let mut twice = Vec::new();
    for wire in &state.wired {
        let list = if seen.contains(&wire.event) {
            &mut twice
        } else {
            &mut seen
        };
        list.push(wire.event);
    }
    let says = format!("wired more than once: {}", names(twice.iter().copied()));
    (!twice.is_empty()).then(|| Finding::warning("repeated", says).so(install(look)))
}

/// Entries of others that answer the same events.
fn beside(state: &State) -> Option<Finding> {
    let wired = |event: &&String| state.wired.iter().any(|wire| wire.event == event.as_str());
    let shared: Vec<_> = state.others.keys().filter(wired).collect();
    let events = names(shared.iter().map(|event| event.as_str()));
    let says = format!(
        "{events}: other hooks answer as well; they do not see what ours change, and the agent picks among the answers"
    );
    (!shared.is_empty()).then(|| {
        Finding::warning("beside", says).so("make them hooks of the project, for one order of all")
    })
}

/// A few names, and how many more.
fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = names.collect();
    let shown = names.get(..SHOWN.min(names.len())).unwrap_or_default();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
