//! Where settings lie: those of a project, and those of a user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::{ALL, Agent};
use super::InstallError;

/// Whose settings are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Those of one project.
    Project,
    /// Those of the user, for all projects.
    User,
}

impl Scope {
    /// Both, in the order in which people read about them.
    pub const ALL: [Self; 2] = [Self::Project, Self::User];

    /// Returns the flag that means it.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Self::Project => "--project",
            Self::User => "--user",
        }
    }
}

/// The places that settings are looked for in.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The project.
    pub project: Option<PathBuf>,
    /// The home of the user.
    pub home: Option<PathBuf>,
    /// The folders that agents were told to use in place of their own.
    pub variables: BTreeMap<&'static str, PathBuf>,
}

/// Where the settings of an agent are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// What they lie in; nothing outside of it, nor it itself, is ever removed.
    pub root: PathBuf,
    /// The file, or the folder.
    pub path: PathBuf,
}

impl Places {
    /// Takes the places that the environment names.
    #[must_use]
    pub fn here(project: Option<PathBuf>) -> Self {
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let variables = ALL
            .iter()
            .filter_map(|agent| agent.wiring.home.variable)
            .filter_map(|(name, _)| Some((name, folder(name)?)));
        Self {
            project,
            home: folder(home),
            variables: variables.collect(),
        }
    }

    /// Finds the settings of an agent.
    ///
    /// # Errors
    /// Returns what is not known.
    pub fn settings(&self, agent: &Agent, scope: Scope) -> Result<Spot, InstallError> {
        match scope {
            Scope::Project => {
                let root = self.project.clone().ok_or(InstallError::NoProject)?;
                let path = root.join(agent.wiring.project);
                Ok(Spot { root, path })
            }
            Scope::User => {
                let (root, folder) = self.home_of(agent).ok_or(InstallError::NoHome)?;
                let path = folder.join(agent.wiring.user);
                Ok(Spot { root, path })
            }
        }
    }

    /// Where an agent keeps what is the user's, and what that lies in.
    pub(in crate::agent) fn home_of(&self, agent: &Agent) -> Option<(PathBuf, PathBuf)> {
        let home = &agent.wiring.home;
        let named = home.variable.and_then(|(name, below)| {
            let root = self.variables.get(name)?.clone();
            let folder = root.components().chain(Path::new(below).components());
            Some((root.clone(), folder.collect()))
        });
        match (named, &self.home) {
            (Some(named), _) => Some(named),
            (None, Some(user)) => Some((user.clone(), user.join(home.folder))),
            (None, None) => None,
        }
    }

    /// Writes a path as a person would here.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let below = |root: &Option<PathBuf>| {
            let rest = path.strip_prefix(root.as_ref()?).ok()?;
            (!rest.as_os_str().is_empty()).then(|| rest.display().to_string())
        };
        below(&self.project)
            .or_else(|| Some(format!("~/{}", below(&self.home)?)))
            .unwrap_or_else(|| path.display().to_string())
    }
}

/// A relative folder would mean another one wherever the agent starts.
fn folder(variable: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os(variable)?);
    folder.is_absolute().then_some(folder)
}
