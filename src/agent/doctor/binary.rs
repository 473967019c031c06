//! The programs that entries start: whether they are there, and which version they are.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::install::{Scope, unusable};
use super::state::Wire;
use super::{Finding, Look};

/// How long a program may take to say which version it is.
const PATIENCE: Duration = Duration::from_secs(3);

/// Checks every program that is started.
pub(super) fn checks(look: &Look<'_>, wired: &[Wire]) -> Vec<Finding> {
    let programs: BTreeSet<&str> = wired.iter().map(|wire| wire.ours.binary.as_str()).collect();
    programs
        .into_iter()
        .filter_map(|program| check(look, Path::new(program)))
        .collect()
}

fn check(look: &Look<'_>, program: &Path) -> Option<Finding> {
    let flag = match look.scope {
        Scope::Project => "",
        Scope::User => " --user",
    };
    let install = format!("hookbox install {}{flag}", look.agent.name);
    let shown = program.display();
    if !program.is_absolute() {
        let says = format!("{shown} is not an absolute path, so what runs depends on where");
        return Some(Finding::warning("binary", says).so(install));
    }
    if let Some(why) = unusable(program) {
        let says = format!("{shown} cannot be run: {why}");
        return Some(Finding::bad("binary", says).so(install));
    }
    if is_this(program) {
        return None;
    }
    // Settings of a project can come from anywhere, and with them the program.
    let inside = look.places.project.as_ref();
    if inside.is_some_and(|project| program.starts_with(project)) {
        let says = format!("{shown} lies in the project and was not asked for its version");
        return Some(Finding::warning("binary", says).so(install));
    }
    let this = format!("hookbox {}", env!("CARGO_PKG_VERSION"));
    match version(program) {
        Some(version) if version == this => None,
        Some(version) => {
            let says = format!("{shown} is {version}, and this is {this}");
            Some(Finding::warning("binary", says).so(install))
        }
        None => {
            let says = format!("{shown} does not say which version it is");
            Some(Finding::bad("binary", says).so(install))
        }
    }
}

fn is_this(program: &Path) -> bool {
    let this = std::env::current_exe().and_then(std::fs::canonicalize);
    let program = std::fs::canonicalize(program);
    matches!((this, program), (Ok(this), Ok(program)) if this == program)
}

/// Asks a program for its version.
pub(super) fn version(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => break None,
        }
    };
    let Some(status) = status else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    let mut said = String::new();
    let out = child.stdout.take()?;
    out.take(1000).read_to_string(&mut said).ok()?;
    let line = said.lines().next().unwrap_or_default().trim();
    (status.success() && !line.is_empty()).then(|| line.to_owned())
}
