//! Looks at a tool call: at its paths, its patches and its commands.

use serde_json::{Map, Value};

use super::code;
use super::own;
use super::patch;
use super::paths::{self, Base};
use super::refusal::{Judged, Refusal, too_nested};
use super::scene::{Hit, Place, Scene};
use super::shell::{Kind, Shell, marks};
use super::{ToolCall, refusal};

/// How deep arguments may be nested.
const DEEPEST: usize = 128;
/// Longer strings are no paths.
const LONGEST: usize = 4096;

/// Tools that only read, by the last part of their name.
const READERS: &[&str] = &[
    "readfile",
    "listfiles",
    "searchfiles",
    "webfetch",
    "websearch",
    "read",
    "view",
    "glob",
    "grep",
    "ls",
    "notebookread",
    "readmanyfiles",
    "listdirectory",
    "listdir",
    "searchfilecontent",
    "codebasesearch",
    "filesearch",
    "grepsearch",
    "readmultiplefiles",
    "readtextfile",
    "readmediafile",
    "getfileinfo",
    "directorytree",
    "viewimage",
    "globfilesearch",
    "fsread",
    "viewfile",
    "openfiles",
    "search",
    "find",
    "findfiles",
    "list",
];
/// Words in the names of tools, and in what they are told to do, that take things away.
const TAKES_AWAY: &[&str] = &[
    "delete", "remove", "move", "rename", "trash", "unlink", "link", "mount", "replace", "chmod",
    "copy", "rmdir", "rm",
];
/// Keys of commands.
const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "commands",
    "argv",
    "commandline",
    "shellcommand",
    "chars",
    "keystrokes",
];
/// Keys of programs, or of commands.
const SCRIPTS: &[&str] = &["script", "code"];
/// Keys of the folder that other paths start from.
const FOLDERS: &[&str] = &[
    "cwd",
    "workdir",
    "workingdirectory",
    "workingdir",
    "root",
    "dir",
    "directory",
    "basedir",
    "basepath",
    "folder",
    "base",
    "projectroot",
    "repo",
    "repopath",
    "worktree",
];
/// Keys of the folder that a tool works in, which it does not take away.
const WHERE: &[&str] = &[
    "cwd",
    "workdir",
    "workingdirectory",
    "workingdir",
    "root",
    "projectroot",
    "basedir",
    "basepath",
    "repopath",
];
/// How keys of texts end that are written, or read by people, and not names.
const TEXTS: &[&str] = &[
    "content",
    "contents",
    "text",
    "string",
    "str",
    "prompt",
    "description",
    "message",
    "query",
    "pattern",
    "body",
    "comment",
    "title",
    "reason",
    "explanation",
    "summary",
    "source",
    "question",
    "instructions",
    "instruction",
    "thought",
    "todos",
    "data",
    "value",
    "note",
    "plan",
    "header",
];
/// Keys that end like a text and are paths.
const PATHS: &[&str] = &["source", "src"];
/// What the commands of editors are called. They are no shell commands.
const EDITORS: &[&str] = &[
    "view",
    "create",
    "str_replace",
    "insert",
    "undo_edit",
    "delete",
    "rename",
];

/// Looks at a call.
pub(super) fn look(scene: &Scene, call: &ToolCall) -> Judged<()> {
    let name = simple(call.name.rsplit("__").next().unwrap_or(call.name));
    let cwd = call.cwd.to_string_lossy().into_owned();
    let mut looker = Looker {
        scene,
        tool: refusal::brief(call.name),
        shell: is_shell(&name),
        writes: ["write", "edit", "create", "replace", "insert", "update"]
            .iter()
            .any(|word| name.contains(word)),
        takes_away: TAKES_AWAY.iter().any(|word| name.contains(word)),
        kind: Kind::Posix,
        folders: vec![cwd],
    };
    if name.contains("powershell") || name.contains("pwsh") {
        looker.kind = Kind::Windows;
    }
    looker.prepare(call.args);
    if READERS.contains(&name.as_str()) && !has_commands(call.args) {
        return Ok(());
    }
    looker.value("", call.args, DEEPEST)
}

/// Returns a name in small letters, without what is between its words.
fn simple(name: &str) -> String {
    let folded = paths::fold(name);
    folded.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn is_shell(name: &str) -> bool {
    [
        "bash",
        "shell",
        "terminal",
        "runcommand",
        "exec",
        "stdin",
        "powershell",
        "console",
        "zsh",
    ]
    .iter()
    .any(|word| name.contains(word))
}

fn has_commands(args: &Value) -> bool {
    let command = |(key, value): (&String, &Value)| {
        let told = value.as_str().is_some_and(|text| EDITORS.contains(&text));
        COMMANDS.contains(&simple(key).as_str()) && !told
    };
    args.as_object()
        .is_some_and(|args| args.iter().any(command))
}

struct Looker<'a> {
    scene: &'a Scene<'a>,
    tool: String,
    /// It runs commands, so that its texts are commands.
    shell: bool,
    writes: bool,
    /// It can delete or move a whole folder.
    takes_away: bool,
    kind: Kind,
    /// Where paths may start from. The first is where commands run.
    folders: Vec<String>,
}

