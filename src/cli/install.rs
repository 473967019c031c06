//! `hookbox install`: an agent's events run through the project's hooks from then on.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use super::hook::agent;
use super::{FAILED, diff, progress, rendered, style};
use crate::agent::install::{self, Backup, Places, Plan, Scope};
use crate::agent::{self, Agent, doctor};
use crate::runtime::{LoadError, Runtime, RuntimeBuilder};
use crate::sandbox::engine::Lifetime;

/// Wire an agent: from then on its events run through the project's hooks
///
/// Puts one entry for each event into the agent's own settings, and leaves everything else in
/// them as it is. What the agent wants a person to approve stays to be approved.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  hookbox install claude-code --dry-run\n  hookbox install claude-code\n  hookbox doctor"
)]
pub(super) struct InstallArgs {
    /// claude-code, codex, gemini, cursor, copilot, windsurf, kiro, goose, cline or opencode
    #[arg(value_parser = agent)]
    agent: &'static Agent,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The hookbox to run [default: this one]
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Wire also a project that does not load: all that is guarded is refused until it does
    #[arg(long)]
    force: bool,
    /// Decide each event in a process of its own. Otherwise the first event starts a server that
    /// answers the others faster, until half an hour after the last one
    #[cfg(unix)]
    #[arg(long)]
    alone: bool,
    /// With that server, for those who would rather say so
    #[cfg(unix)]
    #[arg(long, hide = true, conflicts_with = "alone")]
    serve: bool,
}

/// Whose settings a verb is about.
#[derive(Debug, Args)]
pub(super) struct ScopeArgs {
    /// In the user's settings, for all projects
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// In the project's settings [default: the nearest project upwards from here]
    #[arg(long, short, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
}

impl ScopeArgs {
    pub(super) fn scope(&self) -> Scope {
        if self.user {
            Scope::User
        } else {
            Scope::Project
        }
    }

    /// Finds the project: the directory that was named, or the nearest one upwards from here.
    pub(super) fn project(&self) -> Option<PathBuf> {
        named_or_nearest(self.project.as_deref())
    }

    /// The directory to start from.
    pub(super) fn directory(&self) -> Result<PathBuf> {
        let named = self.project.as_deref().unwrap_or_else(|| Path::new("."));
        match std::fs::canonicalize(named) {
            Ok(directory) => Ok(directory),
            Err(error) => bail!("{}: {error}", named.display()),
        }
    }
}

/// Finds a project: the directory that was named, or the nearest one upwards from here.
pub(super) fn named_or_nearest(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(named) if named != Path::new(".") => std::fs::canonicalize(named)
            .ok()
            .filter(|named| agent::is_project(named)),
        _ => agent::project(Path::new(".")),
    }
}

/// Loads a project as `hookbox hook` will.
pub(super) fn builder(project: &Path) -> RuntimeBuilder {
    Runtime::builder(project)
        .lifetime(Lifetime::OneShot)
        .ask_agent(agent::hand_on)
        .on_progress(std::sync::Arc::new(progress::show))
}

impl InstallArgs {
    pub(super) fn run(self) -> Result<i32> {
        let scope = self.scope.scope();
        let project = match scope {
            Scope::User => None,
            Scope::Project => {
                let project = self.project()?;
                if !self.loads(&project)? {
                    return Ok(FAILED);
                }
                Some(project)
            }
        };
        let places = Places::here(project);
        let binary = install::binary(self.binary.as_deref())?;
        let plan = if self.serves() {
            install::plan_serving(self.agent, scope, &places, &binary)?
        } else {
            install::plan(self.agent, scope, &places, &binary)?
        };
        if self.dry_run {
            return show(&plan, &places);
        }
        install::apply(&plan)?;
        self.tell(&plan, &places)?;
        Ok(0)
    }

    /// Says whether the first event is to start a server.
    #[cfg(unix)]
    fn serves(&self) -> bool {
        self.serve || !self.alone
    }

    #[cfg(not(unix))]
    fn serves(&self) -> bool {
        false
    }

    fn project(&self) -> Result<PathBuf> {
        let directory = self.scope.directory()?;
        let Some(project) = self.scope.project() else {
            bail!(
                "{} has no hooks, and every event would be refused for that\nmake one first: {}\nor wire the agent for all projects, those without hooks left alone: hookbox install {} --user",
                directory.display(),
                doctor::FIRST_HOOK,
                self.agent.name
            );
        };
        Ok(project)
    }

    /// Loads the project once, which also compiles what the first event would have to wait
    /// for, and says whether to go on.
    fn loads(&self, project: &Path) -> Result<bool> {
        let problems = match builder(project).load() {
            Ok(_) => return Ok(true),
            Err(LoadError::Project(problems)) => rendered(&problems),
            Err(error) => format!("{error}\n"),
        };
        let mut stderr = anstream::stderr();
        write!(stderr, "{problems}")?;
        if self.force {
            let told = "the project does not load: all that is guarded is refused until it does";
            writeln!(stderr, "{} {told}", style::notable("warning:"))?;
            return Ok(true);
        }
        let told = "the project does not load, so nothing was wired: correct it, or wire it as it is with --force";
        writeln!(stderr, "{} {told}", style::bad("error:"))?;
        Ok(false)
    }

    fn tell(&self, plan: &Plan, places: &Places) -> Result<()> {
        let mut stdout = anstream::stdout();
        let agent = self.agent;
        let events = agent.events.iter().filter(|event| event.wired).count();
        let spot = places.settings(agent, self.scope.scope())?;
        let path = places.shown(&spot.path);
        let done = match plan.changes.is_empty() {
            true => "was wired as it should be",
            false => "is wired",
        };
        writeln!(
            stdout,
            "{} {} {done}: {} in {path}",
            style::good("✓"),
            agent.title,
            style::counted(events as u64, "event"),
        )?;
        for change in &plan.changes {
            if change.backup == Backup::Make {
                let backup = places.shown(&change.backup_path());
                writeln!(stdout, "  what was there before is in {backup}")?;
            }
        }
        for text in agent.wiring.approve.texts(self.scope.scope()) {
            writeln!(stdout, "{} {text}", style::notable("!"))?;
        }
        if self.serves() {
            let told = "the first event starts a server for the others, which ends by itself";
            writeln!(stdout, "  {told} (not with --alone)")?;
        }
        let name = agent.name;
        writeln!(stdout, "\nnext: start a new session of {}", agent.title)?;
        for (command, what) in [
            (format!("hookbox doctor {name}"), "what it will do"),
            (
                format!("hookbox explain --agent {name}"),
                "how it hears each answer",
            ),
        ] {
            writeln!(stdout, "      {command:<36}  {}", style::faint(what))?;
        }
        Ok(())
    }
}

/// Shows what would change.
pub(super) fn show(plan: &Plan, places: &Places) -> Result<i32> {
    let mut stdout = anstream::stdout();
    for change in &plan.changes {
        let path = places.shown(&change.path);
        let before = change.before.as_deref();
        let after = change.after.as_deref();
        write!(stdout, "{}", diff::unified(&path, before, after))?;
    }
    let told = match plan.changes.len() as u64 {
        0 => "nothing would change".to_owned(),
        files => format!(
            "{} would change; nothing did",
            style::counted(files, "file")
        ),
    };
    writeln!(stdout, "{}", style::faint(told))?;
    Ok(0)
}
