//! Instances of the interpreter that are ready before they are needed. Each is used for
//! one call and thrown away; a thread makes others.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::sandbox::bindings::starlark::{Starlark, StarlarkPre};
use crate::sandbox::engine::Engine;
use crate::sandbox::instance::{Call, Spare, Used};
use crate::sandbox::limits::Limits;

/// The instances, and the thread that makes them, which goes with them.
pub(super) struct Spares(Arc<Shelf>);

struct Shelf {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    ready: Vec<Spare<Starlark>>,
    used: Vec<Used>,
    closed: bool,
    #[cfg(test)]
    taken: u32,
}

impl Spares {
    /// Keeps up to `most` instances ready; none if there is no thread to make them.
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
        let (engine, interpreter) = (engine.clone(), interpreter.clone());
        let filled = Arc::clone(&shelf);
        std::thread::Builder::new()
            .name("hookbox-spares".to_owned())
            .spawn(move || filled.fill(&engine, &interpreter))
            .ok()?;
        Some(Self(shelf))
    }

    /// Takes one for a call with these limits, if there is one that such a call would
    /// have made itself.
    pub(super) fn take(&self, limits: &Limits) -> Option<Spare<Starlark>> {
        let mut state = self.0.lock();
        // They are all alike.
        let fits = state.ready.last().is_none_or(|spare| spare.fits(limits));
        let spare = fits.then(|| state.ready.pop()).flatten();
        #[cfg(test)]
        {
            state.taken += u32::from(spare.is_some());
        }
        // In batches: waking a thread costs about as much as making an instance.
        let few = state.ready.len() <= self.0.most / 2;
        drop(state);
        if few {
            self.0.changed.notify_one();
        }
        spare
    }
}

impl Spares {
    /// Leaves one to the thread that makes others, which takes it apart before it does.
    pub(super) fn dispose(&self, used: Used) {
        self.0.lock().used.push(used);
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        state.ready.clear();
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

    /// Makes instances until nobody wants any more.
    fn fill(&self, engine: &Engine, interpreter: &StarlarkPre<Call>) {
        let make = || {
            Spare::new(engine, async |store| {
                interpreter.instantiate_async(store).await
            })
        };
        loop {
            let mut state = self.lock();
            while !state.closed && state.ready.len() > self.most / 2 {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed {
                return;
            }
            let missing = self.most - state.ready.len();
            let used = std::mem::take(&mut state.used);
            drop(state);
            drop(used);
            for _ in 0..missing {
                let made = make();
                let mut state = self.lock();
                if state.closed {
                    return;
                }
                match made {
                    Ok(spare) => state.ready.push(spare),
                    // A call that finds none makes its own, and says what is wrong. Until
                    // then there is no point in trying again.
                    Err(_) => {
                        drop(self.changed.wait(state));
                        break;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::Workshop;
    use super::super::probe::{SCRIPTS, border, event, script, seen};
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
            spares.wait();
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
                if !self.0.lock().ready.is_empty() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            panic!("no instance was made");
        }
    }
}
