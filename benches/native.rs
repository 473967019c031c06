//! Starlark without a sandbox.

use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, Module};
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::none::NoneType;

use crate::projects::SCRIPT;

#[starlark_module]
fn decisions(builder: &mut GlobalsBuilder) {
    fn allow() -> starlark::Result<NoneType> {
        Ok(NoneType)
    }

    fn block(reason: &str) -> starlark::Result<String> {
        Ok(reason.to_owned())
    }
}

thread_local! {
    static GLOBALS: Globals = GlobalsBuilder::standard().with(decisions).build();
}

/// A script parsed and frozen once.
pub struct Frozen(FrozenModule);

impl Frozen {
    pub fn new() -> Self {
        Self(load())
    }

    pub fn call(&self, payload: &str) {
        handle(&self.0, payload);
    }
}

pub fn parse_and_call(payload: &str) {
    handle(&load(), payload);
}

fn load() -> FrozenModule {
    let ast = AstModule::parse("guard", SCRIPT.to_owned(), &Dialect::Standard).expect("it parses");
    Module::with_temp_heap(|module| {
        {
            let mut evaluator = Evaluator::new(&module);
            GLOBALS
                .with(|globals| evaluator.eval_module(ast, globals))
                .expect("it loads");
        }
        module.freeze()
    })
    .expect("it freezes")
}

fn handle(script: &FrozenModule, payload: &str) {
    let function = script.get("handle").expect("handle is there");
    Module::with_temp_heap(|module| {
        let heap = module.heap();
        let payload: serde_json::Value = serde_json::from_str(payload).expect("JSON");
        let payload = heap.alloc(payload);
        let event = heap.alloc("tool.pre");
        let function = heap.access_owned_frozen_value(&function);
        let mut evaluator = Evaluator::new(&module);
        let answer = evaluator
            .eval_function(function, &[event, payload], &[])
            .expect("it runs");
        assert!(answer.is_none());
    });
}
