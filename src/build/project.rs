//! What is built: the one hook of a project that has a component, and how.

use std::path::{Path, PathBuf};

use super::BuildError;
use crate::capability::grant::Grants;
use crate::config::BuildSettings;
use crate::dialect::harness;

/// A project with something to build.
#[derive(Debug, Clone)]
pub struct BuildProject {
    /// Its folder.
    pub folder: PathBuf,
    /// How it is built.
    pub settings: BuildSettings,
    /// The hook whose component is built.
    pub hook: HookToBuild,
}

/// A hook whose component is built.
#[derive(Debug, Clone)]
pub struct HookToBuild {
    /// Its name.
    pub name: String,
    /// The file it is written in, relative to the project.
    pub file: String,
    /// Where it looks for its component, relative to the project.
    pub component: String,
    /// What it is granted.
    pub grants: Grants,
}

impl BuildProject {
    /// Reads what a project says about building.
    ///
    /// # Errors
    /// Returns that it says nothing, or what is wrong with it.
    pub fn open(folder: &Path) -> Result<Self, BuildError> {
        let written = harness::written(folder).map_err(BuildError::Project)?;
        let Some(settings) = written.build else {
            return Err(BuildError::NothingToBuild(folder.to_owned()));
        };
        let mut hooks = written.components.into_iter();
        let Some(mut hook) = hooks.next() else {
            return Err(BuildError::WhichHook(format!(
                "no hook of {} has a `component:`, so there is nothing to build",
                folder.display()
            )));
        };
        for other in hooks {
            if other.component != hook.component {
                return Err(BuildError::WhichHook(format!(
                    "{} and {} each have a component of their own, but a project builds one; put each in a folder of its own",
                    hook.file, other.file
                )));
            }
            hook.grants = hook.grants.and(other.grants);
        }
        Ok(Self {
            folder: folder.to_owned(),
            settings,
            hook,
        })
    }
}
