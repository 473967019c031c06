//! `hookbox run`: one event through its chain.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;

use super::ask::Who;
use super::{FAILED, ProjectArgs, payload, print_json, style};
use crate::agent::{self, Agent, Asked, Setting};
use crate::capability::log::LogLine;
use crate::decision::{Effect, Ruling};
use crate::dialect::Dialect;
use crate::outcome::{Outcome, TraceRow};
use crate::runtime::{DispatchError, LoadError, Runtime};
use crate::tape::Recorder;

/// Send one event through the project's hooks and print the decision
///
/// Exit code: 0 allowed or modified, 2 blocked, 3 a person has to be asked (with
/// `--ask later`), 1 hookbox could not decide.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  hookbox run tool.pre --payload '{\"name\":\"run_command\",\"args\":{\"command\":\"ls\"}}'"
)]
pub(super) struct RunArgs {
    /// The event, for example tool.pre or pre_tool_use (see `hookbox events`); with --agent
    /// the agent's own, unless its payload says
    #[arg(required_unless_present = "agent")]
    event: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    /// What the event carries: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON | @FILE | -", allow_hyphen_values = true)]
    payload: Option<String>,
    /// The dialect of the event's name and payload, where several have it
    #[arg(long, value_name = "NAME", value_parser = super::dialect)]
    dialect: Option<&'static Dialect>,
    /// Take the payload as this agent sends it, and show what it would be told
    #[arg(long, value_name = "NAME", value_parser = super::hook::agent, conflicts_with_all = ["dialect", "native", "ask"])]
    agent: Option<&'static Agent>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the answer in the dialect's own form, and nothing else
    #[arg(long, conflicts_with = "json")]
    native: bool,
    /// Who answers the questions of hooks
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    ask: Who,
    /// Also show what each hook did, and what it logged
    #[arg(long, short)]
    verbose: bool,
    /// Record the event: to a new tape, or at the end of one that is there
    #[arg(long, value_name = "FILE")]
    tape: Option<PathBuf>,
    /// Write the metrics to a file, in the text format that Prometheus reads
    #[arg(long, value_name = "FILE")]
    prometheus: Option<PathBuf>,
    /// Send the metrics to an OTLP collector, for example http://localhost:4318
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

/// What an event came to.
struct Decided {
    outcome: Outcome,
    /// What came of the hooks that it did not wait for.
    later: Vec<Outcome>,
    /// The outcome in the dialect's own form.
    native: String,
}

impl RunArgs {
    pub(super) fn run(self) -> Result<i32> {
        if let Some(agent) = self.agent {
            return self.as_agent(agent);
        }
        match self.decide() {
            Ok(Decided {
                outcome,
                later,
                native,
            }) => {
                if self.json {
                    print_json(&outcome)?;
                } else if self.native {
                    warn(&outcome)?;
                    writeln!(anstream::stdout(), "{native}")?;
                } else {
                    self.print(&outcome)?;
                }
                self.print_later(&later)?;
                Ok(exit_code(outcome.decision))
            }
            Err(error) if self.json => {
                print_json(&serde_json::json!({
                    "event": self.event(),
                    "error": format!("{error:#}"),
                    "outcome": match error.downcast_ref() {
                        Some(DispatchError::Raised(outcome)) => Some(outcome),
                        _ => None,
                    },
                    "problems": match error.downcast_ref() {
                        Some(LoadError::Project(problems)) => problems.as_slice(),
                        _ => &[],
                    },
                }))?;
                Ok(FAILED)
            }
            Err(error) => Err(error),
        }
    }

