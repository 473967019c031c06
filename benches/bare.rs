//! wasmtime without hookbox: the same engine, limits and typed call, and nothing else.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hookbox::sandbox::bindings::hook::HookPre;
use hookbox::sandbox::bindings::types::{Decision, Event};
use hookbox::sandbox::engine::{Engine, Lifetime};
use serde_json::Value;
use wasmtime::component::{Component, Linker};
use wasmtime::{Store, StoreLimits, StoreLimitsBuilder};

pub struct Bare {
    engine: Engine,
    ready: HookPre<StoreLimits>,
}

/// What hookbox hands to a hook for this payload.
pub fn event(payload: &Value) -> Event {
    let mut payload = payload.clone();
    payload["arguments"] = payload["args"].to_string().into();
    Event {
        name: "tool.pre".to_owned(),
        payload: payload.to_string(),
        id: "call_1".to_owned(),
        subject: Some("run_command".to_owned()),
        hook: "guard".to_owned(),
        depth: 0,
    }
}

impl Bare {
    pub fn new(component: &[u8]) -> Self {
        let engine = Engine::new(Lifetime::LongLived).expect("an engine");
        let component = Component::new(engine.wasmtime(), component).expect("compiled");
        let linker = Linker::new(engine.wasmtime());
        let ready = linker
            .instantiate_pre(&component)
            .and_then(HookPre::new)
            .expect("linked");
        Self { engine, ready }
    }

    pub fn call(&self, event: &Event) {
        let limits = StoreLimitsBuilder::new().memory_size(64 << 20).build();
        let mut store = Store::new(self.engine.wasmtime(), limits);
        store.limiter(|limits| limits);
        store.set_fuel(400_000_000).expect("fuel is on");
        let answer = block_on(async {
            let hook = self.ready.instantiate_async(&mut store).await?;
            hook.hookbox_hook_handler()
                .call_handle(&mut store, event)
                .await
        });
        let answer = answer.expect("no trap").expect("an answer");
        assert!(matches!(answer.decision, Decision::Allow));
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
