//! What keeps Copilot CLI from running hooks.

use std::path::Path;

use super::super::install::settings;
use super::super::install::{Form, Scope};
use super::super::named;
use super::{Finding, Look, json};

/// Checks the switches of the settings files, and the other one that it reads.
pub(in crate::agent) fn checks(look: &Look<'_>) -> Vec<Finding> {
    let user = look.home().map(|home| home.join("settings.json"));
    let project = look.places.project.as_ref();
    let project = project.map(|project| project.join(".github/copilot/settings.json"));
    let files = [Some(look.spot.path.clone()), user, project];
    let files = files.into_iter().flatten();
    let mut findings: Vec<Finding> = files.filter_map(|path| switch(look, &path)).collect();
    findings.extend(through_claude(look));
    findings
}

fn switch(look: &Look<'_>, path: &Path) -> Option<Finding> {
    let is_off = json(path)["disableAllHooks"] == true;
    let says = format!("{}: disableAllHooks is on", look.shown(path));
    is_off.then(|| Finding::bad("switched-off", says).so("remove disableAllHooks"))
}

/// Cursor and Copilot also run what is wired for Claude Code in a project.
pub(super) fn through_claude(look: &Look<'_>) -> Option<Finding> {
    let claude = named("claude-code")?;
    let spot = look.places.settings(claude, Scope::Project).ok()?;
    let Form::Settings(form) = &claude.wiring.form else {
        return None;
    };
    let entries = settings::entries(claude, form.shape, &json(&spot.path));
    let title = look.agent.title;
    let path = look.shown(&spot.path);
    let says = format!("{title} also runs the hooks in {path}: its events are decided twice");
    let advice = "leave it, or wire Claude Code with --user instead";
    entries
        .iter()
        .any(|entry| entry.ours.is_some())
        .then(|| Finding::warning("twice", says).so(advice))
}
