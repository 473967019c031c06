//! Files that an agent edited, told to the hooks when the turn is over and not in the
//! middle of it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::runtime::{DispatchError, Runtime};

/// Edits that wait for the end of the turn.
#[derive(Debug, Default)]
pub struct Edits {
    waiting: Mutex<VecDeque<Value>>,
    /// Whose edits they are, if hooks are told.
    session: Option<String>,
}

impl Edits {
    /// Tells the hooks whose edits they are.
    #[must_use]
    pub fn of_session(id: impl Into<String>) -> Self {
        Self {
            session: Some(id.into()),
            ..Self::default()
        }
    }

    /// Remembers an edit.
    pub fn notify(&self, path: impl Into<String>, metadata: Value) {
        let mut edit = json!({"path": path.into(), "metadata": metadata});
        if let Some(id) = &self.session {
            edit["session"] = json!({"id": id});
        }
        self.lock().push_back(edit);
    }

    /// Returns how many edits wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Says whether no edit waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells the hooks of every edit, in order. An edit that hooks make on the way waits
    /// for the next time.
    ///
    /// # Errors
    /// Returns the first edit that could not be told; the ones after it wait on.
    pub fn drain(&self, runtime: &Runtime) -> Result<Vec<Outcome>, DispatchError> {
        let mut outcomes = Vec::new();
        for _ in 0..self.len() {
            let Some(edit) = self.lock().pop_front() else {
                break;
            };
            outcomes.push(runtime.dispatch("file_edited", edit)?);
        }
        Ok(outcomes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Value>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