    fn decide(&self) -> Result<Decided> {
        // Programs that hooks start must not outlive them, whatever they do.
        #[cfg(unix)]
        let _ = crate::handler::process::adopt_orphans();
        let bytes = payload::read(self.payload.as_deref())?;
        let recorder = self
            .tape
            .as_deref()
            .map(Recorder::create_in_turn)
            .transpose()?;
        let mut builder = self.ask.on(self.project.builder());
        if let Some(dialect) = self.dialect {
            builder = builder.dialect(dialect);
        }
        if let Some(recorder) = &recorder {
            builder = builder.tape(recorder);
        }
        let runtime = builder.load()?;
        let payload = payload::parse(bytes.as_deref(), runtime.limits())?;
        #[cfg(feature = "otlp")]
        let started = std::time::SystemTime::now();
        let dispatched = runtime.dispatch(self.event(), payload);
        let later = runtime.flush();
        let mut outcome = match dispatched {
            Ok(outcome) => outcome,
            Err(error) => {
                if let Some(recorder) = recorder {
                    let _ = recorder.close();
                }
                return Err(error.into());
            }
        };
        if let Some(recorder) = recorder
            && let Err(error) = recorder.close()
        {
            runtime.not_recorded(error, &mut outcome)?;
        }
        if let Err(error) = self.export(&runtime) {
            outcome.warnings.push(format!("{error:#}"));
        }
        #[cfg(feature = "otlp")]
        if let Some(endpoint) = &self.otlp
            && let Err(error) = runtime.metrics().export_otlp(endpoint, started)
        {
            outcome.warnings.push(error.to_string());
        }
        Ok(Decided {
            native: runtime.native(&outcome).unwrap_or_default(),
            outcome,
            later,
        })
    }

    /// The event; without an agent there always is one.
    fn event(&self) -> &str {
        self.event.as_deref().unwrap_or_default()
    }

    /// Shows what an agent would be told, and its bytes.
    fn as_agent(&self, agent: &'static Agent) -> Result<i32> {
        let input = payload::read(self.payload.as_deref())?.unwrap_or_default();
        let asked = Asked {
            agent,
            wired: self.event.as_deref(),
            input: &input,
        };
        let setting = Setting {
            project: Some(self.project.project.clone()),
            ..Setting::default()
        };
        let mut tape = None;
        let reply = agent::answer(&asked, &setting, |_, _| {
            let mut builder = self
                .project
                .builder()
                .ask_agent(agent::hand_on)
                .self_defence(true);
            if let Some(path) = &self.tape {
                let recorder = agent::recorder(path)?;
                builder = builder.tape(&recorder);
                tape = Some(recorder);
            }
            Ok(builder.load()?)
        })
        .reply;
        if let Some(tape) = tape {
            tape.close()?;
        }
        if self.json {
            print_json(&reply)?;
            return Ok(reply.code);
        }
        let mut stdout = anstream::stdout();
        let verdict = if reply.code == 2 {
            style::bad("✗ refused")
        } else {
            style::good("✓ answered")
        };
        writeln!(stdout, "{verdict} in the words of {}", agent.title)?;
        for (name, text) in [("stdout", &reply.stdout), ("stderr", &reply.stderr)] {
            if !text.is_empty() {
                writeln!(stdout, "{} {}", style::name(name), style::plain(text))?;
            }
        }
        writeln!(stdout, "{} {}", style::name("exit code"), reply.code)?;
        Ok(reply.code)
    }

    /// Says what went wrong in the background, where nobody waited for it.
    fn print_later(&self, later: &[Outcome]) -> Result<()> {
        let mut stderr = anstream::stderr();
        for outcome in later {
            if self.verbose {
                write!(stderr, "{}", trace(outcome))?;
            }
            warn(outcome)?;
        }
        Ok(())
    }

