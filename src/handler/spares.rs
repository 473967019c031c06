//! Instances of the interpreter that are ready before they are needed. Each is used for
//! one call and thrown away; a thread makes others.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::loaded::Loaded;
use crate::failure::Failure;
use crate::sandbox::bindings::starlark::{Starlark, StarlarkPre};
use crate::sandbox::engine::Engine;
use crate::sandbox::image::Image;
use crate::sandbox::instance::{Call, Spare, Used};
use crate::sandbox::limits::Limits;

/// How long the thread lets whoever took an instance go on before it makes others: most
/// events are decided by then, and nobody waits for it.
const PAUSE: Duration = Duration::from_millis(1);

/// The instances, and the thread that makes them, which goes with them.
pub(super) struct Spares(Arc<Shelf>);

struct Shelf {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    /// Those that have loaded nothing.
    plain: Vec<Spare<Starlark>>,
    loaded: Loaded,
    used: Vec<Used>,
    /// Whether the thread has to be woken.
    asleep: bool,
    closed: bool,
    #[cfg(test)]
    taken: u32,
    #[cfg(test)]
    found_loaded: u32,
}

impl Spares {
    /// Keeps up to `most` instances ready for any text, and others for those texts that are
    /// used; none if there is no thread to make them.
    pub(super) fn keep(
        engine: &Engine,
        interpreter: &StarlarkPre<Call>,
        most: usize,
    ) -> Option<Self> {
        let shelf = Arc::new(Shelf {
            state: Mutex::default(),
            changed: Condvar::new(),
            most,
        });
        let maker = Maker {
            engine: engine.clone(),
            interpreter: interpreter.clone(),
        };
        let filled = Arc::clone(&shelf);
        std::thread::Builder::new()
            .name("hookbox-spares".to_owned())
            .spawn(move || {
                step_back();
                filled.fill(&maker);
            })
            .ok()?;
        Some(Self(shelf))
    }

    /// Takes one for a call with these limits, if there is one that such a call would
    /// have made itself.
    pub(super) fn take(&self, limits: &Limits) -> Option<Spare<Starlark>> {
        let mut state = self.0.lock();
        // They are all alike.
        let fits = state.plain.last().is_none_or(|spare| spare.fits(limits));
        let spare = fits.then(|| state.plain.pop()).flatten();
        #[cfg(test)]
        {
            state.taken += u32::from(spare.is_some());
        }
        self.0.wake(state);
        spare
    }

    /// Takes one that has loaded what left this image.
    pub(super) fn take_loaded(
        &self,
        image: &Arc<Image>,
        limits: &Limits,
    ) -> Option<Spare<Starlark>> {
        let mut state = self.0.lock();
        let spare = state.loaded.take(image, limits, Instant::now());
        #[cfg(test)]
        {
            state.found_loaded += u32::from(spare.is_some());
        }
        self.0.wake(state);
        spare
    }

    /// Leaves one to the thread that makes others, which takes it apart before it does.
    pub(super) fn dispose(&self, used: Used) {
        self.0.lock().used.push(used);
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        state.plain.clear();
        state.loaded = Loaded::default();
        state.used.clear();
        drop(state);
        self.0.changed.notify_one();
    }
}

impl Shelf {
    /// Nothing in here can panic while the lock is held.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread if there is something to make and it does not know.
    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let wakes = state.asleep && self.lacks(&state);
        state.asleep &= !wakes;
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// Says whether there is enough to make to begin with it.
    fn lacks(&self, state: &State) -> bool {
        state.plain.len() <= self.most / 2 || state.loaded.missing().is_some()
    }

