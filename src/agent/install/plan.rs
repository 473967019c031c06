//! What would change: computed whole before anything is written.

use std::path::{Path, PathBuf};

use super::super::Agent;
use super::wiring::Form;
use super::{Command, InstallError, Places, Scope, Spot, file, in_settings, plugin, script};

/// What is to change for an agent.
#[derive(Debug)]
pub struct Plan {
    /// The agent.
    pub agent: &'static Agent,
    /// What the files lie in.
    pub root: PathBuf,
    /// The files; none if everything is as it should be.
    pub changes: Vec<Change>,
}

/// What is to change in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What is in it, if it is there.
    pub before: Option<String>,
    /// What is to be in it; nothing if it is to go.
    pub after: Option<String>,
    /// Whether it is a program.
    pub executable: bool,
    /// What happens to the copy of the original beside it.
    pub backup: Backup,
}

/// What happens to the copy of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backup {
    /// There is none, or it stays.
    Leave,
    /// It is made.
    Make,
    /// It is removed: the file is what it was.
    Remove,
}

impl Change {
    pub(super) fn new(path: &Path, before: Option<String>, after: Option<String>) -> Self {
        Self {
            path: path.to_owned(),
            before,
            after,
            executable: false,
            backup: Backup::Leave,
        }
    }

    /// Returns where the copy of the original is.
    #[must_use]
    pub fn backup_path(&self) -> PathBuf {
        backup_path(&self.path)
    }
}

pub(super) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".hookbox-backup");
    PathBuf::from(name)
}

/// Plans to wire an agent so that each event is decided in a process of its own.
///
/// # Errors
/// Returns why its settings cannot be changed.
pub fn plan(
    agent: &'static Agent,
    scope: Scope,
    places: &Places,
    binary: &Path,
) -> Result<Plan, InstallError> {
    wire(agent, scope, places, binary, false)
}

/// Plans to wire an agent so that the first event starts a server for the others.
///
/// # Errors
/// Returns why its settings cannot be changed.
pub fn plan_serving(
    agent: &'static Agent,
    scope: Scope,
    places: &Places,
    binary: &Path,
) -> Result<Plan, InstallError> {
    wire(agent, scope, places, binary, true)
}

fn wire(
    agent: &'static Agent,
    scope: Scope,
    places: &Places,
    binary: &Path,
    serve: bool,
) -> Result<Plan, InstallError> {
    let spot = places.settings(agent, scope)?;
    let project = match scope {
        Scope::Project => Some(text(&spot.root)?),
        Scope::User => None,
    };
    let command = Command {
        binary: text(binary)?,
        agent: agent.name,
        project,
        serve,
        more: Vec::new(),
    };
    let changes = match &agent.wiring.form {
        Form::Settings(form) => in_settings::plan(agent, form, &spot, &command)?,
        Form::Scripts => script::plan(agent, &spot, &command)?,
        Form::Plugin => plugin::plan(agent, &spot, &command)?,
    };
    finish(agent, spot, changes)
}

/// Plans to take out what [`plan`] has put in, and nothing else.
///
/// # Errors
/// Returns why its settings cannot be changed.
pub fn plan_removal(
    agent: &'static Agent,
    scope: Scope,
    places: &Places,
) -> Result<Plan, InstallError> {
    let spot = places.settings(agent, scope)?;
    let changes = match &agent.wiring.form {
        Form::Settings(form) => in_settings::plan_removal(agent, form, &spot)?,
        Form::Scripts => script::plan_removal(agent, &spot)?,
        Form::Plugin => plugin::plan_removal(agent, &spot)?,
    };
    finish(agent, spot, changes)
}

fn finish(
    agent: &'static Agent,
    spot: Spot,
    mut changes: Vec<Change>,
) -> Result<Plan, InstallError> {
    changes.retain(|change| change.before != change.after);
    for change in &changes {
        file::check_writable(&change.path)?;
    }
    Ok(Plan {
        agent,
        root: spot.root,
        changes,
    })
}

fn text(path: &Path) -> Result<String, InstallError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| InstallError::NotText(path.to_owned()))
}
