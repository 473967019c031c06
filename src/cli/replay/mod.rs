//! `hookbox replay`: what happened, again; or what today's hooks would do.

mod find;
mod github;
mod item;
mod people;
mod reports;
mod tally;

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::progress::Reading;
use super::{FAILED, ProjectArgs, style};
use crate::decision::Ruling;
use crate::runtime::Runtime;
use crate::sandbox::engine::Lifetime;
use crate::tape::{Checker, Ending, Project, Replay, Replayed, Seen, TapeError};
use find::{Found, Shard};
use item::Item;
use reports::Reports;
use tally::Tally;

/// Replay tapes: what happened, again; or what other hooks would have decided
///
/// Without --check and --against nothing runs and nothing goes out: every record is used
/// once, in order, and what is missing or too much is an error. The hooks need not be
/// there.
///
/// Exit code: 0 all is as recorded, 1 a tape is damaged or not whole, or --check found a
/// difference.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hookbox replay run.tape\n  hookbox replay run.tape --check --project .\n  hookbox replay tapes/ --against ../changed-policy --html report.html\n  hookbox replay tapes/ --check --shard 3/16 --json > shard-3.jsonl\n  hookbox replay --merge shard-*.jsonl --junit report.xml"
)]
pub(super) struct ReplayArgs {
    /// Tapes, or folders with *.tape in them
    #[arg(required = true, value_name = "TAPE | DIR")]
    paths: Vec<PathBuf>,
    /// Run the hooks of --project in the world of the tape, and say what differs
    #[arg(long, conflicts_with = "against")]
    check: bool,
    #[command(flatten)]
    project: ProjectArgs,
    /// Run the hooks of another project in the world of the tape, and count what changes
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,
    /// With --against, exit with 1 if an event is `newly allowed`, `newly blocked` and so
    /// on, or `any` of them changes
    #[arg(long, value_name = "VERDICT", requires = "against")]
    fail_on: Vec<String>,
    /// Print one JSON object for each event
    #[arg(long)]
    json: bool,
    /// Print every event, and each of --check's differences as a diff
    #[arg(long, short)]
    verbose: bool,
    /// Print nothing but the last line
    #[arg(long, short, conflicts_with_all = ["json", "verbose"])]
    quiet: bool,
    /// Take tapes that end too early for what they are
    #[arg(long)]
    partial: bool,
    /// Take one part of the tapes, for example 3/16
    #[arg(long, value_name = "PART/PARTS")]
    shard: Option<Shard>,
    /// The paths are what --json printed for other parts: put their reports together
    #[arg(long, conflicts_with_all = ["check", "against", "shard"])]
    merge: bool,
    /// Write a report in JUnit's format
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a report as one page of HTML
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print annotations for GitHub; the default where GITHUB_ACTIONS is set
    #[arg(long)]
    github: bool,
}

/// What is done with every event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Replay,
    Check,
    Against,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Check => "check",
            Self::Against => "against",
        }
    }
}

impl ReplayArgs {
    pub(super) fn run(self) -> Result<i32> {
        self.check_words()?;
        let mut work = Work::new(&self);
        if self.merge {
            for path in &self.paths {
                work.merge(path)?;
            }
        } else {
            let tapes = find::tapes(&self.paths)?;
            let tapes = match self.shard {
                Some(shard) => shard.choose(tapes),
                None => tapes,
            };
            let checker = self.checker()?;
            let reading = Reading::start(tapes.iter().map(|tape| tape.bytes).sum());
            for tape in &tapes {
                work.tape(tape, checker.as_ref(), &reading)?;
            }
        }
        work.finish()
    }

    fn mode(&self) -> Mode {
        match (&self.against, self.check) {
            (Some(_), _) => Mode::Against,
            (None, true) => Mode::Check,
            (None, false) => Mode::Replay,
        }
    }

    fn checker(&self) -> Result<Option<Checker>> {
        let project: &Path = match (&self.against, self.check) {
            (Some(against), _) => against,
            (None, true) => &self.project.project,
            (None, false) => return Ok(None),
        };
        let mut builder = Runtime::builder(project)
            .lifetime(Lifetime::LongLived)
            .on_progress(std::sync::Arc::new(super::progress::show));
        if let Some(folder) = &self.project.config_dir {
            builder = builder.config_dir(folder);
        }
        let checker = Checker::load(builder)?;
        if checker.runtime().hooks().is_empty() {
            let what = format!(
                "no hooks were found in {}: every event passes",
                project.display()
            );
            writeln!(anstream::stderr(), "{} {what}", style::notable("warning:"))?;
        }
        Ok(Some(checker))
    }

    fn check_words(&self) -> Result<()> {
        for word in &self.fail_on {
            let word = word.replace('-', " ");
            if word != "any" && crate::tape::Verdict::parse(&word).is_none() {
                let known = crate::tape::Verdict::ALL.map(crate::tape::Verdict::name);
                bail!(
                    "{word:?} is nothing to fail on; write any, or one of {}",
                    known.join(", ")
                );
            }
        }
        Ok(())
    }

