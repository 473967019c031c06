//! Starlark, run by an interpreter that is itself a guest of the sandbox.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::component::from_wit;
use super::images::{Images, Kind, Slot};
use super::spares::Spares;
use wasmtime::Store;

use crate::capability::Border;
use crate::chain::Ran;
use crate::decision::{Answer, Decision, Effect};
use crate::diagnostic::Source;
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::hook::Hook;
use crate::sandbox::bindings::starlark::exports::hookbox::starlark::interpreter as wit;
use crate::sandbox::bindings::starlark::{Starlark as StarlarkWorld, StarlarkPre};
use crate::sandbox::bindings::types;
use crate::sandbox::compiled::{CodeStore, Digest, OnProgress};
use crate::sandbox::component::link_starlark;
use crate::sandbox::engine::Engine;
use crate::sandbox::image::Image;
use crate::sandbox::instance::{self, Call, Used};
use crate::yaml::{ScalarMap, Style};

pub use wit::{Entry, Problem, Report, ScriptReport, UseOfBuiltin};

/// The interpreter, built by `guest-sdk/starlark/build` and checked in.
const COMPONENT: &[u8] = include_bytes!("../../guest-sdk/starlark/starlark.wasm");

/// Its digest, computed when it was built: hashing it takes longer than running it.
pub(super) const DIGEST: &str = include_str!("../../guest-sdk/starlark/starlark.digest");

/// How much memory an instance may have taken to be taken apart later: somewhat more than
/// each one has from the beginning.
const SMALL: u64 = 8 << 20;

/// Starlark source, with the way back to where it was written.
#[derive(Debug)]
pub struct Text {
    /// What the interpreter gets.
    pub code: String,
    /// The file it was written in.
    pub source: Arc<Source>,
    /// Where in the file it is written.
    pub span: Range<usize>,
    /// How it is written there.
    pub style: Style,
    /// What loading it leaves behind, once that is known.
    pub(crate) loaded: Slot,
}

/// A script with what is known of its entry point.
#[derive(Debug)]
pub struct Script {
    /// The source.
    pub text: Text,
    /// Whether `handle` is there.
    pub entry: Entry,
}

/// A function of a module, made the module's entry point.
#[derive(Debug)]
pub struct Function {
    /// The module, with the entry point that calls the function.
    pub(super) script: Script,
    digest: Digest,
}

/// The key under which the entry point hands back what the function returned.
const RETURNED: &str = "returned";

impl Function {
    /// Makes a function of a module ready to be called with the event.
    pub(crate) fn new(module: Text, function: &str) -> Self {
        let code = Self::entry(&module.code, function);
        // Another function of the same module is another hook.
        let digest = Digest::of(code.as_bytes());
        Self {
            script: Script {
                text: Text {
                    code,
                    loaded: Slot::default(),
                    ..module
                },
                entry: Entry::Present,
            },
            digest,
        }
    }

    /// Returns a module with an entry point that calls the function.
    pub(crate) fn entry(module: &str, function: &str) -> String {
        // A module may have a `modify` of its own, so this does without the built-in one.
        format!(
            "{module}\ndef handle(event, payload):\n    return {{\"action\": \"modify\", \"payload\": {{\"{RETURNED}\": {function}(payload)}}}}\n"
        )
    }

    /// Returns the digest of the module and the function's name.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Lets the dialect take what the function returned.
    pub(super) fn answer(
        &self,
        hook: &Hook,
        event: &Event,
        answer: Answer,
    ) -> Result<Answer, Failure> {
        let returned = match answer.decision {
            Decision::Modify(mut value) => value[RETURNED].take(),
            // Only the entry point above answers, unless the module replaces it.
            _ => {
                let message = "the module replaces the entry point that calls its functions";
                return Err(Failure::new(Cause::BadAnswer, message));
            }
        };
        let mut made = (hook.dialect.returned)(hook, event, returned)?;
        let own = std::mem::replace(&mut made.effects, answer.effects);
        Effect::gather(&mut made.effects, own);
        Ok(made)
    }
}

impl Text {
    /// Takes a whole file for source.
    #[must_use]
    pub fn of_file(source: &Arc<Source>) -> Self {
        Self {
            code: source.text.to_string(),
            span: 0..source.text.len(),
            source: Arc::clone(source),
            style: Style::Plain,
            loaded: Slot::default(),
        }
    }

    /// Returns the place of a span in the file.
    #[must_use]
    pub fn locate(&self, span: &wit::Span) -> Range<usize> {
        if self.span == (0..self.source.text.len()) {
            let place = |at| offset(&self.source.text, from_wit_place(at));
            return place(span.begin)..place(span.end).max(place(span.begin));
        }
        // Made when it is needed: a map is larger than the code, and errors are rare.
        let map = ScalarMap::new(&self.source.text, self.span.clone(), self.style, &self.code);
        let found = map.span(from_wit_place(span.begin), from_wit_place(span.end));
        // Source that ends too early is wrong at its end, not on the line after it.
        let text = self.source.text.get(self.span.clone()).unwrap_or_default();
        let end = self.span.start + text.trim_end().len();
        found.start.min(end)..found.end.min(end.max(found.start.min(end)))
    }

