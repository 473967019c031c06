//! Makes the handlers that several dialects have: a component that lies beside the
//! hook's file, or a program of the machine.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use super::Loading;
use super::checks::{Checker, LazyParser};
use super::source::File;
use crate::config::read_bounded;
use crate::diagnostic::Source;
use crate::handler::Handler;
use crate::handler::process::{self, Confinement, Process, ProcessHook};
use crate::yaml::Node;

/// How large a script may be for its bytes to be part of what tells it from another.
const MAX_SCRIPT_BYTES: u64 = 64 << 20;

/// What makes the handlers of one entry.
pub(super) struct Programs<'p, 'l> {
    pub(super) loading: &'p mut Loading<'l>,
    pub(super) source: &'p Arc<Source>,
    /// Where the file lies that names the program.
    pub(super) root: &'p Dir,
    /// The hook, in words.
    pub(super) whose: &'p str,
}

/// A program of the machine.
pub(super) enum Script<'s> {
    /// The text of a Bash script.
    Bash(&'s str),
    /// A file below the project.
    File(&'s str),
}

impl Programs<'_, '_> {
    /// Makes the component of a hook ready. Its path starts at the file that names it.
    pub(super) fn component(&mut self, node: &Node, name: &str) -> Option<Handler> {
        let grants = self.loading.config.grants.clone();
        let mut parser = LazyParser::new(self.loading.workshop);
        let mut checker = Checker {
            workshop: self.loading.workshop,
            parser: &mut parser,
            source: self.source,
            name,
            strict: self.loading.options.strict,
            grants_itself: false,
            uses: Vec::new(),
            problems: &mut self.loading.problems,
        };
        let handler = checker.component(self.root, node, &grants, &[])?;
        let used = checker.grants(&grants, &[]);
        self.loading.used.extend(used);
        Some(handler)
    }

    /// Makes a program ready that runs outside of the sandbox, if the project's owner
    /// wants that.
    pub(super) fn process(&mut self, script: &Script<'_>, span: &Range<usize>) -> Option<Handler> {
        let directory = match std::path::absolute(self.loading.project) {
            Ok(directory) => directory,
            Err(error) => {
                let message = format!("{}: the project's path is not known: {error}", self.whose);
                self.said().error(message, span, "");
                return None;
            }
        };
        let project = directory.clone();
        let (process, shown, code) = match script {
            Script::Bash(text) => (
                bash(text, directory),
                format!("bash: {text}"),
                text.as_bytes().to_vec(),
            ),
            Script::File(path) => {
                let (process, code) = self.file(path, directory, span)?;
                (process, (*path).to_owned(), code)
            }
        };
        if !self.loading.allows_processes() {
            let message = format!(
                "{} is a program of this machine and would run outside of the sandbox",
                self.whose
            );
            let help = "allow it with --allow-process, or with `process = \"allow\"` in hookbox.toml; or make it a component";
            self.said().error(message, span, help);
            return None;
        }
        let confinement = self.confinement(&project, span);
        let message = format!("{} runs outside of the sandbox", self.whose);
        let help = "as a component it could reach only what it is granted";
        self.said().warning(message, span, help);
        let hook = ProcessHook::new(process, Arc::new(confinement), shown, &code);
        Some(Handler::Process(Arc::new(hook)))
    }

    fn said(&mut self) -> File<'_> {
        File {
            source: self.source,
            problems: &mut self.loading.problems,
        }
    }

    /// Looks at a file that is to be run, before it ever is.
    fn file(
        &mut self,
        path: &str,
        directory: PathBuf,
        span: &Range<usize>,
    ) -> Option<(Process, Vec<u8>)> {
        let whole = directory.join(path);
        let fit = process::check(&whole).map_err(|unfit| unfit.to_string());
        // Read through the project's own handle, so that no link leads out of it.
        let code = fit.and_then(|()| {
            read_bounded(self.root, path, MAX_SCRIPT_BYTES)
                .map_err(|error| format!("{path:?} cannot be read below the project: {error}"))
        });
        match code {
            Ok(code) => {
                let process = Process {
                    program: whole,
                    args: Vec::new(),
                    directory,
                };
                Some((process, code))
            }
            Err(why) => {
                let message = format!("{}: {why}", self.whose);
                self.said().error(message, span, "");
                None
            }
        }
    }

    /// Returns what the program is kept to, and says what this machine cannot keep it to.
    fn confinement(&mut self, project: &Path, span: &Range<usize>) -> Confinement {
        let wanted = self.loading.config.process.below(project);
        let confinement = Confinement {
            read: wanted.read.map(|paths| with_system(paths, project)),
            write: wanted.write,
            connect: wanted.connect,
        };
        if let Err(why) = process::confinement_available(&confinement) {
            let message = format!("{} is not confined as `process` says: {why}", self.whose);
            self.said().warning(message, span, "");
        }
        confinement
    }
}

fn bash(text: &str, directory: PathBuf) -> Process {
    Process {
        program: "bash".into(),
        args: vec!["-c".into(), text.into()],
        directory,
    }
}

/// What no program runs without, and the project it is for.
fn with_system(mut paths: Vec<PathBuf>, project: &Path) -> Vec<PathBuf> {
    let system = ["/bin", "/dev", "/etc", "/lib", "/lib64", "/usr"];
    paths.extend(system.map(PathBuf::from));
    paths.push(project.to_owned());
    paths
}