    fn fails_on(&self, item: &Item) -> bool {
        let Some(today) = &item.checked else {
            return false;
        };
        let name = today.verdict.name();
        self.fail_on.iter().any(|word| {
            let word = word.replace('-', " ");
            word == name || word == "any" && name != crate::tape::Verdict::Kept.name()
        })
    }
}

/// The replay of all tapes.
struct Work<'a> {
    args: &'a ReplayArgs,
    tally: Tally,
    reports: Reports,
    github: bool,
    failed: bool,
    first_difference: bool,
}

impl<'a> Work<'a> {
    fn new(args: &'a ReplayArgs) -> Self {
        let actions = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        Self {
            args,
            tally: Tally::default(),
            reports: Reports::new(args.junit.is_some(), args.html.is_some()),
            github: args.github || actions && !args.json,
            failed: false,
            first_difference: true,
        }
    }

    fn tape(&mut self, tape: &Found, checker: Option<&Checker>, reading: &Reading) -> Result<()> {
        self.tally.tapes += 1;
        let replayed = Replay::open(&tape.path).and_then(|mut replay| {
            if let Some(checker) = checker {
                self.changes(&tape.name, checker, replay.reader().header());
            }
            let read = match checker {
                Some(checker) => self.check(&mut replay, tape, checker, reading),
                None => self.replay(&mut replay, tape, reading),
            };
            self.tally.records += replay.reader().records();
            self.tally.bytes += replay.reader().bytes();
            read.map(|()| self.ending(tape, &replay))
        });
        if let Err(error) = replayed {
            self.fault(&tape.name, &error.to_string());
        }
        Ok(())
    }

    fn replay<R: BufRead>(
        &mut self,
        replay: &mut Replay<R>,
        tape: &Found,
        reading: &Reading,
    ) -> Result<(), TapeError> {
        let before = self.tally.bytes;
        while let Some(replayed) = replay.step()? {
            match replayed {
                Replayed::Dispatch(dispatch) => {
                    let item = Item::new(&tape.name, &dispatch, None, self.wants_views());
                    self.take(item, reading);
                }
                other => self.other(&tape.name, &other, reading),
            }
            reading.at(before + replay.reader().bytes(), self.tally.events);
        }
        Ok(())
    }

    fn check<R: BufRead + Send>(
        &mut self,
        replay: &mut Replay<R>,
        tape: &Found,
        checker: &Checker,
        reading: &Reading,
    ) -> Result<(), TapeError> {
        checker.check_all(replay, |seen| match seen {
            Seen::Checked(dispatch, checked) => {
                let views = self.wants_views();
                let item = Item::new(&tape.name, &dispatch, Some(&checked), views);
                self.take(item, reading);
                reading.at(self.tally.bytes, self.tally.events);
            }
            Seen::Other(other) => self.other(&tape.name, &other, reading),
        })
    }

    fn wants_views(&self) -> bool {
        self.args.json || self.reports.wants_views()
    }

    /// Takes one event: counts it, prints it, keeps it for the reports.
    fn take(&mut self, item: Item, reading: &Reading) {
        self.tally.add(&item);
        let fails = match self.args.mode() {
            Mode::Replay => false,
            Mode::Check => item.differs(),
            Mode::Against => self.args.fails_on(&item),
        };
        self.failed |= fails;
        let told = self.told(&item, fails);
        if !told.is_empty() {
            let print = || write!(anstream::stdout(), "{told}");
            // A reader that went away is noticed at the end.
            let _ = reading.aside(print);
        }
        self.reports.take(item, fails);
    }

    fn told(&mut self, item: &Item, fails: bool) -> String {
        let args = self.args;
        let mut out = String::new();
        if args.json {
            for view in &item.views {
                out += &crate::json::to_text(view);
                out.push('\n');
            }
            return out;
        }
        let kept = item
            .checked
            .as_ref()
            .is_some_and(|today| today.verdict == crate::tape::Verdict::Kept);
        match args.mode() {
            _ if args.quiet => {}
            Mode::Replay => out += &people::line(item),
            Mode::Against if kept && !args.verbose => {}
            Mode::Check if !item.differs() && !args.verbose => {}
            Mode::Check | Mode::Against => out += &people::change(item),
        }
        let show = args.verbose || self.first_difference && args.mode() == Mode::Check;
        if item.differs() && show && !args.quiet {
            out += &people::difference(item);
            self.first_difference = false;
        }
        if self.github && fails {
            out += &github::difference(item).unwrap_or_default();
        }
        out
    }

    /// Says what is different about the hooks: not all of it changes decisions.
    fn changes(&mut self, tape: &str, checker: &Checker, recorded: &Project) {
        if self.args.quiet || self.args.json {
            return;
        }
        for change in checker.changes(recorded) {
            let change = format!("{tape} (record 0): {change}");
            let change = style::plain(&change);
            let _ = writeln!(anstream::stderr(), "{} {change}", style::faint("note:"));
        }
    }

