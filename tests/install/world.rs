//! A home, a project with one hook, and the binary in both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use hookbox::agent::install::{self, Places, Scope};
use hookbox::agent::{Agent, named};
use tempfile::TempDir;

use super::support::{hook_file, warm_up};

pub const GUARD: &str = "def handle(event, payload):\n    return allow()";

pub struct World {
    folder: TempDir,
    root: PathBuf,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home", "app/.harness/hooks", "bin"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let world = Self { folder, root };
        let hook = hook_file("tool.pre", "priority: 10", GUARD);
        world.write("app/.harness/hooks/guard.md", hook);
        world
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Every file and folder, with what is in it.
    pub fn all(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found.sort();
        found
    }

    pub fn places(&self) -> Places {
        Places {
            project: Some(self.path("app")),
            home: Some(self.path("home")),
            ..Places::default()
        }
    }

    /// The binary under a name that every machine could have.
    pub fn binary(&self) -> PathBuf {
        let path = self.path("bin/hookbox");
        if !path.exists() {
            self.program("bin/hookbox", "#!/bin/sh\necho hookbox 0.0.1\n");
        }
        path
    }

    pub fn program(&self, path: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(path, text);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(path), mode).unwrap();
    }

    pub fn install(&self, agent: &str, scope: Scope) {
        let plan = install::plan(find(agent), scope, &self.places(), &self.binary());
        install::apply(&plan.unwrap()).unwrap();
    }

    pub fn uninstall(&self, agent: &str, scope: Scope) {
        let plan = install::plan_removal(find(agent), scope, &self.places());
        install::apply(&plan.unwrap()).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        warm_up();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command
            .args(arguments)
            .current_dir(self.path("app"))
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", self.path("bin"))
            .env("HOOKBOX_CACHE_DIR", cache())
            // Whatever is started here must not outlive the test, nor be seen by others.
            .env("HOOKBOX_SERVE", "off")
            .stdin(Stdio::null());
        command
    }

    /// What a person sees of a command.
    pub fn session(&self, arguments: &[&str]) -> String {
        self.shown(&mut self.command(arguments))
    }

    pub fn shown(&self, command: &mut Command) -> String {
        let output = command.output().unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if !stderr.is_empty() {
            text += &format!("--- stderr ---\n{stderr}");
        }
        text += &format!("[exit code {}]\n", output.status.code().unwrap());
        self.plain(&text)
    }

    /// A text without what differs from run to run.
    pub fn plain(&self, text: &str) -> String {
        let this = fs::canonicalize(env!("CARGO_BIN_EXE_hookbox")).unwrap();
        text.replace(&self.path("app").display().to_string(), "@PROJECT@")
            .replace(&self.path("bin/hookbox").display().to_string(), "@BINARY@")
            .replace(&this.display().to_string(), "@BINARY@")
            .replace(&self.root.display().to_string(), "@ROOT@")
    }
}

pub fn find(agent: &str) -> &'static Agent {
    named(agent).unwrap()
}

fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let named = std::env::var_os("HOOKBOX_CACHE_DIR").map(PathBuf::from);
        named.unwrap_or_else(|| dirs::cache_dir().unwrap().join("hookbox"))
    })
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.push((path.clone(), None));
            walk(&path, found);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.push((path, Some(bytes)));
        }
    }
}
