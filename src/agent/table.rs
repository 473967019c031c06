//! What each agent can be told, as a table for people. `docs/agents.md` has it, and a test
//! keeps the two the same.

use std::fmt::Write as _;

use super::{ALL, Agent, AgentEvent};

/// Writes the tables of all agents in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    for agent in ALL {
        let _ = writeln!(text, "### {} (`{}`)\n", agent.title, agent.name);
        text +=
            "| event | canonical | block | modify | ask | context |\n|---|---|---|---|---|---|\n";
        for event in agent.events {
            let _ = writeln!(text, "{}", row(event));
        }
        text += "\n| tool | canonical | arguments |\n|---|---|---|\n";
        for tool in agent.tools {
            let keys: Vec<String> = tool
                .keys
                .iter()
                .map(|(own, canonical)| format!("`{own}` → `{canonical}`"))
                .collect();
            let _ = writeln!(
                text,
                "| `{}` | `{}` | {} |",
                tool.own,
                tool.canonical,
                keys.join(", ")
            );
        }
        text.push('\n');
    }
    text
}

fn row(event: &AgentEvent) -> String {
    let guards = if event.guards { " ●" } else { "" };
    let left_out = if event.wired { "" } else { " (not wired)" };
    let cell = |how: Option<&str>| how.unwrap_or("–").to_owned();
    format!(
        "| `{}`{guards}{left_out} | `{}`{} | {} | {} | {} | {} |",
        event.name,
        event.event,
        dialect(event),
        cell(event.block),
        cell(event.modify),
        cell(event.ask),
        cell(event.context)
    )
}

fn dialect(event: &AgentEvent) -> String {
    if *event.dialect == crate::dialect::harness::DIALECT {
        return String::new();
    }
    format!(" of {}", event.dialect.title)
}

/// What becomes of a decision that an agent cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Loss {
    /// The agent's event.
    pub event: &'static str,
    /// The event that it stands for.
    pub canonical: &'static str,
    /// The decision.
    pub decision: &'static str,
    /// What becomes of it.
    pub becomes: &'static str,
}

/// Returns what an agent cannot be told at the events that stand for a point.
#[must_use]
pub fn losses(agent: &Agent, point: &str) -> Vec<Loss> {
    let here = |event: &&AgentEvent| event.reaches(point);
    agent
        .events
        .iter()
        .filter(here)
        .flat_map(of_event)
        .collect()
}

fn of_event(event: &'static AgentEvent) -> Vec<Loss> {
    let blocks = event.block.is_some();
    let refused = if blocks {
        "block"
    } else {
        "a note: it goes on"
    };
    let rewritten = match (event.guards, blocks) {
        (true, true) => "block",
        _ => "a note: it stays as it was",
    };
    [
        ("block", event.block, "a note: it goes on"),
        ("modify", event.modify, rewritten),
        ("ask", event.ask, refused),
        ("context", event.context, "a note: the text is lost"),
    ]
    .into_iter()
    .filter(|(_, how, _)| how.is_none())
    .map(|(decision, _, becomes)| Loss {
        event: event.name,
        canonical: event.event,
        decision,
        becomes,
    })
    .collect()
}