    /// Writes the metrics whole or not at all: somebody may be reading them. That it
    /// fails is no reason to decide otherwise.
    fn export(&self, runtime: &Runtime) -> Result<()> {
        let Some(path) = &self.prometheus else {
            return Ok(());
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
            file.write_all(runtime.metrics().to_prometheus().as_bytes())?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        write().with_context(|| format!("the metrics cannot be written to {}", path.display()))
    }

    fn print(&self, outcome: &Outcome) -> Result<()> {
        let mut stderr = anstream::stderr();
        if self.verbose {
            write!(stderr, "{}", trace(outcome))?;
        }
        warn(outcome)?;
        let mut stdout = anstream::stdout();
        writeln!(stdout, "{}", headline(outcome))?;
        for effect in &outcome.effects {
            writeln!(stdout, "  + {}", style::plain(&wish(effect)))?;
        }
        if outcome.decision == Ruling::Modify {
            for line in serde_json::to_string_pretty(&outcome.payload)?.lines() {
                writeln!(stdout, "{}", style::plain(line))?;
            }
        }
        Ok(())
    }
}

/// Says what was odd, where it does not get between an answer and its reader.
fn warn(outcome: &Outcome) -> Result<()> {
    let mut stderr = anstream::stderr();
    for warning in &outcome.warnings {
        let warning = style::plain(warning);
        writeln!(stderr, "{} {warning}", style::notable("warning:"))?;
    }
    Ok(())
}

fn exit_code(decision: Ruling) -> i32 {
    match decision {
        Ruling::Allow | Ruling::Modify => 0,
        Ruling::Block => 2,
        Ruling::Ask => 3,
    }
}

/// The one line a person reads.
fn headline(outcome: &Outcome) -> String {
    let event = &outcome.event;
    let hook = style::name(outcome.hook.as_deref().unwrap_or_default());
    let reason = style::plain(outcome.reason.as_deref().unwrap_or_default());
    match outcome.decision {
        Ruling::Allow => format!(
            "{} {event} {}",
            style::good("✓ allowed"),
            style::faint(tally(outcome))
        ),
        Ruling::Modify => format!(
            "{} {event} by {}",
            style::good("✓ modified"),
            modifiers(outcome)
        ),
        Ruling::Block => format!("{} {event} by {hook}: {reason}", style::bad("✗ blocked")),
        Ruling::Ask => format!("{} {event} by {hook}: {reason}", style::notable("? ask")),
    }
}

/// What a hook wants beside its decision, on one line.
fn wish(effect: &Effect) -> String {
    match effect {
        Effect::Context { text, .. } => format!("context: {text}"),
        Effect::Reminder(reminder) => format!("reminder: {}", reminder.body),
    }
}

fn tally(outcome: &Outcome) -> String {
    let called = outcome.stages.dispatch.len();
    format!("({called} of {} hooks called)", outcome.trace.len())
}

fn modifiers(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome
        .trace
        .iter()
        .filter(|row| row.decision == Some(Ruling::Modify))
        .map(|row| style::name(&row.hook))
        .collect();
    names.join(", ")
}

/// What each hook did, and what it logged.
fn trace(outcome: &Outcome) -> String {
    let width = outcome
        .trace
        .iter()
        .map(|row| row.hook.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for row in &outcome.trace {
        text += &format!(
            "{:>6}  {:width$}  {}{}\n",
            row.priority,
            row.hook,
            deed(row),
            style::faint(cost(row))
        );
        for refusal in &row.refusals {
            let refusal = style::plain(refusal);
            text += &format!("        {} {refusal}\n", style::notable("refused"));
        }
        for line in row.stack.iter().flat_map(|stack| stack.lines()) {
            text += &format!("        {}\n", style::faint(style::plain(line)));
        }
    }
    for line in &outcome.logs {
        let level = format!("{:?}", line.level).to_lowercase();
        text += &format!(
            "   log  {:width$}  {level}: {}{}\n",
            line.hook,
            style::plain(&line.message),
            nested(outcome, line)
        );
    }
    text
}

/// Says where a line comes from if it is not from this event itself.
fn nested(outcome: &Outcome, line: &LogLine) -> String {
    if line.event == outcome.event {
        return String::new();
    }
    style::faint(format!("  ({})", style::plain(&line.event)))
}

fn deed(row: &TraceRow) -> String {
    if row.background {
        return style::faint("runs in the background");
    }
    match (row.matched, row.decision, &row.error) {
        (_, _, Some(error)) => style::bad(format!("failed: {}", style::plain(error))),
        (false, _, None) => style::faint("does not match"),
        (true, None, None) => style::faint("not reached"),
        (true, Some(Ruling::Allow), None) => style::good("allow"),
        (true, Some(Ruling::Modify), None) => style::good("modify"),
        (true, Some(Ruling::Block), None) => style::bad("block"),
        (true, Some(Ruling::Ask), None) => style::notable("ask"),
    }
}

fn cost(row: &TraceRow) -> String {
    let fuel = row.fuel.unwrap_or(0) + row.when_fuel.unwrap_or(0);
    if fuel == 0 {
        return String::new();
    }
    format!(
        "  ({:.2} ms, {:.2} M fuel, {:.1} MiB)",
        row.duration.as_secs_f64() * 1e3,
        fuel as f64 / 1e6,
        row.memory_bytes as f64 / f64::from(1 << 20)
    )
}
