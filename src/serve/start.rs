//! Starts a server for the events to come. It belongs to nobody: it outlives whoever started
//! it, and ends by itself.

use std::ffi::{OsStr, OsString};
use std::fs::FileTimes;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::client;
use crate::handler::process::MARKER;
use crate::sandbox::compiled::private;

/// How long it waits for the next event: a person may think between two.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// How long nobody else tries: what did not start now does not start a moment later.
const PAUSE: Duration = Duration::from_secs(60);

/// What it knows of the surroundings: where its files are, and nothing that a session of an
/// agent is trusted with.
const KEPT: [&str; 9] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "LANG",
    "HOOKBOX_CACHE_DIR",
    "HOOKBOX_CONFIG_DIR",
    "HOOKBOX_REDIS_URL",
];

/// Starts one, unless one listens or somebody tried a moment ago. That there is none only
/// costs time.
pub fn unless_there() {
    let Some(socket) = client::socket() else {
        return;
    };
    // What a process hook starts goes with it.
    if std::env::var_os(MARKER).is_some() || client::listens(&socket) {
        return;
    }
    if let Err(error) = start(&socket) {
        tracing::debug!(socket = %socket.display(), %error, "no server could be started");
    }
}

fn start(socket: &Path) -> io::Result<()> {
    // It works from elsewhere.
    let socket = std::path::absolute(socket)?;
    if !is_first(&socket)? {
        return Ok(());
    }
    Command::new(std::env::current_exe()?)
        .args(["serve", "--idle", &IDLE.as_secs().to_string(), "--socket"])
        .arg(socket)
        .env_clear()
        .envs(std::env::vars_os().filter(is_kept))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Agents end what they started by its group.
        .process_group(0)
        .spawn()?;
    Ok(())
}

fn is_kept((name, _): &(OsString, OsString)) -> bool {
    let kept = KEPT.iter().any(|kept| name == OsStr::new(kept));
    kept || name.as_encoded_bytes().starts_with(b"XDG_")
}

/// Notes that somebody tries; says whether nobody did a moment ago.
fn is_first(socket: &Path) -> io::Result<bool> {
    if let Some(folder) = socket.parent() {
        private::make(folder)?;
        // Where others can put a link, nothing is written.
        private::check(folder).map_err(io::Error::other)?;
    }
    let path = socket.with_extension("started");
    let now = SystemTime::now();
    let known = path.metadata().and_then(|found| found.modified());
    // What lies in the future was noted by a clock that was wrong.
    let recent = |then: SystemTime| now.duration_since(then).is_ok_and(|ago| ago < PAUSE);
    if known.is_ok_and(recent) {
        return Ok(false);
    }
    private::create(&path)?.set_times(FileTimes::new().set_modified(now))?;
    Ok(true)
}
