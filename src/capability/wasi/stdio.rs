//! What a guest prints becomes log lines.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use super::program::Sheet;
use crate::capability::log::Level;

/// How much a guest may write at once.
const PERMIT: usize = 64 << 10;

/// What was printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The lines, in the order in which they ended.
    pub(crate) lines: Vec<(Level, String)>,
    /// How many more there were, whole or in part.
    pub(crate) dropped: u64,
}

/// What both streams are printed on.
#[derive(Debug, Default, Clone)]
pub(super) struct Paper {
    shared: Arc<Mutex<Lines>>,
}

#[derive(Debug, Default)]
struct Lines {
    whole: Printed,
    begun: [Line; 2],
    lines_left: usize,
    bytes_left: usize,
}

/// A line that has not ended yet.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    cut: bool,
}

impl Paper {
    /// Keeps at most so many lines and bytes and drops the rest: a guest that prints
    /// too much is no reason to stop a tool.
    pub(super) fn new(lines: usize, bytes: usize) -> Self {
        let paper = Self::default();
        let mut limits = paper.lock();
        limits.lines_left = lines;
        limits.bytes_left = bytes;
        drop(limits);
        paper
    }

    /// Returns the stream whose lines have this level.
    pub(super) fn stream(&self, level: Level) -> Stream {
        Stream {
            paper: self.clone(),
            level,
            copy: None,
        }
    }

    /// Returns the lines that have ended since the last time.
    pub(super) fn take_whole(&self) -> Printed {
        std::mem::take(&mut self.lock().whole)
    }

    /// Returns the lines printed so far, the unfinished ones last.
    pub(super) fn take(&self) -> Printed {
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
        let mut parts = bytes.split(|&byte| byte == b'\n');
        if let Some(first) = parts.next() {
            self.extend_line(level, first);
        }
        for part in parts {
            self.end_line(level);
            self.extend_line(level, part);
        }
    }

    fn extend_line(&mut self, level: Level, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let kept = bytes.len().min(self.bytes_left);
        self.bytes_left -= kept;
        let line = &mut self.begun[place(level)];
        line.bytes.extend_from_slice(&bytes[..kept]);
        line.cut |= kept < bytes.len();
    }

    fn end_line(&mut self, level: Level) {
        let begun = &mut self.begun[place(level)];
        if begun.bytes.is_empty() && !begun.cut {
            return;
        }
        let Line { bytes, cut } = std::mem::take(begun);
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches('\r');
        let fits = self.lines_left > 0;
        if fits && !line.is_empty() {
            self.lines_left -= 1;
            self.whole.lines.push((level, line.to_owned()));
        }
        self.whole.dropped += u64::from(cut || !fits && !line.is_empty());
    }
}

fn place(level: Level) -> usize {
    usize::from(level != Level::Info)
}

/// Standard output or standard error of a guest.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    paper: Paper,
    level: Level,
    /// Where all of it stands as it was written, as far as there is room.
    copy: Option<Sheet>,
}

impl Stream {
    /// Keeps what is written on a sheet as well.
    pub(super) fn copied_to(self, sheet: Sheet) -> Self {
        Self {
            copy: Some(sheet),
            ..self
        }
    }
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
        self.paper.lock().write(self.level, &bytes);
        if let Some(copy) = &self.copy {
            copy.keep(&bytes);
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
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(lines: &[(Level, &str)], dropped: u64) -> Printed {
        let lines = lines
            .iter()
            .map(|(level, line)| (*level, (*line).to_owned()));
        Printed {
            lines: lines.collect(),
            dropped,
        }
    }

    #[test]
    fn lines_are_told_apart_and_bounded() {
        let paper = Paper::new(10, 12);
        let mut out = paper.stream(Level::Info);
        let mut err = paper.stream(Level::Warn);
        out.write(Bytes::from_static(b"one\r\ntw")).unwrap();
        err.write(Bytes::from_static(b"bad\n")).unwrap();
        out.write(Bytes::from_static(b"o and much more\nand more\n\n"))
            .unwrap();
        assert_eq!(
            paper.take(),
            printed(
                &[
                    (Level::Info, "one"),
                    (Level::Warn, "bad"),
                    (Level::Info, "two a")
                ],
                2
            )
        );
    }

    #[test]
    fn the_number_of_lines_is_bounded() {
        let paper = Paper::new(2, 1_000);
        let mut out = paper.stream(Level::Info);
        out.write(Bytes::from_static(b"a\n\nb\nc\n\nd")).unwrap();
        assert_eq!(
            paper.take(),
            printed(&[(Level::Info, "a"), (Level::Info, "b")], 2)
        );
    }
}