    fn other(&mut self, tape: &str, other: &Replayed, reading: &Reading) {
        let text = match other {
            Replayed::Undecided(one) => {
                self.tally.undecided += 1;
                self.tally.events += 1;
                format!("{tape}: {} could not be decided: {}", one.event, one.error)
            }
            Replayed::Lost(lost) => format!(
                "{tape}: {} records were lost when it was recorded: {}",
                lost.count, lost.error
            ),
            Replayed::Dispatch(_) => return,
        };
        let print = || {
            let text = style::plain(&text);
            writeln!(anstream::stderr(), "{} {text}", style::notable("warning:"))
        };
        let _ = reading.aside(print);
        self.reports.note(text);
    }

    /// Says how a tape ends, and whether that will do.
    fn ending<R: BufRead>(&mut self, tape: &Found, replay: &Replay<R>) {
        let reader = replay.reader();
        if let Some(record) = replay.clock_set_back() {
            self.warn(format!(
                "{}: the clock was set back before record {record}; the order is that of the records",
                tape.name
            ));
        }
        if reader.redacted() > 0 {
            self.warn(format!(
                "{}: {} records were redacted",
                tape.name,
                reader.redacted()
            ));
        }
        let Some(text) = ending(reader.ending(), reader.records(), replay.unfinished().len())
        else {
            return;
        };
        let text = format!("{}: {text}", tape.name);
        if self.args.partial {
            self.warn(text);
        } else {
            self.fault(
                &tape.name,
                &format!("{text}; `--partial` takes it as it is"),
            );
        }
    }

    fn warn(&mut self, text: String) {
        let shown = style::plain(&text);
        let _ = writeln!(anstream::stderr(), "{} {shown}", style::notable("warning:"));
        self.reports.note(text);
    }

    fn fault(&mut self, tape: &str, text: &str) {
        self.failed = true;
        self.tally.faults += 1;
        let named = if text.starts_with(tape) {
            text.to_owned()
        } else {
            format!("{tape}: {text}")
        };
        let shown = style::plain(&named);
        let _ = writeln!(anstream::stderr(), "{} {shown}", style::bad("error:"));
        if self.args.json {
            let value = serde_json::json!({"tape": tape, "error": text});
            let _ = writeln!(anstream::stdout(), "{value}");
        }
        if self.github {
            let _ = write!(anstream::stdout(), "{}", github::error(tape, text));
        }
        self.reports.fault(tape, text);
    }

    /// Takes over what another part printed.
    fn merge(&mut self, path: &Path) -> Result<()> {
        let file = std::fs::File::open(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let reading = Reading::start(0);
        for (index, line) in BufReader::new(file).lines().enumerate() {
            let place = || format!("{} line {}", path.display(), index + 1);
            let line = line.with_context(place)?;
            let value: serde_json::Value = serde_json::from_str(&line).with_context(place)?;
            if let (Some(tape), Some(error)) = (value["tape"].as_str(), value["error"].as_str()) {
                let (tape, error) = (tape.to_owned(), error.to_owned());
                self.fault(&tape, &error);
                continue;
            }
            let Some(item) = Item::read(value) else {
                bail!("{} is nothing that `hookbox replay --json` prints", place());
            };
            self.reports.name(&item.tape);
            self.tally.tapes = self.reports.names();
            if item.is_caused() {
                self.reports.append(item);
            } else {
                let differs = item.differs();
                self.failed |= differs;
                self.take(item, &reading);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<i32> {
        let mode = self.args.mode();
        if !self.args.json {
            let mut out = String::new();
            let checked = self.tally.verdicts.values().sum::<u64>() > 0;
            if mode == Mode::Against || self.args.merge && checked {
                out += &people::table(&self.tally);
            }
            out += &people::total(&self.tally);
            if mode == Mode::Check && self.tally.events > 0 {
                out += &match self.tally.differing {
                    0 => format!("{}\n", style::good("✓ today's hooks do the same")),
                    count => format!(
                        "{}\n",
                        style::bad(format!("✗ {} differ", style::grouped(count)))
                    ),
                };
            }
            write!(anstream::stdout(), "{out}")?;
        }
        if let Some(path) = &self.args.junit {
            write_file(path, &self.reports.junit())?;
        }
        if let Some(path) = &self.args.html {
            write_file(path, &self.reports.html(mode, &self.tally))?;
        }
        Ok(if self.failed { FAILED } else { 0 })
    }
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Says what is wrong with the end of a tape; nothing if it is whole.
pub(super) fn ending(ending: Option<Ending>, records: u64, unfinished: usize) -> Option<String> {
    let what = match ending {
        Some(Ending::Closed) | None => return None,
        Some(Ending::Open) => format!(
            "the tape was not closed: it is still recorded to, or whoever recorded it was stopped; it reads up to record {}",
            records.saturating_sub(1)
        ),
        Some(Ending::Torn { bytes }) => format!(
            "the tape ends in the middle of record {records} ({bytes} bytes of it are there); it reads up to record {}",
            records.saturating_sub(1)
        ),
    };
    Some(match unfinished {
        0 => what,
        1 => format!("{what}, and a dispatch on it never ends"),
        count => format!("{what}, and {count} dispatches on it never end"),
    })
}

/// Returns the word for a decision.
pub(super) fn word(decision: Option<Ruling>) -> &'static str {
    decision.map_or("undecided", Ruling::name)
}
