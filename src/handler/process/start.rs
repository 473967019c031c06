//! Starts the child process, on a thread that nothing else runs on.
//!
//! What confines a thread on Linux confines the children it starts as well, and
//! cannot be taken back. A thread that ends right afterwards leaves the rest of
//! this process as free as before.

use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::marker::Marker;
use super::{Confinement, MARKER, Occasion, Process, ProcessError, check};

/// How often is tried to start a program that is being written to.
const TRIES: usize = 20;

pub(super) fn start(
    process: &Process,
    occasion: &Occasion<'_>,
    confinement: &Confinement,
    marker: &Marker,
) -> Result<Child, ProcessError> {
    let cannot = |why: String| ProcessError::CannotStart {
        program: process.program.display().to_string(),
        why,
    };
    let program = ready(process).map_err(cannot)?;
    let mut command = command(&program, process, occasion, marker);
    thread::scope(|scope| {
        let starting = thread::Builder::new()
            .name("hook starter".into())
            .spawn_scoped(scope, || {
                confine(confinement, &process.directory)?;
                spawn(&mut command).map_err(|error| explain(&error))
            })
            .map_err(|error| format!("there is no room for another thread: {error}"))?;
        starting
            .join()
            .unwrap_or_else(|_| Err("the thread that was to start it broke".to_owned()))
    })
    .map_err(cannot)
}

/// Returns the program's path, after a look at what the system would only answer
/// with a riddle: it says "no such file" for a missing directory, a missing
/// interpreter and a carriage return alike.
fn ready(process: &Process) -> Result<PathBuf, String> {
    if !process.directory.is_dir() {
        let directory = process.directory.display();
        return Err(format!(
            "the directory it is to run in, {directory}, is not there; create it or name another"
        ));
    }
    let program = &process.program;
    if is_bare(program) {
        return Ok(program.clone());
    }
    let program = process.directory.join(program);
    check(&program).map_err(|unfit| unfit.to_string())?;
    Ok(program)
}

fn is_bare(program: &Path) -> bool {
    let mut components = program.components();
    matches!(components.next(), Some(Component::Normal(name)) if name == program.as_os_str())
}

fn command(program: &Path, process: &Process, occasion: &Occasion<'_>, marker: &Marker) -> Command {
    let mut command = Command::new(program);
    command
        .args(&process.args)
        .current_dir(&process.directory)
        .env_clear()
        .envs(
            occasion
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .env(MARKER, marker.value())
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[cfg(target_os = "linux")]
fn confine(confinement: &Confinement, directory: &Path) -> Result<(), String> {
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| format!("it cannot be kept from gaining rights: {error}"))?;
    super::landlock::restrict(confinement, directory)
        .map_err(|error| format!("it cannot be confined: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Confinement, _: &Path) -> Result<(), String> {
    Ok(())
}

/// Starts the program. Another thread that starts something at this moment may
/// hold a file open that was just written, so a busy one is tried again.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 1..TRIES {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
    command.spawn()
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            "there is no such program, or none that its first line names; install it, or correct the path or PATH".to_owned()
        }
        ErrorKind::PermissionDenied => {
            "permission denied: it, or the program its first line names, may not be run from here; see to its mode (`chmod +x`), and that what confines it allows to read it".to_owned()
        }
        ErrorKind::ArgumentListTooLong => {
            "its arguments and environment are too long; give it less, or on its standard input".to_owned()
        }
        ErrorKind::ExecutableFileBusy => "somebody is writing to it; try again when it is written".to_owned(),
        _ => error.to_string(),
    }
}
