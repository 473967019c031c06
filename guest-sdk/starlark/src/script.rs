//! Loads a script and calls its `handle`.

use std::cell::RefCell;

use starlark::environment::{FrozenModule, Globals, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::FrozenHeapName;

use crate::bindings::exports::hookbox::starlark::interpreter::{Problem, Verdict};
use crate::bindings::hookbox::hook::types::Event;
use crate::phase::{Phase, within};
use crate::{builtins, decision, json_in, problem};

/// The name scripts go by where Starlark wants a file name.
pub const FILE_NAME: &str = "script";

/// The Starlark that scripts and `when` expressions are written in.
pub const DIALECT: Dialect = Dialect {
    enable_load: false,
    enable_keyword_only_arguments: true,
    enable_f_strings: true,
    ..Dialect::Standard
};

thread_local! {
    static GLOBALS: Globals = builtins::for_scripts();
    static LOADED: RefCell<Option<FrozenModule>> = const { RefCell::new(None) };
}

/// Runs `work` with what scripts can see.
pub fn with_globals<T>(work: impl FnOnce(&Globals) -> T) -> T {
    GLOBALS.with(work)
}

/// Parses a script, runs its top level and keeps the result for `handle`.
pub fn load(script: String) -> Result<(), Problem> {
    let module =
        within(Phase::Loading, || evaluate(script)).map_err(|error| problem::of_script(&error))?;
    LOADED.set(Some(module));
    Ok(())
}

fn evaluate(script: String) -> starlark::Result<FrozenModule> {
    let ast = AstModule::parse(FILE_NAME, script, &DIALECT)?;
    Module::with_temp_heap(|module| {
        {
            let mut evaluator = Evaluator::new(&module);
            with_globals(|globals| evaluator.eval_module(ast, globals))?;
        }
        Ok(module.freeze_named(FrozenHeapName::User(Box::new(FILE_NAME)))?)
    })
}

/// Forgets the loaded script.
pub fn unload() {
    LOADED.set(None);
    builtins::take_effects();
}

/// Calls `handle` of the loaded script with the host within reach.
pub fn handle(event: &Event) -> Result<Verdict, Problem> {
    handle_in(Phase::Handling, event)
}

/// Calls `handle` in the given phase.
pub fn handle_in(phase: Phase, event: &Event) -> Result<Verdict, Problem> {
    LOADED.with_borrow(|loaded| match loaded {
        Some(script) => within(phase, || call(script, event)),
        None => Err(problem::plain("no script is loaded")),
    })
}

fn call(script: &FrozenModule, event: &Event) -> Result<Verdict, Problem> {
    // A private or missing name is no entry point either way.
    let Ok(Some(handle)) = script.get_option("handle") else {
        return Err(problem::plain(no_entry_point(script)));
    };
    Module::with_temp_heap(|module| {
        let heap = module.heap();
        let payload = json_in::parse(&event.payload, heap)
            .map_err(|what| problem::plain(format!("the payload is not JSON: {what}")))?;
        let function = heap.access_owned_frozen_value(&handle);
        let name = heap.alloc(event.name.as_str());
        let mut evaluator = Evaluator::new(&module);
        // The heap lives for one call, and the host bounds its size.
        evaluator.disable_gc();
        evaluator
            .eval_function(function, &[name, payload], &[])
            .and_then(decision::read)
            .map(with_effects)
            .map_err(|error| problem::of_script(&error))
    })
}

fn with_effects(mut verdict: Verdict) -> Verdict {
    verdict.answer.effects = builtins::take_effects();
    verdict
}

fn no_entry_point(script: &FrozenModule) -> String {
    let defined = |name| matches!(script.get_option(name), Ok(Some(_)));
    let other = ["run", "main"].into_iter().find(|name| defined(name));
    let hint = other.map_or(String::new(), |name| {
        format!("; it defines {name}(), which is the entry point of a tool")
    });
    format!("the script defines no handle(event, payload){hint}")
}
