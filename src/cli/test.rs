//! `hookbox test`: builds, then runs the cases beside the hooks.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::{FAILED, ProjectArgs, build, diff, print_json, rendered, style};
use crate::cases::{self, Found, Report, Used, junit};
use crate::sandbox::limits::Limits;

/// Build the project's hook, then run the test cases beside the hooks
///
/// A case is a YAML file: in `cases/` for the whole chain, in `NAME.cases/` beside
/// `NAME.md` for that hook alone. It names an event, its payload, and what is expected.
/// Nothing a case does reaches the network.
///
/// Exit code: 0 all passed, 1 otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Example of a case:\n  event: tool.pre\n  payload: { name: run_command, args: { command: \"rm -rf /\" } }\n  expect:\n    decision: block\n    reason: { contains: \"rm -rf\" }"
)]
pub(super) struct TestArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Only cases whose path has one of these in it
    filters: Vec<String>,
    /// Write what came out into the cases that fail
    #[arg(long)]
    update: bool,
    /// Use the component as it is
    #[arg(long)]
    no_build: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Also write a report in JUnit's format
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// A case that was run.
struct Done {
    found: Found,
    report: Option<Report>,
    took: Duration,
    updated: bool,
}

impl Done {
    fn passed(&self) -> bool {
        self.updated || self.report.as_ref().is_some_and(Report::passed)
    }

    fn name(&self) -> String {
        self.found.path.with_extension("").display().to_string()
    }
}

impl TestArgs {
    pub(super) fn run(self) -> Result<i32> {
        if !self.no_build {
            build::if_needed(&self.project.project)?;
        }
        let loaded = self.project.builder().load()?;
        let files = loaded.hooks().iter().map(|hook| &*hook.origin.file);
        let project = &self.project.project;
        let all = cases::find(project, files)
            .with_context(|| format!("the cases of {} cannot be read", project.display()))?;
        if all.is_empty() {
            bail!(
                "{} has no cases; write one to cases/NAME.yaml (`hookbox test --help` shows one)",
                project.display()
            );
        }
        let count = all.len();
        let chosen: Vec<Found> = all.into_iter().filter(|found| self.wants(found)).collect();
        if chosen.is_empty() {
            bail!(
                "none of the {count} cases has {} in its path",
                self.filters.join(" or ")
            );
        }
        let mut done = Vec::new();
        for found in chosen {
            let one = self.one(found)?;
            if !self.json {
                write!(anstream::stdout(), "{}", line(&one))?;
            }
            done.push(one);
        }
        self.finish(&done, loaded.limits())?;
        Ok(if done.iter().all(Done::passed) {
            0
        } else {
            FAILED
        })
    }

    fn wants(&self, found: &Found) -> bool {
        let path = found.path.display().to_string();
        self.filters.is_empty() || self.filters.iter().any(|filter| path.contains(filter))
    }

