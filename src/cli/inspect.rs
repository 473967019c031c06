//! `hookbox inspect`: what a component is and will ask for.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;

use super::{FAILED, ProjectArgs, print_json, style};
use crate::cases::{self, Used};
use crate::inspect::{Inspection, Nature};

/// Show what a component is, what it will ask for, and what its cases need
#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// The component, or a program for WASI
    file: PathBuf,
    /// The project whose cases say what it needs [default: the folder it is in]
    #[arg(long, short, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl InspectArgs {
    pub(super) fn run(self) -> Result<i32> {
        let bytes = fs::read(&self.file)
            .with_context(|| format!("{} cannot be read", self.file.display()))?;
        let inspection = Inspection::of(&bytes)
            .map_err(|failure| anyhow::anyhow!("{}: {}", self.file.display(), failure.message))?;
        let needed = if inspection.problem.is_none() {
            self.needed()
        } else {
            None
        };
        if self.json {
            let mut value = serde_json::to_value(&inspection)?;
            value["cases"] = match needed {
                Some((count, used)) => serde_json::json!({
                    "count": count, "fuel": used.fuel, "memory_bytes": used.memory,
                }),
                None => serde_json::Value::Null,
            };
            print_json(&value)?;
        } else {
            write!(
                anstream::stdout(),
                "{}",
                text(&self.file, &inspection, needed)
            )?;
        }
        let runs = inspection.problem.is_none() && inspection.nature != Nature::Other;
        Ok(if runs { 0 } else { FAILED })
    }

    /// Runs the cases of the hooks that use this very file.
    fn needed(&self) -> Option<(usize, Used)> {
        let beside = self
            .file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let project = self
            .project
            .clone()
            .unwrap_or_else(|| beside.unwrap_or(Path::new(".")).to_owned());
        let own = fs::canonicalize(&self.file).ok()?;
        let written = crate::dialect::harness::written(&project).ok()?;
        let uses_it = written.components.iter().any(|hook| {
            fs::canonicalize(project.join(&hook.component)).is_ok_and(|path| path == own)
        });
        if !uses_it {
            return None;
        }
        let args = ProjectArgs {
            project,
            allow_process: false,
            config_dir: None,
        };
        let loaded = args.builder().load().ok()?;
        let files = loaded.hooks().iter().map(|hook| &*hook.origin.file);
        let found = cases::find(&args.project, files).ok()?;
        let mut most = Used::default();
        let mut count = 0;
        for one in &found {
            let Ok(case) = &one.case else { continue };
            if let Ok(report) = cases::run(case, args.builder()) {
                most = most.max(report.used);
                count += 1;
            }
        }
        (count > 0).then_some((count, most))
    }
}

fn text(file: &Path, inspection: &Inspection, needed: Option<(usize, Used)>) -> String {
    let mut out = String::new();
    let mut row = |key: &str, value: &str| {
        let _ = writeln!(out, "{:<10} {value}", style::faint(format!("{key:<10}")));
    };
    row("file", &style::name(file.display()));
    let nature = match inspection.nature {
        Nature::Hook => "a hook: exports hookbox:hook/handler",
        Nature::Command => "a program: exports wasi:cli/run, reads the event on standard input",
        Nature::Other => "neither a hook nor a program",
    };
    row("world", nature);
    if let Some(version) = &inspection.contract {
        row("contract", &format!("hookbox:hook {version}"));
    }
    if let Some(problem) = &inspection.problem {
        row("problem", &style::bad(style::plain(problem)));
    }
    let languages = inspection.languages.join(", ");
    row(
        "language",
        if languages.is_empty() {
            "unknown: its tools did not say"
        } else {
            &languages
        },
    );
    let size = style::size(inspection.size);
    row(
        "size",
        &format!("{size} ({} bytes)", style::grouped(inspection.size)),
    );
    row("sha256", &inspection.digest);
    if inspection.free.is_empty() && inspection.needs.is_empty() {
        row("imports", "nothing of the contract");
    }
    for import in &inspection.free {
        row(
            "imports",
            &format!("{import}  {}", style::faint("needs no grant")),
        );
    }
    for need in &inspection.needs {
        let advice = style::notable(format!("needs `{}`", need.grant));
        row("imports", &format!("{}  {advice}", need.import));
    }
    if !inspection.wasi.is_empty() {
        let count = inspection.wasi.len();
        row(
            "imports",
            &format!(
                "{count} of wasi:*  {}",
                style::faint("answered by a virtual world")
            ),
        );
    }
    if let Some((count, used)) = needed {
        let cases = if count == 1 {
            "its case needs"
        } else {
            "its cases need"
        };
        let used = format!(
            "{cases} {} fuel and {} at most; with room to spare:",
            style::grouped(used.fuel),
            style::size(used.memory)
        );
        row("limits", &used);
        row(
            "",
            &suggestion(needed.map(|(_, used)| used).unwrap_or_default()),
        );
    }
    out
}

/// Ten times the fuel and twice the memory: payloads grow, and a limit is a net.
fn suggestion(used: Used) -> String {
    let fuel = (used.fuel.saturating_mul(10) / 1_000_000 + 1).max(1);
    let memory = (used.memory.saturating_mul(2) >> 20) + 1;
    format!("limits: {{ fuel: {fuel}M, memory: {memory} MiB }}")
}
