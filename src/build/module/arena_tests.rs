use wasmtime::{Engine, Instance, Linker, Module, Store, TypedFunc};

use super::*;

/// A module with an imported function and global, so that the numbering matters.
fn module(data: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            (import "host" "number" (global i32))
            (import "host" "call" (func))
            (memory (export "memory") 8)
            (global (mut i32) (i32.const 7))
            (func (export "seven") (result i32) global.get 1)
            {data})"#
    );
    wat::parse_str(text).unwrap()
}

fn marked_at(place: u32) -> String {
    format!(r#"(data (i32.const {place}) "before hookbox:arena:v1")"#)
}

type Allocate = TypedFunc<(u32, u32, u32, u32), u32>;

fn start(module: &[u8]) -> (Store<()>, Instance, Allocate) {
    let engine = Engine::default();
    let module = Module::new(&engine, module).unwrap();
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    linker.func_wrap("host", "call", || {}).unwrap();
    let kind = wasmtime::GlobalType::new(wasmtime::ValType::I32, wasmtime::Mutability::Const);
    let global = wasmtime::Global::new(&mut store, kind, 1.into()).unwrap();
    linker.define(&store, "host", "number", global).unwrap();
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let allocate = instance.get_typed_func(&mut store, EXPORT).unwrap();
    (store, instance, allocate)
}

/// Where the stretch ends if its marker is at 1007.
const END: u32 = 1007 + ARENA_BYTES;

#[test]
fn memory_is_handed_out_in_order_aligned_and_only_once() {
    let (mut store, instance, allocate) = start(&inject(&module(&marked_at(1000))).unwrap());
    let mut ask = |align, size| allocate.call(&mut store, (0, 0, align, size)).unwrap();
    assert_eq!(ask(1, 1), 1007 + 16);
    assert_eq!(ask(8, 65_536), 1024);
    assert_eq!(ask(16, 0), 1024 + 65_536);
    let rest = END - (1024 + 65_536);
    assert_eq!(ask(1, rest), 1024 + 65_536);
    let seven: TypedFunc<(), i32> = instance.get_typed_func(&mut store, "seven").unwrap();
    assert_eq!(seven.call(&mut store, ()).unwrap(), 7);
}

#[test]
fn more_than_there_is_traps_also_where_the_sum_wraps_around() {
    let module = inject(&module(&marked_at(1000))).unwrap();
    for size in [ARENA_BYTES, u32::MAX, u32::MAX - 1007] {
        let (mut store, _, allocate) = start(&module);
        assert!(
            allocate.call(&mut store, (0, 0, 1, size)).is_err(),
            "{size}"
        );
    }
    let (mut store, _, allocate) = start(&module);
    assert!(allocate.call(&mut store, (0, 0, 1 << 31, 0)).is_err());
    assert!(allocate.call(&mut store, (1024, 8, 8, 16)).is_err());
}

#[test]
fn a_module_without_its_mark_is_refused() {
    let (one, other) = (marked_at(0), marked_at(300_000));
    for (data, wanted) in [
        ("", "the module sets no memory aside for the adapter"),
        (
            "(data (i32.const 0) \"hookbox:arena\")",
            "the module sets no memory aside",
        ),
        (
            "(data \"hookbox:arena:v1\")",
            "the module sets no memory aside",
        ),
        (
            &*format!("{one}{other}"),
            "the module sets memory aside twice",
        ),
        (
            &*format!("{one}(func (export \"cabi_realloc_adapter\"))"),
            "exports cabi_realloc_adapter already",
        ),
    ] {
        let error = inject(&module(data)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{data}: {error}");
    }
    let bare = wat::parse_str(format!("(module (memory 8) {one})")).unwrap();
    assert!(matches!(inject(&bare), Err(ArenaError::NoSection("type"))));
    assert!(matches!(inject(b"\0asm"), Err(ArenaError::NoModule(_))));
}
