//! `git`, of which some commands read, some move the whole tree, and some delete.

use super::super::held::Item;
use super::super::{glob, patch, paths};
use super::readers::short;
use super::{Data, Judged, Place, Shell, marks, programs};

/// Commands that leave the files of the work tree alone.
const KEEPS: &[&str] = &[
    "add",
    "annotate",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "grep",
    "hash-object",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "notes",
    "push",
    "range-diff",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "symbolic-ref",
    "tag",
    "var",
    "version",
    "whatchanged",
    "gc",
    "stage",
];
/// Settings that name programs.
const RUNS: &[&str] = &[
    "alias.",
    "pager",
    "external",
    "textconv",
    "editor",
    "command",
    "hookspath",
    "fsmonitor",
    "filter.",
    "helper",
];

impl Shell<'_> {
    pub(in crate::defence) fn git(&mut self, args: &[String], stdin: Data) -> Judged<Data> {
        let by = format!("git {}", args.join(" "));
        let saved = (self.state.cwds.clone(), self.state.before.clone());
        let (verb, rest) = self.git_options(args, &by)?;
        let out = self.git_verb(&verb, rest, stdin, &by);
        (self.state.cwds, self.state.before) = saved;
        out
    }

    /// Reads what comes before the verb.
    fn git_options<'b>(&mut self, args: &'b [String], by: &str) -> Judged<(String, &'b [String])> {
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let value = args.get(at + 1).cloned().unwrap_or_default();
            at += 1;
            match arg.as_str() {
                "-C" => {
                    self.go(&value, false);
                    at += 1;
                }
                "-c" | "--config-env" => {
                    self.git_setting(&value, by)?;
                    at += 1;
                }
                "--git-dir" | "--namespace" | "--exec-path" => at += 1,
                "--work-tree" => {
                    self.go(&value, false);
                    at += 1;
                }
                option if option.starts_with("--work-tree=") => {
                    self.go(option.trim_start_matches("--work-tree="), false);
                }
                option if option.starts_with('-') => {}
                _ => return Ok((marks::plain(arg), args.get(at..).unwrap_or_default())),
            }
        }
        Ok((String::new(), &[]))
    }

    fn git_setting(&mut self, setting: &str, by: &str) -> Judged<()> {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let name = name.to_lowercase();
        if RUNS.iter().any(|part| name.contains(part)) {
            self.apart(
                &marks::plain_but_unknown(value.trim_start_matches('!')),
                Data::Unknown,
            )?;
            self.forbid(value, Place::Inside, by)?;
        }
        Ok(())
    }

    fn git_verb(&mut self, verb: &str, args: &[String], stdin: Data, by: &str) -> Judged<Data> {
        let asks = |name: &str| args.iter().any(|arg| arg == name);
        match verb {
            "rev-parse" if asks("--show-toplevel") => return Ok(Data::Known(self.scene.project())),
            "clean" if !short(args, 'n') && !asks("--dry-run") => self.untracked(args, by)?,
            "stash"
                if short(args, 'u')
                    || short(args, 'a')
                    || asks("--include-untracked")
                    || asks("--all") =>
            {
                self.untracked(&[], by)?;
            }
            "apply" | "am" => return self.patch(args, &stdin),
            "rm" if asks("--cached") => return Ok(Data::Unknown),
            "rebase" | "bisect" | "submodule" | "filter-branch" => self.git_scripts(args)?,
            _ => {}
        }
        let writes = |arg: &String| {
            ["--output", "-O", "--open-files", "-o"]
                .iter()
                .any(|o| arg.starts_with(o))
        };
        let keeps = KEEPS.contains(&verb) && !self.state.suspect;
        if keeps && !args.iter().any(writes) {
            return Ok(self.derived(args, &stdin));
        }
        let least = match verb {
            "rm" | "mv" => Place::FarAbove,
            _ if keeps => Place::Inside,
            _ => Place::Above,
        };
        self.pathspecs(args, least, by)?;
        if !takes_back(verb, args) {
            args.iter().try_for_each(|arg| self.spanning(arg, by))?;
        }
        match verb {
            "merge" | "stash" | "cherry-pick" | "revert" | "rebase" => Ok(Data::Unknown),
            _ => self.unknown("git", args, &stdin, least),
        }
    }

    /// Looks at commands that git runs: `--exec '…'`, `bisect run …`.
    fn git_scripts(&mut self, args: &[String]) -> Judged<()> {
        for arg in args.iter().filter(|arg| arg.contains(' ')) {
            let text = arg.strip_prefix("--exec=").unwrap_or(arg);
            self.apart(&marks::plain_but_unknown(text), Data::Unknown)?;
        }
        let run = args.iter().position(|arg| arg == "run" || arg == "foreach");
        let rest = run.and_then(|at| args.get(at + 1..)).unwrap_or_default();
        self.command(rest.to_vec(), Data::Unknown).map(drop)
    }

    /// Looks at paths as git reads them: quoted wildcards, and `:/` for the top.
    fn pathspecs(&mut self, args: &[String], least: Place, by: &str) -> Judged<()> {
        let dots = std::mem::replace(&mut self.state.dots, true);
        let before = [""].into_iter().chain(args.iter().map(String::as_str));
        let judged = args.iter().zip(before).try_for_each(|(arg, before)| {
            if matches!(before, "-m" | "--message") {
                return Ok(());
            }
            let wild: String = arg
                .chars()
                .map(|c| if "*?[".contains(c) { marks::live(c) } else { c })
                .collect();
            let top = wild.strip_prefix(":/").or_else(|| {
                wild.strip_prefix(':')?
                    .split_once(')')
                    .map(|(_, rest)| rest)
            });
            let whole = top.map(|top| format!("{}/{top}", self.scene.project()));
            let paths = [Some(wild), whole];
            let mut paths = paths.iter().flatten();
            paths.try_for_each(|path| self.forbid(path, least, by))
        });
        self.state.dots = dots;
        judged
    }

    /// Looks at a pattern of git, in which a star stands for slashes, too.
    fn spanning(&self, pathspec: &str, by: &str) -> Judged<()> {
        let spec = Pathspec::read(pathspec);
        let Some(spec) = spec.filter(|spec| spec.pattern.contains(['*', '?', '['])) else {
            return Ok(());
        };
        let project = self.scene.project();
        let tops = [project];
        let folders = if spec.top {
            &tops[..]
        } else {
            &self.state.cwds
        };
        for cwd in folders {
            let folder = paths::folded_parts(".", self.base(cwd));
            let pattern = paths::fold(&spec.pattern);
            let pattern: String = pattern.chars().map(marks::live).collect();
            let held = self.scene.held(&folder).items;
            let meant = |item: &&Item| {
                let name = paths::fold(&item.names.join("/"));
                let inside = item
                    .hit
                    .as_ref()
                    .is_some_and(|hit| hit.place == Place::Inside);
                inside && glob::one(&pattern, &name, true)
            };
            if let Some(hit) = held.iter().find(meant).and_then(|item| item.hit.clone()) {
                return Err(self.refusal(hit, by));
            }
        }
        Ok(())
    }

    /// Refuses to delete protected files of which git has no copy.
    fn untracked(&mut self, args: &[String], by: &str) -> Judged<()> {
        let given = args.iter().filter(|arg| !arg.starts_with('-'));
        let mut roots: Vec<String> = given.cloned().collect();
        if roots.is_empty() {
            roots.push(".".to_owned());
        }
        let index = self.git_index();
        for cwd in &self.state.cwds {
            for root in &roots {
                let folder = paths::folded_parts(&marks::plain(root), self.base(cwd));
                if let Some(hit) = self
                    .scene
                    .judge(&folder)
                    .filter(|hit| hit.place == Place::Inside)
                {
                    return Err(self.refusal(hit, by));
                }
                for (shown, _, there) in self.scene.held_by(&folder) {
                    let tracked = contains(&index, shown.as_bytes());
                    if there && !tracked && !shown.starts_with("~/") {
                        return Err(
                            self.refusal(super::super::scene::Hit::new(&shown, Place::Inside), by)
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns git's index, in which the names of its files stand as they are.
    fn git_index(&self) -> Vec<u8> {
        let index = self.scene.protected.project.join(".git/index");
        let small = index.metadata().is_ok_and(|found| found.len() < 1 << 26);
        let bytes = small.then(|| std::fs::read(index).ok());
        bytes.flatten().unwrap_or_default()
    }

    /// Looks at the files that a patch names.
    pub(in crate::defence) fn patch(&mut self, args: &[String], stdin: &Data) -> Judged<Data> {
        let by = format!("patch {}", args.join(" "));
        let mut texts = Vec::new();
        if let Data::Known(text) = stdin {
            texts.push(text.clone());
        }
        for arg in args {
            self.forbid(arg, Place::Inside, &by)?;
            let file = arg.split_once('=').map_or(arg.as_str(), |(_, value)| value);
            texts.extend(self.patch_file(file));
            if patch::is_patch(arg) {
                texts.push(arg.clone());
            }
        }
        if let Data::Tainted(path) = stdin {
            return Err(self.refusal(super::super::scene::Hit::new(path, Place::Inside), &by));
        }
        for file in texts.iter().flat_map(|text| patch::files(text)) {
            self.forbid(&file, Place::Inside, &by)?;
            // `-p2` and its like cut names off the front.
            for (at, _) in file.match_indices('/').take(8) {
                self.forbid(file.get(at + 1..).unwrap_or_default(), Place::Inside, &by)?;
            }
        }
        self.unknown("patch", &[], &Data::Unknown, programs::reach("patch", args))
    }

    fn patch_file(&self, file: &str) -> Option<String> {
        if let Some(Data::Known(text)) = self.state.files.get(&self.absolute(file)) {
            return Some(text.clone());
        }
        let cwd = self.state.cwds.first()?;
        let path = paths::absolute(&marks::plain(file), self.base(cwd));
        let small =
            std::fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() < 1 << 22);
        let bytes = small.then(|| std::fs::read(path).ok())??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Says whether files become what they were when they were added last: with all of them that
/// is what `git checkout .` does.
fn takes_back(verb: &str, args: &[String]) -> bool {
    match verb {
        "checkout" => args.first().is_some_and(|arg| arg == "--"),
        "restore" => !short(args, 's') && !args.iter().any(|arg| arg.starts_with("--so")),
        _ => false,
    }
}

/// A pattern of paths as git reads it.
struct Pathspec {
    pattern: String,
    /// It starts at the top of the work tree.
    top: bool,
}

impl Pathspec {
    /// Reads one; nothing if it leaves paths out.
    fn read(text: &str) -> Option<Self> {
        let text = marks::plain(text);
        let Some(magic) = text.strip_prefix(':') else {
            let pattern = text.trim_start_matches("./").to_owned();
            return Some(Self {
                pattern,
                top: false,
            });
        };
        let (words, rest) = match magic.strip_prefix('(') {
            Some(long) => long.split_once(')')?,
            None => {
                let end = magic.find(|c| !"/!^:".contains(c)).unwrap_or(magic.len());
                magic.split_at_checked(end)?
            }
        };
        let excludes = words.contains(['!', '^']) || words.contains("exclude");
        (!excludes).then(|| Self {
            pattern: rest.to_owned(),
            top: words.contains('/') || words.contains("top"),
        })
    }
}

fn contains(bytes: &[u8], name: &[u8]) -> bool {
    !name.is_empty() && bytes.windows(name.len()).any(|window| window == name)
}
