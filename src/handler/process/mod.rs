//! Runs a hook that is an ordinary program or script: a child process with an
//! environment of its own, a deadline, a limit on what it may print, and nothing
//! of it left behind when the call ends.

mod check;
mod confinement;
mod conversation;
mod ended;
mod hook;
#[cfg(target_os = "linux")]
mod hunt;
#[cfg(target_os = "linux")]
mod landlock;
mod marker;
mod marks;
mod orphans;
mod start;
#[cfg(target_os = "linux")]
mod table;
#[cfg(test)]
mod tests;
#[cfg(target_os = "linux")]
mod trail;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

pub use check::{Unfit, check};
pub use confinement::{Confinement, confinement_available};
pub use ended::{Ended, Exit, ProcessError};
pub use hook::{INHERITED, ProcessHook};
pub use marker::MARKER;
pub use orphans::adopt_orphans;

use conversation::{Cut, Heard};
use marker::Marker;
use marks::Marks;
use orphans::Turn;

/// How long killed processes may take to be gone. One that waits for a device
/// cannot be killed, and must not hold the call.
const GRACE: Duration = Duration::from_secs(2);

/// How often is looked whether something has happened that cannot be waited for.
const LOOK: Duration = Duration::from_millis(1);

/// A program that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The program or script. A bare name is looked up in the `PATH` of the given
    /// environment, another relative path is taken below `directory`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it runs in.
    pub directory: PathBuf,
}

/// What one run of a program gets.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// All of its environment, but for the variable [`MARKER`].
    pub environment: &'a [(String, String)],
    /// What it reads on its standard input.
    pub stdin: &'a [u8],
    /// The moment at which it is killed.
    pub deadline: Instant,
    /// How many bytes it may write to standard output.
    pub stdout_limit: usize,
    /// How many bytes of its standard error are kept.
    pub stderr_limit: usize,
}

impl Process {
    /// Runs the program until it has exited and nobody can write to its standard
    /// output and error any more. Whatever it started is dead afterwards.
    ///
    /// # Errors
    ///
    /// When the program cannot be started, is still running at the deadline, or
    /// writes too much to its standard output.
    pub fn run(
        &self,
        occasion: &Occasion<'_>,
        confinement: &Confinement,
    ) -> Result<Ended, ProcessError> {
        let began = Instant::now();
        if began >= occasion.deadline {
            return Err(deadline(began, occasion, 0));
        }
        // The last to go: only then may orphans be looked for.
        let _turn = Turn::begin();
        let marker = Marker::new();
        let mut child = start::start(self, occasion, confinement, &marker)?;
        let marks = Marks::of(&child, marker);
        let heard = conversation::hold(&mut child, occasion);
        let killed = marks.kill_bearers();
        let status = reap(child);
        match heard {
            Ok(heard) => ended(heard, status),
            Err(Cut::Deadline) => Err(deadline(began, occasion, killed)),
            Err(Cut::TooMuchOutput) => Err(ProcessError::TooMuchOutput {
                limit: occasion.stdout_limit,
            }),
            Err(Cut::Lost(error)) => Err(ProcessError::lost(&error)),
        }
    }
}

fn deadline(began: Instant, occasion: &Occasion<'_>, killed: usize) -> ProcessError {
    let allowed = occasion.deadline.saturating_duration_since(began);
    // Rounded, because a moment has passed since the caller said "two seconds from now".
    let after_ms = (allowed.as_micros() + 500) / 1000;
    ProcessError::Deadline {
        after_ms: u64::try_from(after_ms).unwrap_or(u64::MAX),
        killed,
    }
}

fn ended(heard: Heard, status: io::Result<ExitStatus>) -> Result<Ended, ProcessError> {
    let status = status.map_err(|error| ProcessError::lost(&error))?;
    Ok(Ended {
        exit: Exit::from(status),
        stdout: heard.stdout,
        stderr: heard.stderr,
        stderr_cut: heard.stderr_cut,
    })
}

/// Waits for a process that has exited or was killed.
fn reap(mut child: Child) -> io::Result<ExitStatus> {
    let until = Instant::now() + GRACE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            break;
        }
        thread::sleep(LOOK);
    }
    // It may end one day, and then somebody has to have waited for it.
    thread::Builder::new()
        .name("hook reaper".into())
        .spawn(move || child.wait())?;
    Err(io::Error::other(
        "the process was killed but does not end; it waits for a device or a file system that does not answer",
    ))
}
