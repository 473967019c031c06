use super::*;

/// Makes a module with a memory and what else is said.
fn module(rest: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
            (import "hookbox:hook/log@1.1.0" "write" (func $log (param i32 i32 i32)))
            (memory (export "memory") 1)
            (global $count (mut i32) (i32.const 1))
            (func $print (param $stream i32)
                (i32.store (i32.const 64) (i32.const 80))
                (i32.store (i32.const 68) (i32.const 5))
                (drop (call $write (local.get $stream) (i32.const 64) (i32.const 1) (i32.const 72))))
            (func (export "count") (result i32) global.get $count)
            (func (export "at") (param i32) (result i64) (i64.load (local.get 0)))
            (data (i32.const 80) "hello")
            {rest})"#
    );
    wat::parse_str(text).unwrap()
}

fn initialising(body: &str) -> Vec<u8> {
    module(&format!(r#"(func (export "_initialize") {body})"#))
}

/// Starts a module as it is, with imports that trap.
struct Started {
    store: Store<()>,
    instance: Instance,
}

impl Started {
    fn new(module: &[u8]) -> Self {
        let engine = Engine::default();
        let module = Module::new(&engine, module).unwrap();
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        linker.define_unknown_imports_as_traps(&module).unwrap();
        let instance = linker.instantiate(&mut store, &module).unwrap();
        Self { store, instance }
    }

    fn count(&mut self) -> i32 {
        let count = self
            .instance
            .get_typed_func::<(), i32>(&mut self.store, "count");
        count.unwrap().call(&mut self.store, ()).unwrap()
    }

    fn at(&mut self, place: i32) -> i64 {
        let at = self
            .instance
            .get_typed_func::<i32, i64>(&mut self.store, "at");
        at.unwrap().call(&mut self.store, place).unwrap()
    }

    fn has(&mut self, name: &str) -> bool {
        self.instance.get_export(&mut self.store, name).is_some()
    }
}

#[test]
fn an_instance_starts_where_the_initialisation_ended() {
    let module = module(
        r#"(func (export "_initialize")
            (global.set $count (i32.add (global.get $count) (i32.const 40)))
            (i64.store (i32.const 8) (i64.const -2))
            (drop (memory.grow (i32.const 2)))
            (i64.store (i32.const 131072) (i64.const 3)))
        (func (export "hookbox_warm_up")
            (global.set $count (i32.add (global.get $count) (i32.const 1))))"#,
    );
    let prepared = run(&module).unwrap();
    assert_eq!(prepared.printed, "");
    let mut started = Started::new(&prepared.module);
    assert_eq!(started.count(), 42);
    assert_eq!((started.at(8), started.at(131_072)), (-2, 3));
    assert!(!started.has("_initialize") && !started.has("hookbox_warm_up"));
    assert!(!started.has("__wizer_memory_0"));
}

#[test]
fn a_module_without_initialisation_stays_as_it_is() {
    let plain = module("");
    assert_eq!(run(&plain).unwrap().module, plain);
}

#[test]
fn segments_that_are_part_of_the_snapshot_leave_nothing_behind() {
    let prepared = run(&initialising("")).unwrap();
    for payload in wasmparser::Parser::new(0).parse_all(&prepared.module) {
        if let wasmparser::Payload::DataSection(data) = payload.unwrap() {
            assert_eq!(data.count(), 1);
        }
    }
}

#[test]
fn the_system_is_the_same_on_every_run_and_knows_nothing() {
    let module = initialising(
        "(drop (call $clock (i32.const 0) (i64.const 1) (i32.const 0)))
        (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 8)))
        (drop (call $random (i32.const 16) (i32.const 12)))
        (i64.store (i32.const 32) (i64.const -1))
        (drop (call $environ (i32.const 32) (i32.const 36)))
        (i64.store32 (i32.const 40) (i64.extend_i32_u (call $prestat (i32.const 3) (i32.const 48))))",
    );
    let prepared = run(&module).unwrap().module;
    assert_eq!(run(&module).unwrap().module, prepared);
    let mut started = Started::new(&prepared);
    assert_eq!(started.at(0), 946_684_800_000_000_000);
    assert_eq!(started.at(8), 1);
    assert_ne!(started.at(16), 0);
    assert_eq!(started.at(24) >> 32, 0);
    assert_eq!((started.at(32), started.at(40)), (0, 8));
}

#[test]
fn what_is_printed_is_not_lost() {
    let prepared = run(&initialising("(call $print (i32.const 1))")).unwrap();
    assert_eq!(prepared.printed, "hello");
}

#[test]
fn every_way_to_fail_has_its_name() {
    for (body, wanted) in [
        (
            "(call $print (i32.const 2))",
            "printed to standard error, which nobody would see later: hello",
        ),
        (
            "(call $print (i32.const 2)) (call $exit (i32.const 2))",
            "exited with code 2; it printed: hello",
        ),
        (
            "(call $print (i32.const 2)) unreachable",
            "unreachable` instruction executed; it printed: hello",
        ),
        (
            "(call $log (i32.const 0) (i32.const 0) (i32.const 0))",
            "called hookbox:hook/log@1.1.0.write, which has no answer",
        ),
        (
            "(drop (call $poll (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))",
            "called wasi_snapshot_preview1.poll_oneoff, which has no answer",
        ),
        (
            "(drop (call $random (i32.const -1) (i32.const 8)))",
            "an address outside of its memory",
        ),
        (
            "(drop (call $clock (i32.const 0) (i64.const 0) (i32.const -4)))",
            "an address outside of its memory",
        ),
        (
            "(i32.store (i32.const 0) (i32.const -8)) (i32.store (i32.const 4) (i32.const -1))
            (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))",
            "an address outside of its memory",
        ),
    ] {
        let error = run(&initialising(body)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{body}: {error}");
    }
}

#[test]
fn an_initialisation_that_never_ends_is_ended() {
    let module = initialising("(loop (br 0))");
    let error = run_with(&module, 1_000_000).unwrap_err();
    assert!(matches!(error, PreinitError::Endless), "{error}");
}

#[test]
fn memory_is_refused_beyond_the_limit() {
    let module = initialising("(global.set $count (memory.grow (i32.const 60000)))");
    assert_eq!(Started::new(&run(&module).unwrap().module).count(), -1);
}

#[test]
fn a_module_that_is_none_or_has_strange_imports_is_refused() {
    let imported = r#"(module (import "a" "memory" (memory 1)) (func (export "_initialize")))"#;
    for module in [b"#!/bin/sh".to_vec(), wat::parse_str(imported).unwrap()] {
        assert!(matches!(run(&module), Err(PreinitError::Unfit(_))));
    }
}
