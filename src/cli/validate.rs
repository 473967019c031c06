//! `hookbox validate`: everything that is wrong with a project, in one pass.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::{FAILED, ProjectArgs, print_json, rendered, style};
use crate::dialect::Loaded;
use crate::handler::Handler;
use crate::hook::Hook;

/// Check a project's hooks and report every problem
///
/// Exit code: 0 if everything loads, 1 on any error.
#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Also refuse unknown keys, a missing priority, a missing `handle`, code that cannot work
    #[arg(long)]
    strict: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Also show each hook as the runtime sees it
    #[arg(long, short)]
    verbose: bool,
}

impl ValidateArgs {
    pub(super) fn run(self) -> Result<i32> {
        let loaded = self.project.builder().strict(self.strict).inspect()?;
        let errors = loaded
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .count();
        if self.json {
            print_json(&json!({
                "valid": errors == 0,
                "hooks": loaded.hooks.iter().map(|hook| as_json(hook)).collect::<Vec<_>>(),
                "problems": loaded.problems,
            }))?;
        } else {
            self.print(&loaded, errors)?;
        }
        Ok(if errors == 0 { 0 } else { FAILED })
    }

    fn print(&self, loaded: &Loaded, errors: usize) -> Result<()> {
        let mut stdout = anstream::stdout();
        write!(stdout, "{}", rendered(&loaded.problems))?;
        if self.verbose {
            for hook in &loaded.hooks {
                write!(stdout, "{}", as_text(hook))?;
            }
        }
        let project = self.project.project.display();
        let hooks = count(loaded.hooks.len(), "hook");
        let warnings = count(loaded.problems.len() - errors, "warning");
        if errors == 0 {
            writeln!(
                stdout,
                "{} {project}: {hooks}, {warnings}",
                style::good("✓ valid")
            )?;
        } else {
            let errors = count(errors, "error");
            writeln!(
                stdout,
                "{} {project}: {errors}, {warnings}",
                style::bad("✗ invalid")
            )?;
        }
        Ok(())
    }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A hook as the runtime sees it, for programs.
pub(super) fn as_json(hook: &Hook) -> serde_json::Value {
    json!({
        "hook": hook.name,
        "dialect": hook.dialect.name,
        "event": hook.event,
        "point": hook.point,
        "waits": hook.waits,
        "sandboxed": hook.handler.is_sandboxed(),
        "priority": hook.priority,
        "explicit_priority": hook.origin.explicit_priority,
        "when": hook.condition(),
        "handler": hook.handler.kind(),
        "script": hook.handler.kind() == "starlark",
        "on_error": hook.on_error,
        "file": hook.origin.file,
        "summary": hook.origin.summary,
        "limits": hook.limits,
        "grants": hook.grants,
    })
}

/// What runs, and where if that is not the sandbox.
fn handler(hook: &Hook) -> String {
    match &hook.handler {
        Handler::Process(_) => "process, outside of the sandbox".to_owned(),
        other => other.kind().to_owned(),
    }
}

/// A hook as the runtime sees it, for people.
fn as_text(hook: &Hook) -> String {
    let priority = if hook.origin.explicit_priority {
        ""
    } else {
        " (default)"
    };
    let grants: String = hook
        .grants
        .lines()
        .iter()
        .map(|(key, what)| format!("  grant     {key}: {}\n", style::plain(what)))
        .collect();
    format!(
        "{}\n  dialect   {}\n  event     {}\n  priority  {}{priority}\n  when      {}\n  handler   {}\n  on error  {}\n  file      {}\n{grants}\n",
        style::name(&hook.name),
        hook.dialect.name,
        hook.event,
        hook.priority,
        hook.condition()
            .map_or_else(|| "always".to_owned(), |when| style::plain(when.trim())),
        handler(hook),
        hook.on_error.name(),
        hook.origin.file,
    )
}
