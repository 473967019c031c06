//! Puts the events of an agent on a tape, where the project asks for it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::AgentError;
use crate::config::Config;
use crate::tape::Recorder;
use crate::timestamp;

/// Returns the tape that a project wants its events on: one a day.
///
/// # Errors
/// Returns why its folder cannot be made.
pub fn tape_of(project: &Path) -> Result<Option<PathBuf>, AgentError> {
    let unusable = |error: std::io::Error| AgentError::Tape(error.to_string());
    let root = Dir::open_ambient_dir(project, ambient_authority()).map_err(unusable)?;
    // What is wrong with the settings is said when the project loads.
    let Some(folder) = Config::load(&root, &mut Vec::new()).record else {
        return Ok(None);
    };
    let folder = project.join(folder);
    std::fs::create_dir_all(&folder).map_err(unusable)?;
    Ok(Some(folder.join(format!("{}.tape", today()))))
}

fn today() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(0));
    timestamp::written(now).chars().take(10).collect()
}

/// Opens a tape, and waits for its turn if somebody else records to it.
///
/// # Errors
/// Returns why nothing can be recorded there.
pub fn recorder(path: &Path) -> Result<Recorder, AgentError> {
    Recorder::create_in_turn(path).map_err(|error| AgentError::Tape(error.to_string()))
}
