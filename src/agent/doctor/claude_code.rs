//! What keeps Claude Code from running hooks.

use std::path::{Path, PathBuf};

use super::{Finding, Look, binary, json};

/// The first version that knows `onFailure`.
const ON_FAILURE: [u64; 3] = [2, 1, 295];

/// Where an administrator decides.
const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

/// Checks the switches of every settings file, and the version.
pub(in crate::agent) fn checks(look: &Look<'_>) -> Vec<Finding> {
    let user = look.home().map(|home| home.join("settings.json"));
    let project = look.places.project.as_ref();
    let project = project.map(|project| project.join(".claude"));
    let below = |name: &str| project.as_ref().map(|folder| folder.join(name));
    let managed = MANAGED.map(|path| Some(PathBuf::from(path)));
    let files = [user, below("settings.json"), below("settings.local.json")];
    let files = files.into_iter().chain(managed).flatten();
    let mut findings: Vec<Finding> = files.filter_map(|path| switch(look, &path)).collect();
    findings.extend(age(look));
    findings
}

fn switch(look: &Look<'_>, path: &Path) -> Option<Finding> {
    let settings = json(path);
    let on = |key: &str| settings[key] == true;
    let key = ["disableAllHooks", "allowManagedHooksOnly"];
    let key = key.into_iter().find(|key| on(key))?;
    let path = look.shown(path);
    let says = format!("{path}: {key} is on, so Claude Code runs none of these hooks");
    Some(Finding::bad("switched-off", says).so(format!("remove {key}")))
}

fn age(look: &Look<'_>) -> Option<Finding> {
    let program = on_path(look, "claude")?;
    let said = binary::version(&program)?;
    let numbers = said.split_whitespace().next()?.split('.');
    let version: Vec<u64> = numbers.map_while(|number| number.parse().ok()).collect();
    if version.len() != 3 || version.as_slice() >= ON_FAILURE.as_slice() {
        return None;
    }
    let says = format!(
        "Claude Code is {said}: before 2.1.295 what a hook guards passes if hookbox cannot be started or is late"
    );
    Some(Finding::warning("version", says).so("claude update"))
}

/// Finds a program, and not one that the project has put in the way.
fn on_path(look: &Look<'_>, name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let project = look.places.project.as_ref();
    let in_project = |folder: &PathBuf| project.is_some_and(|project| folder.starts_with(project));
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && !in_project(folder))
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}
