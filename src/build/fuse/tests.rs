//! Components of several modules become components of one that say the same.

use super::{FuseError, fuse};
use wasmparser::{Parser, Payload};

/// Linked the way `componentize-py` does it: one module has the memory, the table and
/// the numbers that say where the others go, and the host's functions are filled in last.
const LINKED: &str = r#"
(component
  (import "log" (func $log (param "text" string)))
  (core module $env
    (memory (export "memory") 1)
    (table (export "table") 4 funcref)
    (global (export "base") i32 (i32.const 2))
    (global (export "data") i32 (i32.const 16))
    (global (export "stack") (mut i32) (i32.const 1024))
    (data (i32.const 16) "hello"))
  (core module $shim
    (type $log (func (param i32 i32)))
    (table (export "fixups") 1 funcref)
    (func (export "log") (type $log)
      (call_indirect 0 (type $log) (local.get 0) (local.get 1) (i32.const 0))))
  (core module $library
    (import "env" "memory" (memory 1))
    (import "env" "table" (table 4 funcref))
    (import "env" "base" (global $base i32))
    (import "env" "data" (global $data i32))
    (import "env" "stack" (global $stack (mut i32)))
    (import "host" "log" (func $log (param i32 i32)))
    (func $greet (export "greet") (result i32)
      (global.set $stack (i32.sub (global.get $stack) (i32.const 16)))
      (call $log (global.get $data) (i32.const 5))
      (i32.load8_u (global.get $data)))
    (elem (global.get $base) $greet))
  (core module $main
    (type $greet (func (result i32)))
    (import "env" "table" (table 4 funcref))
    (import "library" "greet" (func $greet (type $greet)))
    (func (export "run") (result i32)
      (i32.add (call $greet) (call_indirect (type $greet) (i32.const 2))))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 512)))
  (core module $fixups
    (import "" "0" (func $log (param i32 i32)))
    (import "" "table" (table 1 funcref))
    (elem (i32.const 0) $log))
  (core instance $env (instantiate $env))
  (core instance $shim (instantiate $shim))
  (alias core export $shim "log" (core func $shimmed))
  (core instance $host (export "log" (func $shimmed)))
  (core instance $library (instantiate $library
    (with "env" (instance $env)) (with "host" (instance $host))))
  (alias core export $library "greet" (core func $greet))
  (core instance $exports (export "greet" (func $greet)))
  (core instance $main (instantiate $main
    (with "env" (instance $env)) (with "library" (instance $exports))))
  (alias core export $env "memory" (core memory $memory))
  (alias core export $main "realloc" (core func $realloc))
  (core func $lowered (canon lower (func $log)
    (memory (core memory $memory)) (realloc (core func $realloc))))
  (alias core export $shim "fixups" (core table $fixups_table))
  (core instance $rest (export "0" (func $lowered)) (export "table" (table $fixups_table)))
  (core instance (instantiate $fixups (with "" (instance $rest))))
  (alias core export $main "run" (core func $run))
  (func (export "run") (result u32) (canon lift (core func $run))))
"#;

fn modules(component: &[u8]) -> usize {
    Parser::new(0)
        .parse_all(component)
        .filter(|payload| matches!(payload, Ok(Payload::ModuleSection { .. })))
        .count()
}

fn parse(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

#[test]
fn linked_modules_become_one_and_the_late_one_stays() {
    let before = parse(LINKED);
    let after = fuse(&before).unwrap();
    assert_eq!((modules(&before), modules(&after)), (5, 2));
    let text = wasmprinter::print_bytes(&after).unwrap();
    // Where the library goes is a number now, so the table is known beforehand.
    assert!(text.contains("(elem (;0;) (i32.const 2) func"), "{text}");
    assert!(
        text.contains("(data (;0;) (i32.const 16) \"hello\")"),
        "{text}"
    );
}

#[test]
fn a_component_of_one_module_is_left_alone() {
    let one = parse("(component (core module $m) (core instance (instantiate $m)))");
    assert!(matches!(fuse(&one), Err(FuseError::Unsupported(_))));
}

#[test]
fn a_start_function_is_not_moved() {
    let start = parse(
        "(component
           (core module $a (func $f) (start $f))
           (core module $b)
           (core instance (instantiate $a))
           (core instance (instantiate $b)))",
    );
    let error = fuse(&start).unwrap_err().to_string();
    assert!(error.contains("start function"), "{error}");
}

#[test]
fn anything_else_is_refused() {
    for bytes in [&b""[..], b"\0asm", b"\0asm\x01\0\0\0", &[0xff; 64]] {
        assert!(fuse(bytes).is_err());
    }
}

/// Some cuts leave a shorter component that is whole; none may end in a panic.
#[test]
fn a_cut_component_is_refused_or_fused() {
    let whole = parse(LINKED);
    let refused = (0..whole.len()).filter(|&end| fuse(&whole[..end]).is_err());
    assert!(refused.count() > whole.len() / 2);
}
