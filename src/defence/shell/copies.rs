//! Commands that put files somewhere: copies, moves, links.

use super::super::{glob, paths};
use super::readers::short;
use super::{Data, Judged, Place, Shell, marks};
use std::path::Path;

/// Options of these commands whose value is the next word.
const VALUED: &[&str] = &[
    "-m",
    "-o",
    "-g",
    "-S",
    "--suffix",
    "-e",
    "--exclude",
    "--include",
    "--mode",
];

/// What the words of such a command say.
struct Words {
    sources: Vec<String>,
    target: String,
    /// The target is a folder, whatever the disk says.
    folder: bool,
    /// The target is replaced, even if it is a folder.
    itself: bool,
}

impl Shell<'_> {
    pub(in crate::defence) fn copy(&mut self, name: &str, args: &[String]) -> Judged<Data> {
        let by = format!("{name} {}", args.join(" "));
        self.forbid(".", Place::Inside, &by)?;
        let words = words(name, args);
        let links = matches!(name, "ln" | "link" | "mklink") || name == "cp" && linking(args);
        let moves = matches!(name, "mv" | "move" | "move-item")
            || args.iter().any(|arg| arg == "--remove-source-files");
        for source in &words.sources {
            let least = match (moves, links) {
                (true, _) => Place::FarAbove,
                // A link to a whole project is followed; one into it has no good reason.
                (_, true) => Place::Above,
                _ => continue,
            };
            self.forbid(source, least, &by)?;
        }
        let sweeps = args
            .iter()
            .any(|arg| arg.starts_with("--del") || arg == "/mir" || arg == "/MIR");
        if sweeps {
            self.forbid(&words.target, Place::FarAbove, &by)?;
        }
        self.forbid(&words.target, Place::Inside, &by)?;
        for source in &words.sources {
            self.put(name, source, &words, links || moves, &by)?;
        }
        Ok(self.derived(args, &Data::Unknown))
    }

    /// Looks at where a source ends up.
    fn put(
        &mut self,
        name: &str,
        source: &str,
        words: &Words,
        whole: bool,
        by: &str,
    ) -> Judged<()> {
        if glob::is_pattern(source)
            && let Some(all) = self.filled_in(source)
        {
            let mut all = all.iter();
            return all.try_for_each(|source| self.put(name, source, words, whole, by));
        }
        let target = &words.target;
        let contents = source.ends_with("/.")
            || name == "rsync" && source.ends_with('/')
            || words.itself && Path::new(&self.on_disk(source)).is_dir();
        let is_folder = words.folder || !words.itself && Path::new(&self.on_disk(target)).is_dir();
        let last = source
            .trim_end_matches('/')
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default();
        let end = match is_folder && !contents {
            true => format!("{}/{last}", target.trim_end_matches('/')),
            false => target.clone(),
        };
        if whole && name != "cp" {
            self.state.link((end.clone(), self.on_disk(source)));
        }
        // What it is called is not known, and so not what it replaces.
        if source.contains([marks::UNKNOWN, marks::TAINTED]) && is_folder {
            self.forbid(target, Place::Above, by)?;
        }
        let Some(hit) = self.place(&end) else {
            return Ok(());
        };
        let brings = || self.brings(source, &end);
        match hit.place {
            Place::Inside => Err(self.refusal(hit, by)),
            Place::Above if whole && !self.is_plain(name, source) || brings() => {
                Err(self.refusal(hit, by))
            }
            Place::FarAbove if contents && brings() => Err(self.refusal(hit, by)),
            _ => Ok(()),
        }
    }

    /// Says whether something is moved that is there, so that it can be seen what it brings.
    fn is_plain(&self, name: &str, source: &str) -> bool {
        let found = Path::new(&self.on_disk(source)).symlink_metadata();
        name == "mv" && found.is_ok_and(|found| !found.is_symlink())
    }

    /// Returns what a pattern stands for on the disk, if the command has put nothing there.
    fn filled_in(&self, pattern: &str) -> Option<Vec<String>> {
        let [cwd] = self.state.cwds.as_slice() else {
            return None;
        };
        let (folder, _) = pattern.rsplit_once('/').unwrap_or((".", pattern));
        let folder = self.absolute(folder);
        let mut written = self.state.made.iter().chain(self.state.files.keys());
        let changed = written.any(|path| path.starts_with(&folder)) || !self.state.links.is_empty();
        if changed || self.state.lost {
            return None;
        }
        let dots = self.state.dots;
        let all = self.scene.paths_like(pattern, self.base(cwd), dots)?;
        // Nothing is there, unless a program has put it there since.
        (!all.is_empty() || !self.ran).then_some(all)
    }

    /// Says whether a folder has something in it that is protected where it goes.
    fn brings(&self, source: &str, end: &str) -> bool {
        let from = self.on_disk(source);
        let from = Path::new(from.trim_end_matches("/."));
        let cwd = self.state.cwds.first().map_or("/", String::as_str);
        let folder = paths::folded_parts(&marks::plain(end), self.base(cwd));
        let held = self.scene.held_by(&folder);
        if glob::is_pattern(source) {
            return true;
        }
        if !from.exists() {
            // What it will hold is not known yet. A folder of an agent is taken care of,
            // a whole project is not.
            let near = self.place(end).is_some_and(|hit| hit.place == Place::Above);
            return near;
        }
        let there = |rest: &[String]| from.join(rest.join("/")).exists();
        held.iter().any(|(_, rest, _)| there(rest))
    }

    fn on_disk(&self, name: &str) -> String {
        let cwd = self.state.cwds.first().map_or("/", String::as_str);
        paths::absolute(&marks::plain(name), self.base(cwd))
    }
}

fn linking(args: &[String]) -> bool {
    short(args, 'l')
        || short(args, 's')
        || args
            .iter()
            .any(|arg| arg == "--link" || arg.starts_with("--sym"))
}

/// Says whether the target is replaced, and nothing is put into it.
fn is_itself(args: &[String]) -> bool {
    short(args, 'T') || args.iter().any(|arg| arg == "--no-target-directory")
}

fn words(name: &str, args: &[String]) -> Words {
    let mut sources = Vec::new();
    let mut target = None;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let next = || args.get(at).cloned();
        let folded = arg.to_lowercase();
        match folded.as_str() {
            "-t" | "--target-directory" | "-destination" => {
                target = next();
                at += 1;
            }
            "-path" | "-literalpath" => {
                sources.extend(next());
                at += 1;
            }
            option if VALUED.contains(&option) => at += 1,
            option if option.starts_with("--target-directory=") => {
                target = arg.split_once('=').map(|(_, value)| value.to_owned());
            }
            option
                if option.starts_with("-t")
                    && !option.starts_with("--")
                    && name != "rsync"
                    && option.len() > 2 =>
            {
                target = Some(arg.chars().skip(2).collect());
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            _ => sources.push(arg.clone()),
        }
    }
    let given = target.is_some();
    let target = match target {
        Some(target) => target,
        // `ln -s x` makes its link here.
        None if sources.len() == 1 && name == "ln" => ".".to_owned(),
        None => sources.pop().unwrap_or_default(),
    };
    let folder =
        given || sources.len() > 1 || target.ends_with('/') || target == "." || target == "..";
    let replaces = matches!(name, "cp" | "mv" | "ln" | "install") && is_itself(args);
    let folder = folder && !replaces;
    let itself = replaces || name == "ln" && short(args, 'n');
    Words {
        sources,
        target,
        folder,
        itself,
    }
}
