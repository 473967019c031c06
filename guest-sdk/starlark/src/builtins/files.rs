//! `files`: what lies below granted directories.

use starlark::environment::GlobalsBuilder;

use crate::host;
use crate::phase::require_handling;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Returns the text of a file.
    fn read(path: &str) -> starlark::Result<String> {
        require_handling("files.read")?;
        let bytes = host::file(path).map_err(|what| raise(format!("files.read: {what}")))?;
        String::from_utf8(bytes).map_err(|_| raise(format!("files.read: {path} is not UTF-8 text")))
    }

    /// Returns the names in a directory; those of directories end in `/`.
    fn list(path: &str) -> starlark::Result<Vec<String>> {
        require_handling("files.list")?;
        host::entries(path).map_err(|what| raise(format!("files.list: {what}")))
    }
}

/// Adds `files`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("files", functions);
}
