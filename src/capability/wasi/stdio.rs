//! What a guest prints becomes log lines.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::capability::log::Level;

/// How much a guest may write at once.
const PERMIT: usize = 64 << 10;

/// What was printed, in order.
#[derive(Debug, Default, Clone)]
pub(super) struct Printed {
    shared: Arc<Mutex<Lines>>,
}

#[derive(Debug, Default)]
struct Lines {
    whole: Vec<(Level, String)>,
    begun: [Vec<u8>; 2],
    bytes: usize,
    limit: usize,
}

impl Printed {
    /// Keeps at most `limit` bytes and drops the rest: a guest that prints too much
    /// is no reason to stop a tool.
    pub(super) fn new(limit: usize) -> Self {
        let printed = Self::default();
        printed.lock().limit = limit;
        printed
    }

    /// Returns the stream whose lines have this level.
    pub(super) fn stream(&self, level: Level) -> Stream {
        Stream {
            printed: self.clone(),
            level,
        }
    }

    /// Returns the lines printed so far, the unfinished ones last.
    pub(super) fn take(&self) -> Vec<(Level, String)> {
        let mut lines = self.lock();
        for level in [Level::Info, Level::Warn] {
            lines.end_line(level);
        }
        std::mem::take(&mut lines.whole)
    }

    /// Nothing in here can panic while the lock is held.
    fn lock(&self) -> std::sync::MutexGuard<'_, Lines> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn write(&mut self, level: Level, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line(level);
            } else if self.bytes < self.limit {
                self.bytes += 1;
                self.begun[place(level)].push(byte);
            }
        }
    }

    fn end_line(&mut self, level: Level) {
        let line = std::mem::take(&mut self.begun[place(level)]);
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches('\r');
        if !line.is_empty() {
            self.whole.push((level, line.to_owned()));
        }
    }
}

fn place(level: Level) -> usize {
    usize::from(level != Level::Info)
}

/// Standard output or standard error of a guest.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    printed: Printed,
    level: Level,
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    /// Only asked for by versions of WASI that no guest is linked with.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.printed.lock().write(self.level, &bytes);
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
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_and_bounded() {
        let printed = Printed::new(12);
        let mut out = printed.stream(Level::Info);
        let mut err = printed.stream(Level::Warn);
        out.write(Bytes::from_static(b"one\r\ntw")).unwrap();
        err.write(Bytes::from_static(b"bad\n")).unwrap();
        out.write(Bytes::from_static(b"o and much more")).unwrap();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            printed.take(),
            [
                (Level::Info, text("one")),
                (Level::Warn, text("bad")),
                (Level::Info, text("two a"))
            ]
        );
    }
}
