//! The command line: every verb is a few lines over the public API.

mod ask;
mod bench;
mod build;
mod diff;
mod doctor;
mod events;
mod explain;
mod hook;
mod inspect;
mod install;
mod new;
mod payload;
mod progress;
mod replay;
mod run;
#[cfg(unix)]
mod serve;
mod style;
mod tape;
mod test;
mod trust;
mod uninstall;
mod validate;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::diagnostic::{Diagnostic, render};
use crate::dialect::{self, Dialect};
use crate::runtime::{LoadError, Runtime, RuntimeBuilder};
use crate::sandbox::engine::Lifetime;

/// Exit code when hookbox could not decide, or found a project wanting.
const FAILED: i32 = 1;

/// Runs AI-agent hooks in a WebAssembly sandbox.
#[derive(Debug, Parser)]
#[command(name = "hookbox", version, propagate_version = true)]
struct Cli {
    /// Whether to use colour
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::RunArgs),
    Validate(validate::ValidateArgs),
    Explain(explain::ExplainArgs),
    Events(events::EventsArgs),
    New(new::NewArgs),
    Build(build::BuildArgs),
    Test(test::TestArgs),
    Inspect(inspect::InspectArgs),
    Bench(bench::BenchArgs),
    Replay(replay::ReplayArgs),
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Hook(hook::HookArgs),
    Trust(trust::TrustArgs),
    #[cfg(unix)]
    Serve(serve::ServeArgs),
    #[command(subcommand)]
    Tape(tape::TapeVerb),
}

/// What every verb that looks at a project takes.
#[derive(Debug, Args)]
struct ProjectArgs {
    /// The directory that holds `.harness/`, `.polytoken/`, `harn.toml` or `settings.json`
    #[arg(long, short, default_value = ".", value_name = "DIR")]
    project: PathBuf,
    /// Let hooks run that are programs of this machine, outside of the sandbox
    #[arg(long)]
    allow_process: bool,
    /// The directory with Polytoken's global hooks.json
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
}

impl ProjectArgs {
    fn builder(&self) -> RuntimeBuilder {
        let mut builder = Runtime::builder(&self.project)
            .lifetime(Lifetime::OneShot)
            .allow_process(self.allow_process)
            .on_progress(Arc::new(progress::show));
        if let Some(folder) = &self.config_dir {
            builder = builder.config_dir(folder);
        }
        builder
    }
}

/// Runs the command line and returns the exit code. `before_names` is called before the name
/// of a host or a user is looked up, which a process that asks a server seldom does.
#[must_use]
pub fn main(before_names: fn()) -> i32 {
    // Setting up the parser of all verbs takes longer than some answers.
    if let Some(hook) = hook::HookArgs::plain(std::env::args_os().skip(1)) {
        return hook.run(before_names);
    }
    before_names();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(code) = hook::mistaken(std::env::args_os().skip(1), &error) {
                return code;
            }
            let _ = error.print();
            // 2 would mean that a hook blocked.
            return if error.use_stderr() { FAILED } else { 0 };
        }
    };
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let result = match cli.verb {
        Verb::Run(args) => args.run(),
        Verb::Validate(args) => args.run(),
        Verb::Explain(args) => args.run(),
        Verb::Events(args) => args.run(),
        Verb::New(args) => args.run(),
        Verb::Build(args) => args.run(),
        Verb::Test(args) => args.run(),
        Verb::Inspect(args) => args.run(),
        Verb::Bench(args) => args.run(),
        Verb::Replay(args) => args.run(),
        Verb::Trust(args) => args.run(),
        Verb::Hook(args) => Ok(args.run(|| {})),
        Verb::Install(args) => args.run(),
        Verb::Uninstall(args) => args.run(),
        Verb::Doctor(args) => args.run(),
        #[cfg(unix)]
        Verb::Serve(args) => args.run(),
        Verb::Tape(verb) => verb.run(),
    };
    result.unwrap_or_else(|error| complain(&error))
}

/// Says what went wrong; a reader that went away is nothing to complain about.
fn complain(error: &anyhow::Error) -> i32 {
    let pipe = error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
    if !pipe {
        let mut stderr = anstream::stderr();
        if let Some(LoadError::Project(problems)) = error.downcast_ref() {
            let _ = write!(stderr, "{}", rendered(problems));
            let told = "the project does not load, so nothing was decided";
            let _ = writeln!(stderr, "{} {told}", style::bad("error:"));
        } else {
            let told = format!("{error:#}");
            let lines: Vec<String> = told.lines().map(style::plain).collect();
            let _ = writeln!(stderr, "{} {}", style::bad("error:"), lines.join("\n"));
        }
    }
    FAILED
}

/// Finds the dialect that a flag names.
fn dialect(name: &str) -> std::result::Result<&'static Dialect, String> {
    dialect::named(name).ok_or_else(|| {
        let known: Vec<&str> = dialect::ALL.iter().map(|known| known.name).collect();
        format!("the dialects are {}", known.join(", "))
    })
}

/// Writes diagnostics with colours, which the stream drops where they do not belong.
fn rendered(problems: &[Diagnostic]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    render(problems, true) + "\n"
}

/// Prints one JSON value.
fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    writeln!(anstream::stdout(), "{text}")?;
    Ok(())
}
