//! Says what takes long while it does, on standard error.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::sandbox::compiled::Progress;

/// The spinner of whatever is under way.
static SPINNER: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A component smaller than this is compiled before anybody could read about it.
const SMALL: usize = 256 << 10;

pub(super) fn show(progress: Progress) {
    match progress {
        Progress::Compiling { bytes, .. } if bytes < SMALL => {}
        Progress::Compiling { what, .. } => {
            start(format!("compiling {what}, once for this machine …"));
        }
        Progress::Waiting { what } => {
            start(format!("waiting for another hookbox to compile {what} …"));
        }
        Progress::Ready { what, took } => finish(&what, took),
    }
}

fn start(message: String) {
    if !std::io::stderr().is_terminal() {
        let _ = writeln!(anstream::stderr(), "{message}");
        return;
    }
    let bar = ProgressBar::new_spinner()
        .with_style(ProgressStyle::default_spinner())
        .with_message(message);
    bar.enable_steady_tick(Duration::from_millis(100));
    *spinner() = Some(bar);
}

fn finish(what: &str, took: Duration) {
    if let Some(bar) = spinner().take() {
        bar.finish_and_clear();
        let _ = writeln!(
            anstream::stderr(),
            "compiled {what} in {:.1} s",
            took.as_secs_f64()
        );
    }
}

fn spinner() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    SPINNER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what is being done; the next step takes its place.
pub(super) fn step(what: &str) {
    clear();
    start(format!("{what} …"));
}

/// Takes the last step away.
pub(super) fn clear() {
    if let Some(bar) = spinner().take() {
        bar.finish_and_clear();
    }
}

/// Shows how far a long reading got, and how fast it goes.
pub(super) struct Reading {
    bar: Option<ProgressBar>,
}

impl Reading {
    /// Starts to show it, where somebody sees it.
    pub(super) fn start(bytes: u64) -> Self {
        let shown = std::io::stderr().is_terminal() && bytes > WORTH_SHOWING;
        let style = ProgressStyle::with_template(
            "{spinner} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left  {msg}",
        );
        let bar = || {
            ProgressBar::new(bytes)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        };
        Self {
            bar: shown.then(bar),
        }
    }

    /// Says how far it got.
    pub(super) fn at(&self, bytes: u64, events: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.set_message(format!("{events} events"));
        }
    }

    /// Writes something without disturbing what is shown.
    pub(super) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Less is read before anybody could look.
const WORTH_SHOWING: u64 = 32 << 20;
