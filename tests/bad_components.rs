//! Components that cannot be hooks: each is refused when it loads, by name.

mod support;

use std::sync::Arc;
use std::time::Duration;

use hookbox::Runtime;
use hookbox::runtime::LoadError;
use hookbox::sandbox::compiled::CodeStore;
use support::{answer, component, component_project, module};

/// The one error of a project with these bytes as a component.
fn refusal(bytes: &[u8]) -> String {
    let project = component_project(bytes, "");
    let errors = project.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(matches!(
        Runtime::load(project.path()),
        Err(LoadError::Project(_))
    ));
    let (place, message) = errors[0]
        .split_once(": component \"probe.wasm\": ")
        .unwrap();
    assert_eq!(place, ".harness/hooks/probe.md:4:12");
    message.to_owned()
}

#[test]
fn a_core_module() {
    let message = refusal(&wat::parse_str("(module)").unwrap());
    assert!(
        message.starts_with("bad component: this is a core WebAssembly module"),
        "{message}"
    );
}

#[test]
fn something_else_altogether() {
    for bytes in [
        &b""[..],
        b"\0as",
        b"#!/bin/sh\nexit 0\n",
        b"\x7fELF....",
        b"\0asm\x09\0\x09\0",
    ] {
        let message = refusal(bytes);
        assert!(message.starts_with("bad component: this is "), "{message}");
    }
}

#[test]
fn a_truncated_component() {
    let whole = component(&answer(0, ""));
    for length in [9, 20, whole.len() / 2, whole.len() - 1] {
        let message = refusal(&whole[..length]);
        assert!(
            message.starts_with("bad component: "),
            "{length}: {message}"
        );
    }
}

#[test]
fn a_component_of_another_world() {
    let message = refusal(&wat::parse_str("(component)").unwrap());
    assert!(
        message.starts_with(
            "missing export: the component exports neither hookbox:hook/handler@1.1.0"
        ),
        "{message}"
    );
}

#[test]
fn a_component_whose_handler_has_another_type() {
    let bytes = wat::parse_str(
        r#"(component
            (core module $m (func (export "handle")))
            (core instance $i (instantiate $m))
            (func $handle (canon lift (core func $i "handle")))
            (instance $handler (export "handle" (func $handle)))
            (export "hookbox:hook/handler@1.1.0" (instance $handler)))"#,
    )
    .unwrap();
    let message = refusal(&bytes);
    assert!(
        message.starts_with("bad component: no instance of it can be made: "),
        "{message}"
    );
}

#[test]
fn cx_004_cx_007_an_import_nobody_can_grant() {
    let bytes = wat::parse_str(
        r#"(component
            (import "wasi:keyvalue/store@0.2.0" (instance))
            (import "acme:shell/exec" (instance)))"#,
    )
    .unwrap();
    let message = refusal(&bytes);
    assert!(
        message.starts_with(
            "import not granted: the component imports wasi:keyvalue/store@0.2.0, acme:shell/exec, which no hook can be granted"
        ),
        "{message}"
    );
}

#[test]
fn a_start_function_that_never_ends() {
    let wat = module(
        "",
        "(func $spin (loop $again (br $again))) (start $spin)",
        "",
    );
    let message = refusal(&component(&wat));
    assert!(message.starts_with("out of fuel: "), "{message}");
}

#[test]
fn a_start_function_that_traps() {
    let wat = module("", "(func $boom unreachable) (start $boom)", "");
    let message = refusal(&component(&wat));
    assert!(
        message.starts_with("bad component: no instance of it can be made: "),
        "{message}"
    );
}

#[test]
fn cx_004_an_import_that_was_not_granted_names_the_line_that_would() {
    // Calls `tools.call` and blocks with what it answers.
    let wat = module(
        r#"(import "hookbox:hook/tools@1.1.0" "call" (func $call (param i32 i32 i32 i32 i32)))"#,
        r#"(data (i32.const 2048) "deploy{}")"#,
        "(call $call (i32.const 2048) (i32.const 6) (i32.const 2054) (i32.const 2) (i32.const 3072))
         (i32.store8 (i32.const 1028) (i32.const 1))
         (i32.store (i32.const 1032) (i32.load (i32.const 3080)))
         (i32.store (i32.const 1036) (i32.load (i32.const 3084)))",
    );
    let bytes = component(&wat);
    let store = tempfile::tempdir().unwrap();
    let loaded = Runtime::builder(component_project(&bytes, "").path())
        .code_store(CodeStore::open(store.path()).unwrap())
        .on_progress(Arc::new(|progress| {
            panic!("nothing to wait for: {progress:?}")
        }))
        .inspect()
        .unwrap();
    let problem = &loaded.problems[0];
    assert_eq!(
        problem.message,
        "component \"probe.wasm\" imports hookbox:hook/tools@1.1.0, which hook \"probe\" is not granted"
    );
    assert_eq!(
        problem.help.as_deref(),
        Some(
            "grant it in the frontmatter: `grant: { tools: [NAME] }`, or build the component without it, for example for the world `guard`"
        )
    );
    let outcome = component_project(&bytes, "grant: { tools: [other] }")
        .dispatch("tool.pre", support::command("ls"));
    assert_eq!(
        outcome.reason.as_deref(),
        Some(
            "the tool \"deploy\" is not granted to hook \"probe\"; grant it with `tools: [NAME]` under `grant:`"
        )
    );
    assert_eq!(
        outcome.trace[0].refusals,
        [
            "tools: the tool \"deploy\" is not granted to hook \"probe\"; grant it with `tools: [NAME]` under `grant:`"
        ]
    );
}

#[test]
fn a_component_that_takes_too_long_to_compile() {
    // Many functions with long chains of arithmetic on locals: minutes of work
    // for a compiler that optimises.
    let mut functions = String::new();
    let chain = "(local.set 0 (i32.add (i32.mul (local.get 0) (local.get 1)) (local.get 2)))
                 (local.set 1 (i32.xor (local.get 0) (i32.rotl (local.get 2) (local.get 1))))
                 (if (local.get 0) (then (local.set 2 (i32.sub (local.get 1) (local.get 0)))))"
        .repeat(3_000);
    for index in 0..40 {
        functions += &format!("(func (export \"f{index}\") (param i32 i32 i32) {chain})\n");
    }
    let bytes = component(&module(
        "",
        &functions
            .replace("(export \"f", "(;\"f")
            .replace("\") (param", "\";) (param"),
        "",
    ));
    let project = component_project(&bytes, "");
    let store = tempfile::tempdir().unwrap();
    let error = Runtime::builder(project.path())
        .code_store(CodeStore::open(store.path()).unwrap())
        .compile_time(Duration::from_millis(200))
        .load()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("compiling takes longer than 200ms"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_component_outside_the_project() {
    let project = component_project(b"", "");
    for path in ["../../../../etc/passwd", "/etc/passwd", "nowhere.wasm", "."] {
        let hook = format!("---\nevent: tool.pre\npriority: 1\ncomponent: {path:?}\n---\n");
        project.hook("probe", &hook);
        let errors = project.errors();
        assert_eq!(errors.len(), 1, "{path}");
        assert!(errors[0].contains("cannot be read: "), "{errors:?}");
    }
}
