//! Writes to a child and listens to it, until it is done or has to stop.
//!
//! One loop over pipes that never block: a child that reads nothing, closes
//! everything or prints without end can hold up nothing but itself.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::Occasion;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// The longest wait; a deadline may be too far away for the system to count to.
const LONGEST: Duration = Duration::from_secs(3600);

/// The longest wait where the system cannot tell of the child's exit.
const BLIND: Duration = Duration::from_millis(10);

/// What the child wrote.
pub(super) struct Heard {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) stderr_cut: bool,
}

/// Why the child has to stop.
pub(super) enum Cut {
    Deadline,
    TooMuchOutput,
    Lost(io::Error),
}

impl From<io::Error> for Cut {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

impl From<Errno> for Cut {
    fn from(error: Errno) -> Self {
        Self::Lost(error.into())
    }
}

/// Writes the input and collects the output, until the child has exited and its
/// output is at its end. The child is not reaped: its number stays its own. Pipes
/// that are not at their end stay open: nobody dies of a broken one uncounted.
pub(super) fn hold(child: &mut Child, occasion: &Occasion<'_>) -> Result<Heard, Cut> {
    let mut talk = Talk::new(child, occasion)?;
    loop {
        talk.notice_exit()?;
        if talk.is_over() {
            return Ok(talk.heard);
        }
        let left = occasion.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Cut::Deadline);
        }
        talk.wait(left)?;
        talk.write();
        talk.read_stdout()?;
        talk.read_stderr()?;
    }
}

struct Talk<'a> {
    child: &'a mut Child,
    pid: Option<Pid>,
    exited: bool,
    /// Becomes readable when the child exits.
    exit: Option<OwnedFd>,
    unwritten: &'a [u8],
    stdout_limit: usize,
    stderr_limit: usize,
    heard: Heard,
    buffer: Vec<u8>,
}

impl<'a> Talk<'a> {
    fn new(child: &'a mut Child, occasion: &Occasion<'a>) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        unblock(child.stdin.as_ref())?;
        unblock(child.stdout.as_ref())?;
        unblock(child.stderr.as_ref())?;
        Ok(Self {
            child,
            pid,
            exited: false,
            exit: pid.and_then(exit_of),
            unwritten: occasion.stdin,
            stdout_limit: occasion.stdout_limit,
            stderr_limit: occasion.stderr_limit,
            heard: Heard {
                stdout: Vec::new(),
                stderr: Vec::new(),
                stderr_cut: false,
            },
            buffer: vec![0; CHUNK],
        })
    }

    fn is_over(&self) -> bool {
        self.exited && self.child.stdout.is_none() && self.child.stderr.is_none()
    }

    fn notice_exit(&mut self) -> Result<(), Cut> {
        let Some(pid) = self.pid.filter(|_| !self.exited) else {
            return Ok(());
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.exited = match waitid(WaitId::Pid(pid), options) {
            Ok(status) => status.is_some(),
            // Somebody else has reaped it.
            Err(Errno::CHILD) => true,
            Err(Errno::INTR) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(())
    }

    /// Waits until something can be written or read, or the child exits.
    fn wait(&self, left: Duration) -> Result<(), Cut> {
        let blind = !self.exited && self.exit.is_none();
        let left = left.min(if blind { BLIND } else { LONGEST });
        let exit = self.exit.as_ref().filter(|_| !self.exited);
        let mut waited: Vec<PollFd<'_>> = [
            (self.child.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (self.child.stdout.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (self.child.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (exit.map(AsFd::as_fd), PollFlags::IN),
        ]
        .into_iter()
        .filter_map(|(fd, events): (Option<BorrowedFd<'_>>, _)| {
            fd.map(|fd| PollFd::from_borrowed_fd(fd, events))
        })
        .collect();
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what fits. A child that does not want its input is no failure.
    fn write(&mut self) {
        let Some(stdin) = &mut self.child.stdin else {
            return;
        };
        let open = match self.unwritten {
            [] => false,
            rest => match stdin.write(rest) {
                Ok(written) => {
                    self.unwritten = &rest[written..];
                    !self.unwritten.is_empty()
                }
                Err(error) => is_passing(&error),
            },
        };
        if !open {
            self.child.stdin = None;
        }
    }

    fn read_stdout(&mut self) -> Result<(), Cut> {
        let read = read(&mut self.child.stdout, &mut self.buffer)?;
        let room = self.stdout_limit.saturating_sub(self.heard.stdout.len());
        if read > room {
            return Err(Cut::TooMuchOutput);
        }
        self.heard.stdout.extend_from_slice(&self.buffer[..read]);
        Ok(())
    }

    fn read_stderr(&mut self) -> Result<(), Cut> {
        let read = read(&mut self.child.stderr, &mut self.buffer)?;
        let room = self.stderr_limit.saturating_sub(self.heard.stderr.len());
        self.heard.stderr_cut |= read > room;
        self.heard
            .stderr
            .extend_from_slice(&self.buffer[..read.min(room)]);
        Ok(())
    }
}

/// Reads once; closes the pipe at its end.
fn read(from: &mut Option<impl Read>, buffer: &mut [u8]) -> io::Result<usize> {
    let Some(pipe) = from else {
        return Ok(0);
    };
    match pipe.read(buffer) {
        Ok(0) => {
            *from = None;
            Ok(0)
        }
        Ok(read) => Ok(read),
        Err(error) if is_passing(&error) => Ok(0),
        Err(error) => Err(error),
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn unblock(pipe: Option<impl AsFd>) -> io::Result<()> {
    if let Some(pipe) = pipe {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn exit_of(pid: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_: Pid) -> Option<OwnedFd> {
    None
}
