//! Asks a server, if one is there. Whatever is not a whole answer of the same hookbox is
//! none, and the hooks run in this process instead.
//!
//! A request is a few lines of text, so that starting a process for it stays cheap.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net;
use serde::Deserialize;

use super::place::{default_socket, is_own, token_beside};
use super::token::Token;
use super::{VERSION, VERSION_HEADER, surroundings};
use crate::agent::{self, MAX_INPUT, Reply};

/// The variable that names another socket, or is `off`.
const VARIABLE: &str = "HOOKBOX_SERVE";

/// What is left of the time for doing it here when a server does not answer.
const RESERVE: Duration = Duration::from_secs(2);

/// What an answer begins with.
const STATUS: &[u8] = b"HTTP/1.1 ";

/// How large the head of an answer may be.
const MAX_HEAD: usize = 16 << 10;

/// What an agent asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The event that it was wired for.
    pub event: Option<&'a str>,
    /// The project that it was wired for.
    pub project: Option<&'a Path>,
    /// What it sent.
    pub input: &'a [u8],
    /// How long an answer may take, here or there.
    pub deadline: Duration,
}

/// Asks the server of this user. None if there is none, or if it has no answer.
#[must_use]
pub fn ask(question: &Question<'_>) -> Option<Reply> {
    let socket = socket()?;
    if !is_own(&socket) || question.input.len() > MAX_INPUT {
        return None;
    }
    let token = Token::read(&token_beside(&socket)).ok()?;
    let target = target(question)?;
    let patience = question.deadline - RESERVE.min(question.deadline / 2);
    let mut line = Line {
        stream: connect(&socket)?,
        until: Instant::now() + patience,
    };
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{VERSION_HEADER}: {VERSION}\r\n{}: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        token.text(),
        surroundings::HEADER,
        surroundings::print(),
        question.input.len()
    );
    let mut request = head.into_bytes();
    request.extend_from_slice(question.input);
    line.send(&request)?;
    line.receive()
}

/// Sends a request without a body. Returns the status of the answer, if there is one in time.
pub(super) fn tell(socket: &Path, path: &str, token: &Token, patience: Duration) -> Option<u16> {
    let mut line = Line {
        stream: connect(socket)?,
        until: Instant::now() + patience,
    };
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        token.text()
    );
    line.send(request.as_bytes())?;
    line.status()
}

/// Says whether it looks as if there was a server to ask.
#[must_use]
pub fn is_there() -> bool {
    socket().is_some_and(|socket| socket.exists())
}

/// Returns the socket that a server of this user listens on, if one does.
#[must_use]
pub fn listening() -> Option<PathBuf> {
    socket().filter(|socket| is_own(socket) && listens(socket))
}

/// Returns the socket to ask at; none if that is switched off.
pub(super) fn socket() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE) {
        Some(value) if value == "off" => None,
        Some(value) if !value.is_empty() => Some(PathBuf::from(value)),
        _ => default_socket(),
    }
}

/// Says whether somebody takes connections, or has taken more than it can.
pub(super) fn listens(socket: &Path) -> bool {
    match try_connect(socket) {
        Ok(_) => true,
        Err(error) => error == rustix::io::Errno::AGAIN,
    }
}

/// Connects, unless so many wait for the server already that this one would wait for ever.
fn connect(socket: &Path) -> Option<UnixStream> {
    let stream = try_connect(socket).ok()?;
    rustix::io::ioctl_fionbio(&stream, false).ok()?;
    Some(stream)
}

fn try_connect(socket: &Path) -> rustix::io::Result<UnixStream> {
    let address = net::SocketAddrUnix::new(socket)?;
    let stream = net::socket(net::AddressFamily::UNIX, net::SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&stream, true)?;
    net::connect(&stream, &address)?;
    Ok(stream.into())
}

/// Returns the path and what stands behind it. A server does not know what a relative
/// path is relative to, and says other words about one that leads nowhere.
fn target(question: &Question<'_>) -> Option<String> {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(event) = question.event {
        query.append_pair("event", event);
    }
    if let Some(project) = question.project {
        let project = if project.is_absolute() {
            project.to_owned()
        } else {
            let real = std::fs::canonicalize(project).ok()?;
            Some(real).filter(|real| agent::is_project(real))?
        };
        query.append_pair("project", project.to_str()?);
    }
    let places = [
        ("started", agent::started_in()),
        ("cwd", std::env::current_dir().ok()),
    ];
    for (key, place) in places {
        if let Some(place) = place {
            query.append_pair(key, place.to_str()?);
        }
    }
    let deadline = question.deadline.as_millis().to_string();
    query.append_pair("deadline", &deadline);
    Some(format!("/v1/hook/{}?{}", question.agent, query.finish()))
}

