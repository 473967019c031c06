//! Changes in a settings file: what it becomes with our entries, and without them.

use std::path::{Path, PathBuf};

use super::super::Agent;
use super::jsonc::Document;
use super::plan::{Backup, Change, backup_path};
use super::wiring::Settings;
use super::{Command, InstallError, Spot, file, settings};

/// Plans to put entries into a settings file.
pub(super) fn plan(
    agent: &'static Agent,
    form: &Settings,
    spot: &Spot,
    command: &Command,
) -> Result<Vec<Change>, InstallError> {
    let paths = [Some(&command.binary), command.project.as_ref()];
    if form.eats_slashes
        && let Some(path) = paths.into_iter().flatten().find(|path| path.contains("//"))
    {
        return Err(InstallError::TwoSlashes {
            agent: agent.title,
            path: path.clone(),
        });
    }
    let before = file::read(&spot.path)?;
    let after = installed(agent, form, &spot.path, before.as_deref(), command)?;
    let is_original = (before.as_deref()).is_some_and(|text| !is_ours_alone(agent, form, text));
    let mut change = Change::new(&spot.path, before, Some(after));
    if is_original && !is_there(&change.backup_path()) {
        change.backup = Backup::Make;
    }
    let mut changes = vec![change];
    if let Some((path, text)) = beside(form, spot) {
        changes.insert(
            0,
            Change::new(&path, file::read(&path)?, Some(text.to_owned())),
        );
    }
    Ok(changes)
}

/// Tells whether a file has nothing but what we put there: it is nothing to go back to.
fn is_ours_alone(agent: &Agent, form: &Settings, text: &str) -> bool {
    let Ok(mut document) = Document::parse(text) else {
        return false;
    };
    let removed = settings::uninstall(&mut document, agent, form.shape, None);
    removed.is_ok_and(|removed| removed) && settings::is_bare(&document, form)
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The text of a settings file with our entries in it.
fn installed(
    agent: &Agent,
    form: &Settings,
    path: &Path,
    before: Option<&str>,
    command: &Command,
) -> Result<String, InstallError> {
    let mut document = parse(path, before.unwrap_or_default())?;
    settings::install(&mut document, agent, form, command).map_err(|error| {
        InstallError::Shape {
            path: path.to_owned(),
            error,
        }
    })?;
    let mut text = document.text().to_owned();
    if before.is_none() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn parse(path: &Path, text: &str) -> Result<Document, InstallError> {
    Document::parse(text).map_err(|error| InstallError::Unparsable {
        path: path.to_owned(),
        error,
    })
}

/// The file beside the folder of the settings, where there has to be one.
fn beside(form: &Settings, spot: &Spot) -> Option<(PathBuf, &'static str)> {
    let (name, text) = form.beside?;
    let folder = spot.path.ancestors().nth(2)?;
    Some((folder.join(name), text))
}

/// Plans to take entries out of a settings file. Where nobody else has written to it since,
/// it becomes what it was.
pub(super) fn plan_removal(
    agent: &'static Agent,
    form: &Settings,
    spot: &Spot,
) -> Result<Vec<Change>, InstallError> {
    let Some(before) = file::read(&spot.path)? else {
        return Ok(Vec::new());
    };
    let backup = file::read(&backup_path(&spot.path)).ok().flatten();
    let original = backup
        .as_deref()
        .and_then(|text| without_ours(agent, form, text));
    let mut document = parse(&spot.path, &before)?;
    let removed = settings::uninstall(&mut document, agent, form.shape, original.as_ref());
    let removed = removed.map_err(|error| InstallError::Shape {
        path: spot.path.clone(),
        error,
    })?;
    if !removed {
        return Ok(Vec::new());
    }
    let original = original.filter(|original| is_untouched(agent, form, &before, original.text()));
    let is_bare = backup.is_none() && settings::is_bare(&document, form);
    let after = match original {
        Some(original) => Some(original.text().to_owned()),
        None => (!is_bare).then(|| document.text().to_owned()),
    };
    let mut change = Change::new(&spot.path, Some(before), after);
    if backup.is_some() && change.after == backup {
        change.backup = Backup::Remove;
    }
    let mut changes = vec![change];
    if let Some((path, text)) = beside(form, spot) {
        let before = file::read(&path)?.filter(|before| before == text);
        changes.push(Change::new(&path, before, None));
    }
    Ok(changes)
}

/// Reads an original. One that had entries of ours is nothing to go back to.
fn without_ours(agent: &'static Agent, form: &Settings, text: &str) -> Option<Document> {
    let document = Document::parse(text).ok()?;
    ours(agent, form, &document).is_none().then_some(document)
}

/// Tells whether nobody but us has written to a file since it was the original: the same
/// command makes the same file of it.
fn is_untouched(agent: &'static Agent, form: &Settings, now: &str, original: &str) -> bool {
    let command = Document::parse(now).ok();
    let command = command.and_then(|document| ours(agent, form, &document));
    let again = command.and_then(|command| {
        let mut document = Document::parse(original).ok()?;
        settings::install(&mut document, agent, form, &command).ok()?;
        Some(document.text() == now)
    });
    again == Some(true)
}

/// The command that the entries of a file have.
fn ours(agent: &'static Agent, form: &Settings, document: &Document) -> Option<Command> {
    let entries = settings::entries(agent, form.shape, &document.value());
    let ours = entries.into_iter().find_map(|entry| entry.ours)?;
    Some(ours.as_written(agent, ours.project.clone()))
}
