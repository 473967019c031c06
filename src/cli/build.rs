//! `hookbox build`: the component of a project, with the tools of its language.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::{ProjectArgs, print_json, progress, rendered, style};
use crate::build::{BuildError, BuildOptions, BuildProject, Built, build};
use crate::config::Language;

/// Build the component of a project, with the tools of its language
///
/// `[build] language = "…"` in hookbox.toml says which. The tools run as they would
/// without hookbox, outside of any sandbox: build what you trust.
#[derive(Debug, Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Leave out what a runtime does not need, like names and debugging information
    #[arg(long)]
    release: bool,
    /// Where the component goes [default: where the hook's file looks for it]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Build even if nothing has changed
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl BuildArgs {
    pub(super) fn run(self) -> Result<i32> {
        let project = open(&self.project.project)?;
        let options = BuildOptions {
            release: self.release,
            output: self.output,
            force: self.force,
        };
        let built = with_progress(&project, &options)?;
        if self.json {
            print_json(&serde_json::json!({
                "path": built.path,
                "size": built.size,
                "digest": built.digest,
                "fresh": built.fresh,
            }))?;
            return Ok(0);
        }
        let done = if built.fresh {
            "is up to date"
        } else {
            "built"
        };
        writeln!(
            anstream::stdout(),
            "{} {} {done}, {} {}",
            style::good("✓"),
            built.path.display(),
            style::size(built.size),
            style::faint(format!("sha256 {}", built.digest)),
        )?;
        Ok(0)
    }
}

/// Builds what has to be built before a project can be looked at.
pub(super) fn if_needed(folder: &Path) -> Result<Option<Built>> {
    match BuildProject::open(folder) {
        Ok(project) if project.settings.language != Language::Starlark => {
            with_progress(&project, &BuildOptions::default()).map(Some)
        }
        // What is wrong with the project is told when it is loaded.
        _ => Ok(None),
    }
}

fn open(folder: &Path) -> Result<BuildProject> {
    BuildProject::open(folder).map_err(|error| {
        if let BuildError::Project(problems) = &error {
            let _ = write!(anstream::stderr(), "{}", rendered(problems));
        }
        error.into()
    })
}

fn with_progress(project: &BuildProject, options: &BuildOptions) -> Result<Built> {
    let built = build(project, options, &|step| progress::step(step));
    progress::clear();
    Ok(built?)
}
