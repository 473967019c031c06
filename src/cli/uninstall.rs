//! `hookbox uninstall`: takes out what `install` has put in.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use super::hook::agent;
use super::install::{ScopeArgs, show};
use super::style;
use crate::agent::Agent;
use crate::agent::install::{self, Backup, Places, Plan, Scope};

/// Take out of an agent's settings what `install` has put in, and nothing else
#[derive(Debug, Args)]
pub(super) struct UninstallArgs {
    /// The agent, for example claude-code
    #[arg(value_parser = agent)]
    agent: &'static Agent,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl UninstallArgs {
    pub(super) fn run(self) -> Result<i32> {
        let scope = self.scope.scope();
        let project = match scope {
            Scope::User => None,
            // The hooks may be gone already.
            Scope::Project => Some(match self.scope.project() {
                Some(project) => project,
                None => self.scope.directory()?,
            }),
        };
        let places = Places::here(project);
        let plan = install::plan_removal(self.agent, scope, &places)?;
        if self.dry_run {
            return show(&plan, &places);
        }
        install::apply(&plan)?;
        self.tell(&plan, &places)?;
        Ok(0)
    }

    fn tell(&self, plan: &Plan, places: &Places) -> Result<()> {
        let mut stdout = anstream::stdout();
        let title = self.agent.title;
        let spot = places.settings(self.agent, self.scope.scope())?;
        let path = places.shown(&spot.path);
        if plan.changes.is_empty() {
            writeln!(
                stdout,
                "{} nothing of hookbox is in {path}",
                style::good("✓")
            )?;
        } else {
            writeln!(
                stdout,
                "{} {title} is no longer wired in {path}",
                style::good("✓")
            )?;
        }
        for change in &plan.changes {
            let backup = change.backup_path();
            let path = places.shown(&change.path);
            match (change.backup, &change.after) {
                (Backup::Remove, _) => {
                    writeln!(stdout, "  {path} is again what it was before")?;
                }
                (_, None) => writeln!(stdout, "  removed {path}")?,
                _ if backup.exists() => {
                    let backup = places.shown(&backup);
                    writeln!(
                        stdout,
                        "  {path} has changed since it was wired; what it was then is still in {backup}"
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