    /// Makes instances until nobody wants any more.
    fn fill(&self, maker: &Maker) {
        let mut state = self.lock();
        while !state.closed {
            let image = state.loaded.missing();
            if image.is_none() && state.plain.len() >= self.most {
                state.asleep = true;
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                drop(state);
                std::thread::sleep(PAUSE);
                state = self.lock();
                continue;
            }
            let used = std::mem::take(&mut state.used);
            let old = state.loaded.retire(Instant::now());
            drop(state);
            drop((used, old));
            let made = maker.make(image.as_deref());
            state = self.lock();
            match (made, image) {
                (_, _) if state.closed => return,
                (made, Some(image)) => state.loaded.put(&image, made.ok()),
                (Ok(spare), None) => state.plain.push(spare),
                // A call that finds none makes its own, and says what is wrong. Until
                // then there is no point in trying again.
                (Err(_), None) => {
                    state.asleep = true;
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// What instances are made from.
struct Maker {
    engine: Engine,
    interpreter: StarlarkPre<Call>,
}

impl Maker {
    fn make(&self, image: Option<&Image>) -> Result<Spare<Starlark>, Failure> {
        Spare::new(&self.engine, async |store| {
            let guest = self.interpreter.instantiate_async(&mut *store).await?;
            if let Some(image) = image {
                if !image.fits(store.get_fuel()?, store.data().border.limits()) {
                    return Err(wasmtime::Error::msg("it could not have loaded the text"));
                }
                image.put(&guest, store).await?;
            }
            Ok(guest)
        })
    }
}

/// Lets whoever waits for an answer go first.
fn step_back() {
    #[cfg(target_os = "linux")]
    {
        let this = rustix::thread::gettid();
        // Where that is not allowed, it only costs time.
        let _ = rustix::process::setpriority_process(Some(this), 19);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::Workshop;
    use super::super::probe::{SCRIPTS, border, event, script, seen};
    use super::super::starlark::Script;
    use super::*;
    use crate::sandbox::compiled::CodeStore;
    use crate::sandbox::engine::Lifetime;

    fn workshop(spares: usize) -> Workshop {
        let engine = Engine::new(Lifetime::LongLived).unwrap();
        let store = CodeStore::open_default().unwrap();
        Workshop::new(engine, store, Arc::new(|_| {})).with_spares(spares)
    }

    #[test]
    fn a_call_is_the_same_in_an_instance_made_beforehand() {
        let (fresh, ready) = (workshop(0), workshop(4));
        let both = |code: &str, limits: Limits| {
            let run = |workshop: &Workshop| {
                let interpreter = workshop.interpreter().unwrap();
                let script = script(code);
                seen(interpreter.handle(&workshop.engine, &script, event(), border(limits)))
            };
            let spares = ready.interpreter().unwrap().spares().unwrap();
            spares.wait();
            let wanted = run(&fresh);
            let got = run(&ready);
            assert_eq!(wanted, got, "{code} {limits:?}");
            wanted
        };
        let plain = Limits::default();
        for code in SCRIPTS {
            let (_, fuel, memory, ..) = both(code, plain);
            // Up to the last unit, and not one further.
            for fuel in fuel
                .into_iter()
                .flat_map(|all| [all + 1, all, all - 1, all / 2])
            {
                both(code, Limits { fuel, ..plain });
            }
            let memory = usize::try_from(memory).unwrap();
            for memory in [memory + (64 << 10), memory, memory - (64 << 10), 1 << 20] {
                both(code, Limits { memory, ..plain });
            }
        }
        for tight in [
            Limits { fuel: 1, ..plain },
            Limits {
                fuel: 1_000,
                ..plain
            },
            Limits {
                instances: 1,
                ..plain
            },
            Limits {
                table_elements: 1,
                ..plain
            },
            Limits {
                host_calls: 1,
                ..plain
            },
            Limits {
                decision: 10,
                ..plain
            },
        ] {
            for code in [SCRIPTS[0], SCRIPTS[3], SCRIPTS[6]] {
                both(code, tight);
            }
        }
        let taken = ready
            .interpreter()
            .unwrap()
            .spares()
            .unwrap()
            .0
            .lock()
            .taken;
        assert!(taken > 40, "only {taken} calls found a spare one");
    }

    #[test]
    fn a_call_is_the_same_in_an_instance_that_has_loaded_its_text() {
        let (fresh, ready) = (workshop(0), workshop(2));
        let interpreter = ready.interpreter().unwrap();
        let spares = interpreter.spares().unwrap();
        let plain = Limits::default();
        for code in SCRIPTS {
            let known = script(code);
            let both = |limits: Limits| {
                let engine = &fresh.engine;
                let alone = fresh.interpreter().unwrap();
                let wanted = seen(alone.handle(engine, &script(code), event(), border(limits)));
                let got = seen(interpreter.handle(&ready.engine, &known, event(), border(limits)));
                assert_eq!(wanted, got, "{code} {limits:?}");
                wanted
            };
            for _ in 0..4 {
                both(plain);
            }
            // One makes a long text of constants, which is done when it loads, and one is broken.
            let none = [SCRIPTS[6], SCRIPTS[8]].contains(&code);
            assert_eq!(spares.wait_for(&known), !none, "{code}");
            let (_, fuel, memory, ..) = both(plain);
            // Up to the last unit, and not one further.
            for fuel in (fuel.into_iter()).flat_map(|all| [all + 1, all, all - 1, all / 2, 1_000]) {
                spares.wait_for(&known);
                both(Limits { fuel, ..plain });
            }
            let memory = usize::try_from(memory).unwrap();
            for memory in [memory + (64 << 10), memory, memory - (64 << 10), 1 << 20] {
                spares.wait_for(&known);
                both(Limits { memory, ..plain });
            }
        }
        let found = spares.0.lock().found_loaded;
        assert!(found > 40, "only {found} calls found one that had loaded");
    }

    #[test]
    fn nothing_of_a_call_is_there_in_one_that_has_loaded_the_same_text() {
        let workshop = workshop(2);
        let interpreter = workshop.interpreter().unwrap();
        let spares = interpreter.spares().unwrap();
        let text = script(
            "seen = []\ndef handle(event, payload):\n    return block(str(len(seen)) + str(len(payload)))",
        );
        for _ in 0..20 {
            spares.wait_for(&text);
            let border = border(Limits::default());
            let ran = interpreter.handle(&workshop.engine, &text, event(), border);
            let answer = format!("{:?}", ran.result.unwrap().decision);
            assert!(answer.contains("\"02\""), "{answer}");
        }
        assert!(spares.0.lock().found_loaded > 10);
    }

    #[test]
    fn nothing_of_a_call_is_there_in_the_next_one() {
        let workshop = workshop(2);
        let interpreter = workshop.interpreter().unwrap();
        let code = "seen = []\ndef handle(event, payload):\n    return block(str(len(seen)))";
        for _ in 0..20 {
            interpreter.spares().unwrap().wait();
            let ran = interpreter.handle(
                &workshop.engine,
                &script(code),
                event(),
                border(Limits::default()),
            );
            let answer = format!("{:?}", ran.result.unwrap().decision);
            assert!(answer.contains("\"0\""), "{answer}");
        }
    }

    #[test]
    fn what_took_much_memory_is_taken_apart_at_once() {
        let workshop = workshop(8);
        let interpreter = workshop.interpreter().unwrap();
        let spares = interpreter.spares().unwrap();
        let used = |code: &str| {
            spares.wait_until_idle();
            let before = spares.0.lock().taken;
            let event = event();
            let border = border(Limits::default());
            let ran = interpreter.handle(&workshop.engine, &script(code), event, border);
            assert_eq!(spares.0.lock().taken, before + 1);
            (ran.usage.memory_bytes, spares.0.lock().used.len())
        };
        let (little, kept) = used(SCRIPTS[0]);
        assert_eq!((little <= 8 << 20, kept), (true, 1));
        let large = "def handle(event, payload):\n    x = 'x' * 9000000\n    return allow()";
        let (much, kept) = used(large);
        assert_eq!((much > 8 << 20, kept), (true, 1));
    }

    impl Spares {
        /// Waits until there is one.
        fn wait(&self) {
            for _ in 0..6_000 {
                if !self.0.lock().plain.is_empty() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            panic!("no instance was made");
        }

        /// Waits until there is nothing to make.
        fn wait_until_idle(&self) {
            for _ in 0..6_000 {
                if self.0.lock().asleep {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            panic!("there is always something to make");
        }

        /// Waits until there is one that has loaded a text; says whether there can be any.
        fn wait_for(&self, script: &Script) -> bool {
            let Some(image) = script.text.loaded.image() else {
                return false;
            };
            for _ in 0..6_000 {
                if self.0.lock().loaded.has(&image) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            panic!("no instance has loaded the text");
        }
    }
}