/// A connection, for as long as there is time.
struct Line {
    stream: UnixStream,
    until: Instant,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    stdout: String,
    stderr: String,
    code: i32,
}

impl Line {
    fn left(&self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    fn send(&mut self, mut request: &[u8]) -> Option<()> {
        while !request.is_empty() {
            self.stream.set_write_timeout(Some(self.left()?)).ok()?;
            match self.stream.write(request).ok()? {
                0 => return None,
                sent => request = &request[sent..],
            }
        }
        Some(())
    }

    fn receive(&mut self) -> Option<Reply> {
        let mut bytes = Vec::with_capacity(4 << 10);
        let (length, start) = loop {
            match head(&bytes) {
                Head::Whole { length, start } => break (length, start),
                Head::Partial if bytes.len() <= MAX_HEAD => self.more(&mut bytes)?,
                Head::Partial | Head::Other => return None,
            }
        };
        let end = start.checked_add(length)?;
        while bytes.len() < end {
            self.more(&mut bytes)?;
        }
        let told: Told = serde_json::from_slice(bytes.get(start..end)?).ok()?;
        Some(Reply {
            stdout: told.stdout,
            stderr: told.stderr,
            code: told.code,
        })
    }

    fn status(&mut self) -> Option<u16> {
        let mut bytes = Vec::new();
        while bytes.len() < STATUS.len() + 4 {
            self.more(&mut bytes)?;
        }
        let text = bytes.strip_prefix(STATUS)?.get(..3)?;
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    fn more(&mut self, bytes: &mut Vec<u8>) -> Option<()> {
        self.stream.set_read_timeout(Some(self.left()?)).ok()?;
        let mut chunk = [0; 8 << 10];
        let read = self.stream.read(&mut chunk).ok()?;
        bytes.extend_from_slice(&chunk[..read]);
        (read > 0).then_some(())
    }
}

/// The head of a response.
#[derive(Debug, PartialEq, Eq)]
enum Head {
    /// Not all of it is there.
    Partial,
    /// All of it is, and the body is this long and starts here.
    Whole { length: usize, start: usize },
    /// It is not the head of an answer from the same hookbox.
    Other,
}

fn head(bytes: &[u8]) -> Head {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Head::Partial;
    };
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else {
        return Head::Other;
    };
    let mut lines = text.split("\r\n");
    let answered = lines
        .next()
        .is_some_and(|first| first.starts_with("HTTP/1.1 200 "));
    let (mut length, mut same) = (None, false);
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Head::Other;
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok();
        } else if name.eq_ignore_ascii_case(VERSION_HEADER) {
            same = value == VERSION;
        }
    }
    match length {
        Some(length) if answered && same && length <= MAX_INPUT => Head::Whole {
            length,
            start: end + 4,
        },
        _ => Head::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_answer_of_the_same_version_counts() {
        let good = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nHookbox-Version: {VERSION}\r\n\r\n{{}}"
        );
        let start = good.len() - 2;
        let whole = Head::Whole { length: 2, start };
        assert_eq!(head(good.as_bytes()), whole);
        for cut in 0..start - 1 {
            assert_eq!(head(&good.as_bytes()[..cut]), Head::Partial, "{cut}");
        }
        for (from, to) in [
            (" 200 ", " 500 "),
            (" 200 ", " 404 "),
            ("HTTP/1.1", "HTTP/1.0"),
            (VERSION, "0.0.0"),
            ("Hookbox-Version", "X-Version"),
            ("Content-Length: 2", "Content-Length: -2"),
            ("Content-Length: 2", "Content-Length: 99999999999"),
            ("Content-Length: 2", "Transfer-Encoding: chunked"),
            ("Content-Length: 2", "what is this"),
        ] {
            let other = good.replace(from, to);
            assert_eq!(head(other.as_bytes()), Head::Other, "{other}");
        }
    }
}
