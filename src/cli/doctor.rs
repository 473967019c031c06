//! `hookbox doctor`: what is wired, what an agent will really do with it, what is missing.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::hook::agent;
use super::install::{builder, named_or_nearest};
use super::{FAILED, print_json, style};
use crate::agent::Agent;
use crate::agent::doctor::{self, Finding, Level, Report};
use crate::agent::install::{Places, Scope};

/// Say what is wired, what the agent will really do with it, and what is missing
///
/// Exit code: 0 if hooks run, 1 if something keeps them from it.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Look at one agent; without, at all that have settings here
    #[arg(value_parser = agent)]
    agent: Option<&'static Agent>,
    /// The project [default: the nearest one upwards from here]
    #[arg(long, short, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Everything that was found.
struct Found {
    project: Finding,
    review: Option<Finding>,
    server: Option<Finding>,
    agents: Vec<Report>,
    /// Nothing runs the hooks.
    idle: Option<Finding>,
}

impl DoctorArgs {
    pub(super) fn run(self) -> Result<i32> {
        let project = named_or_nearest(self.project.as_deref());
        let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
        // Agents may be wired where the hooks are gone.
        let named = self
            .project
            .as_ref()
            .and_then(|named| named.canonicalize().ok());
        let folder = project.clone().or(named).or(here);
        let places = Places::here(folder.clone());
        let found = Found::new(self.agent, project, &places);
        if self.json {
            print_json(&found.as_json())?;
        } else {
            found.print()?;
        }
        Ok(if found.is_well() { 0 } else { FAILED })
    }
}

impl Found {
    fn new(agent: Option<&'static Agent>, project: Option<PathBuf>, places: &Places) -> Self {
        let agents = doctor::examine(agent, places);
        let is_wired = agents.iter().any(Report::is_wired);
        let idle = (agent.is_none() && !is_wired).then(|| Finding {
            level: Level::Bad,
            check: "wired",
            says: "no agent is wired, so nothing runs these hooks".to_owned(),
            advice: Some("hookbox install claude-code".to_owned()),
        });
        let review = project.as_deref().map(doctor::review);
        let project = match project {
            Some(project) => doctor::project(&project, builder(&project)),
            None => Finding {
                level: Level::Warning,
                check: "project",
                says: "no hooks here; agents wired for the user do as without hookbox".to_owned(),
                advice: Some(doctor::FIRST_HOOK.to_owned()),
            },
        };
        Self {
            project,
            review,
            server: server(places),
            agents,
            idle,
        }
    }

    fn is_well(&self) -> bool {
        let agents = self.agents.iter().map(Report::level);
        let worst = agents
            .chain([self.project.level])
            .chain(self.review.iter().map(|review| review.level))
            .max();
        self.idle.is_none() && worst != Some(Level::Bad)
    }

    fn print(&self) -> Result<()> {
        let mut text = lines("", &self.project);
        text += &self
            .review
            .iter()
            .chain(&self.server)
            .map(|finding| lines("", finding))
            .collect::<String>();
        for report in &self.agents {
            text += &format!("\n{}\n", style::name(report.agent.title));
            let places = report.places.iter().flat_map(|place| &place.findings);
            for finding in places.chain(&report.findings) {
                text += &lines("  ", finding);
            }
        }
        if let Some(idle) = &self.idle {
            text += &format!("\n{}", lines("", idle));
        }
        if let Some(report) = self.agents.iter().find(|report| report.is_wired()) {
            let name = report.agent.name;
            let told = format!("how an agent hears each answer: hookbox explain --agent {name}");
            text += &format!("\n{}\n", style::faint(told));
        }
        write!(anstream::stdout(), "{text}")?;
        Ok(())
    }

    fn as_json(&self) -> Value {
        let agents = self.agents.iter().map(|report| {
            let places = report.places.iter().map(|place| {
                json!({
                    "scope": match place.scope {
                        Scope::Project => "project",
                        Scope::User => "user",
                    },
                    "path": place.path,
                    "wired": place.events,
                    "findings": findings(&place.findings),
                })
            });
            json!({
                "agent": report.agent.name,
                "places": places.collect::<Vec<_>>(),
                "findings": findings(&report.findings),
            })
        });
        json!({
            "well": self.is_well(),
            "findings": findings(std::iter::once(&self.project)
                .chain(&self.review)
                .chain(&self.server)
                .chain(&self.idle)),
            "agents": agents.collect::<Vec<_>>(),
        })
    }
}

/// Says that there is a server, which somebody may not know of.
#[cfg(unix)]
fn server(places: &Places) -> Option<Finding> {
    let socket = crate::serve::client::listening()?;
    Some(Finding {
        level: Level::Good,
        check: "server",
        says: format!("a server listens on {}", places.shown(&socket)),
        advice: Some("to end it: hookbox serve --stop".to_owned()),
    })
}

#[cfg(not(unix))]
fn server(_: &Places) -> Option<Finding> {
    None
}

fn findings<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<Value> {
    let one = |finding: &Finding| {
        json!({
            "level": finding.level.word(),
            "check": finding.check,
            "says": finding.says,
            "do": finding.advice,
        })
    };
    findings.into_iter().map(one).collect()
}

fn lines(indent: &str, finding: &Finding) -> String {
    let mark = match finding.level {
        Level::Good => style::good("✓"),
        Level::Warning => style::notable("!"),
        Level::Bad => style::bad("✗"),
    };
    let mut text = format!("{indent}{mark} {}\n", style::plain(&finding.says));
    if let Some(advice) = &finding.advice {
        let advice = style::faint(format!("→ {}", style::plain(advice)));
        text += &format!("{indent}  {advice}\n");
    }
    text
}
