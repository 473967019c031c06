//! The validated form of a project's hooks, kept from one process to the next.
//!
//! A process that answers one event has no time to parse and check what has not changed.
//! What was found sound once is written down with the identity of every file it came from,
//! and holds for as long as all of them are what they were. Of a kept project only those
//! hooks are brought back that the event can concern.
//!
//! Only what was read from `.harness/`, `harness.md` and files that `hookbox.toml` names is
//! kept; a project with hooks of other dialects is loaded anew each time.

mod form;
mod identity;
mod narrow;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{Loaded, Options};
use crate::handler::{Handler, Workshop};
use crate::hook::Hook;
use crate::sandbox::compiled::Digest;
use crate::sandbox::component::{Form, form as form_of};
use crate::sandbox::engine::hex;
use form::{Entry, Index};
pub(crate) use form::{Kept, KeptFile, Kind};
pub(crate) use identity::Identity;
use identity::Watched;
pub(crate) use narrow::Narrow;

/// What other versions of this crate wrote is not read.
const VERSION: &str = concat!("hookbox ", env!("CARGO_PKG_VERSION"), " kept 1");

/// Where kept forms lie beside the compiled code.
const FOLDER: &str = "kept";

/// How many of them there are before the older half goes.
const MOST_FILES: usize = 1_024;

/// Finds the kept form of a project, as far as an event can concern it. Nothing if there is
/// none, or if anything changed.
pub(crate) fn find(
    project: &Path,
    workshop: &Workshop,
    options: &Options,
    narrow: &Narrow<'_>,
) -> Option<Kept> {
    let path = place(project, workshop, options)?;
    let bytes = workshop.store().read_beside(&path)?;
    let index: Index<'_> = postcard::from_bytes(&bytes).ok()?;
    if index.version != VERSION || !index.watched.unchanged(project) {
        return None;
    }
    let mut files = BTreeMap::new();
    for entry in &index.entries {
        if narrow.concerns(entry.point, entry.names.as_deref()) {
            files.insert(entry.path.to_owned(), (entry.kind, entry.open()?));
        }
    }
    Some(Kept::new(files))
}

/// Keeps a project that was loaded. That it cannot be kept only costs time.
pub(crate) fn keep(
    project: &Path,
    workshop: &Workshop,
    options: &Options,
    load: impl FnOnce() -> Loaded,
) -> Loaded {
    let before = Watched::look(project);
    let loaded = load();
    let sound = !loaded.problems.iter().any(|problem| problem.is_error());
    // Where nothing guards anything, every call says so.
    if sound
        && !loaded.hooks.is_empty()
        && let Some(before) = before
        && let Some(bytes) = written(project, &loaded, before)
        && let Some(path) = place(project, workshop, options)
    {
        let store = workshop.store();
        let wrote = store
            .thin_out_beside(Path::new(FOLDER), MOST_FILES)
            .and_then(|()| store.write_beside(&path, |file| file.write_all(&bytes)));
        if let Err(error) = wrote {
            tracing::debug!(path = %path.display(), %error, "the hooks could not be kept");
        }
    }
    loaded
}

/// The name of a project's kept form: told apart by everything that it depends on beside
/// the files.
fn place(project: &Path, workshop: &Workshop, options: &Options) -> Option<PathBuf> {
    let plain = options.config_dir.is_none() && options.harn.is_empty();
    if !plain || !project.is_absolute() {
        return None;
    }
    let mut hasher = Sha256::new();
    hasher.update(project.as_os_str().as_encoded_bytes());
    hasher.update([u8::from(options.strict), u8::from(options.allow_process)]);
    hasher.update(workshop.engine_name());
    Some(Path::new(FOLDER).join(hex(&hasher.finalize()[..16])))
}

