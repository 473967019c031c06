//! What a program is given beside its grants, and the sheet it answers on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::WasiCtxBuilder;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use super::stdio::Stream;
use crate::failure::{Cause, Failure};

/// What a program is given.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// What it is called: the first of its arguments.
    pub(crate) name: String,
    /// What it reads.
    pub(crate) stdin: String,
    /// The variables its dialect defines.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// What it answers on.
    pub(crate) answer: Sheet,
    /// What it complains on.
    pub(crate) complaint: Sheet,
}

impl Program {
    pub(super) fn furnish(&self, builder: &mut WasiCtxBuilder, stderr: Stream) {
        builder
            .arg(&self.name)
            .stderr(stderr.copied_to(self.complaint.clone()))
            .stdin(MemoryInputPipe::new(Bytes::from(self.stdin.clone())))
            .stdout(self.answer.clone())
            .envs(&self.environment);
    }
}

/// How much a program may write that is thrown away.
const MOST_LOST: usize = 16 << 20;

/// How much a program may write at once.
const PERMIT: usize = 64 << 10;

/// The standard output of a program: its answer, up to a limit.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    written: Arc<Mutex<Vec<u8>>>,
    /// How many bytes did not fit.
    lost: Arc<AtomicUsize>,
    /// One more than fits, to tell a full sheet from one that was too small.
    room: usize,
}

impl Sheet {
    /// Makes a sheet for so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            written: Arc::default(),
            lost: Arc::default(),
            room: limit.saturating_add(1),
        }
    }

    /// Returns what was written; nothing if that was too much.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let written = self.take_cut();
        (written.len() < self.room).then_some(written)
    }

    /// Returns what was written, as far as there was room.
    pub(crate) fn take_cut(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    /// Keeps what there is room for, and returns how much was lost so far.
    pub(super) fn keep(&self, bytes: &[u8]) -> usize {
        let mut written = self.lock();
        let kept = bytes.len().min(self.room - written.len());
        written.extend_from_slice(&bytes[..kept]);
        let lost = bytes.len() - kept;
        self.lost.fetch_add(lost, Ordering::Relaxed) + lost
    }

    /// Nothing in here can panic while the lock is held.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IsTerminal for Sheet {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Sheet {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    /// Only asked for by versions of WASI that no guest is linked with.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

impl OutputStream for Sheet {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        // Little fuel writes a lot, so that would go on until the time is up.
        if self.keep(&bytes) > MOST_LOST {
            let message = "the program goes on writing far beyond what an answer may have";
            let failure = Failure::new(Cause::BadAnswer, message);
            return Err(StreamError::Trap(failure.into()));
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[async_trait]
impl Pollable for Sheet {
    async fn ready(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_that_is_too_small_is_told_from_a_full_one() {
        for (text, expected) in [("four", Some("four")), ("fiver", None), ("", Some(""))] {
            let sheet = Sheet::new(4);
            let mut stream = sheet.clone();
            for byte in text.bytes() {
                stream.write(Bytes::from(vec![byte])).unwrap();
            }
            assert_eq!(sheet.take().as_deref(), expected.map(str::as_bytes));
        }
    }
}
