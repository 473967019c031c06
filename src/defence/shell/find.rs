//! `find`, which reads until it is told to do something.

use std::path::Path;

use super::super::scene::Hit;
use super::super::through::Linked;
use super::super::{glob, paths};
use super::{Data, Judged, Kind, Place, Shell, marks, too_much};

/// Actions that change files.
const ACTIONS: &[&str] = &["-delete", "-exec", "-execdir", "-ok", "-okdir"];
/// Actions that write what they find into a file.
const WRITES: &[&str] = &["-fprint", "-fprint0", "-fprintf", "-fls"];
/// Tests of names.
const TESTS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
];

impl Shell<'_> {
    pub(in crate::defence) fn find(&mut self, args: &[String]) -> Judged<Data> {
        let by = format!("find {}", args.join(" "));
        // As PowerShell reads what was written for another shell, `\(` begins with a word.
        let is_bare = |arg: &String| arg == "\\" && self.kind == Kind::Windows;
        if self.second && args.iter().any(is_bare) {
            return Ok(Data::Unknown);
        }
        let is_test = |arg: &&String| arg.starts_with(['-', '(', '!']) || is_bare(arg);
        let options = args
            .iter()
            .take_while(|arg| matches!(arg.as_str(), "-H" | "-L" | "-P"))
            .count();
        let start = args.get(options..).unwrap_or_default();
        let count = start
            .iter()
            .position(|arg| is_test(&arg))
            .unwrap_or(start.len());
        let (roots, tests) = start.split_at(count);
        let here = [".".to_owned()];
        let roots = if roots.is_empty() { &here[..] } else { roots };
        for (at, test) in tests.iter().enumerate() {
            if let Some(file) = tests
                .get(at + 1)
                .filter(|_| WRITES.contains(&test.as_str()))
            {
                self.forbid(file, Place::Above, &by)?;
            }
        }
        let follows = args.iter().any(|arg| arg == "-L" || arg == "-follow");
        let acts = tests.iter().any(|test| ACTIONS.contains(&test.as_str()));
        let mut found = roots.iter().find_map(|root| self.finds(root, tests));
        if follows && found.is_none() {
            let linked: Vec<_> = roots.iter().map(|root| self.linked(root)).collect();
            if acts && linked.iter().any(|linked| linked.cut) {
                return Err(too_much(&by));
            }
            found = linked.into_iter().find_map(|linked| linked.hit);
        }
        if !acts {
            // What everything is found in says nothing; a name says something.
            let named = tests.iter().any(|test| TESTS.contains(&test.as_str()));
            let told = found.filter(|hit| named || hit.place != Place::FarAbove);
            return Ok(told.map_or(Data::Unknown, |hit| Data::Tainted(hit.path)));
        }
        match found {
            Some(hit) if tests.iter().any(|test| test == "-delete") => Err(self.refusal(hit, &by)),
            found => self.actions(found, tests),
        }
    }

    /// Looks at `fd` as the `find` that does the same.
    pub(in crate::defence) fn fd(&mut self, args: &[String]) -> Judged<Data> {
        let acts = |arg: &String| matches!(arg.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
        let at = args.iter().position(acts).unwrap_or(args.len());
        let (tests, rest) = args.split_at(at);
        let ending = tests
            .iter()
            .position(|arg| arg == "-e" || arg == "--extension");
        let pattern = match ending.and_then(|at| tests.get(at + 1)) {
            Some(ending) => format!("*.{ending}"),
            None => {
                let pattern = tests.iter().find(|arg| !arg.starts_with('-'));
                let pattern = marks::plain(pattern.map_or("", String::as_str));
                format!(
                    "*{}*",
                    pattern.replace(['^', '$', '\\'], "").replace(".*", "*")
                )
            }
        };
        let words = [".", "-name", &pattern, "-exec"]
            .map(str::to_owned)
            .into_iter();
        let given = rest.iter().skip(1).cloned();
        let end = ["{}", ";"].map(str::to_owned);
        self.find(&words.chain(given).chain(end).collect::<Vec<_>>())
    }

    fn actions(&mut self, found: Option<Hit>, tests: &[String]) -> Judged<Data> {
        let mut at = 0;
        while let Some(test) = tests.get(at) {
            at += 1;
            if !ACTIONS.contains(&test.as_str()) || test == "-delete" {
                continue;
            }
            let rest = tests.get(at..).unwrap_or_default();
            let end = rest
                .iter()
                .position(|word| word == ";" || word == "+")
                .unwrap_or(rest.len());
            let mark = match &found {
                Some(hit) => {
                    self.tainted.clone_from(&hit.path);
                    marks::TAINTED
                }
                None => marks::UNKNOWN,
            };
            let filled = rest
                .iter()
                .take(end)
                .map(|word| word.replace("{}", &mark.to_string()));
            self.command(filled.collect(), Data::Unknown)?;
            at += end;
        }
        Ok(Data::Unknown)
    }

    /// Returns what is protected among what is found below a folder.
    fn finds(&self, root: &str, tests: &[String]) -> Option<Hit> {
        let hit = self.place(root)?;
        if hit.place == Place::Inside {
            return Some(hit);
        }
        let unlike = tests.iter().any(|test| test == "-empty");
        let wanted = wanted(tests);
        if unlike {
            return None;
        }
        if wanted.is_empty() {
            return Some(hit);
        }
        let any = tests
            .iter()
            .any(|test| matches!(test.as_str(), "-o" | "-or" | ","));
        let cwd = self.state.cwds.first().map_or("/", String::as_str);
        let folder = paths::folded_parts(&marks::plain(root), self.base(cwd));
        let held = self.scene.files_held_by(&folder);
        let left_out = left_out(tests, any);
        let root = marks::plain(root);
        let found = held.into_iter().find(|(_, rest)| {
            let matches = |(kind, pattern): &(String, String)| meets(kind, pattern, rest);
            let found = match any {
                true => wanted.iter().any(matches),
                false => wanted.iter().all(matches),
            };
            found && !left_out.iter().any(|it| it.covers(&root, rest))
        });
        found.map(|(shown, _)| Hit::new(&shown, hit.place))
    }

    /// Returns what is protected among what links below a folder lead to.
    fn linked(&self, root: &str) -> Linked {
        let cwd = self.state.cwds.first().map_or("/", String::as_str);
        let folder = paths::absolute(&marks::plain(root), self.base(cwd));
        let linked = self.scene.linked_below(Path::new(&folder));
        // That it leads there says something, however far above that is.
        let near = |hit: Hit| Hit::new(&hit.path, hit.place.max(Place::Above));
        let hit = linked.hit.map(near);
        Linked { hit, ..linked }
    }
}

