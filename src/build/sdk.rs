//! The SDKs that come with hookbox: a project gets the one that fits this runtime.

use std::path::Path;

use super::{BuildError, write};
use crate::config::Language;

/// Where a project keeps them.
pub const SDK_FOLDER: &str = ".hookbox/sdk";

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub(crate) use embedded::TEMPLATES;

/// Writes the SDK of a language into a folder, as `FOLDER/NAME/…`. Files that are there
/// already and the same are left alone, so that no tool builds them anew.
///
/// # Errors
/// Returns the file that cannot be written.
pub fn write_sdk(language: Language, folder: &Path) -> Result<(), BuildError> {
    for (path, text) in files(language) {
        let path = folder.join(path);
        let same = std::fs::read(&path).is_ok_and(|there| there == text.as_bytes());
        if !same {
            write(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Returns the files of a language's SDK, as `NAME/…`, and what they hold.
pub(super) fn files(language: Language) -> impl Iterator<Item = (String, &'static str)> {
    let needed = folders(language);
    embedded::SDKS
        .iter()
        .filter(|(name, _)| needed.contains(name))
        .flat_map(|(name, files)| {
            files
                .iter()
                .map(move |(path, text)| (format!("{name}/{path}"), *text))
        })
}

/// Returns the folders a language needs.
pub(super) fn folders(language: Language) -> &'static [&'static str] {
    match language {
        Language::Rust => &["rust"],
        Language::JavaScript | Language::TypeScript => &["js"],
        Language::Python => &["python"],
        Language::Go => &["go"],
        Language::C => &["c"],
        Language::Zig => &["zig"],
        Language::Starlark => &[],
    }
}
