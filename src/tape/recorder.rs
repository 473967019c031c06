//! Records a run to a file, beside the dispatches and not in their way.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::error::RecordError;
use super::file::TapeFile;
use super::record::{Entry, Project};
use super::scrub::Scrubber;
use super::track::Track;

/// How long records wait for others before they are written together. A process that
/// is killed loses at most this much.
const GATHER: Duration = Duration::from_millis(2);

/// With this many records waiting, whoever adds one writes them itself: a disk that is
/// slower than the hooks slows them down instead of filling the memory.
const MOST_WAITING: usize = 20_000;

/// Records dispatches to a file. Clones record to the same tape; it is closed with the
/// last of them, or by [`Recorder::close`].
///
/// ```
/// use hookbox::{Runtime, tape::Recorder};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run.tape");
///
/// let recorder = Recorder::create(&path)?;
/// let runtime = Runtime::builder("examples/governed-agent").tape(&recorder).load()?;
/// let call = serde_json::json!({"name": "run_command", "args": {"command": "ls"}});
/// runtime.dispatch("tool.pre", call)?;
/// recorder.close()?;
///
/// let mut replay = hookbox::tape::Replay::open(&path)?;
/// let dispatch = replay.next_dispatch()?.expect("one event was recorded");
/// assert_eq!(dispatch.outcome()?.decision, hookbox::Ruling::Allow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    /// Closes the tape with the last clone; the thread that writes holds none.
    _last: Arc<Last>,
}

#[derive(Debug)]
struct Last(Arc<Shared>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Err(error) = self.0.close() {
            tracing::error!(%error, "the tape is not whole");
        }
    }
}

#[derive(Debug)]
struct Shared {
    track: Arc<Track>,
    file: Mutex<TapeFile>,
    scrubber: Mutex<Scrubber>,
    sessions: AtomicU64,
    /// Whether the header is on its way.
    begun: AtomicBool,
    /// Whether a dispatch that cannot be recorded must not be decided.
    required: AtomicBool,
    /// Why the last records were not written. Not behind the lock of the file, which is
    /// held while records are written: no dispatch waits for that.
    trouble: Mutex<Option<RecordError>>,
    troubled: AtomicBool,
    bell: Bell,
}

/// Wakes the thread that writes.
#[derive(Debug, Default)]
struct Bell {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing to do.
    #[default]
    Idle,
    /// Records wait, and the thread knows.
    Rung,
    /// The tape is closed.
    Over,
}

impl Recorder {
    /// Starts a tape, or goes on with the one that is there.
    ///
    /// # Errors
    /// Returns that somebody else records to it, that something else is there, or that
    /// it cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, RecordError> {
        let file = TapeFile::open(path.as_ref())?;
        let position = file.position();
        let shared = Arc::new(Shared {
            track: Arc::new(Track::after(position.dispatches)),
            file: Mutex::new(file),
            scrubber: Mutex::default(),
            sessions: AtomicU64::new(position.sessions),
            begun: AtomicBool::new(position.next > 0),
            required: AtomicBool::new(false),
            trouble: Mutex::default(),
            troubled: AtomicBool::new(false),
            bell: Bell::default(),
        });
        let writer = Arc::clone(&shared);
        let spawned = thread::Builder::new()
            .name("hookbox-tape".to_owned())
            .spawn(move || write_along(&writer));
        if let Err(error) = spawned {
            // Then records are written at the end of each dispatch.
            tracing::warn!(%error, "no thread to write the tape");
        }
        let last = Arc::new(Last(Arc::clone(&shared)));
        Ok(Self {
            shared,
            _last: last,
        })
    }

    /// Says that what cannot be recorded must not be decided.
    #[must_use]
    pub fn required(self) -> Self {
        self.shared.required.store(true, Ordering::Relaxed);
        self
    }

    /// Writes everything recorded so far.
    ///
    /// # Errors
    /// Returns why something is not on the tape.
    pub fn flush(&self) -> Result<(), RecordError> {
        self.shared.drain()
    }

    /// Writes everything and closes the tape, also for clones of this recorder.
    ///
    /// # Errors
    /// Returns why something is not on the tape.
    pub fn close(self) -> Result<(), RecordError> {
        self.shared.close()
    }

    pub(crate) fn is_required(&self) -> bool {
        self.shared.required.load(Ordering::Relaxed)
    }

    pub(crate) fn track(&self) -> &Arc<Track> {
        &self.shared.track
    }

    /// Begins a session and returns its number.
    pub(crate) fn begin(&self, project: Project, scrubber: Scrubber) -> u64 {
        let shared = &*self.shared;
        lock(&shared.scrubber).add(scrubber);
        if !shared.begun.swap(true, Ordering::Relaxed) {
            self.push(None, Entry::Header(project));
            return 0;
        }
        let session = shared.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let recovered_bytes = lock(&shared.file).recovered();
        self.push(
            None,
            Entry::Session(Project {
                recovered_bytes,
                ..project
            }),
        );
        session
    }

    /// Takes a record.
    pub(crate) fn push(&self, dispatch: Option<u64>, entry: Entry) {
        self.shared.track.push(dispatch, entry);
        self.shared.bell.ring();
    }

    /// Ends a dispatch: its records are written soon, and at once if they must be.
    pub(crate) fn settle(&self) -> Result<(), RecordError> {
        self.shared.bell.ring();
        if self.is_required() || self.shared.track.waiting() > MOST_WAITING {
            return self.shared.drain();
        }
        Ok(())
    }

    /// Returns why the last records were not written, if they were not.
    pub(crate) fn trouble(&self) -> Option<RecordError> {
        if !self.shared.troubled.load(Ordering::Relaxed) {
            return None;
        }
        lock(&self.shared.trouble).clone()
    }
}

impl Shared {
    fn drain(&self) -> Result<(), RecordError> {
        let mut file = lock(&self.file);
        let mut loose = self.track.take();
        let scrubber = lock(&self.scrubber);
        if !scrubber.is_empty() {
            for (_, entry) in &mut loose {
                scrubber.scrub(entry);
            }
        }
        drop(scrubber);
        let written = file.write(loose);
        drop(file);
        self.troubled.store(written.is_err(), Ordering::Relaxed);
        *lock(&self.trouble) = written.as_ref().err().cloned();
        written
    }

    /// Does nothing the second time.
    fn close(&self) -> Result<(), RecordError> {
        self.bell.end();
        if lock(&self.file).is_closed() {
            return Ok(());
        }
        let drained = self.drain();
        let closed = lock(&self.file).close();
        drained.and(closed)
    }
}

/// Nothing panics while one of these locks is held; if it did, what is behind it is
/// still a tape up to its last whole record.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bell {
    /// Wakes the thread, unless it is awake.
    fn ring(&self) {
        let mut state = lock(&self.state);
        if *state == State::Idle {
            *state = State::Rung;
            self.rung.notify_one();
        }
    }

    fn end(&self) {
        *lock(&self.state) = State::Over;
        self.rung.notify_one();
    }

    /// Waits for a ring, and says whether the tape goes on.
    fn wait(&self) -> bool {
        let state = lock(&self.state);
        let waited = self.rung.wait_while(state, |state| *state == State::Idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if *state == State::Over {
            return false;
        }
        *state = State::Idle;
        true
    }
}

/// Writes what comes in until the tape is closed.
fn write_along(shared: &Shared) {
    while shared.bell.wait() {
        thread::sleep(GATHER);
        // Whoever dispatches next hears of it.
        let _ = shared.drain();
    }
}
