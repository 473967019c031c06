//! A TCP connection that keeps its deadline however slowly the other side reads.
//!
//! The library's own transport restarts its write timeout after every partial
//! write, so a server that drains a few bytes now and then could hold a call
//! past its deadline.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Error, Timeout};

/// Connects to the checked addresses, in their order, and to nothing else.
#[derive(Debug)]
pub(super) struct SocketConnector;

impl Connector<()> for SocketConnector {
    type Out = Socket;

    fn connect(&self, details: &ConnectionDetails, _: Option<()>) -> Result<Option<Socket>, Error> {
        let deadline = Deadline::new(details.timeout)?;
        let stream = connect_any(&details.addrs, deadline)?;
        stream.set_nodelay(true)?;
        let input = details.config.input_buffer_size();
        let output = details.config.output_buffer_size();
        Ok(Some(Socket {
            stream,
            buffers: LazyBuffers::new(input, output),
        }))
    }
}

fn connect_any(addresses: &[SocketAddr], deadline: Deadline) -> Result<TcpStream, Error> {
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for (tried, address) in addresses.iter().enumerate() {
        // Each address gets an equal share of the time that is left.
        let share = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        match TcpStream::connect_timeout(address, deadline.left()? / share) {
            Ok(stream) => return Ok(stream),
            Err(e) => last = e,
        }
    }
    Err(timeout_or_io(last, deadline))
}

/// A connection to one of the checked addresses.
pub(super) struct Socket {
    stream: TcpStream,
    buffers: LazyBuffers,
}

impl Transport for Socket {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let deadline = Deadline::new(timeout)?;
        let mut rest = &self.buffers.output()[..amount];
        while !rest.is_empty() {
            self.stream.set_write_timeout(Some(deadline.left()?))?;
            match self.stream.write(rest) {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(written) => rest = &rest[written..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(timeout_or_io(e, deadline)),
            }
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let deadline = Deadline::new(timeout)?;
        let read = loop {
            self.stream.set_read_timeout(Some(deadline.left()?))?;
            match self.stream.read(self.buffers.input_append_buf()) {
                Ok(read) => break read,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(timeout_or_io(e, deadline)),
            }
        };
        self.buffers.input_appended(read);
        Ok(read > 0)
    }

    fn is_open(&mut self) -> bool {
        is_quiet(&mut self.stream).unwrap_or(false)
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket")
            .field("peer", &self.stream.peer_addr().ok())
            .finish()
    }
}

/// Returns whether the other side has neither closed nor sent anything unasked.
fn is_quiet(stream: &mut TcpStream) -> io::Result<bool> {
    stream.set_nonblocking(true)?;
    let quiet = match stream.read(&mut [0]) {
        Ok(_) => false,
        Err(e) => e.kind() == ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false)?;
    Ok(quiet)
}

/// The moment at which a step has to be done.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    reason: Timeout,
}

impl Deadline {
    /// Fails for a step without a limit: every request has one.
    fn new(timeout: NextTimeout) -> Result<Self, Error> {
        let at = Instant::now().checked_add(*timeout.after);
        let reason = timeout.reason;
        at.map(|at| Self { at, reason })
            .ok_or(Error::Timeout(reason))
    }

    fn left(self) -> Result<Duration, Error> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Timeout(self.reason));
        }
        // The system counts in microseconds and takes zero for "no limit".
        Ok(left.max(Duration::from_millis(1)))
    }
}

fn timeout_or_io(error: io::Error, deadline: Deadline) -> Error {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Error::Timeout(deadline.reason),
        _ => Error::Io(error),
    }
}
