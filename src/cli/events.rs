//! `hookbox events`: the catalogue.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use super::{print_json, style};
use crate::dialect::harness::events::CATALOGUE;

/// List the events a hook can subscribe to
#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    /// Print one JSON list
    #[arg(long)]
    json: bool,
}

impl EventsArgs {
    pub(super) fn run(self) -> Result<i32> {
        if self.json {
            print_json(&CATALOGUE)?;
            return Ok(0);
        }
        let mut stdout = anstream::stdout();
        for info in CATALOGUE {
            let gate = if info.gates {
                "a failing hook blocks"
            } else {
                "a failing hook is passed over"
            };
            let experimental = if info.experimental {
                ", experimental"
            } else {
                ""
            };
            writeln!(
                stdout,
                "{}{}\n{:24}payload: {}; {gate}{experimental}",
                style::name(format_args!("{:24}", info.name)),
                info.fires,
                "",
                info.payload
            )?;
        }
        Ok(0)
    }
}
