//! Makes the project of a new hook.

use std::path::{Path, PathBuf};

use crate::build::{BuildError, SDK_FOLDER, TEMPLATES, write, write_sdk};
use crate::config::Language;

/// The template whose files every project gets.
const SHARED: &str = "shared";

/// How long a name may be.
const MAX_NAME: usize = 64;

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    /// The name cannot be one.
    #[error(
        "{0:?} cannot be the name of a hook; use lower-case letters, digits and hyphens, starting with a letter, for example egress-guard"
    )]
    Name(String),
    /// The folder is there already.
    #[error(
        "{0} exists already and is not empty; choose another name, or another folder with --path"
    )]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] BuildError),
}

/// Writes the project of a new hook into a folder and returns the files, relative to it.
///
/// # Errors
/// Returns what is wrong with the name or the folder.
pub fn new(name: &str, language: Language, folder: &Path) -> Result<Vec<PathBuf>, NewError> {
    check(name)?;
    let taken = folder
        .read_dir()
        .map_or(folder.exists(), |mut entries| entries.next().is_some());
    if taken {
        return Err(NewError::Exists(folder.to_owned()));
    }
    let mut files = Vec::new();
    for template in [language.name(), SHARED] {
        for (path, text) in template_files(template) {
            let path = PathBuf::from(fill(
                &path
                    .replace("NAME", "{{name}}")
                    .replace("SNAKE", "{{snake}}"),
                name,
            ));
            let path = match path.extension() {
                Some(ending) if ending == "tmpl" => path.with_extension(""),
                _ => path,
            };
            write(&folder.join(&path), fill(text, name).as_bytes())?;
            files.push(path);
        }
    }
    write_sdk(language, &folder.join(SDK_FOLDER))?;
    files.sort();
    Ok(files)
}

fn check(name: &str) -> Result<(), NewError> {
    let good = name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if good {
        Ok(())
    } else {
        Err(NewError::Name(name.to_owned()))
    }
}

fn template_files(name: &str) -> &'static [(&'static str, &'static str)] {
    TEMPLATES
        .iter()
        .find(|(template, _)| *template == name)
        .map_or(&[], |(_, files)| files)
}

fn fill(text: &str, name: &str) -> String {
    text.replace("{{name}}", name)
        .replace("{{snake}}", &name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_template_with_a_hook_file_and_a_readme() {
        for language in Language::ALL {
            let files: Vec<&str> = template_files(language.name())
                .iter()
                .map(|(path, _)| *path)
                .collect();
            for needed in ["NAME.md", "README.md", "hookbox.toml"] {
                assert!(
                    files.contains(&needed),
                    "{language} has no {needed}: {files:?}"
                );
            }
        }
    }

    #[test]
    fn names_that_would_surprise_a_tool_are_refused() {
        for name in [
            "", "Guard", "1guard", "-guard", "guard-", "a b", "../x", "a/b", "a_b", "é",
        ] {
            assert!(check(name).is_err(), "{name}");
        }
        for name in ["guard", "egress-guard", "g2"] {
            assert!(check(name).is_ok(), "{name}");
        }
    }
}
