//! Reads what the agent asks.

use std::io::{self, Read as _};

use super::deadline::Deadline;
use crate::agent::{AgentError, MAX_INPUT};

/// Reads one JSON value. Not every agent closes the pipe, so a value that is whole is
/// enough.
pub(super) fn read(deadline: Deadline) -> Result<Vec<u8>, AgentError> {
    let unreadable = |error: io::Error| AgentError::Unreadable(error.to_string());
    let mut input = Vec::with_capacity(16 << 10);
    let mut stdin = io::stdin().lock();
    // Larger than what the lock keeps for itself, so nothing waits there unseen.
    let mut chunk = vec![0; 64 << 10];
    let mut scan = Scan::default();
    loop {
        if !is_there(&stdin, deadline).map_err(unreadable)? {
            return Err(AgentError::Late(deadline.given));
        }
        let read = stdin.read(&mut chunk).map_err(unreadable)?;
        input.extend_from_slice(&chunk[..read]);
        scan.take(&chunk[..read]);
        if read == 0 || input.len() > MAX_INPUT || scan.whole {
            return Ok(input);
        }
    }
}

/// Waits until there is something to read, or the end of it; says no if time is up first.
#[cfg(unix)]
fn is_there(input: &impl std::os::fd::AsFd, deadline: Deadline) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    loop {
        let left = deadline.left();
        // There is always something from whoever never ends.
        if left.is_zero() {
            return Ok(false);
        }
        let left = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(input, PollFlags::IN)], left.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Elsewhere another thread watches from the beginning.
#[cfg(not(unix))]
fn is_there<T>(_: &T, _: Deadline) -> io::Result<bool> {
    Ok(true)
}

/// Looks for the end of an object, each byte once: parsing what is there again and again
/// takes a large payload past the deadline.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Whether the last thing that came is the end of the outermost object.
    whole: bool,
}

impl Scan {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = self.in_text,
                b'"' => self.in_text = !self.in_text,
                b'{' | b'[' if !self.in_text => self.depth += 1,
                b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.whole = *byte == b'}' && self.depth == 0 && !self.in_text;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_there_when_time_is_up_comes_too_late() {
        use std::io::Write as _;
        use std::time::Duration;
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"{").unwrap();
        assert!(is_there(&reader, Deadline::within(Duration::from_secs(60))).unwrap());
        assert!(!is_there(&reader, Deadline::within(Duration::ZERO)).unwrap());
    }

    #[test]
    fn an_object_is_whole_at_its_last_brace_and_with_nothing_behind_it() {
        for (text, whole) in [
            (r#"{"a": {}}"#, true),
            ("{\"a\": 1}\n", true),
            (r#"{"a": {}"#, false),
            (r#"{"a": "}"#, false),
            (r#"{"a": "\"}"#, false),
            (r#"{"a": "\\"}"#, true),
            (r#"{"a": [{}"#, false),
            ("{}x", false),
            ("null", false),
            ("", false),
        ] {
            for cut in 0..=text.len() {
                let mut scan = Scan::default();
                scan.take(&text.as_bytes()[..cut]);
                scan.take(&text.as_bytes()[cut..]);
                assert_eq!(scan.whole, whole, "{text} cut at {cut}");
            }
        }
    }
}
