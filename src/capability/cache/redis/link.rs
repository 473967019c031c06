//! A connection to a server on which each call ends in time.
//!
//! The timeouts of a socket are for one read or write, and a server that sends
//! a byte now and then never meets them. So they are set anew before each.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ::redis::{Cmd, Parser, RedisConnectionInfo, RedisError, Value};
use rustls::{ClientConnection, Stream};

use super::scripts::{Call, Reply};

/// Why a call on a connection failed. Such a connection is not used again.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing came in time, or the connection broke.
    Lost(String),
    /// The server did not accept the user name or the password. What it said
    /// is left out, as it may repeat the password.
    Login,
    /// The server answered with an error.
    Server(String),
}

/// A connection that is logged in.
pub(super) struct Link {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    parser: Parser,
}

struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Link {
    /// Logs in on a connection.
    pub(super) fn new(
        stream: TcpStream,
        tls: Option<Box<ClientConnection>>,
        settings: &RedisConnectionInfo,
        until: Instant,
    ) -> Result<Self, Failure> {
        // Commands are written whole, so waiting for more only takes time.
        stream.set_nodelay(true).map_err(lost)?;
        let parser = Parser::new();
        let mut link = Self {
            stream,
            tls,
            parser,
        };
        if let Some(password) = settings.password() {
            let mut command = ::redis::cmd("AUTH");
            command.arg(settings.username()).arg(password);
            match link.ask(&command, until)? {
                Value::Okay => {}
                _ => return Err(Failure::Login),
            }
        }
        if settings.db() != 0 {
            match link.ask(::redis::cmd("SELECT").arg(settings.db()), until)? {
                Value::Okay => {}
                answer => return Err(unexpected(answer)),
            }
        }
        Ok(link)
    }

    /// Runs a script, and teaches it to the server if it does not know it.
    pub(super) fn run(&mut self, call: &Call<'_>, until: Instant) -> Result<Reply, Failure> {
        let mut answer = self.ask(&call.by_hash(), until)?;
        if matches!(&answer, Value::ServerError(error) if error.code() == "NOSCRIPT") {
            answer = self.ask(&call.by_code(), until)?;
        }
        match answer {
            Value::ServerError(_) => Err(unexpected(answer)),
            answer => Reply::parse(answer)
                .ok_or_else(|| Failure::Server("it does not answer as redis does".to_owned())),
        }
    }

    /// Says whether the server has neither closed the connection nor sent
    /// something that nobody asked for.
    pub(super) fn is_quiet(&self) -> bool {
        let look = || -> io::Result<usize> {
            self.stream.set_nonblocking(true)?;
            let seen = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false)?;
            seen
        };
        matches!(look(), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    fn ask(&mut self, command: &Cmd, until: Instant) -> Result<Value, Failure> {
        let mut timed = Timed {
            stream: &self.stream,
            until,
        };
        match &mut self.tls {
            Some(tls) => {
                let stream = Stream::new(tls.as_mut(), &mut timed);
                exchange(&mut self.parser, stream, command, until)
            }
            None => exchange(&mut self.parser, timed, command, until),
        }
    }
}

fn exchange(
    parser: &mut Parser,
    mut stream: impl Read + Write,
    command: &Cmd,
    until: Instant,
) -> Result<Value, Failure> {
    stream
        .write_all(&command.get_packed_command())
        .and_then(|()| stream.flush())
        .map_err(lost)?;
    let read = parser.parse_value(&mut stream);
    read.map_err(|error| lost_in_reply(&error, until))
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn lost(error: io::Error) -> Failure {
    Failure::Lost(match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => late(),
        _ => error.to_string(),
    })
}

fn lost_in_reply(error: &RedisError, until: Instant) -> Failure {
    Failure::Lost(if Instant::now() >= until {
        late()
    } else {
        error.to_string()
    })
}

fn late() -> String {
    "it did not answer in time".to_owned()
}

fn unexpected(answer: Value) -> Failure {
    Failure::Server(match answer {
        Value::ServerError(error) => format!(
            "it answered {} {}",
            error.code(),
            error
                .details()
                .unwrap_or_default()
                .chars()
                .take(200)
                .collect::<String>(),
        ),
        _ => "it does not answer as redis does".to_owned(),
    })
}
