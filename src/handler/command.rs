//! A hook that is a program: it reads the event on its standard input, and answers on
//! its standard output and by its exit code. What those mean is a matter of the dialect.

use wasmtime::component::Component;
use wasmtime_wasi::p2::bindings::CommandPre;

use super::Occasion;
use crate::capability::Border;
use crate::capability::wasi::{Exited, Program, Sheet};
use crate::chain::Ran;
use crate::decision::Answer;
use crate::failure::{Cause, Failure};
use crate::sandbox::compiled::Digest;
use crate::sandbox::component::{LinkedCommand, link_command};
use crate::sandbox::engine::Engine;
use crate::sandbox::instance::{self, Call};
use crate::sandbox::limits::Limits;

/// A program, compiled and linked.
pub struct CommandHook {
    ready: CommandPre<Call>,
    imports: Vec<String>,
    digest: Digest,
}

impl std::fmt::Debug for CommandHook {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("CommandHook")
            .field(&self.digest)
            .finish()
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code. Nothing if it only said that it failed, which is all that
    /// programs for wasm32-wasip2 can say; a codec then means the worst it could be.
    pub code: Option<u8>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error, as far as there is room for it.
    pub stderr: String,
}

impl CommandHook {
    pub(super) fn new(
        engine: &Engine,
        component: &Component,
        digest: Digest,
    ) -> Result<Self, Failure> {
        let LinkedCommand { ready, imports } = link_command(engine, component)?;
        Ok(Self {
            ready,
            imports,
            digest,
        })
    }

    /// Returns the names of the component's imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Returns the digest of the program's bytes.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    pub(super) fn handle(
        &self,
        engine: &Engine,
        occasion: &Occasion<'_>,
        border: Border,
    ) -> Ran<Answer> {
        let limits = *border.limits();
        let (sheet, complaint) = (Sheet::new(limits.decision), Sheet::new(limits.log_bytes));
        let program = Program {
            name: occasion.hook.name.to_string(),
            stdin: occasion.stdin(),
            environment: occasion.environment(),
            answer: sheet.clone(),
            complaint: complaint.clone(),
        };
        let ran = instance::run_program(engine, border, &program, async |store| {
            self.run(store).await
        });
        ran.and_then(|code| {
            let stderr = String::from_utf8_lossy(&complaint.take_cut()).into_owned();
            let stdout = match code {
                Some(0) => sheet.take().ok_or_else(|| too_much(&limits))?,
                _ => sheet.take_cut(),
            };
            occasion.answer(&Finished {
                code,
                stdout: answer_text(code, stdout)?,
                stderr,
            })
        })
    }

    /// Runs the program and returns its exit code.
    async fn run(&self, store: &mut wasmtime::Store<Call>) -> wasmtime::Result<Option<u8>> {
        let command = self.ready.instantiate_async(&mut *store).await?;
        match command.wasi_cli_run().call_run(store).await {
            Ok(returned) => Ok(returned.is_ok().then_some(0)),
            Err(error) => match error.downcast_ref::<Exited>() {
                Some(exited) => Ok(exited.code),
                None => Err(error),
            },
        }
    }
}

fn too_much(limits: &Limits) -> Failure {
    Failure::new(
        Cause::BadAnswer,
        format!(
            "the program wrote more than the {} bytes an answer may have; say less, or raise `decision` under `limits:`",
            limits.decision
        ),
    )
}

/// Takes what a program wrote for text. One that refuses does so whatever it wrote: only
/// of a success every byte has to be right.
pub(super) fn answer_text(code: Option<u8>, written: Vec<u8>) -> Result<String, Failure> {
    if code != Some(0) {
        return Ok(String::from_utf8_lossy(&written).into_owned());
    }
    String::from_utf8(written).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("the program's answer is not UTF-8: byte {at} does not fit");
        Failure::new(Cause::BadAnswer, message)
    })
}
