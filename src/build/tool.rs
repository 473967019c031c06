//! The tools of other languages: found, run, and their failures told.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{BuildError, Job};

/// A tool is not installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{tool} is not installed, and {language} hooks are built with it; install it with: {install}"
)]
pub struct Missing {
    /// The tool.
    pub tool: String,
    /// The language that needs it.
    pub language: String,
    /// The one command that installs it.
    pub install: String,
}

/// A tool failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{step} failed:\n{output}the command was: {command}")]
pub struct StepFailed {
    /// What was being done.
    pub step: String,
    /// The command.
    pub command: String,
    /// The end of what it printed.
    pub output: String,
}

/// How much of what a tool printed is shown.
const SHOWN: usize = 8_000;

/// Finds a program.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .flat_map(|folder| {
            let plain = folder.join(name);
            let ending = env::consts::EXE_SUFFIX;
            [
                plain,
                folder.join(format!("{name}{ending}")),
                folder.join(format!("{name}.cmd")),
            ]
        })
        .find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

impl Job<'_> {
    /// Finds a program, or says which command installs it.
    pub(crate) fn tool(&self, name: &str, install: &str) -> Result<PathBuf, BuildError> {
        find(name).ok_or_else(|| self.missing(name, install).into())
    }

    /// Says that a tool is not installed.
    pub(crate) fn missing(&self, tool: &str, install: &str) -> Missing {
        Missing {
            tool: tool.to_owned(),
            language: self.language().to_string(),
            install: install.to_owned(),
        }
    }

    /// Runs a program in the project's folder and returns what it wrote to standard output.
    pub(crate) fn run(&self, step: &str, command: &mut Command) -> Result<String, BuildError> {
        self.step(step);
        self.ask(step, command)
    }

    /// Does the same for what is over before anybody could read about it.
    pub(crate) fn ask(&self, step: &str, command: &mut Command) -> Result<String, BuildError> {
        let shown = shown(command);
        let ran = command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output();
        let failed = |output: String| StepFailed {
            step: step.to_owned(),
            command: shown.clone(),
            output,
        };
        let output = ran.map_err(|error| failed(format!("it cannot be started: {error}\n")))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        // Some write for programs to standard output, and say what is wrong beside it.
        let printed = String::from_utf8_lossy(&output.stderr);
        let printed = if printed.trim().is_empty() {
            String::from_utf8_lossy(&output.stdout)
        } else {
            printed
        };
        Err(failed(end_of(&printed)).into())
    }
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

/// The end of a long text is where the error is.
fn end_of(text: &str) -> String {
    let text = text.trim_end();
    let start = text.len().saturating_sub(SHOWN);
    let start = (start..text.len())
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(text.len());
    format!("{}\n", &text[start..])
}
