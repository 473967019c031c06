//! What keeps Gemini CLI from running hooks.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::install::Scope;
use super::{Finding, Look, json};

/// Checks the switches of both settings files, and the trust in the folder.
pub(in crate::agent) fn checks(look: &Look<'_>) -> Vec<Finding> {
    let user = look.home().map(|home| home.join("settings.json"));
    let project = look.places.project.as_ref();
    let project = project.map(|project| project.join(".gemini/settings.json"));
    let files = [user, project].into_iter().flatten();
    let mut findings: Vec<Finding> = files.filter_map(|path| switch(look, &path)).collect();
    findings.extend(trust(look));
    findings
}

fn switch(look: &Look<'_>, path: &Path) -> Option<Finding> {
    let settings = json(path);
    let path = look.shown(path);
    if settings["hooksConfig"]["enabled"] == false {
        let says = format!("{path}: hooksConfig.enabled is false, so Gemini CLI runs no hooks");
        return Some(Finding::bad("switched-off", says).so("remove it"));
    }
    let lists = ["hooksConfig", "hooks"].map(|key| &settings[key]["disabled"]);
    let mut names = lists.into_iter().filter_map(Value::as_array).flatten();
    let says = format!("{path}: hookbox is in the list of disabled hooks");
    names
        .any(|name| name == "hookbox")
        .then(|| Finding::bad("switched-off", says).so("gemini, then /hooks enable hookbox"))
}

/// The hooks of a project run only in a folder that is trusted.
fn trust(look: &Look<'_>) -> Option<Finding> {
    let home = look.home()?;
    let folder_trust = &json(&home.join("settings.json"))["security"]["folderTrust"]["enabled"];
    if look.scope != Scope::Project || *folder_trust == false {
        return None;
    }
    let folders = json(&home.join("trustedFolders.json"));
    if is_trusted(&folders, &look.spot.root) == Some(true) {
        return None;
    }
    let says = "Gemini CLI does not trust this folder, so it runs none of the project's hooks";
    Some(Finding::bad("trust", says).so("start `gemini` here and say that you trust the folder"))
}

/// Whether the nearest folder that something is said of is trusted.
fn is_trusted(folders: &Value, root: &Path) -> Option<bool> {
    let said = folders.as_object()?.iter().filter_map(|(path, said)| {
        let path = PathBuf::from(path);
        match said.as_str()? {
            "TRUST_FOLDER" => Some((path, true)),
            "TRUST_PARENT" => Some((path.parent()?.to_owned(), true)),
            "DO_NOT_TRUST" => Some((path, false)),
            _ => None,
        }
    });
    let around = said.filter(|(path, _)| root.starts_with(path));
    around
        .max_by_key(|(path, _)| path.components().count())
        .map(|(_, trusted)| trusted)
}