impl Looker<'_> {
    /// Reads what bears on the other arguments: folders, and what is to be done.
    fn prepare(&mut self, args: &Value) {
        let Some(args) = args.as_object() else { return };
        for (key, value) in args {
            let (key, Some(text)) = (simple(key), value.as_str()) else {
                continue;
            };
            if FOLDERS.contains(&key.as_str()) {
                let home = self.scene.home();
                let base = Base {
                    cwd: self.folders.last().map_or("/", String::as_str),
                    home: home.as_deref(),
                };
                let folder = paths::absolute(text, base);
                self.folders.insert(0, folder);
            }
            let told = [
                "operation",
                "op",
                "action",
                "command",
                "method",
                "type",
                "mode",
                "kind",
            ];
            if told.contains(&key.as_str()) && text.len() < 40 {
                let text = simple(text);
                self.takes_away |= TAKES_AWAY.iter().any(|word| text.contains(word));
            }
        }
    }

    fn value(&self, key: &str, value: &Value, deeper: usize) -> Judged<()> {
        if deeper == 0 {
            return Err(too_nested(&self.tool));
        }
        let plain = simple(key);
        match value {
            Value::String(text) => self.text(&plain, text),
            Value::Array(list) if COMMANDS.contains(&plain.as_str()) => self.words(&plain, list),
            Value::Array(list) => list
                .iter()
                .try_for_each(|value| self.value(key, value, deeper - 1)),
            Value::Object(map) => self.object(&plain, map, deeper),
            _ => Ok(()),
        }
    }

    fn object(&self, outer: &str, map: &Map<String, Value>, deeper: usize) -> Judged<()> {
        self.split_command(map)?;
        for (key, value) in map {
            // A map from paths to contents: `{"files": {"a/b": "…"}}`.
            if key.contains(['.', '/', '\\']) && key.len() < LONGEST {
                self.path(key)?;
            }
            let texts = is_text(outer) && !is_path(&simple(key));
            let told = value.as_str().filter(|text| EDITORS.contains(text));
            if texts || told.is_some() {
                continue;
            }
            self.value(key, value, deeper - 1)?;
        }
        Ok(())
    }

    /// Looks at a program and its arguments where they are apart.
    fn split_command(&self, map: &Map<String, Value>) -> Judged<()> {
        let find = |names: &[&str]| {
            let mut found = map
                .iter()
                .filter(|(key, _)| names.contains(&simple(key).as_str()));
            found.next().map(|(_, value)| value)
        };
        let program = find(&["command", "cmd", "program", "executable", "binary"]);
        let args = find(&["args", "arguments", "argv", "parameters"]);
        if let (Some(Value::String(program)), Some(Value::Array(args))) = (program, args) {
            let words = [program.as_str()]
                .into_iter()
                .chain(args.iter().filter_map(Value::as_str));
            let cwd = self.folders.first().map_or("/", String::as_str);
            let words = words.map(marks::clean).collect();
            return Shell::new(self.scene, cwd, self.kind).look_at_words(words);
        }
        Ok(())
    }

    fn text(&self, key: &str, text: &str) -> Judged<()> {
        if text.starts_with(['{', '['])
            && !is_text(key)
            && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.value(key, &inner, DEEPEST / 2);
        }
        if patch::is_patch(text) && !(self.writes && is_text(key)) {
            self.patch(text)?;
            if !self.shell {
                return Ok(());
            }
        }
        if COMMANDS.contains(&key) {
            return self.command(text);
        }
        if SCRIPTS.contains(&key) && !self.writes {
            self.command(text)?;
            return self.program(text);
        }
        if FOLDERS.contains(&key) && self.shell {
            return Ok(());
        }
        if is_path(key) {
            return match WHERE.contains(&key) {
                true => self.named(text, Place::Inside),
                false => self.path(text),
            };
        }
        if is_text(key) || text.contains('\n') || text.len() > LONGEST {
            return Ok(());
        }
        match self.shell {
            true if key == "input" || key.is_empty() || key == "args" => self.command(text),
            _ => self.path(text),
        }
    }

    fn patch(&self, text: &str) -> Judged<()> {
        patch::files(text).iter().try_for_each(|file| {
            self.path(file)?;
            let cut = file.split_once('/').map(|(_, rest)| rest);
            cut.map_or(Ok(()), |rest| self.path(rest))
        })
    }

    /// Looks at a path in every way that it may be read.
    fn path(&self, text: &str) -> Judged<()> {
        let least = match self.takes_away {
            true => Place::FarAbove,
            false => Place::Inside,
        };
        self.named(text, least)
    }

    fn named(&self, text: &str, least: Place) -> Judged<()> {
        if text.len() > LONGEST || text.trim().is_empty() || is_web(text) {
            return Ok(());
        }
        let once = paths::unpercent(text);
        let twice = once.as_deref().and_then(paths::unpercent);
        let spellings = [Some(text), once.as_deref(), twice.as_deref()];
        for spelling in spellings.into_iter().flatten() {
            if let Some(hit) = self.reached(spelling, least) {
                return Err(Refusal::new(hit, format!("the tool `{}`", self.tool)));
            }
        }
        Ok(())
    }

    fn reached(&self, text: &str, least: Place) -> Option<Hit> {
        let home = self.scene.home();
        let wild = text.contains(['*', '?']);
        self.folders.iter().find_map(|cwd| {
            let home = home.as_deref();
            let base = Base { cwd, home };
            let found = match wild {
                true => {
                    let pattern: String = text.chars().map(marks::live).collect();
                    self.scene
                        .globbed(&paths::folded_parts(&pattern, base), true)
                }
                false => self.scene.reached(text, base),
            };
            found.filter(|hit| hit.place >= least)
        })
    }

    fn command(&self, text: &str) -> Judged<()> {
        let text = marks::clean(text);
        let cwd = self.folders.first().map_or("/", String::as_str);
        Shell::new(self.scene, cwd, self.kind).look(&text)?;
        if self.kind == Kind::Posix && is_windows(&text) {
            Shell::second(self.scene, cwd, Kind::Windows).look(&text)?;
        }
        Ok(())
    }

    /// Looks at a list of words, or of commands.
    fn words(&self, key: &str, list: &[Value]) -> Judged<()> {
        let words: Option<Vec<String>> = list
            .iter()
            .map(|word| word.as_str().map(marks::clean))
            .collect();
        let Some(words) = words else {
            return list
                .iter()
                .try_for_each(|value| self.value(key, value, DEEPEST - 1));
        };
        let lines = key == "commands" || words.first().is_some_and(|word| word.contains(' '));
        if lines {
            // They run one after the other, perhaps in the same shell.
            return self.command(&words.join("\n"));
        }
        let cwd = self.folders.first().map_or("/", String::as_str);
        Shell::new(self.scene, cwd, self.kind).look_at_words(words)
    }

    fn program(&self, text: &str) -> Judged<()> {
        let mut bases = self.folders.clone();
        bases.push(self.scene.project());
        let hit = code::mention(self.scene, &bases, text);
        let hit = hit
            .or_else(|| own::in_text(text).then(|| Hit::new("what hookbox trusts", Place::Inside)));
        match hit {
            Some(hit) => Err(Refusal::new(
                hit,
                format!("a program that `{}` runs", self.tool),
            )),
            None => Ok(()),
        }
    }
}