    fn place(&self, span: Option<&wit::Span>) -> String {
        let Some(span) = span else {
            return self.source.path.clone();
        };
        let (line, column) = self.source.line_column(self.locate(span).start);
        format!("{}:{line}:{column}", self.source.path)
    }

    /// Puts a problem into the words of the file it came from.
    fn failure(&self, problem: &wit::Problem) -> Failure {
        let mut stack = String::new();
        for frame in &problem.stack {
            let _ = writeln!(
                stack,
                "  {} in {}",
                self.place(frame.at.as_ref()),
                frame.function
            );
        }
        Failure {
            cause: Cause::HookError,
            message: format!("{}: {}", self.place(problem.at.as_ref()), problem.message),
            stack: (!stack.is_empty()).then_some(stack),
        }
    }
}

/// Returns the byte at a line and column of a file that is source as a whole. What lies
/// behind the end of a line counts as its end, and what lies behind the file as its end.
fn offset(text: &str, (line, column): (usize, usize)) -> usize {
    let end = text.trim_end().len();
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    start += lines.by_ref().take(line).map(str::len).sum::<usize>();
    let line = lines
        .next()
        .unwrap_or_default()
        .trim_end_matches(['\r', '\n']);
    let inside = line
        .char_indices()
        .nth(column)
        .map_or(line.len(), |(at, _)| at);
    (start + inside).min(end)
}

fn from_wit_place(place: wit::Place) -> (usize, usize) {
    (place.line as usize, place.column as usize)
}

/// The interpreter, compiled and linked.
pub struct Interpreter {
    ready: StarlarkPre<Call>,
    pub(super) images: Images,
    /// Instances made beforehand, where somebody wants some.
    spares: Option<Spares>,
}

impl Interpreter {
    /// Says whether the store has it.
    pub(super) fn is_compiled(engine: &Engine, store: &CodeStore) -> bool {
        store.has(engine, &Digest::known(DIGEST))
    }

    pub(super) fn load(
        engine: &Engine,
        store: &CodeStore,
        on_progress: &OnProgress,
        compile_time: Duration,
    ) -> Result<Self, Failure> {
        Ok(Self {
            ready: Self::linked(engine, store, on_progress, compile_time)?,
            images: Images::new(engine, store, DIGEST),
            spares: None,
        })
    }

    /// Compiles it, if the store does not have it, and links it.
    pub(super) fn linked(
        engine: &Engine,
        store: &CodeStore,
        on_progress: &OnProgress,
        compile_time: Duration,
    ) -> Result<StarlarkPre<Call>, Failure> {
        let component = store
            .load(
                engine,
                &Digest::known(DIGEST),
                "the Starlark interpreter",
                || COMPONENT.to_vec(),
                on_progress,
                compile_time,
            )
            .map_err(|error| Failure::new(Cause::BadComponent, error.to_string()))?;
        link_starlark(engine, &component)
    }

    /// Shares what loading leaves behind with the processes that come after this one.
    pub(super) fn with_shared_images(mut self) -> Self {
        self.images = self.images.shared();
        self
    }

    /// Keeps some instances ready for calls to come.
    pub(super) fn with_spares(mut self, engine: &Engine, most: usize) -> Self {
        self.spares = Spares::keep(engine, &self.ready, most);
        self
    }

    #[cfg(test)]
    pub(super) fn spares(&self) -> Option<&Spares> {
        self.spares.as_ref()
    }

    /// Runs `work` in an instance that nothing else runs in, before or after, and that has
    /// loaded a text.
    fn enter<T>(
        &self,
        engine: &Engine,
        border: Border,
        (kind, text): (Kind, &Text),
        work: impl AsyncFnOnce(
            &StarlarkWorld,
            &mut Store<Call>,
        ) -> wasmtime::Result<Result<T, wit::Problem>>,
    ) -> Ran<Result<T, wit::Problem>> {
        let image = self.images.of(kind, text);
        let image = image.as_ref();
        if let Some(spares) = &self.spares
            && let Some(image) = image
            && let Some(spare) = spares.take_loaded(image, border.limits())
        {
            return over(spares, spare.run(border, work));
        }
        let work = async |guest: &StarlarkWorld, store: &mut Store<Call>| match load(
            guest, store, kind, text, image,
        )
        .await?
        {
            Ok(()) => work(guest, store).await,
            Err(problem) => Ok(Err(problem)),
        };
        if let Some(spares) = &self.spares
            && let Some(spare) = spares.take(border.limits())
        {
            return over(spares, spare.run(border, work));
        }
        instance::run(engine, border, async |store| {
            let guest = self.ready.instantiate_async(&mut *store).await?;
            work(&guest, store).await
        })
    }

