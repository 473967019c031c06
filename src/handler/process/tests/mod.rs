//! Everything here runs real programs: bash, and now and then Python.

mod checking;
#[cfg(target_os = "linux")]
mod confined;
mod ending;
#[cfg(target_os = "linux")]
mod escaping;
#[cfg(target_os = "linux")]
mod killing;
#[cfg(target_os = "linux")]
mod orphans;
mod streams;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::*;

/// Far more than any of these runs needs, on a machine that has much else to do.
const AMPLE: Duration = Duration::from_secs(60);

const LIMIT: usize = 1024 * 1024;

fn environment() -> Vec<(String, String)> {
    vec![("PATH".into(), "/usr/bin:/bin:/usr/sbin:/sbin".into())]
}

/// A program that bash runs in `/`.
fn bash(text: &str) -> Process {
    bash_in(Path::new("/"), text)
}

fn bash_in(directory: &Path, text: &str) -> Process {
    Process {
        program: "/bin/bash".into(),
        args: vec!["-c".into(), text.into()],
        directory: directory.into(),
    }
}

/// A file that can be run, with this text.
fn script(directory: &Path, text: &str) -> Process {
    Process {
        program: written(directory, text, 0o755),
        args: Vec::new(),
        directory: directory.into(),
    }
}

fn written(directory: &Path, text: &str, mode: u32) -> PathBuf {
    let path = directory.join("hook");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn run(process: &Process) -> Result<Ended, ProcessError> {
    run_for(process, AMPLE)
}

fn run_for(process: &Process, time: Duration) -> Result<Ended, ProcessError> {
    run_with(process, b"", time, &Confinement::default())
}

fn run_with(
    process: &Process,
    stdin: &[u8],
    time: Duration,
    confinement: &Confinement,
) -> Result<Ended, ProcessError> {
    let environment = environment();
    let occasion = Occasion {
        environment: &environment,
        stdin,
        deadline: Instant::now() + time,
        stdout_limit: LIMIT,
        stderr_limit: LIMIT,
    };
    process.run(&occasion, confinement)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The numbers in a file to which a script has written those of its processes.
#[cfg(target_os = "linux")]
fn numbers_in(path: &Path) -> Vec<i32> {
    let written = fs::read_to_string(path).unwrap();
    let numbers: Vec<i32> = written
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    assert!(!numbers.is_empty(), "the script wrote no process numbers");
    numbers
}

#[cfg(target_os = "linux")]
fn lives(id: i32) -> bool {
    table::Seen::look(id).is_some_and(|seen| seen.alive)
}

#[cfg(target_os = "linux")]
fn assert_all_dead(path: &Path) {
    for id in numbers_in(path) {
        assert!(!lives(id), "process {id} is still alive");
    }
}

/// How many processes a run killed at its deadline.
fn killed(ran: &Result<Ended, ProcessError>) -> usize {
    match ran {
        Err(ProcessError::Deadline { killed, .. }) => *killed,
        other => panic!("expected a deadline, not {other:?}"),
    }
}