    fn one(&self, found: Found) -> Result<Done> {
        let started = Instant::now();
        let Ok(case) = &found.case else {
            return Ok(Done {
                found,
                report: None,
                took: Duration::ZERO,
                updated: false,
            });
        };
        let mut builder = self.project.builder();
        if let Some(file) = &found.hook {
            builder = builder.only(file);
        }
        let report = cases::run(case, builder)?;
        let text = if self.update {
            cases::update(case, &report)
        } else {
            None
        };
        if let Some(text) = &text {
            let path = self.project.project.join(&found.path);
            std::fs::write(&path, text)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(Done {
            found,
            report: Some(report),
            took: started.elapsed(),
            updated: text.is_some(),
        })
    }

    fn finish(&self, done: &[Done], limits: &Limits) -> Result<()> {
        if let Some(path) = &self.junit {
            let entries: Vec<junit::Entry> = done.iter().map(entry).collect();
            let suite = self.project.project.display().to_string();
            std::fs::write(path, junit::xml(&suite, &entries))
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        if self.json {
            return print_json(&summary(done));
        }
        write!(anstream::stdout(), "{}", tally(done, limits))?;
        Ok(())
    }
}

/// What a person reads of one case.
fn line(done: &Done) -> String {
    let name = style::plain(&done.name());
    let mut out = String::new();
    let Some(report) = &done.report else {
        let _ = writeln!(out, "{} {name}", style::bad("✗"));
        if let Err(problems) = &done.found.case {
            let _ = write!(out, "{}", rendered(problems));
        }
        return out;
    };
    let used = style::faint(figures(report.used));
    if done.updated {
        let _ = writeln!(out, "{} {name} updated {used}", style::notable("✎"));
    } else if report.passed() {
        let _ = writeln!(out, "{} {name}  {used}", style::good("✓"));
    } else {
        let _ = writeln!(out, "{} {name}  {used}", style::bad("✗"));
        for difference in &report.differences {
            let _ = writeln!(out, "  {}", style::name(style::plain(&difference.what)));
            let _ = write!(
                out,
                "{}",
                diff::lines(&difference.expected, &difference.found)
            );
        }
    }
    out
}

/// Writes what was used the way limits are written.
pub(super) fn figures(used: Used) -> String {
    format!(
        "{} fuel, {}, {:.2} ms",
        style::grouped(used.fuel),
        style::size(used.memory),
        used.duration.as_secs_f64() * 1e3
    )
}

fn tally(done: &[Done], limits: &Limits) -> String {
    let failed = done.iter().filter(|one| !one.passed()).count();
    let passed = done.len() - failed;
    let most = most(done);
    let verdict = if failed == 0 {
        style::good(format!("{passed} passed"))
    } else {
        format!(
            "{passed} passed, {}",
            style::bad(format!("{failed} failed"))
        )
    };
    let used = format!(
        "the most a hook used: {} fuel of {}, {} of {}",
        style::grouped(most.fuel),
        style::grouped(limits.fuel),
        style::size(most.memory),
        style::size(limits.memory as u64),
    );
    format!("\n{verdict}\n{}\n", style::faint(used))
}

fn most(done: &[Done]) -> Used {
    done.iter()
        .filter_map(|one| one.report.as_ref())
        .fold(Used::default(), |most, report| most.max(report.used))
}

fn entry(done: &Done) -> junit::Entry {
    let failure = (!done.passed()).then(|| match (&done.report, &done.found.case) {
        (Some(report), _) => {
            let first = report.differences.first();
            let what = first.map_or(String::new(), |first| first.what.clone());
            let text: String = report
                .differences
                .iter()
                .map(|one| {
                    format!(
                        "{}\n  expected: {}\n  found: {}\n",
                        one.what, one.expected, one.found
                    )
                })
                .collect();
            (format!("{what} is not as expected"), text)
        }
        (None, Err(problems)) => {
            let texts: Vec<&str> = problems
                .iter()
                .map(|problem| problem.message.as_str())
                .collect();
            ("the case cannot be read".to_owned(), texts.join("\n"))
        }
        (None, Ok(_)) => ("the case was not run".to_owned(), String::new()),
    });
    let folder = done.found.path.parent();
    junit::Entry {
        class: done
            .found
            .hook
            .clone()
            .unwrap_or_else(|| folder.map_or(String::new(), |folder| folder.display().to_string())),
        name: done.name(),
        duration: done.took,
        failure,
    }
}

fn summary(done: &[Done]) -> Value {
    let cases: Vec<Value> = done
        .iter()
        .map(|one| {
            let differences: Vec<Value> = one
                .report
                .iter()
                .flat_map(|report| &report.differences)
                .map(|one| json!({"what": one.what, "expected": one.expected, "found": one.found}))
                .collect();
            let used = one
                .report
                .as_ref()
                .map(|report| report.used)
                .unwrap_or_default();
            json!({
                "case": one.found.path.display().to_string(),
                "hook": one.found.hook,
                "passed": one.passed(),
                "updated": one.updated,
                "problems": one.found.case.as_ref().err(),
                "differences": differences,
                "fuel": used.fuel,
                "memory_bytes": used.memory,
                "duration_us": u64::try_from(used.duration.as_micros()).unwrap_or(u64::MAX),
            })
        })
        .collect();
    let most = most(done);
    json!({
        "passed": done.iter().filter(|one| one.passed()).count(),
        "failed": done.iter().filter(|one| !one.passed()).count(),
        "most": {"fuel": most.fuel, "memory_bytes": most.memory},
        "cases": cases,
    })
}