/// Writes a project down, if all of it can be.
fn written(project: &Path, loaded: &Loaded, mut watched: Watched) -> Option<Vec<u8>> {
    let mut files: BTreeMap<&str, Vec<&Hook>> = BTreeMap::new();
    for hook in &loaded.hooks {
        files.entry(&hook.origin.file).or_default().push(hook);
    }
    let mut kept = Vec::new();
    for (path, hooks) in files {
        let file = KeptFile::new(project, &hooks)?;
        watched.also(project, path);
        for component in file.components.values() {
            watched.also(project, &component.path);
        }
        kept.push((path, hooks, file));
    }
    // Its settings hold for all, also where it has no hooks.
    if !kept.iter().any(|(path, ..)| *path == "harness.md")
        && let Ok(text) = std::fs::read_to_string(project.join("harness.md"))
    {
        kept.push(("harness.md", Vec::new(), KeptFile::of_text(text)?));
    }
    let alone = !kept
        .iter()
        .any(|(path, hooks, _)| *path == "harness.md" && !hooks.is_empty());
    let sealed: Option<Vec<Sealed<'_>>> = kept
        .iter()
        .map(|(path, hooks, file)| Sealed::new(path, hooks, file))
        .collect();
    let sealed = sealed?;
    let narrows = alone && !loaded.config.live_when && !loaded.hooks.iter().any(reaches_others);
    let entries = sealed.iter().map(|sealed| {
        Entry::new(
            sealed.path,
            sealed.hooks,
            narrows,
            sealed.digest,
            &sealed.bytes,
        )
    });
    let index = Index {
        version: VERSION,
        entries: entries.collect(),
        watched,
    };
    // Somebody may have been writing while the files were read.
    index.watched.is_as_it_was(project).then_some(())?;
    postcard::to_allocvec(&index).ok()
}

/// A file as it is written down.
struct Sealed<'a> {
    path: &'a str,
    hooks: &'a [&'a Hook],
    digest: [u8; 32],
    bytes: Vec<u8>,
}

impl<'a> Sealed<'a> {
    fn new(path: &'a str, hooks: &'a [&'a Hook], file: &KeptFile) -> Option<Self> {
        let bytes = postcard::to_allocvec(file).ok()?;
        Some(Self {
            path,
            hooks,
            digest: Sha256::digest(&bytes).into(),
            bytes,
        })
    }
}

/// Says whether a hook may cause events or look at other hooks, so that those have to be
/// there as well. In doubt it may.
fn reaches_others(hook: &Arc<Hook>) -> bool {
    let granted = hook.grants.hooks || !hook.grants.tools.is_empty();
    let emits = match &hook.handler {
        Handler::Starlark(script) => script.text.code.contains("emit"),
        handler => handler
            .imports()
            .iter()
            .any(|import| import.contains("/events@")),
    };
    granted || emits
}

impl KeptFile {
    /// Keeps the file of some hooks; nothing if one of them is of a kind that is not kept.
    fn new(project: &Path, hooks: &[&Hook]) -> Option<Self> {
        let first = hooks.first()?;
        let mut file = Self::of_text(first.origin.source.text.to_string())?;
        for hook in hooks {
            if *hook.dialect != super::harness::DIALECT {
                return None;
            }
            match &hook.handler {
                Handler::Placeholder => {}
                Handler::Starlark(script) if script.is_sound() => {}
                Handler::Component(_) | Handler::Command(_) => {
                    file.component(project, hook)?;
                }
                _ => return None,
            }
        }
        Some(file)
    }

    /// Keeps what a component is, so that its bytes need not be read again.
    fn component(&mut self, project: &Path, hook: &Hook) -> Option<()> {
        let written = self.component_of(&hook.name)?;
        let path = super::source::beside(&hook.origin.file, &written);
        let bytes = std::fs::read(project.join(&path)).ok()?;
        let digest = Digest::of(&bytes);
        let same = hook.handler.digest().as_deref() == Some(digest.as_str());
        if !same || form_of(&bytes).ok()? != Form::Component {
            return None;
        }
        let component = form::KeptComponent {
            path,
            digest: digest.as_str().to_owned(),
            command: matches!(hook.handler, Handler::Command(_)),
        };
        self.components.insert(written, component);
        Some(())
    }
}
