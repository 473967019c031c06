//! Answers in time, whatever the rest of the process is busy with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::deadline::Deadline;
use super::hand_over;
use crate::agent::{self, Agent, AgentError};
use crate::sandbox::compiled::Progress;

/// The project whose code is being compiled, while it is.
static COMPILING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A thread that answers if nobody else did.
pub(super) struct Watch {
    answered: Arc<AtomicBool>,
}

impl Watch {
    pub(super) fn start(
        agent: &'static Agent,
        event: Option<String>,
        deadline: Deadline,
        guards: bool,
    ) -> std::io::Result<Self> {
        let answered = Arc::new(AtomicBool::new(false));
        let watch = Self {
            answered: Arc::clone(&answered),
        };
        std::thread::Builder::new().spawn(move || {
            std::thread::sleep(deadline.left());
            if !answered.swap(true, Ordering::SeqCst) {
                let event = event.as_deref().and_then(|name| agent.event(name));
                let reply = agent::refusal(agent, event, &late(deadline.given));
                exit(hand_over(&reply, guards));
            }
        })?;
        Ok(watch)
    }

    /// Says that there is an answer. If the other one is already being written, that one
    /// counts and ends the process.
    pub(super) fn end(self) {
        if self.answered.swap(true, Ordering::SeqCst) {
            loop {
                std::thread::park();
            }
        }
    }
}

/// Hears that something is being compiled.
pub(super) fn compiling(progress: &Progress, project: &Path) {
    let mut compiling = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    *compiling = match progress {
        Progress::Compiling { .. } | Progress::Waiting { .. } => Some(project.to_owned()),
        Progress::Ready { .. } => None,
    };
}

/// Why it is late. What is being compiled would be lost with this process, so another one
/// goes on with it: otherwise no event would ever be decided on a slow machine.
fn late(deadline: Duration) -> AgentError {
    let compiling = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(project) = compiling.as_deref() else {
        return AgentError::Late(deadline);
    };
    let _ = go_on_without(project);
    AgentError::Compiling(deadline)
}

fn go_on_without(project: &Path) -> std::io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("validate")
        .arg("--project")
        .arg(project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(|_| ())
}
