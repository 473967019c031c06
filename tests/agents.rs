//! What agents hear: every agent, every event and every decision, judged by a reader that
//! does with a finished process what the agent does. And whatever an agent, a project or
//! a machine does wrong: something that waits is never let through by accident.

mod support;

#[path = "agents/bad_input.rs"]
mod bad_input;
#[cfg(unix)]
#[path = "agents/bad_machine.rs"]
mod bad_machine;
#[path = "agents/bad_project.rs"]
mod bad_project;
#[path = "agents/canonical.rs"]
mod canonical;
#[path = "agents/decisions.rs"]
mod decisions;
#[path = "agents/golden.rs"]
mod golden;
#[path = "agents/promises.rs"]
mod promises;
#[path = "agents/property.rs"]
mod property;
#[path = "agents/readers/mod.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "a whole model, also of what is not wired"
)]
mod readers;
#[path = "agents/samples.rs"]
mod samples;
#[path = "agents/world.rs"]
mod world;
