//! `hookbox bench`: what a call costs, in a fresh instance each time.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::{ProjectArgs, build, print_json, style};
use crate::cases::{self, Found, Measured};
use crate::sandbox::engine::Lifetime;

/// Measure what the hooks cost on their cases: latency, fuel and memory
///
/// Every dispatch is a fresh instance, in a process that lives on. The figures are of
/// this machine; compare them with each other, not with those of another.
#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    project: ProjectArgs,
    /// Only cases whose path has one of these in it
    filters: Vec<String>,
    /// How long to measure each case, in seconds
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    time: f64,
    /// Use the component as it is
    #[arg(long)]
    no_build: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    pub(super) fn run(self) -> Result<i32> {
        if !self.no_build {
            build::if_needed(&self.project.project)?;
        }
        let loaded = self.project.builder().load()?;
        let files = loaded.hooks().iter().map(|hook| &*hook.origin.file);
        let project = &self.project.project;
        let found = cases::find(project, files)
            .with_context(|| format!("the cases of {} cannot be read", project.display()))?;
        let chosen: Vec<&Found> = found.iter().filter(|one| self.wants(one)).collect();
        if chosen.is_empty() {
            bail!("there is no case to measure; write one to cases/NAME.yaml");
        }
        let time = Duration::try_from_secs_f64(self.time.clamp(0.01, 600.0))
            .unwrap_or(Duration::from_secs(1));
        let mut rows = Vec::new();
        for one in chosen {
            let Ok(case) = &one.case else {
                bail!(
                    "{} cannot be read; `hookbox test` says why",
                    one.path.display()
                );
            };
            let mut builder = self.project.builder().lifetime(Lifetime::LongLived);
            if let Some(file) = &one.hook {
                builder = builder.only(file);
            }
            let measured = cases::measure(case, builder, time)?;
            let name = one.path.with_extension("").display().to_string();
            if self.json {
                rows.push(row(&name, &measured));
            } else {
                writeln!(anstream::stdout(), "{}", line(&name, &measured))?;
            }
        }
        if self.json {
            print_json(&rows)?;
        }
        Ok(0)
    }

    fn wants(&self, found: &Found) -> bool {
        let path = found.path.display().to_string();
        self.filters.is_empty() || self.filters.iter().any(|filter| path.contains(filter))
    }
}

fn line(name: &str, measured: &Measured) -> String {
    format!(
        "{}  median {}, 95 of 100 within {}, best {}  {}",
        style::name(style::plain(name)),
        micros(measured.percentile(50)),
        micros(measured.percentile(95)),
        micros(measured.percentile(0)),
        style::faint(format!(
            "{} fuel, {}, {} dispatches",
            style::grouped(measured.used.fuel),
            style::size(measured.used.memory),
            style::grouped(measured.times.len() as u64),
        )),
    )
}

fn micros(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 {
        format!("{micros:.1} µs")
    } else {
        format!("{:.2} ms", micros / 1e3)
    }
}

fn row(name: &str, measured: &Measured) -> serde_json::Value {
    let micros = |percent| measured.percentile(percent).as_secs_f64() * 1e6;
    serde_json::json!({
        "case": name,
        "median_us": micros(50),
        "p95_us": micros(95),
        "best_us": micros(0),
        "fuel": measured.used.fuel,
        "memory_bytes": measured.used.memory,
        "dispatches": measured.times.len(),
    })
}
