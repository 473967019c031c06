//! Commands that change the shell itself.

use super::super::glob;
use super::marks;
use super::programs;
use super::{Data, Judged, Place, Shell};
use std::path::Path;

/// Longer paths do not exist.
const LONGEST: usize = 4096;

impl Shell<'_> {
    /// Looks at a command that the shell runs itself, if it is one.
    pub(in crate::defence) fn builtin(
        &mut self,
        name: &str,
        args: &[String],
        stdin: &Data,
    ) -> Judged<Option<Data>> {
        match name {
            "cd" | "chdir" | "pushd" | "set-location" | "sl" | "push-location" => self.cd(args),
            "popd" | "pop-location" => {
                let old = self.state.variables.get("OLDPWD").cloned();
                self.state.cwds.extend(old.unwrap_or_default());
            }
            "eval" | "iex" | "invoke-expression" => {
                let text = args.join(" ");
                let text = if text.is_empty() {
                    self.stdin_text(stdin)
                } else {
                    text
                };
                return self.evaluate(&text).map(Some);
            }
            "trap" | "alias" => return self.later(name, args).map(Some),
            "source" | "." => {
                let file = args.first().cloned().unwrap_or_default();
                return self.script_file(name, &file, args, stdin.clone()).map(Some);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(args),
            "unset" => {}
            "read" | "mapfile" | "readarray" => self.read(args, stdin),
            "set" | "shopt" | "setopt" => self.set(args),
            "printf" if args.first().is_some_and(|arg| arg == "-v") => {
                let out = self.output("printf", args.get(2..).unwrap_or_default(), Data::Unknown);
                let value = vec![self.stand_in(&out)];
                let name = args.get(1).cloned().unwrap_or_default();
                self.state.assign(&name, value, false);
            }
            "command" => return Ok(None),
            "mkdir" => {
                for arg in args {
                    let made = self.absolute(arg);
                    self.state.made.insert(made);
                }
                return Ok(None);
            }
            name if programs::is_shell(name) => {
                return self.shell_words(name, args, stdin.clone()).map(Some);
            }
            _ => return Ok(None),
        }
        Ok(Some(Data::Unknown))
    }

    fn stdin_text(&self, stdin: &Data) -> String {
        match stdin {
            Data::Known(text) => text.clone(),
            Data::Tainted(_) => marks::TAINTED.to_string(),
            Data::Unknown | Data::Tree(_) => String::new(),
        }
    }

    fn evaluate(&mut self, text: &str) -> Judged<Data> {
        self.script(&marks::plain_but_unknown(text), Data::Unknown)
    }

    /// Looks at commands that are kept for later: what a trap does, what an alias stands for.
    fn later(&mut self, name: &str, args: &[String]) -> Judged<Data> {
        for arg in args.iter().filter(|arg| !arg.starts_with('-')) {
            if name == "trap" {
                self.apart(&marks::plain_but_unknown(arg), Data::Unknown)?;
            } else if let Some((alias, command)) = arg.split_once('=') {
                self.apart(&marks::plain_but_unknown(command), Data::Unknown)?;
                self.state.shadowed.insert(alias.to_owned());
            }
        }
        Ok(Data::Unknown)
    }

    fn cd(&mut self, args: &[String]) {
        let mut folders = args
            .iter()
            .filter(|arg| !arg.starts_with('-') || arg.len() == 1);
        match (folders.next(), folders.next()) {
            (None, _) => {
                let home = self.state.home.clone().unwrap_or_default();
                self.go(&home, true);
            }
            (Some(folder), None) => self.go(&folder.clone(), true),
            // It fails, and the shell stays where it is.
            _ => {}
        }
    }

    /// Goes to another folder. Unless it is sure to exist, the shell may stay where it is.
    pub(in crate::defence) fn go(&mut self, folder: &str, remember: bool) {
        let before = self.state.cwds.clone();
        if folder.contains([marks::UNKNOWN, marks::TAINTED]) {
            self.state.lost = true;
            return;
        }
        let pattern = folder;
        let folder = marks::plain(folder);
        let mut after = Vec::new();
        let mut sure = true;
        if glob::is_pattern(pattern) {
            // If there are several, most shells stay where they are.
            sure = false;
            for cwd in &before {
                let dots = self.state.dots;
                after.extend(self.scene.folders_like(pattern, self.base(cwd), dots));
            }
        } else if folder == "-" {
            after = self
                .state
                .variables
                .get("OLDPWD")
                .cloned()
                .unwrap_or_default();
            after.extend(before.iter().cloned());
        } else {
            for cwd in &before {
                let next = super::super::paths::absolute(&folder, self.base(cwd));
                let made = self.state.made.contains(&self.absolute(&folder));
                sure &= made || Path::new(&next).is_dir();
                after.push(next);
            }
        }
        after.dedup();
        // No folder has such a name, so that the shell stays where it is.
        after.retain(|folder| folder.len() <= LONGEST);
        if after.is_empty() {
            return;
        }
        after.truncate(24);
        if self.state.lost && !folder.starts_with(['/', '~']) {
            return;
        }
        self.state.lost = false;
        self.state.cwds = after;
        if remember {
            self.state.assign("OLDPWD", before.clone(), false);
            self.state.before = Some((before, sure));
        }
    }

    fn declare(&mut self, args: &[String]) {
        for arg in args {
            if let Some((name, value)) = arg.split_once('=') {
                let name = name.trim_end_matches('+');
                let value = marks::plain_but_unknown(value);
                self.state.assign(name, vec![value], true);
            }
        }
    }

    fn read(&mut self, args: &[String], stdin: &Data) {
        let value = self.stand_in(stdin);
        let mut values: Vec<String> = value.split('\n').map(str::to_owned).collect();
        let hit = values.iter().find_map(|value| self.hit(value));
        // Of many lines only some are kept; one that is protected has to be.
        if let Some(hit) = hit.filter(|hit| hit.place >= Place::Above && values.len() > 8) {
            self.tainted = hit.path;
            values = vec![marks::TAINTED.to_string()];
        }
        for name in args.iter().filter(|arg| !arg.starts_with('-')) {
            self.state.assign(name, values.clone(), false);
        }
        self.state.assign("REPLY", values.clone(), false);
        self.state.assign("MAPFILE", values, false);
    }

    fn set(&mut self, args: &[String]) {
        let has = |name: &str| args.iter().any(|arg| arg.to_lowercase() == name);
        self.state.dots |= has("dotglob") || has("globdots") || has("glob_dots");
        if let Some(at) = args.iter().position(|arg| arg == "--") {
            let rest = args.get(at..).unwrap_or_default().to_vec();
            self.positional(&rest);
        }
    }
}
