//! What keeps Codex from running hooks: it trusts neither a project nor a hook unseen.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::super::install::settings::Entry;
use super::super::install::{Scope, file};
use super::{Finding, Look};

/// Checks the feature, the project's trust and that of every hook.
pub(in crate::agent) fn checks(look: &Look<'_>) -> Vec<Finding> {
    let Some(path) = look.home().map(|home| home.join("config.toml")) else {
        return Vec::new();
    };
    let text = file::read(&path).ok().flatten().unwrap_or_default();
    let Ok(config) = text.parse::<toml::Table>() else {
        let says = format!("{}: not TOML, so Codex does not start", look.shown(&path));
        return vec![Finding::bad("readable", says).so("correct the file")];
    };
    let shown = look.shown(&path);
    let found = [
        feature(&shown, &config),
        project(look, &config),
        review(look, &config),
    ];
    found.into_iter().flatten().collect()
}

fn feature(path: &str, config: &toml::Table) -> Option<Finding> {
    let is_off = config.get("features")?.get("hooks")?.as_bool() == Some(false);
    let says = format!("{path}: features.hooks is false, so Codex runs no hooks");
    is_off.then(|| Finding::bad("switched-off", says).so("remove hooks = false"))
}

fn project(look: &Look<'_>, config: &toml::Table) -> Option<Finding> {
    if look.scope != Scope::Project {
        return None;
    }
    let root = &look.spot.root;
    let repository = root.ancestors().find(|folder| folder.join(".git").exists());
    let trusted = |folder: &Path| {
        let name = folder.to_str()?;
        let level = config.get("projects")?.get(name)?.get("trust_level")?;
        Some(level.as_str() == Some("trusted"))
    };
    let said = trusted(root).or_else(|| trusted(repository?));
    if said == Some(true) {
        return None;
    }
    let says = "Codex does not trust this project, so it does not read its hooks";
    Some(Finding::bad("trust", says).so("start `codex` here and say that you trust the project"))
}

fn review(look: &Look<'_>, config: &toml::Table) -> Option<Finding> {
    let states = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let ours = look.entries.iter().filter(|entry| entry.ours.is_some());
    let total = ours.clone().count();
    let approved = |entry: &&Entry| {
        let key = key(&look.spot.path, entry);
        let state = states.and_then(|states| states.get(key));
        let approved = state.and_then(|state| state.get("trusted_hash")?.as_str());
        approved.is_some_and(|approved| hash(entry).is_none_or(|hash| hash == approved))
    };
    let unseen = total - ours.filter(approved).count();
    if unseen == 0 {
        return Some(Finding::good(
            "review",
            format!("all {total} hooks reviewed"),
        ));
    }
    let says =
        format!("{unseen} of {total} hooks wait for your review; Codex skips them without a word");
    Some(Finding::bad("review", says).so("start `codex` and approve them there"))
}

/// What Codex calls an entry.
fn key(path: &Path, entry: &Entry) -> String {
    let path: PathBuf = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let at: Vec<String> = entry.at.iter().map(usize::to_string).collect();
    format!(
        "{}:{}:{}",
        path.display(),
        snake(&entry.event),
        at.join(":")
    )
}

fn snake(event: &str) -> String {
    let mut name = String::new();
    for (index, c) in event.chars().enumerate() {
        if c.is_uppercase() && index > 0 {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

/// What Codex remembers of an entry that was reviewed, unless it has keys that are not
/// known here.
fn hash(entry: &Entry) -> Option<String> {
    let value = entry.value.as_object()?;
    let known = ["type", "command", "timeout", "statusMessage", "async"];
    if value.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let (default, most) = match entry.event.as_str() {
        "SessionEnd" => (1, 3),
        _ => (600, u64::MAX),
    };
    let timeout = value.get("timeout").map_or(Some(default), Value::as_u64)?;
    // In the order of the alphabet.
    let mut hook = Map::new();
    hook.insert("async".to_owned(), (entry.value["async"] == true).into());
    hook.insert("command".to_owned(), value.get("command")?.clone());
    if let Some(message) = value.get("statusMessage") {
        hook.insert("statusMessage".to_owned(), message.clone());
    }
    hook.insert("timeout".to_owned(), timeout.clamp(1, most).into());
    hook.insert("type".to_owned(), "command".into());
    let mut all = json!({"event_name": snake(&entry.event), "hooks": [hook]});
    if let Some(matcher) = &entry.matcher {
        all["matcher"] = matcher.clone().into();
    }
    let digest = Sha256::digest(all.to_string());
    let digits = digest.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    });
    Some(format!("sha256:{digits}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::install::Shape;
    use super::super::super::install::settings;
    use super::super::super::named;
    use super::*;

    /// What `hooks/list` of Codex 0.169.0 says of the same entries.
    const HASHES: [(&str, u64, &str); 3] = [
        (
            "PreToolUse",
            30,
            "sha256:4a04f16fadb333543756abe2a00a56a7a3d29b03e52cc3d1046a75228b0d9cab",
        ),
        (
            "SessionEnd",
            3,
            "sha256:278f4ae96f614c968af6eb8f78b31885808350f70e016c3b7dc064d60c897b5c",
        ),
        (
            "UserPromptSubmit",
            30,
            "sha256:530a84e86fdd30734274defb06eb224e01045edf69b348c053b76c61267656f1",
        ),
    ];

    #[test]
    fn a_hash_is_the_one_that_codex_takes() {
        let agent = named("codex").unwrap();
        for (event, timeout, wanted) in HASHES {
            let command = format!(
                "/usr/local/bin/hookbox hook codex --event {event} --project /home/dev/app"
            );
            let handler = json!({"type": "command", "command": command, "timeout": timeout});
            let file = json!({"hooks": {event: [{"hooks": [handler]}]}});
            let entries = settings::entries(agent, Shape::Groups, &file);
            assert_eq!(hash(&entries[0]).as_deref(), Some(wanted), "{event}");
        }
    }

    #[test]
    fn an_entry_is_called_as_codex_calls_it() {
        let agent = named("codex").unwrap();
        let file = json!({"hooks": {"PreToolUse": [{"hooks": [{}, {}]}]}});
        let entries = settings::entries(agent, Shape::Groups, &file);
        let key = key(Path::new("/no/hooks.json"), &entries[1]);
        assert_eq!(key, "/no/hooks.json:pre_tool_use:0:1");
    }
}
