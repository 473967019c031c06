//! Works constant expressions out.
//!
//! Where a library is put is an imported global of the module it is linked into. In one
//! module such a global is not an import any more, and expressions may only use imports.

use wasm_encoder::ConstExpr;
use wasmparser::{ConstExpr as Source, Operator};

use super::{FuseError, unsupported};

#[derive(Clone, Copy)]
pub(crate) enum Constant {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
    Func(u32),
    Null(wasm_encoder::HeapType),
}

impl Constant {
    /// Works an expression out, given what its globals hold and its functions are
    /// called in the whole.
    pub(crate) fn of(
        expression: &Source<'_>,
        global: impl Fn(u32) -> Option<Self>,
        func: impl Fn(u32) -> u32,
    ) -> Result<Self, FuseError> {
        let mut stack = Vec::new();
        let mut reader = expression.get_operators_reader();
        while !reader.eof() {
            let value = match reader.read()? {
                Operator::I32Const { value } => Self::I32(value),
                Operator::I64Const { value } => Self::I64(value),
                Operator::F32Const { value } => Self::F32(value.bits()),
                Operator::F64Const { value } => Self::F64(value.bits()),
                Operator::RefFunc { function_index } => Self::Func(func(function_index)),
                Operator::RefNull { hty } => Self::Null(
                    hty.try_into()
                        .map_err(|_| unsupported("a type it uses is not known"))?,
                ),
                Operator::GlobalGet { global_index } => {
                    global(global_index).ok_or_else(|| unsupported("a global is not constant"))?
                }
                Operator::I32Add => match (stack.pop(), stack.pop()) {
                    (Some(Self::I32(a)), Some(Self::I32(b))) => Self::I32(a.wrapping_add(b)),
                    _ => return Err(unsupported("a constant expression is malformed")),
                },
                Operator::End => continue,
                other => {
                    return Err(unsupported(format!("a constant is made with {other:?}")));
                }
            };
            stack.push(value);
        }
        match stack[..] {
            [value] => Ok(value),
            _ => Err(unsupported("a constant expression is malformed")),
        }
    }

    pub(crate) fn write(self) -> ConstExpr {
        match self {
            Self::I32(value) => ConstExpr::i32_const(value),
            Self::I64(value) => ConstExpr::i64_const(value),
            Self::F32(bits) => ConstExpr::f32_const(wasm_encoder::Ieee32::new(bits)),
            Self::F64(bits) => ConstExpr::f64_const(wasm_encoder::Ieee64::new(bits)),
            Self::Func(index) => ConstExpr::ref_func(index),
            Self::Null(ty) => ConstExpr::ref_null(ty),
        }
    }
}
