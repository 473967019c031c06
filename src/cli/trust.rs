//! `hookbox trust`: what was reviewed.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;

use super::{FAILED, ProjectArgs, print_json, style};
use crate::agent::trust::{self, Record};
use crate::runtime::Runtime;

/// Write down that the hooks of a project were reviewed as they are
///
/// From then on every event of an agent notices when a hook, a setting, a component or
/// hookbox itself is not what it was. With --strict such a change blocks whatever waits,
/// until somebody looks and runs `hookbox trust` again.
#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Let a change that nobody reviewed block every event that waits
    #[arg(long)]
    strict: bool,
    /// Only say what changed since the last review; exit code 1 if anything did
    #[arg(long, conflicts_with_all = ["strict", "revoke"])]
    check: bool,
    /// Forget the review
    #[arg(long, conflicts_with = "strict")]
    revoke: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl TrustArgs {
    pub(super) fn run(self) -> Result<i32> {
        let project = std::fs::canonicalize(&self.project.project)
            .with_context(|| format!("{} cannot be found", self.project.project.display()))?;
        if self.revoke {
            return self.revoke(&project);
        }
        if self.check {
            return self.check(&project);
        }
        let before = trust::compare(&project).ok().flatten();
        // What does not load cannot have been reviewed.
        let runtime = self.project.builder().load()?;
        let strict = self.strict || Record::find(&project)?.is_some_and(|record| record.strict);
        let record = trust::trust(&project, extra(&project, &runtime), strict)?;
        if self.json {
            print_json(&record)?;
            return Ok(0);
        }
        let mut stdout = anstream::stdout();
        for difference in before.iter().flat_map(|finding| &finding.differences) {
            let line = style::plain(&difference.to_string());
            writeln!(stdout, "{} {line}", style::notable("reviewed:"))?;
        }
        let files = record.digests.len();
        let manner = if strict {
            "a change that nobody reviewed blocks from now on"
        } else {
            "a change that nobody reviewed is reported from now on; --strict blocks"
        };
        writeln!(
            stdout,
            "{} {files} files; {manner}",
            style::good("✓ trusted")
        )?;
        Ok(0)
    }

    fn revoke(&self, project: &Path) -> Result<i32> {
        let was = Record::forget(project)?;
        if self.json {
            print_json(&json!({"revoked": was}))?;
        } else if was {
            writeln!(anstream::stdout(), "the review is forgotten")?;
        } else {
            writeln!(anstream::stdout(), "there was no review")?;
        }
        Ok(0)
    }

    fn check(&self, project: &Path) -> Result<i32> {
        let known = Record::find(project)?.is_some();
        let differences = trust::compare(project)?.map_or(Vec::new(), |found| found.differences);
        if self.json {
            print_json(&json!({"reviewed": known, "differences": differences}))?;
        } else if !known {
            let advice = "look at the hooks, then run `hookbox trust`";
            writeln!(anstream::stdout(), "nobody reviewed this project: {advice}")?;
        } else if differences.is_empty() {
            let same = style::good("✓ as it was reviewed");
            writeln!(anstream::stdout(), "{same}")?;
        }
        for difference in differences.iter().filter(|_| !self.json) {
            let line = style::plain(&difference.to_string());
            writeln!(anstream::stdout(), "{} {line}", style::bad("✗"))?;
        }
        Ok(if known && differences.is_empty() {
            0
        } else {
            FAILED
        })
    }
}

/// What decides beside the project's own folders: files that its settings name, and hookbox
/// itself.
fn extra(project: &Path, runtime: &Runtime) -> Vec<PathBuf> {
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for hook in runtime.hooks() {
        files.insert(project.join(&*hook.origin.file));
    }
    files.extend(std::env::current_exe().and_then(std::fs::canonicalize));
    files.into_iter().filter(|path| path.is_file()).collect()
}
