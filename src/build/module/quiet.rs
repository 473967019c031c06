//! Lets a module look at the clock while the host hands something over.
//!
//! The host asks a component for memory before it hands over an event or a result, and
//! until it has, the component must not call the host: the call would be ended. But Go's
//! memory management looks at the clock whenever it likes. So while memory is asked
//! for, the module is told the time that it was told last.

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, MemArg, Module, TypeSection, ValType,
};
use wasmparser::{
    CodeSectionReader, Export, ExternalKind, FunctionSectionReader, GlobalSectionReader, Parser,
    Payload, TypeRef, TypeSectionReader,
};

/// Where the clock is imported from, and how the module is asked for memory.
const SYSTEM: &str = "wasi_snapshot_preview1";
const CLOCK: &str = "clock_time_get";
const REALLOC: &str = "cabi_realloc";

/// A module could not be written anew.
#[derive(Debug, thiserror::Error)]
#[error("the module's clock cannot be replaced: {0}; build again from scratch")]
pub(crate) struct QuietError(String);

/// Puts a function between a module and its clock. A module that has no clock, or is never
/// asked for memory, is returned as it is.
///
/// # Errors
/// Returns where the bytes are no module.
pub(crate) fn inject(module: &[u8]) -> Result<Vec<u8>, QuietError> {
    let outline = Outline::read(module).map_err(|error| QuietError(error.to_string()))?;
    let (Some(clock), Some(realloc)) = (outline.clock, outline.realloc) else {
        return Ok(module.to_vec());
    };
    let mut quiet = Quiet {
        clock,
        realloc,
        outline,
    };
    let mut written = Module::new();
    quiet
        .parse_core_module(&mut written, Parser::new(0), module)
        .map_err(|error| QuietError(error.to_string()))?;
    Ok(written.finish())
}

/// How many of everything there is: what is added comes after.
#[derive(Default)]
struct Outline {
    types: u32,
    functions: u32,
    globals: u32,
    clock: Option<u32>,
    realloc: Option<u32>,
}

impl Outline {
    fn read(module: &[u8]) -> wasmparser::Result<Self> {
        let mut outline = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        outline.types += u32::try_from(group?.types().len()).unwrap_or(u32::MAX);
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        outline.import(&import?);
                    }
                }
                Payload::FunctionSection(section) => outline.functions += section.count(),
                Payload::GlobalSection(section) => outline.globals += section.count(),
                Payload::ExportSection(section) => {
                    for export in section {
                        outline.export(&export?);
                    }
                }
                _ => {}
            }
        }
        Ok(outline)
    }

    fn import(&mut self, import: &wasmparser::Import<'_>) {
        match import.ty {
            TypeRef::Func(_) | TypeRef::FuncExact(_) => {
                if (import.module, import.name) == (SYSTEM, CLOCK) {
                    self.clock = Some(self.functions);
                }
                self.functions += 1;
            }
            TypeRef::Global(_) => self.globals += 1,
            _ => {}
        }
    }

    fn export(&mut self, export: &Export<'_>) {
        if export.name == REALLOC && export.kind == ExternalKind::Func {
            self.realloc = Some(export.index);
        }
    }
}

/// Copies a module and adds two functions: a clock, and what asks for memory.
struct Quiet {
    clock: u32,
    realloc: u32,
    outline: Outline,
}

type Done = Result<(), Error<std::convert::Infallible>>;

impl Quiet {
    fn new_clock(&self) -> u32 {
        self.outline.functions
    }

    fn new_realloc(&self) -> u32 {
        self.outline.functions + 1
    }

    /// Says that memory is being asked for.
    fn is_asked(&self) -> u32 {
        self.outline.globals
    }

    /// Holds the last time of the wall clock.
    fn wall(&self) -> u32 {
        self.outline.globals + 1
    }

    /// Holds the last time of every other clock.
    fn steady(&self) -> u32 {
        self.outline.globals + 2
    }

    fn clock_code(&self) -> Function {
        const KIND: u32 = 0;
        const PRECISION: u32 = 1;
        const TO: u32 = 2;
        const ANSWER: u32 = 3;
        let time = MemArg {
            offset: 0,
            align: 3,
            memory_index: 0,
        };
        let mut function = Function::new([(1, ValType::I32)]);
        let mut code = function.instructions();
        code.global_get(self.is_asked()).if_(BlockType::Empty);
        code.local_get(TO);
        code.global_get(self.steady()).global_get(self.wall());
        code.local_get(KIND).select().i64_store(time);
        code.i32_const(0).return_().end();
        code.local_get(KIND).local_get(PRECISION).local_get(TO);
        code.call(self.clock).local_set(ANSWER);
        code.local_get(KIND).if_(BlockType::Empty);
        code.local_get(TO).i64_load(time).global_set(self.steady());
        code.else_();
        code.local_get(TO).i64_load(time).global_set(self.wall());
        code.end().local_get(ANSWER).end();
        function
    }

