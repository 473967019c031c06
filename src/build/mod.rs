//! Builds a hook's component with the tools of its language. Everything those tools
//! do not do is done here: bindings, the component's type, the adapter.
//!
//! Building runs the project's own build tools outside of any sandbox, as `cargo build`
//! or `npm install` would. Only what comes out of it is a guest.

mod componentize;
mod fuse;
mod language;
mod module;
mod project;
mod rewrite;
mod sdk;
mod stamp;
mod tool;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

pub use project::{BuildProject, HookToBuild};
pub(crate) use sdk::TEMPLATES;
pub use sdk::{SDK_FOLDER, write_sdk};
pub use stamp::inputs;
pub use tool::{Missing, StepFailed};

use crate::config::Language;
use crate::diagnostic::Diagnostic;
use crate::sandbox::compiled::Digest;

/// The folder of everything a build leaves behind.
pub const FOLDER: &str = ".hookbox";

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The project cannot be read.
    #[error("the project cannot be read; `hookbox validate` says more")]
    Project(Vec<Diagnostic>),
    /// The project says nothing about building.
    #[error(
        "{0} has no `[build]` in hookbox.toml, so there is nothing to build; `hookbox new` makes a project that has"
    )]
    NothingToBuild(PathBuf),
    /// It is not clear which hook is built.
    #[error("{0}")]
    WhichHook(String),
    /// A tool is not installed.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A tool failed.
    #[error(transparent)]
    Step(#[from] StepFailed),
    /// A file cannot be read or written.
    #[error("{path} cannot be {done}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// What was to be done with it.
        done: &'static str,
        /// Why not.
        error: std::io::Error,
    },
    /// What the tools built cannot be made a component.
    #[error("what {language} built cannot be made a component: {error}")]
    Componentize {
        /// The language.
        language: Language,
        /// Why not.
        error: String,
    },
}

/// How to build.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// Drop what a runtime does not need, like names and debugging information. The
    /// code is the same, and uses the same fuel.
    pub release: bool,
    /// Where the component goes; where the hook's file looks for it unless told otherwise.
    pub output: Option<PathBuf>,
    /// Build even if nothing has changed.
    pub force: bool,
}

/// What came of a build.
#[derive(Debug, Clone)]
pub struct Built {
    /// The component.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of its bytes.
    pub digest: String,
    /// Whether there was nothing to do.
    pub fresh: bool,
}

/// Hears what is being done.
pub type OnStep<'a> = &'a dyn Fn(&str);

/// Builds the component of a project.
///
/// # Errors
/// Returns what is missing, and how to get it.
pub fn build(
    project: &BuildProject,
    options: &BuildOptions,
    on_step: OnStep<'_>,
) -> Result<Built, BuildError> {
    let output = options
        .output
        .clone()
        .unwrap_or_else(|| project.folder.join(&project.hook.component));
    let inputs = inputs(project)?;
    if !options.force && stamp::is_fresh(project, &inputs, options.release, &output) {
        return finished(output, true);
    }
    let sdk = match &project.settings.sdk {
        Some(folder) => project.folder.join(folder),
        None => {
            let folder = project.folder.join(SDK_FOLDER);
            write_sdk(project.settings.language, &folder)?;
            folder
        }
    };
    let scratch = project.folder.join(FOLDER).join("build");
    make_folder(&scratch)?;
    let job = Job {
        project,
        sdk: absolute(&sdk)?,
        near_sdk: PathBuf::from(project.settings.sdk.as_deref().unwrap_or(SDK_FOLDER)),
        scratch: absolute(&scratch)?,
        folder: absolute(&project.folder)?,
        on_step,
    };
    let component = language::component(&job)?;
    let component = componentize::finish(component, project.settings.language, options.release)?;
    write(&output, &component)?;
    stamp::write(project, &inputs, &component, options.release)?;
    finished(output, false)
}

/// What building in one language needs.
pub(crate) struct Job<'a> {
    pub(crate) project: &'a BuildProject,
    /// The folder that holds the SDKs.
    pub(crate) sdk: PathBuf,
    /// The same, as seen from the project: what compilers are told, so that the same
    /// sources give the same bytes in every folder.
    pub(crate) near_sdk: PathBuf,
    /// Where intermediate files go.
    pub(crate) scratch: PathBuf,
    /// The project.
    pub(crate) folder: PathBuf,
    pub(crate) on_step: OnStep<'a>,
}

impl Job<'_> {
    /// Says what is being done.
    pub(crate) fn step(&self, what: &str) {
        (self.on_step)(what);
    }

    pub(crate) fn language(&self) -> Language {
        self.project.settings.language
    }
}

fn finished(path: PathBuf, fresh: bool) -> Result<Built, BuildError> {
    let bytes = read(&path)?;
    Ok(Built {
        size: bytes.len() as u64,
        digest: Digest::of(&bytes).as_str().to_owned(),
        path,
        fresh,
    })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|error| BuildError::File {
        path: path.to_owned(),
        done: "read",
        error,
    })
}

/// Writes a file whole or not at all: another hookbox may be loading it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    use std::io::Write as _;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .and_then(|mut file| {
            file.write_all(bytes)?;
            readable(file.as_file())?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        });
    written.map_err(|error| BuildError::File {
        path: path.to_owned(),
        done: "written",
        error,
    })
}

/// A temporary file is its owner's alone; what is built is for everybody.
#[cfg(unix)]
fn readable(file: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &fs::File) -> std::io::Result<()> {
    Ok(())
}

pub(crate) fn make_folder(path: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(path).map_err(|error| BuildError::File {
        path: path.to_owned(),
        done: "made",
        error,
    })
}

fn absolute(path: &Path) -> Result<PathBuf, BuildError> {
    fs::canonicalize(path).map_err(|error| BuildError::File {
        path: path.to_owned(),
        done: "found",
        error,
    })
}
