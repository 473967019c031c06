//! Makes a planned change.

use super::InstallError;
use super::file::{self, Mode};
use super::plan::{Backup, Change, Plan};

/// Makes all changes of a plan. Each file is written at once or not at all, and only if
/// it still is what the plan was made for.
///
/// # Errors
/// Returns the first file that could not be changed; those before it are.
pub fn apply(plan: &Plan) -> Result<(), InstallError> {
    for change in &plan.changes {
        let now = file::read(&change.path)?;
        // Somebody else who installs at the same time comes to the same result.
        if now == change.after {
            continue;
        }
        if now != change.before {
            return Err(InstallError::Changed(change.path.clone()));
        }
        one(plan, change)?;
    }
    Ok(())
}

fn one(plan: &Plan, change: &Change) -> Result<(), InstallError> {
    if let (Backup::Make, Some(original)) = (change.backup, &change.before) {
        file::write(&change.backup_path(), original, Mode::Like(&change.path))?;
    }
    match &change.after {
        Some(text) => {
            let mode = match (change.executable, &change.before) {
                (true, None) => Mode::Executable,
                _ => Mode::Kept,
            };
            file::write(&change.path, text, mode)?;
        }
        None => file::remove(&change.path, &plan.root)?,
    }
    if change.backup == Backup::Remove {
        file::remove(&change.backup_path(), &plan.root)?;
    }
    Ok(())
}
