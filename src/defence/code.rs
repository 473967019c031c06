//! Looks for protected paths in texts that are not paths: programs, queries, other languages.

use super::paths::{self, Base};
use super::scene::{Hit, Place, Scene};
use super::shell::{escapes, marks};

/// How many strings of a program that stand next to each other are put together.
const JOINED: usize = 6;
/// Longer strings than this are not put together with others.
const LONGEST: usize = 300;
/// What ends a path in a text.
const ENDS: &[char] = &[
    '\'', '"', '`', '(', ')', '[', ']', '{', '}', '<', '>', '|', '&', ';', ',', '=', '!', '#', '+',
    '^',
];
/// What programs that change files say. A folder above a protected path may be read.
const CHANGES: &[&str] = &[
    "write",
    "rmtree",
    "remove",
    "rename",
    "unlink",
    "move",
    "replace",
    "symlink",
    "link",
    "copy",
    "chmod",
    "system",
    "exec",
    "spawn",
    "popen",
    "subprocess",
    "rmdir",
    "truncate",
    "rm ",
    "rmsync",
    "rm_r",
    "mv ",
    "open(",
    "delete",
    "mkdir",
    "chdir",
    "cp ",
];
/// What programs say that delete everything below a folder.
const SWEEPS: &[&str] = &[
    "rmtree",
    "rmsync",
    "rm_rf",
    "rm_r",
    "remove_dir_all",
    "rimraf",
    "removedirs",
    "remove_tree",
    "rm -r",
    "deletetree",
];

/// What programs say that have wildcards filled in, themselves or by a shell.
const FILLS: &[&str] = &[
    "glob",
    "fnmatch",
    "minimatch",
    "system",
    "exec",
    "spawn",
    "popen",
    "subprocess",
    "shell",
    "rimraf",
    "del(",
    "rm ",
    "mv ",
    "cp ",
    "`",
    "%x",
];

/// Returns the protected path that a program names, in one piece or in several.
pub(super) fn mention(scene: &Scene, bases: &[String], text: &str) -> Option<Hit> {
    let raw = text;
    let text = paths::fold(text);
    let read = text.contains('\\').then(|| escapes::ansi(&text));
    let changes = CHANGES.iter().any(|word| text.contains(word));
    let sweeps = SWEEPS.iter().any(|word| text.contains(word));
    let least = match (sweeps, changes) {
        (true, _) => Place::FarAbove,
        (_, true) => Place::Above,
        _ => Place::Inside,
    };
    let looker = Looker {
        scene,
        bases,
        least,
        fills: FILLS.iter().any(|word| text.contains(word)),
    };
    let texts = [Some(text), read];
    let mut texts = texts.iter().flatten();
    let found = texts.find_map(|text| looker.runs(text).or_else(|| looker.literals(text)));
    found.or_else(|| literals(raw).iter().find_map(|text| looker.decoded(text)))
}

struct Looker<'a> {
    scene: &'a Scene<'a>,
    bases: &'a [String],
    least: Place,
    /// Wildcards in its strings may be meant. They may be expressions otherwise.
    fills: bool,
}

