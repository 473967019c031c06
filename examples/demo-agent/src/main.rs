//! A small agent without a model: a script says what the user and the model do, and the
//! loop around them asks the hooks of a project at every moment that their dialect has an
//! event for.
//!
//! ```sh
//! cargo run --release --example demo-agent -- --project examples/demo-agent/harness --dialect harness
//! ```

mod agent;

use std::path::PathBuf;

use agent::script::Script;
use anyhow::Context as _;
use clap::Parser;
use hookbox::Runtime;
use hookbox::dialect::{self, Dialect};
use hookbox::tape::Recorder;

/// Play a session with a project's hooks, and print what happened
#[derive(Debug, Parser)]
struct Args {
    /// The project whose hooks are asked
    #[arg(long, short)]
    project: PathBuf,
    /// The dialect whose events are fired: harness, polytoken, harn or framework
    #[arg(long, value_parser = named)]
    dialect: &'static Dialect,
    /// What the user and the model do, instead of the session beside this example
    #[arg(long)]
    script: Option<PathBuf>,
    /// Record the run
    #[arg(long)]
    tape: Option<PathBuf>,
}

fn named(name: &str) -> Result<&'static Dialect, String> {
    let known = dialect::ALL.map(|dialect| dialect.name).join(", ");
    dialect::named(name).ok_or_else(|| format!("the dialects are {known}"))
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // Programs that hooks start must not outlive them, whatever they do.
    #[cfg(unix)]
    let _ = hookbox::handler::process::adopt_orphans();
    let script = match &args.script {
        Some(path) => Script::parse(
            &std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
        )?,
        None => Script::default_session()?,
    };
    let recorder = args.tape.as_ref().map(Recorder::create).transpose()?;
    let mut builder = Runtime::builder(args.project).dialect(args.dialect);
    if let Some(recorder) = &recorder {
        builder = builder.tape(recorder);
    }
    let runtime = builder.load()?;
    print!("{}", agent::run(&runtime, args.dialect, &script)?);
    if let Some(recorder) = recorder {
        recorder.close()?;
    }
    Ok(())
}
