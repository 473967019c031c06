//! The processes of the machine, as `/proc` shows them.

use std::fs::{self, File};
use std::io::Read;

/// As much of an environment as is looked at; a program can have no larger one.
const ENVIRONMENT: u64 = 8 * 1024 * 1024;

/// A process as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) id: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it was started, in ticks since the machine was.
    pub(super) start: u64,
    /// Whether it still runs; otherwise it only waits to be waited for.
    pub(super) alive: bool,
}

impl Seen {
    /// What no other process will ever have: numbers are given again.
    pub(super) fn key(&self) -> (i32, u64) {
        (self.id, self.start)
    }

    /// Looks at one process.
    pub(super) fn look(id: i32) -> Option<Self> {
        parse(id, &fs::read(format!("/proc/{id}/stat")).ok()?)
    }

    /// Returns whether the number still belongs to this process.
    pub(super) fn is_still_there(&self) -> bool {
        Self::look(self.id).is_some_and(|now| now.start == self.start)
    }
}

/// Returns whether `/proc` is there and gives processes the numbers this process
/// knows them by; that of another container would not.
pub(super) fn is_readable() -> bool {
    fs::read_link("/proc/self")
        .is_ok_and(|own| own.as_os_str() == std::process::id().to_string().as_str())
}

/// Returns all processes.
pub(super) fn processes() -> Vec<Seen> {
    if !is_readable() {
        return Vec::new();
    }
    numbers("/proc").filter_map(Seen::look).collect()
}

/// Returns the environment a process was started with.
pub(super) fn environment(id: i32) -> Vec<u8> {
    let mut environment = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{id}/environ")) {
        // What was read before an error is worth a look.
        let _ = file.take(ENVIRONMENT).read_to_end(&mut environment);
    }
    environment
}

/// An open end of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) pipe: u64,
    pub(super) writes: bool,
}

/// Returns the ends of pipes a process has open.
pub(super) fn pipe_ends(id: i32) -> Vec<End> {
    let folder = format!("/proc/{id}/fd");
    numbers(&folder)
        .filter_map(|number| pipe_end(&format!("{folder}/{number}")))
        .collect()
}

fn pipe_end(link: &str) -> Option<End> {
    use std::os::unix::fs::PermissionsExt;
    let target = fs::read_link(link).ok()?;
    let pipe = target
        .to_str()?
        .strip_prefix("pipe:[")?
        .strip_suffix(']')?
        .parse()
        .ok()?;
    // The link's mode tells what the file is open for.
    let mode = fs::symlink_metadata(link).ok()?.permissions().mode();
    Some(End {
        pipe,
        writes: mode & 0o200 != 0,
    })
}

fn numbers(folder: &str) -> impl Iterator<Item = i32> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Reads a line such as `7 (a name) S 1 7 7 …`. The name may have anything in it.
fn parse(id: i32, stat: &[u8]) -> Option<Seen> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let threads: i64 = fields.get(17)?.parse().ok()?;
    let is_dead = matches!(*fields.first()?, "Z" | "X" | "x");
    Some(Seen {
        id,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        // The first thread can end before the others.
        alive: !is_dead || threads > 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_with_anything_in_them() {
        let line = b"42 (a) S (b\n)) R 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99";
        let seen = parse(42, line).unwrap();
        assert_eq!(
            (seen.id, seen.parent, seen.group, seen.session),
            (42, 7, 8, 9)
        );
        assert_eq!((seen.start, seen.alive), (12345, true));
    }

    #[test]
    fn tells_the_dead_from_those_whose_first_thread_ended() {
        let dead = b"42 (x) Z 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99";
        let threads = b"42 (x) Z 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 12345 99";
        assert!(!parse(42, dead).unwrap().alive);
        assert!(parse(42, threads).unwrap().alive);
    }

    #[test]
    fn finds_itself() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(processes().iter().any(|seen| seen.id == own && seen.alive));
    }
}