impl Looker<'_> {
    /// Looks at everything in a text that could be a path.
    fn runs(&self, text: &str) -> Option<Hit> {
        let ends = |c: char| c.is_whitespace() || ENDS.contains(&c);
        text.split(ends).find_map(|run| {
            if run.is_empty() || run.len() > 4096 {
                return None;
            }
            let mut names = run.split(['/', '\\', ':']);
            let telling = names
                .any(|name| self.scene.is_telling(name) || name.starts_with('.') && name.len() > 2);
            // Whether a folder is named without a dot is for the literals to say.
            telling.then(|| self.path(run).or_else(|| self.tail(run)))?
        })
    }

    /// Looks at one path from every place that it may start from.
    fn path(&self, path: &str) -> Option<Hit> {
        self.bases.iter().find_map(|cwd| {
            let home = self.scene.home();
            let home = home.as_deref();
            let found = self.scene.spelled(path, Base { cwd, home });
            found.filter(|hit| hit.place >= self.least)
        })
    }

    /// Looks at what comes after something that only running would tell.
    fn tail(&self, run: &str) -> Option<Hit> {
        let known = run.rfind(['$', '%', '~']).unwrap_or(0);
        let start = run.get(known..)?.find('/')?;
        let rest = run.get(known + start + 1..)?;
        let open = known > 0 || run.starts_with(['$', '%', '~', '/']);
        let project = [Some(self.scene.project()), self.scene.home()];
        let mut roots = project.iter().flatten();
        // `${HOME}` was cut at its brace, so that its path begins with a slash here.
        open.then(|| {
            roots.find_map(|cwd| {
                let found = self.scene.spelled(rest, Base { cwd, home: None });
                found.filter(|hit| hit.place >= self.least.max(Place::Above))
            })
        })?
    }

    /// Looks at the strings of a program, alone, decoded, and put together.
    fn literals(&self, text: &str) -> Option<Hit> {
        let all = literals(text);
        for (index, one) in all.iter().enumerate() {
            if let Some(hit) = self.literal(one) {
                return Some(hit);
            }
            let (mut glued, mut joined) = (one.clone(), one.clone());
            for next in all.iter().skip(index + 1).take(JOINED - 1) {
                if glued.len() > LONGEST || next.len() > LONGEST {
                    break;
                }
                glued.push_str(next);
                joined.push('/');
                joined.push_str(next);
                if let Some(hit) = self.inside(&glued).or_else(|| self.inside(&joined)) {
                    return Some(hit);
                }
            }
        }
        None
    }

    fn literal(&self, text: &str) -> Option<Hit> {
        if text.is_empty() || text.len() > 4096 {
            return None;
        }
        let backwards: String = text.chars().rev().collect();
        let found = self.path(text).or_else(|| self.inside(&backwards));
        found.or_else(|| self.pattern(text))
    }

    /// Looks at a string that other programs fill in from the disk, if it names enough of a
    /// hidden folder: `.*` is mostly no path.
    fn pattern(&self, text: &str) -> Option<Hit> {
        let is_told = |name: &str| {
            let hidden = name.strip_prefix('.');
            let told = |c: char| c.is_alphanumeric() || c == '[';
            let told = hidden.is_some_and(|rest| rest.starts_with(told));
            told && name.contains(['*', '?', '['])
        };
        if !self.fills || self.least == Place::Inside || !text.split('/').any(is_told) {
            return None;
        }
        let live: String = text.chars().map(marks::live).collect();
        let home = self.scene.home();
        let home = home.as_deref();
        self.bases.iter().find_map(|cwd| {
            let names = paths::folded_parts(&live, Base { cwd, home });
            let found = self.scene.globbed(&names, false);
            found.filter(|hit| hit.place == Place::Inside)
        })
    }

    /// Looks at a string that is written in other letters. Case matters to base64.
    fn decoded(&self, text: &str) -> Option<Hit> {
        if !(8..=65_536).contains(&text.len()) {
            return None;
        }
        let decoded = [escapes::base64(text), escapes::hex(text)];
        decoded.into_iter().flatten().find_map(|bytes| {
            let text = paths::fold(&String::from_utf8_lossy(&bytes));
            self.inside(&text).or_else(|| self.runs(&text))
        })
    }

    fn inside(&self, path: &str) -> Option<Hit> {
        let found = self.path(path);
        found.filter(|hit| hit.place == Place::Inside)
    }
}

/// Returns the strings of a program, whatever the language.
fn literals(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(quote) = chars.by_ref().find(|c| matches!(c, '\'' | '"' | '`')) {
        let mut literal = String::new();
        let mut escaped = false;
        for c in chars.by_ref() {
            if c == quote && !escaped {
                break;
            }
            escaped = c == '\\' && !escaped;
            literal.push(c);
        }
        if !literal.is_empty() {
            out.push(literal);
        }
    }
    out
}