fn is_web(text: &str) -> bool {
    let folded = text
        .trim_start()
        .get(..8)
        .unwrap_or(text)
        .to_ascii_lowercase();
    folded.starts_with("http://") || folded.starts_with("https://") || folded.starts_with("data:")
}

fn is_text(key: &str) -> bool {
    TEXTS.iter().any(|end| key.ends_with(end)) && !PATHS.contains(&key)
}

/// Says whether a key is the name of a path.
fn is_path(key: &str) -> bool {
    let words = [
        "path", "file", "dir", "folder", "target", "dest", "source", "src", "uri", "url", "root",
        "cwd", "location", "notebook",
    ];
    !is_text(key) && words.iter().any(|word| key.contains(word))
}

/// Says whether a command may be one of PowerShell or `cmd`.
fn is_windows(text: &str) -> bool {
    let folded = text.to_ascii_lowercase();
    let verbs = [
        "-item",
        "-content",
        "out-file",
        "-path",
        "-location",
        "invoke-",
        "new-object",
        "[io.",
        "[system.",
        "powershell",
        "pwsh",
        "cmd /",
        "cmd.exe",
        "$env:",
        "%userprofile%",
        "-childitem",
        "export-",
        "tee-object",
        "del ",
        "rd ",
        "erase ",
        "copy ",
        "move ",
        "ren ",
        "type ",
        ":\\",
    ];
    let paths = folded.contains('\\') || folded.contains('`');
    verbs.iter().any(|verb| folded.contains(verb))
        && (paths || folded.contains('-') || folded.contains('['))
}
