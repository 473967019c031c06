//! Puts the functions that calls use next to each other.
//!
//! The compiled code lies in a file of many megabytes, and a process that answers one event
//! pays for every page of it that it touches. The compiler lays functions out in the order
//! of the module, so what is used together goes to the front. Neither what the functions do
//! nor the fuel they take depends on where they lie.

use std::convert::Infallible;

use anyhow::{Context as _, Result, anyhow, ensure};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    CodeSection, FunctionSection, Instruction, MemArg, MemArgTarget, MemoryType, Module,
};
use wasmparser::{FunctionBody, Parser, Payload, TypeRef};

/// Bytes in a page of memory.
const PAGE: u32 = 64 << 10;

/// When a function was used first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// In a call of what was loaded before.
    Calling,
    /// While something was loaded.
    Loading,
    /// Not at all.
    Never,
}

/// How many functions a module imports and defines, and the pages its memory starts with.
struct Shape {
    imported: u32,
    defined: u32,
    pages: u32,
}

impl Shape {
    fn of(module: &[u8]) -> Result<Self> {
        let (mut imported, mut defined, mut pages) = (0, 0, 0);
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => defined = section.count(),
                Payload::MemorySection(section) => {
                    let memory = section.into_iter().next().context("there is no memory")??;
                    pages = u32::try_from(memory.initial)?;
                }
                _ => {}
            }
        }
        Ok(Self {
            imported,
            defined,
            pages,
        })
    }
}

/// A module each of whose functions leaves a mark in the memory when it is called.
pub struct Marked {
    /// The module.
    pub module: Vec<u8>,
    /// Where the mark of the first function lies.
    pub at: u32,
    /// How many functions there are.
    pub count: u32,
}

/// Gives a module a page for marks, behind all that it knows of.
pub fn mark(module: &[u8]) -> Result<Marked> {
    let shape = Shape::of(module)?;
    ensure!(shape.defined <= PAGE, "there is no room for so many marks");
    let at = shape.pages * PAGE;
    let mut marker = Marker { next: at };
    Ok(Marked {
        module: rewritten(&mut marker, module)?,
        at,
        count: shape.defined,
    })
}

/// Sorts a module's functions by when they were used.
pub fn sort(module: &[u8], uses: &[Use]) -> Result<Vec<u8>> {
    let shape = Shape::of(module)?;
    ensure!(
        uses.len() == shape.defined as usize,
        "functions are missing"
    );
    let mut order: Vec<u32> = (0..shape.defined).collect();
    order.sort_by_key(|&function| uses[function as usize]);
    let mut place = vec![0; order.len()];
    for (new, &old) in (0..).zip(&order) {
        place[old as usize] = new;
    }
    let mut sorter = Sorter {
        imported: shape.imported,
        order,
        place,
    };
    rewritten(&mut sorter, module)
}

fn rewritten(rewriter: &mut impl Reencode<Error = Infallible>, module: &[u8]) -> Result<Vec<u8>> {
    let mut new = Module::new();
    rewriter
        .parse_core_module(&mut new, Parser::new(0), module)
        .map_err(|error| anyhow!("the module cannot be rewritten: {error}"))?;
    Ok(new.finish())
}

struct Marker {
    next: u32,
}

impl Reencode for Marker {
    type Error = Infallible;

    fn memory_type(&mut self, memory: wasmparser::MemoryType) -> Result<MemoryType, Error> {
        let mut memory = utils::memory_type(self, memory);
        memory.minimum += 1;
        Ok(memory)
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        function.instruction(&Instruction::I32Const(self.next.cast_signed()));
        function.instruction(&Instruction::I32Const(1));
        function.instruction(&Instruction::I32Store8(MemArg {
            offset: 0,
            align: 0,
            target: MemArgTarget::default(),
            ordering: None,
        }));
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            function.instruction(&self.parse_instruction(&mut reader)?);
        }
        code.function(&function);
        self.next += 1;
        Ok(())
    }
}

struct Sorter {
    imported: u32,
    /// For each place the function that goes there.
    order: Vec<u32>,
    /// For each function the place it goes to.
    place: Vec<u32>,
}

impl Reencode for Sorter {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        Ok(match function.checked_sub(self.imported) {
            None => function,
            Some(defined) => self.imported + self.place[defined as usize],
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types: Vec<u32> = section.into_iter().collect::<Result<_, _>>()?;
        for &function in &self.order {
            functions.function(types[function as usize]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: wasmparser::CodeSectionReader<'_>,
    ) -> Result<(), Error> {
        let bodies: Vec<FunctionBody<'_>> = section.into_iter().collect::<Result<_, _>>()?;
        for function in self.order.clone() {
            self.parse_function_body(code, bodies[function as usize].clone())?;
        }
        Ok(())
    }
}
