//! Writes a finished component anew: without tail calls, which the sandbox's engine does
//! not have because they would slow every other call, and for release without what a
//! runtime does not need.

use wasm_encoder::reencode::{Error, Reencode, ReencodeComponent};
use wasm_encoder::{CodeSection, Component, Instruction, Module};
use wasmparser::{CustomSectionReader, FunctionBody, Operator, Parser};

/// Rewrites a component. `release` drops custom sections: names, debugging information.
pub(super) fn component(bytes: &[u8], release: bool) -> Result<Vec<u8>, String> {
    let mut rewriter = Rewriter { release };
    let mut component = Component::new();
    rewriter
        .parse_component(&mut component, Parser::new(0), bytes)
        .map_err(|error| error.to_string())?;
    Ok(component.finish())
}

struct Rewriter {
    release: bool,
}

type Done = Result<(), Error<std::convert::Infallible>>;

impl Reencode for Rewriter {
    type Error = std::convert::Infallible;

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Done {
        if self.release {
            return Ok(());
        }
        wasm_encoder::reencode::utils::parse_custom_section(self, module, section)
    }

    /// A tail call becomes a call and a return. It comes to the same, but for the stack.
    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Done {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            let tail = matches!(
                reader.clone().read()?,
                Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. }
            );
            let instruction = match self.parse_instruction(&mut reader)? {
                Instruction::ReturnCall(function) => Instruction::Call(function),
                Instruction::ReturnCallIndirect {
                    type_index,
                    table_index,
                } => Instruction::CallIndirect {
                    type_index,
                    table_index,
                },
                other => other,
            };
            function.instruction(&instruction);
            if tail {
                function.instruction(&Instruction::Return);
            }
        }
        code.function(&function);
        Ok(())
    }
}

impl ReencodeComponent for Rewriter {
    fn parse_component_custom_section(
        &mut self,
        component: &mut Component,
        section: CustomSectionReader<'_>,
    ) -> Done {
        if self.release {
            return Ok(());
        }
        wasm_encoder::reencode::component_utils::parse_component_custom_section(
            self, component, section,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = r#"(component
        (core module $m
            (table 1 funcref)
            (func $twice (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2)))
            (func (export "direct") (param i32) (result i32) (return_call $twice (local.get 0)))
            (func (export "indirect") (param i32) (result i32)
                (return_call_indirect (param i32) (result i32) (local.get 0) (i32.const 0)))
            (elem (i32.const 0) $twice)
            (@custom "note" "anything"))
        (core instance $i (instantiate $m))
        (func (export "direct") (param "n" s32) (result s32) (canon lift (core func $i "direct")))
        (func (export "indirect") (param "n" s32) (result s32) (canon lift (core func $i "indirect"))))"#;

    #[test]
    fn tail_calls_come_to_the_same_without_an_engine_that_has_them() {
        let bytes = wat::parse_str(TAIL).unwrap();
        let mut config = wasmtime::Config::new();
        config.wasm_tail_call(false);
        let engine = wasmtime::Engine::new(&config).unwrap();
        assert!(wasmtime::component::Component::new(&engine, &bytes).is_err());
        let rewritten = component(&bytes, false).unwrap();
        let compiled = wasmtime::component::Component::new(&engine, &rewritten).unwrap();
        let linker = wasmtime::component::Linker::<()>::new(&engine);
        let mut store = wasmtime::Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &compiled).unwrap();
        for name in ["direct", "indirect"] {
            let function = instance
                .get_typed_func::<(i32,), (i32,)>(&mut store, name)
                .unwrap();
            assert_eq!(function.call(&mut store, (21,)).unwrap(), (42,));
        }
    }

    #[test]
    fn release_leaves_notes_out() {
        let bytes = wat::parse_str(TAIL).unwrap();
        let has_note = |bytes: &[u8]| bytes.windows(8).any(|window| window == b"anything");
        assert!(has_note(&component(&bytes, false).unwrap()));
        assert!(!has_note(&component(&bytes, true).unwrap()));
    }
}