/// A test of what is not meant.
struct LeftOut {
    /// Whether everything below it is left out, too.
    pruned: bool,
    by_name: bool,
    pattern: String,
}

/// Returns what is surely left out: what is pruned before anything is done, and, where all
/// tests have to be met, what must not be.
fn left_out(tests: &[String], any: bool) -> Vec<LeftOut> {
    // With these, what lies in a folder comes before the folder.
    let deep = tests
        .iter()
        .any(|test| matches!(test.as_str(), "-delete" | "-depth" | "-d"));
    let acts = |test: &String| ACTIONS.contains(&test.as_str()) || test.starts_with("-print");
    let first = tests.iter().position(acts).unwrap_or(tests.len());
    let mut out = Vec::new();
    for (at, test) in tests.iter().enumerate() {
        let by_name = test == "-name";
        if !by_name && test != "-path" && test != "-wholename" {
            continue;
        }
        let Some(written) = tests.get(at + 1).map(|word| marks::plain(word)) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| tests.get(at));
        let negated = before.is_some_and(|word| word == "!" || word == "-not");
        let pruned = tests.get(at + 2).is_some_and(|word| word == "-prune");
        let counts = match (pruned, negated) {
            (true, false) => !deep && at < first,
            (false, true) => !any,
            _ => false,
        };
        // Names are compared folded, and a test of capitals leaves out less than that.
        if counts && paths::fold(&written) == written {
            let pattern = written.chars().map(marks::live).collect();
            out.push(LeftOut {
                pruned,
                by_name,
                pattern,
            });
        }
    }
    out
}

impl LeftOut {
    /// Says whether it leaves out what lies below the folder that is searched.
    fn covers(&self, root: &str, rest: &[String]) -> bool {
        let shortest = if self.pruned { 1 } else { rest.len().max(1) };
        (shortest..=rest.len()).any(|length| {
            let names = rest.get(..length).unwrap_or_default();
            if self.by_name {
                let name = names.last();
                return name.is_some_and(|name| glob::one(&self.pattern, name, true));
            }
            let path = format!("{}/{}", root.trim_end_matches('/'), names.join("/"));
            glob::one(&self.pattern, &path, true)
        })
    }
}

/// Returns the names that are looked for, without those that are left out.
fn wanted(tests: &[String]) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (at, test) in tests.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tests.get(at));
        let negated = before.is_some_and(|word| word == "!" || word == "-not");
        let pruned = tests.get(at + 2).is_some_and(|word| word == "-prune");
        if TESTS.contains(&test.as_str()) && !negated && !pruned {
            let pattern = tests.get(at + 1).cloned().unwrap_or_default();
            out.push((test.clone(), pattern));
        }
    }
    out
}

/// Says whether a protected path, or a folder on the way to it, meets a test.
fn meets(kind: &str, pattern: &str, rest: &[String]) -> bool {
    if kind.ends_with("regex") {
        return true;
    }
    let pattern: String = paths::fold(&marks::plain(pattern))
        .chars()
        .map(marks::live)
        .collect();
    if kind.ends_with("name") && kind != "-wholename" {
        // What lies in a protected folder may be called anything, as long as its name may.
        return rest.iter().any(|name| glob::one(&pattern, name, true));
    }
    let path = rest.join("/");
    let tail = pattern.trim_start_matches("./");
    glob::one(tail, &path, true)
        || glob::one(tail, &format!("{path}/x"), true)
        || glob::one(tail, &format!("./{path}"), true)
}
