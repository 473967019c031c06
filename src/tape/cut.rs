//! Makes a smaller tape out of a large one: some of its dispatches, chained anew.

use std::io::{BufRead, Write};
use std::sync::Arc;

use super::encode::{Encoder, Position};
use super::error::TapeError;
use super::read::Ending;
use super::record::{Cut, Entry, Project, Start};
use super::replay::{Dispatch, Replay};
use super::seal::Hash;

/// Why a tape could not be cut.
#[derive(Debug, thiserror::Error)]
pub enum CutError {
    /// It cannot be read.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// The new one cannot be written.
    #[error("the new tape cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// Nothing is left.
    #[error("none of the {0} dispatches was chosen, so there is nothing to write")]
    Nothing(u64),
    /// What was redacted cannot be chained anew.
    #[error(
        "the tape was redacted, so what is cut from it could not be told from what was recorded; cut first, then redact"
    )]
    Redacted,
}

/// What was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutOut {
    /// How many dispatches were chosen.
    pub chosen: u64,
    /// How many there were.
    pub of: u64,
}

/// Writes the dispatches that `choose` wants to a new tape. `source` says where they
/// come from: the hash of the last record of the whole tape, found by reading it before.
///
/// # Errors
/// Returns that the tape is damaged, or that nothing was chosen.
pub fn cut<R: BufRead>(
    replay: &mut Replay<R>,
    source: Cut,
    mut choose: impl FnMut(&Dispatch) -> bool,
    out: &mut impl Write,
) -> Result<CutOut, CutError> {
    let mut cutter = Cutter {
        encoder: Encoder::at(Position::START),
        source,
        session: None,
        sessions: 0,
        buffer: Vec::new(),
    };
    let mut found = CutOut { chosen: 0, of: 0 };
    while let Some(dispatch) = replay.next_dispatch()? {
        if replay.reader().redacted() > 0 {
            return Err(CutError::Redacted);
        }
        found.of += 1;
        if choose(&dispatch) {
            found.chosen += 1;
            cutter.add(&dispatch);
            out.write_all(&cutter.buffer)?;
            cutter.buffer.clear();
        }
    }
    if found.chosen == 0 {
        return Err(CutError::Nothing(found.of));
    }
    cutter.encoder.footer(&mut cutter.buffer);
    out.write_all(&cutter.buffer)?;
    Ok(found)
}

/// Reads a tape to its end and says what it takes to name it as a source.
///
/// # Errors
/// Returns that it is damaged.
pub fn source<R: BufRead>(replay: &mut Replay<R>) -> Result<(Cut, Ending), TapeError> {
    let mut dispatches = 0;
    while replay.next_dispatch()?.is_some() {
        dispatches += 1;
    }
    let head: Hash = replay.reader().head();
    let ending = replay.reader().ending().unwrap_or(Ending::Open);
    Ok((Cut { head, dispatches }, ending))
}

struct Cutter {
    encoder: Encoder,
    source: Cut,
    session: Option<Arc<Project>>,
    sessions: u64,
    buffer: Vec<u8>,
}

impl Cutter {
    fn add(&mut self, dispatch: &Dispatch) {
        self.begin_session(&dispatch.project);
        for record in dispatch.all_records() {
            let entry = match &record.entry {
                Entry::Dispatch(start) => Entry::Dispatch(Start {
                    session: self.sessions,
                    ..start.clone()
                }),
                other => other.clone(),
            };
            self.encoder.push(record.dispatch, &entry, &mut self.buffer);
        }
    }

    /// Says which hooks the next dispatches ran with, if they are not those before.
    fn begin_session(&mut self, project: &Arc<Project>) {
        match &self.session {
            Some(session) if Arc::ptr_eq(session, project) => return,
            Some(_) => {
                self.sessions += 1;
                let entry = Entry::Session((**project).clone());
                self.encoder.push(None, &entry, &mut self.buffer);
            }
            None => {
                let entry = Entry::Header(Project {
                    cut: Some(self.source.clone()),
                    ..(**project).clone()
                });
                self.encoder.push(None, &entry, &mut self.buffer);
            }
        }
        self.session = Some(Arc::clone(project));
    }
}
