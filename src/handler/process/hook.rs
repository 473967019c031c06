//! A hook that is a program of the machine. Its run is one call across the border: the
//! tape has the answer, and a replay never starts anything.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::{Confinement, Ended, Exit, Occasion as Run, Process, ProcessError};
use crate::capability::Border;
use crate::capability::log::Level;
use crate::chain::{Ran, Usage};
use crate::decision::Answer;
use crate::failure::{Cause, Failure};
use crate::handler::Occasion;
use crate::handler::command::{Finished, answer_text};
use crate::sandbox::compiled::Digest;

/// The variables every program gets from the machine: without them hardly any runs.
pub const INHERITED: [&str; 5] = ["HOME", "LANG", "PATH", "TMPDIR", "USER"];

/// How much of what a program wrote to standard error is kept in a log line.
const STDERR: usize = 64 << 10;

/// A program, with what it is kept to.
#[derive(Debug)]
pub struct ProcessHook {
    /// What runs.
    pub process: Process,
    /// What it is kept to.
    pub confinement: Arc<Confinement>,
    /// What people read for it.
    pub shown: String,
    digest: Digest,
}

impl ProcessHook {
    /// Makes a hook of a program. `code` is what tells one version of it from another.
    #[must_use]
    pub fn new(
        process: Process,
        confinement: Arc<Confinement>,
        shown: String,
        code: &[u8],
    ) -> Self {
        Self {
            process,
            confinement,
            shown,
            digest: Digest::of(code),
        }
    }

    /// Returns the digest of the program, as it was when the hook was loaded.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(in crate::handler) fn handle(
        &self,
        occasion: &Occasion<'_>,
        mut border: Border,
    ) -> Ran<Answer> {
        let started = Instant::now();
        let ended = self.cross(occasion, &border);
        let result = ended.and_then(|ended| {
            let ended = ended.map_err(failure)?;
            let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
            border.log_lines(Level::Warn, &stderr);
            self.answer(occasion, ended, stderr)
        });
        Ran {
            result,
            usage: Usage {
                duration: started.elapsed(),
                ..Usage::default()
            },
            left: border.leave(),
        }
    }

    /// Runs the program, unless a tape knows what came of it.
    fn cross(
        &self,
        occasion: &Occasion<'_>,
        border: &Border,
    ) -> Result<Result<Ended, ProcessError>, Failure> {
        let (stdin, told) = (occasion.stdin(), occasion.environment());
        let request = || {
            json!({
                "program": self.shown,
                "digest": self.digest.to_string(),
                "environment": told.iter().map(|(name, value)| (*name, value)).collect::<std::collections::BTreeMap<_, _>>(),
                "stdin": stdin,
            })
        };
        border.reel().cross_result("process.run", request, || {
            let mut environment = border.inherited(&INHERITED);
            environment.extend(border.environment());
            environment.extend(
                told.iter()
                    .map(|(name, value)| ((*name).to_owned(), value.clone())),
            );
            self.process.run(
                &Run {
                    environment: &environment,
                    stdin: stdin.as_bytes(),
                    deadline: border.deadline(),
                    stdout_limit: border.limits().decision,
                    stderr_limit: STDERR,
                },
                &self.confinement,
            )
        })
    }

    fn answer(
        &self,
        occasion: &Occasion<'_>,
        ended: Ended,
        stderr: String,
    ) -> Result<Answer, Failure> {
        let code = match ended.exit {
            Exit::Code(code) => code,
            Exit::Signal(signal) => {
                let message = format!("the program was killed by signal {signal}");
                return Err(Failure::new(Cause::Trap, message));
            }
        };
        occasion.answer(&Finished {
            code: Some(code),
            stdout: answer_text(Some(code), ended.stdout)?,
            stderr,
        })
    }
}

fn failure(error: ProcessError) -> Failure {
    let cause = match &error {
        ProcessError::CannotStart { .. } => Cause::CannotStart,
        ProcessError::Deadline { .. } => Cause::Deadline,
        ProcessError::TooMuchOutput { .. } => Cause::BadAnswer,
        ProcessError::Lost { .. } => Cause::Trap,
    };
    Failure::new(cause, error.to_string())
}
