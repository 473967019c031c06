//! What somebody has reviewed, and whether it is still that.
//!
//! `hookbox trust` writes the digests of everything that decides down: hooks, settings,
//! components, the entry in each agent's settings, and hookbox itself. Every call compares.
//! The record lies in the user's own configuration directory, where a project cannot
//! write.

mod files;
mod memo;
mod record;
mod wired;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::install::Places;
use crate::sandbox::engine::hex;
pub use files::reviewed_files;
use memo::Memo;
pub use record::{Record, TrustError};

/// How what is there differs from what was reviewed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// What it is about.
    pub path: String,
    /// What happened to it.
    pub change: Change,
}

/// What happened to something that was reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It is new.
    Added,
    /// It is not what it was.
    Changed,
    /// It is gone.
    Removed,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = match self.change {
            Change::Added => "was added",
            Change::Changed => "was changed",
            Change::Removed => "was removed",
        };
        write!(formatter, "{} {verb}", self.path)
    }
}

/// What a call finds out about what was reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How it differs.
    pub differences: Vec<Difference>,
    /// Whether that closes every gate.
    pub strict: bool,
}

impl Finding {
    /// Returns the sentence for it.
    #[must_use]
    pub fn sentence(&self) -> String {
        let shown: Vec<String> = self
            .differences
            .iter()
            .take(3)
            .map(ToString::to_string)
            .collect();
        let more = match self.differences.len().saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!(
            "{}{more} since it was last reviewed; look at it, then run `hookbox trust`",
            shown.join(", ")
        )
    }
}

/// Compares a project with what was reviewed of it. Nothing if it never was, or if nothing
/// changed.
///
/// # Errors
/// Returns why that cannot be known, which is not the same as unchanged.
pub fn compare(project: &Path) -> Result<Option<Finding>, TrustError> {
    let Some(record) = Record::find(project)? else {
        return Ok(None);
    };
    let now = digests(project, &record.extra)?;
    let differences = differences(&record.digests, &now);
    Ok((!differences.is_empty()).then_some(Finding {
        differences,
        strict: record.strict,
    }))
}

/// Writes down that a project was reviewed as it is.
///
/// # Errors
/// Returns why it cannot be.
pub fn trust(project: &Path, extra: Vec<PathBuf>, strict: bool) -> Result<Record, TrustError> {
    let record = Record {
        project: project.to_owned(),
        digests: digests(project, &extra)?,
        extra,
        strict,
    };
    record.write()?;
    Ok(record)
}

/// The digests of everything that decides in a project.
fn digests(project: &Path, extra: &[PathBuf]) -> Result<BTreeMap<String, String>, TrustError> {
    let mut memo = Memo::open(project);
    let mut digests = BTreeMap::new();
    for path in reviewed_files(project)? {
        let shown = path
            .strip_prefix(project)
            .unwrap_or(&path)
            .display()
            .to_string();
        digests.insert(shown, memo.digest(&path)?);
    }
    for path in extra {
        let shown = path
            .strip_prefix(project)
            .unwrap_or(path)
            .display()
            .to_string();
        // One that is gone has no digest, and so differs.
        if path.is_file() {
            digests.insert(shown, memo.digest(path)?);
        }
    }
    let places = Places::here(Some(project.to_owned()));
    for wired in wired::settings_of_all(&places) {
        let digest = memo.digest_of(&wired.path, |bytes| wired.entries(bytes))?;
        if digest != empty() {
            let shown = places.shown(&wired.path);
            digests.insert(
                format!("the entry for {} in {shown}", wired.agent.name),
                digest,
            );
        }
    }
    memo.close();
    Ok(digests)
}

/// The digest of nothing.
fn empty() -> String {
    hex(&Sha256::digest(b""))
}

fn differences(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let difference = |path: &String, change| Difference {
        path: path.clone(),
        change,
    };
    let gone = before
        .iter()
        .filter_map(|(path, digest)| match now.get(path) {
            None => Some(difference(path, Change::Removed)),
            Some(other) if other != digest => Some(difference(path, Change::Changed)),
            Some(_) => None,
        });
    let new = now.keys().filter(|path| !before.contains_key(*path));
    gone.chain(new.map(|path| difference(path, Change::Added)))
        .collect()
}
