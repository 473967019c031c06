//! Many dispatches at once, from many threads.

use std::time::Instant;

use hookbox::Runtime;
use hookbox::decision::Ruling;

use crate::projects;

/// How many dispatches each measurement makes.
const DISPATCHES: usize = 40_000;

/// (h) Throughput of one runtime.
pub fn report() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("\n(h) dispatches of one runtime at once, on {cores} cores");
    let component = projects::scanner_component();
    let component = projects::component_project(&component);
    let script = projects::script_project();
    for (name, project, dispatches) in [
        ("a component hook", component.path(), DISPATCHES),
        ("a Starlark hook", script.path(), DISPATCHES / 4),
    ] {
        let runtime = Runtime::load(project).unwrap_or_else(|error| panic!("{error}"));
        measure(&runtime, 1, dispatches / 10); // warms up
        let alone = measure(&runtime, 1, dispatches);
        for threads in [1, 2, 8, 64] {
            let rate = measure(&runtime, threads, dispatches);
            println!(
                "{name:20} {threads:>3} at once  {rate:>9.0} a second   {:.2} times one",
                rate / alone
            );
        }
    }
}

fn measure(runtime: &Runtime, threads: usize, dispatches: usize) -> f64 {
    let payload = projects::tool_call("git status --short");
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..dispatches / threads {
                    let outcome = runtime
                        .dispatch("tool.pre", payload.clone())
                        .expect("decided");
                    assert_eq!(outcome.decision, Ruling::Allow, "{:?}", outcome.reason);
                }
            });
        }
    });
    dispatches as f64 / started.elapsed().as_secs_f64()
}