    pub(super) fn matches(
        &self,
        engine: &Engine,
        condition: &Text,
        event: types::Event,
        border: Border,
    ) -> Ran<bool> {
        let text = (Kind::When, condition);
        let ran = self.enter(engine, border, text, async |guest, store| {
            guest
                .hookbox_starlark_interpreter()
                .call_matches(store, &event)
                .await
        });
        ran.and_then(|result| result.map_err(|problem| condition.failure(&problem)))
    }

    pub(super) fn handle(
        &self,
        engine: &Engine,
        script: &Script,
        event: types::Event,
        border: Border,
    ) -> Ran<Answer> {
        let limits = *border.limits();
        let text = (Kind::Script, &script.text);
        let mut ran = self.enter(engine, border, text, async |guest, store| {
            guest
                .hookbox_starlark_interpreter()
                .call_handle(store, &event)
                .await
        });
        if let Ok(Ok(wit::Verdict {
            warning: Some(warning),
            ..
        })) = &ran.result
        {
            ran.left
                .warnings
                .push(format!("hook {:?}: {warning}", event.hook));
        }
        ran.and_then(|result| match result {
            Ok(verdict) => from_wit(verdict.answer, &limits),
            Err(problem) => Err(script.failure(&problem)),
        })
    }
}

/// Loads a text into a fresh instance, or puts there what loading it left behind before.
async fn load(
    guest: &StarlarkWorld,
    store: &mut Store<Call>,
    kind: Kind,
    text: &Text,
    image: Option<&Arc<Image>>,
) -> wasmtime::Result<Result<(), wit::Problem>> {
    if let Some(image) = image
        && image.fits(store.get_fuel()?, store.data().border.limits())
    {
        return image.put(guest, store).await.map(Ok);
    }
    kind.load(guest, store, &text.code).await
}

/// Leaves what a call used to the thread that makes instances; what took much memory gives
/// it back at once.
fn over<T>(spares: &Spares, (ran, used): (Ran<T>, Used)) -> Ran<T> {
    if ran.usage.memory_bytes <= SMALL {
        spares.dispose(used);
    }
    ran
}

impl Script {
    /// Says whether there is something to call.
    pub(crate) fn is_sound(&self) -> bool {
        self.entry == Entry::Present
    }

    fn failure(&self, problem: &wit::Problem) -> Failure {
        let failure = self.text.failure(problem);
        // A script that got as far as raising an error has a place to point at.
        if self.entry == Entry::Missing && problem.at.is_none() {
            return Failure {
                cause: Cause::MissingExport,
                ..failure
            };
        }
        failure
    }
}

/// How many texts are looked at in one instance. Making one costs as much as
/// parsing a script, and parsing leaves nothing behind but memory.
const TEXTS_PER_INSTANCE: u32 = 100;

/// Looks at source in the sandbox without running it.
pub struct Parser<'a> {
    interpreter: &'a Interpreter,
    engine: &'a Engine,
    guest: Option<(Store<Call>, StarlarkWorld)>,
    texts: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn new(interpreter: &'a Interpreter, engine: &'a Engine) -> Self {
        Self {
            interpreter,
            engine,
            guest: None,
            texts: 0,
        }
    }

    /// Looks at a script.
    ///
    /// # Errors
    /// Returns why it cannot even be parsed.
    pub fn script(&mut self, code: &str) -> Result<ScriptReport, Failure> {
        self.parse(async |guest, store| {
            guest
                .hookbox_starlark_interpreter()
                .call_check_script(store, code)
                .await
        })
    }

    /// Looks at a `when` expression.
    ///
    /// # Errors
    /// Returns why it cannot even be parsed.
    pub fn when(&mut self, code: &str) -> Result<Report, Failure> {
        self.parse(async |guest, store| {
            guest
                .hookbox_starlark_interpreter()
                .call_check_when(store, code)
                .await
        })
    }

    fn parse<T>(
        &mut self,
        work: impl AsyncFnOnce(&StarlarkWorld, &mut Store<Call>) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        let (mut store, guest) = match self.guest.take() {
            Some(guest) if self.texts < TEXTS_PER_INSTANCE => guest,
            _ => self.fresh()?,
        };
        store.data_mut().border = Border::closed();
        // Only an instance that came through unharmed is used again.
        let report = instance::step(&mut store, async |store| work(&guest, store).await)?;
        self.guest = Some((store, guest));
        self.texts += 1;
        Ok(report)
    }

    fn fresh(&mut self) -> Result<(Store<Call>, StarlarkWorld), Failure> {
        let border = Border::closed();
        let mut store = instance::open(self.engine, border);
        let guest = instance::step(&mut store, async |store| {
            self.interpreter.ready.instantiate_async(store).await
        })?;
        self.texts = 0;
        Ok((store, guest))
    }
}
