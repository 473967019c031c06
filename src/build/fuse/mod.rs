//! Makes one core module of the many that a dynamically linked component consists of.
//!
//! `componentize-py` links CPython, libc and the application like shared libraries: a
//! dozen core modules that import each other's functions and share one table. To make
//! an instance, the engine then resolves thousands of imports and fills thousands of
//! table entries one by one, which takes longer than the call itself. In a single module
//! all of that is known when it is compiled.
//!
//! What the component does stays the same: the functions are the same, in the same
//! memory, behind the same imports and exports.

mod constant;
mod emit;
mod image;
mod merge;
mod outline;
mod part;
#[cfg(test)]
mod tests;

use wasmparser::Validator;

/// Why the modules could not be made one. The component is still good as it was.
#[derive(Debug, thiserror::Error)]
pub(super) enum FuseError {
    /// The bytes are not a component.
    #[error("the component cannot be read: {0}")]
    Malformed(#[from] wasmparser::Error),
    /// The component is linked in a way this does not know.
    #[error("the component's modules cannot be made one: {0}")]
    Unsupported(String),
}

impl From<wasm_encoder::reencode::Error> for FuseError {
    fn from(error: wasm_encoder::reencode::Error) -> Self {
        match error {
            wasm_encoder::reencode::Error::ParseError(error) => Self::Malformed(error),
            other => Self::Unsupported(other.to_string()),
        }
    }
}

/// Returns the same component with its core modules made one.
///
/// # Errors
/// Returns why that cannot be done.
pub(super) fn fuse(component: &[u8]) -> Result<Vec<u8>, FuseError> {
    // From here on every index leads somewhere.
    Validator::new().validate_all(component)?;
    let outline = outline::Outline::read(component)?;
    let merged = merge::merge(&outline)?;
    let fused = emit::emit(&outline, &merged)?;
    Validator::new().validate_all(&fused)?;
    Ok(fused)
}

fn unsupported(what: impl Into<String>) -> FuseError {
    FuseError::Unsupported(what.into())
}