    fn realloc_code(&self) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        code.i32_const(1).global_set(self.is_asked());
        code.local_get(0).local_get(1).local_get(2).local_get(3);
        code.call(self.realloc);
        code.i32_const(0).global_set(self.is_asked()).end();
        function
    }
}

impl Reencode for Quiet {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Self::Error>> {
        Ok(if function == self.clock {
            self.new_clock()
        } else {
            function
        })
    }

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: TypeSectionReader<'_>,
    ) -> Done {
        utils::parse_type_section(self, types, section)?;
        let clock = [ValType::I32, ValType::I64, ValType::I32];
        types.ty().function(clock, [ValType::I32]);
        types.ty().function([ValType::I32; 4], [ValType::I32]);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Done {
        utils::parse_function_section(self, functions, section)?;
        functions.function(self.outline.types);
        functions.function(self.outline.types + 1);
        Ok(())
    }

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: GlobalSectionReader<'_>,
    ) -> Done {
        utils::parse_global_section(self, globals, section)?;
        let changing = |val_type| GlobalType {
            val_type,
            mutable: true,
            shared: false,
        };
        globals.global(changing(ValType::I32), &ConstExpr::i32_const(0));
        // Not 0, which Go takes for a broken clock.
        globals.global(changing(ValType::I64), &ConstExpr::i64_const(1));
        globals.global(changing(ValType::I64), &ConstExpr::i64_const(1));
        Ok(())
    }

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Done {
        if export.name == REALLOC {
            exports.export(REALLOC, ExportKind::Func, self.new_realloc());
            return Ok(());
        }
        utils::parse_export(self, exports, export)
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Done {
        utils::parse_code_section(self, code, section)?;
        code.function(&self.clock_code());
        code.function(&self.realloc_code());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Caller, Engine, Extern, Linker, Store};

    use super::*;

    /// Tells the time whenever it is asked for memory.
    const CURIOUS: &str = r#"(module
        (import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))
        (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
        (memory (export "memory") 1)
        (global $size (mut i32) (i32.const 0))
        (func $now (export "now") (param $kind i32) (result i64)
            (drop (call $clock (local.get $kind) (i64.const 5) (i32.const 8)))
            (i64.load (i32.const 8)))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.set $size (local.get 3))
            (i32.wrap_i64 (call $now (local.get 2))))
        (func (export "size") (result i32) (global.get $size)))"#;

    /// Starts a module whose clock goes on by one at each look, from 100 times its kind.
    fn start(module: &[u8]) -> (Store<i64>, wasmtime::Instance) {
        let engine = Engine::default();
        let module = wasmtime::Module::new(&engine, module).unwrap();
        let mut linker = Linker::new(&engine);
        linker.func_wrap(SYSTEM, "sched_yield", || 0_i32).unwrap();
        let clock = |mut caller: Caller<'_, i64>, kind: i32, precision: i64, to: i32| {
            assert_eq!(precision, 5);
            *caller.data_mut() += 1;
            let time = *caller.data() + 100 * i64::from(kind);
            let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
                return 1;
            };
            let written = memory.write(&mut caller, to as usize, &time.to_le_bytes());
            i32::from(written.is_err())
        };
        linker.func_wrap(SYSTEM, CLOCK, clock).unwrap();
        let mut store = Store::new(&engine, 0);
        let instance = linker.instantiate(&mut store, &module).unwrap();
        (store, instance)
    }

    #[test]
    fn nobody_is_called_while_memory_is_asked_for() {
        let module = inject(&wat::parse_str(CURIOUS).unwrap()).unwrap();
        let (mut store, instance) = start(&module);
        let now = instance
            .get_typed_func::<i32, i64>(&mut store, "now")
            .unwrap();
        let ask = instance
            .get_typed_func::<(i32, i32, i32, i32), i32>(&mut store, REALLOC)
            .unwrap();
        let size = instance
            .get_typed_func::<(), i32>(&mut store, "size")
            .unwrap();

        assert_eq!(ask.call(&mut store, (0, 0, 1, 7)).unwrap(), 1);
        assert_eq!(now.call(&mut store, 0).unwrap(), 1);
        assert_eq!(now.call(&mut store, 1).unwrap(), 102);
        assert_eq!(ask.call(&mut store, (0, 0, 0, 8)).unwrap(), 1);
        assert_eq!(ask.call(&mut store, (0, 0, 1, 9)).unwrap(), 102);
        assert_eq!(size.call(&mut store, ()).unwrap(), 9);
        assert_eq!(*store.data(), 2);
        assert_eq!(now.call(&mut store, 1).unwrap(), 103);
    }

    #[test]
    fn a_module_without_a_clock_or_an_allocator_stays_as_it_is() {
        for other in [
            CURIOUS.replace(CLOCK, "another"),
            CURIOUS.replace(REALLOC, "another"),
        ] {
            let module = wat::parse_str(other).unwrap();
            assert_eq!(inject(&module).unwrap(), module);
        }
        assert!(inject(b"#!/bin/sh").is_err());
    }
}
