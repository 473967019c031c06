//! Records a run to a file, beside the dispatches and not in their way.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::error::RecordError;
use super::file::TapeFile;
use super::lock::lock;
use super::record::{Entry, Project};
use super::scrub::Scrubber;
use super::track::Track;

/// How long records wait for others before they are written together. A process that
/// is killed loses at most this much.
const GATHER: Duration = Duration::from_millis(2);

/// How often in a row the thread that writes finds nothing before it goes to sleep. As
/// long as it looks by itself, no event has to wake it.
const PATIENT_LOOKS: u32 = 8;

/// How long a tape that somebody else records to is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

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
    /// What the file knows of its losses, for dispatches: the lock of the file is held
    /// while records are written, and none of them waits for that.
    losses: AtomicU64,
    eventful: AtomicBool,
}

impl Recorder {
    /// Opens a tape like [`Recorder::create`], and waits a while for its turn if somebody
    /// else records to it: an agent may ask about several things at once.
    ///
    /// # Errors
    /// Returns that it took too long, or what [`Recorder::create`] does.
    pub fn create_in_turn(path: impl AsRef<Path>) -> Result<Self, RecordError> {
        let started = Instant::now();
        loop {
            match Self::create(path.as_ref()) {
                Err(RecordError::Busy(_)) if started.elapsed() < PATIENCE => {
                    thread::sleep(LOOK_AGAIN);
                }
                created => return created,
            }
        }
    }

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
            losses: AtomicU64::new(0),
            eventful: AtomicBool::new(false),
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
        self.shared.drain().and(self.shared.told())
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
        // Held to the end: two that begin at once stand on the tape in the order of their
        // numbers, and none before the header.
        let mut file = lock(&shared.file);
        if !scrubber.is_empty() {
            shared.track.keep();
        }
        lock(&shared.scrubber).add(scrubber);
        if !shared.begun.swap(true, Ordering::Relaxed) {
            self.push(None, Entry::Header(project));
            return 0;
        }
        let session = shared.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let recovered_bytes = file.recovered();
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
    }

    /// Ends a dispatch: its records are written soon, and at once if they must be. Where
    /// too much waits, whoever adds to it writes it: a disk that is slower than the hooks
    /// slows them down instead of filling the memory.
    pub(crate) fn settle(&self) -> Result<(), RecordError> {
        if self.is_required() || self.shared.track.is_full() {
            return self.shared.drain();
        }
        Ok(())
    }

    /// Returns how often records were lost.
    pub(crate) fn losses(&self) -> u64 {
        self.shared.losses.load(Ordering::Acquire)
    }

    /// Returns why records were not written, if they were not, now or since there were
    /// that many losses.
    pub(crate) fn trouble(&self, since: u64) -> Option<RecordError> {
        let shared = &*self.shared;
        if !shared.eventful.load(Ordering::Acquire) && self.losses() == since {
            return None;
        }
        let mut file = lock(&shared.file);
        let trouble = file.trouble(since);
        shared.note(&file);
        trouble
    }
}

impl Shared {
    fn drain(&self) -> Result<(), RecordError> {
        let mut file = lock(&self.file);
        let (mut sheet, loose) = self.track.swap(file.empty_sheet());
        let scrubber = lock(&self.scrubber);
        for (dispatch, mut entry) in loose {
            scrubber.scrub(&mut entry);
            sheet.push(dispatch, &entry);
        }
        drop(scrubber);
        let written = file.write(sheet);
        self.note(&file);
        written
    }

    /// Lets dispatches know of losses.
    fn note(&self, file: &TapeFile) {
        self.losses.store(file.losses(), Ordering::Release);
        self.eventful.store(file.is_eventful(), Ordering::Release);
    }

    /// Does nothing the second time.
    fn close(&self) -> Result<(), RecordError> {
        self.track.end();
        if lock(&self.file).is_closed() {
            return Ok(());
        }
        let drained = self.drain();
        let mut file = lock(&self.file);
        let closed = file.close();
        self.note(&file);
        drop(file);
        drained.and(closed).and(self.told())
    }

    /// Passes on what the thread that writes has nobody to tell.
    fn told(&self) -> Result<(), RecordError> {
        lock(&self.file).untold().map_or(Ok(()), Err)
    }
}

/// Returns how long to wait for more where so much came in meanwhile: long texts are taken
/// over while the processor still has them at hand.
fn gathering(size: usize) -> Duration {
    const MUCH: usize = 256 << 10;
    let times = u32::try_from(size / MUCH).unwrap_or(u32::MAX);
    GATHER / times.clamp(1, 8)
}

/// Writes what comes in until the tape is closed.
fn write_along(shared: &Shared) {
    let mut gather = GATHER;
    while shared.track.wait() {
        let mut looks = 0;
        while looks < PATIENT_LOOKS {
            thread::sleep(gather);
            if shared.track.is_over() {
                return;
            }
            if shared.track.is_empty() {
                looks += 1;
                continue;
            }
            looks = 0;
            gather = gathering(shared.track.size());
            // Whoever dispatches next hears of it.
            let _ = shared.drain();
        }
    }
}
