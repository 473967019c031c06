//! `hookbox events`: the catalogues.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::{print_json, style};
use crate::dialect::{self, Dialect, EventInfo, harness};

/// List the events a hook can subscribe to
#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    /// Those of another dialect: polytoken, harn or framework
    #[arg(long, value_name = "NAME", value_parser = super::dialect)]
    dialect: Option<&'static Dialect>,
    /// Those of every dialect
    #[arg(long, conflicts_with = "dialect")]
    all: bool,
    /// Print one JSON list
    #[arg(long)]
    json: bool,
}

impl EventsArgs {
    pub(super) fn run(self) -> Result<i32> {
        let shown: Vec<&'static Dialect> = if self.all {
            dialect::ALL.to_vec()
        } else {
            vec![self.dialect.unwrap_or(&harness::DIALECT)]
        };
        if self.json {
            let events = shown.iter().flat_map(|dialect| {
                let events = (dialect.events)().iter();
                events.map(|info| as_json(dialect, info))
            });
            print_json(&events.collect::<Vec<_>>())?;
            return Ok(0);
        }
        let mut stdout = anstream::stdout();
        for (index, dialect) in shown.iter().enumerate() {
            if self.all {
                let gap = if index > 0 { "\n" } else { "" };
                writeln!(
                    stdout,
                    "{gap}{} ({})",
                    style::name(dialect.title),
                    dialect.name
                )?;
            }
            write!(stdout, "{}", list(dialect))?;
        }
        Ok(0)
    }
}

fn as_json(dialect: &Dialect, info: &EventInfo) -> Value {
    let mut value = json!(info);
    value["dialect"] = dialect.name.into();
    value
}

fn list(dialect: &Dialect) -> String {
    let mut text = String::new();
    for info in (dialect.events)() {
        let gate = match (info.waits, info.gates) {
            (false, _) => "hooks run in the background",
            (true, true) => "a failing hook blocks",
            (true, false) => "a failing hook is passed over",
        };
        let experimental = if info.experimental {
            ", experimental"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "{}{}\n{:24}payload: {}; {gate}{experimental}",
            style::name(format_args!("{:24}", info.name)),
            info.fires,
            "",
            info.payload
        );
    }
    text
}
