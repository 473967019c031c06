//! Looks at one command.

use super::super::own::{self, Does};
use super::super::paths;
use super::super::scene::Hit;
use super::programs::{self, Wrapper};
use super::{Data, Judged, Place, Shell, marks, readers, too_nested};

/// In how many words of an unknown command another one is looked for.
const STARTS: usize = 12;
/// How many commands may be behind each other: `sudo env nice …`.
const CALLS: usize = 48;

impl Shell<'_> {
    /// Looks at the words of a command, and says what it writes.
    pub(in crate::defence) fn command(&mut self, words: Vec<String>, stdin: Data) -> Judged<Data> {
        if self.calls >= CALLS {
            return Err(too_nested(&words.concat()));
        }
        self.calls += 1;
        let out = self.one_command(words, stdin);
        self.calls -= 1;
        out
    }

    fn one_command(&mut self, words: Vec<String>, stdin: Data) -> Judged<Data> {
        // Every word is looked at from every folder the shell may be in.
        let folders: usize = self.state.cwds.iter().map(String::len).sum();
        self.spend(words.len() * self.state.cwds.len() + folders / 2, "")?;
        let Some((first, args)) = words.split_first() else {
            return Ok(stdin);
        };
        // As PowerShell reads `find … \; -exec …`, the rest begins like an option.
        if self.second && first.starts_with('-') && first.len() > 1 {
            return Ok(Data::Unknown);
        }
        let name = program(&marks::plain(first));
        let shadowed = self.state.shadowed.contains(&name);
        if first.contains(['/', '\\', ',', ':']) {
            self.running(first, &words)?;
            if let Some(Data::Known(text)) = self.state.files.get(&self.absolute(first)).cloned() {
                return self.apart(&text, stdin);
            }
        }
        if shadowed {
            return self.unknown(&name, args, &stdin, Place::Above);
        }
        if let Some(wrapper) = programs::wrapper(&name) {
            return self.wrapped(&name, &wrapper, args, stdin);
        }
        if let Some(out) = self.builtin(&name, args, &stdin)? {
            return Ok(out);
        }
        self.program(&name, first, args, stdin)
    }

    fn program(&mut self, name: &str, first: &str, args: &[String], stdin: Data) -> Judged<Data> {
        if own::is_hookbox(name) {
            return self.hookbox(args, &stdin);
        }
        match name {
            "git" => return self.git(args, stdin),
            "find" | "gfind" => return self.find(args),
            "fd" | "fdfind" => return self.fd(args),
            "cp" | "mv" | "ln" | "install" | "rsync" | "copy-item" | "move-item" | "copy"
            | "move" | "xcopy" | "robocopy" | "ditto" | "scp" | "link" | "mklink" => {
                return self.copy(name, args);
            }
            "apply_patch" | "applypatch" | "patch" => return self.patch(args, &stdin),
            "pkill" | "killall" | "taskkill" | "stop-process" | "kill" | "systemctl"
            | "launchctl" => return self.kill(name, args),
            _ => {}
        }
        if let Some(out) = self.decoded(name, args, &stdin) {
            return Ok(out);
        }
        let genuine = !self.state.suspect && is_usual(first);
        if genuine && readers::only_reads(name, args) {
            return Ok(self.output(name, args, stdin));
        }
        let least = programs::reach(name, args);
        self.unknown(name, args, &stdin, least)
    }

    /// Refuses to run a file that is protected, unless it is a program of hookbox.
    fn running(&mut self, first: &str, words: &[String]) -> Judged<()> {
        let hit = self.hit(first);
        let name = program(&marks::plain(first));
        match hit.filter(|hit| hit.place == Place::Inside) {
            Some(hit) if !own::is_hookbox(&name) => Err(self.refusal(hit, &words.join(" "))),
            _ => Ok(()),
        }
    }

    /// Looks at a command of which nothing is known but what it names.
    pub(in crate::defence) fn unknown(
        &mut self,
        name: &str,
        args: &[String],
        stdin: &Data,
        least: Place,
    ) -> Judged<Data> {
        let by = format!("{name} {}", args.join(" "));
        self.ran = true;
        self.nowhere_protected(&by)?;
        for arg in args {
            if programs::takes_messages(name) && arg.contains(char::is_whitespace) {
                continue;
            }
            self.state.unlinks = programs::unlinks(name);
            let judged = self.forbid(arg, least, &by);
            self.state.unlinks = false;
            judged?;
            if programs::globs(name) {
                let live: String = marks::plain(arg).chars().map(marks::live).collect();
                self.forbid(&live, least, &by)?;
            }
            if is_text(arg) {
                self.text_argument(arg, &by)?;
            }
        }
        self.input_of(name, stdin, &by)?;
        self.written(name, args, &by)?;
        self.inner(name, args, stdin)?;
        Ok(self.derived(args, stdin))
    }

    /// Refuses whatever may write where everything is protected.
    fn nowhere_protected(&self, by: &str) -> Judged<()> {
        self.forbid(".", Place::Inside, by)
    }

    fn text_argument(&self, text: &str, by: &str) -> Judged<()> {
        if let Some(hit) = self.mention(text) {
            return Err(self.refusal(hit, by));
        }
        if own::in_text(&marks::plain(text)) {
            return Err(self.refusal(trust(), by));
        }
        Ok(())
    }

    /// Looks at what a program reads that may do what it reads.
    fn input_of(&mut self, name: &str, stdin: &Data, by: &str) -> Judged<()> {
        if programs::stores_input(name) {
            return Ok(());
        }
        match stdin {
            Data::Known(text) => self.text_argument(text, by),
            Data::Tainted(path) if programs::runs_input(name) => {
                Err(self.refusal(Hit::new(path, Place::Inside), by))
            }
            _ => Ok(()),
        }
    }

    /// Looks at a program that the same command has written.
    fn written(&self, name: &str, args: &[String], by: &str) -> Judged<()> {
        if !programs::runs_input(name) || self.state.files.is_empty() {
            return Ok(());
        }
        let known = args
            .iter()
            .filter_map(|arg| self.state.files.get(&self.absolute(arg)));
        known.into_iter().try_for_each(|data| match data {
            Data::Known(text) => self.text_argument(text, by),
            _ => Ok(()),
        })
    }

    /// Looks for a command behind one that is not known: `rtk rm -rf .`.
    fn inner(&mut self, name: &str, args: &[String], stdin: &Data) -> Judged<()> {
        if programs::takes_messages(name) {
            return Ok(());
        }
        for (at, arg) in args.iter().enumerate().take(STARTS) {
            if programs::is_telling(&program(&marks::plain(arg))) && self.depth < 12 {
                self.depth += 1;
                let rest = args.get(at..).unwrap_or_default().to_vec();
                let out = self.command(rest, stdin.clone());
                self.depth -= 1;
                out?;
                break;
            }
        }
        Ok(())
    }

    /// Says what comes out of a command that is not known.
    pub(in crate::defence) fn derived(&self, args: &[String], stdin: &Data) -> Data {
        let named = args.iter().find_map(|arg| {
            let hit = self.hit(arg)?;
            (hit.place >= Place::Above).then_some(hit.path)
        });
        match (named, stdin) {
            (Some(path), _) => Data::Tainted(path),
            (None, Data::Tainted(path)) => Data::Tainted(path.clone()),
            (None, Data::Known(text)) => self
                .mention(text)
                .map_or(Data::Unknown, |hit| Data::Tainted(hit.path)),
            _ => Data::Unknown,
        }
    }

    fn hookbox(&mut self, args: &[String], stdin: &Data) -> Judged<Data> {
        let plain: Vec<String> = args.iter().map(|arg| marks::plain(arg)).collect();
        let by = format!("hookbox {}", plain.join(" "));
        let hidden = args
            .iter()
            .take(1)
            .any(|arg| arg.contains([marks::UNKNOWN, marks::TAINTED]));
        match own::does(&plain) {
            Does::Changes => Err(self.refusal(trust(), &by)),
            _ if hidden => Err(self.refusal(trust(), &by)),
            Does::Looks => Ok(self.derived(args, stdin)),
            Does::Writes => {
                for arg in args {
                    self.forbid(arg, Place::Inside, &by)?;
                }
                let update = plain.iter().any(|arg| arg.starts_with("--update"));
                if update {
                    return Err(self.refusal(trust(), &by));
                }
                Ok(Data::Unknown)
            }
        }
    }

    fn kill(&mut self, name: &str, args: &[String]) -> Judged<Data> {
        let by = format!("{name} {}", args.join(" "));
        let ours = |arg: &String| {
            let folded = paths::fold(&marks::plain(arg));
            folded.contains("hookbox") || arg.contains(marks::TAINTED)
        };
        let asks = args.iter().any(|arg| arg == "status" || arg == "-l");
        if args.iter().any(ours) && !asks {
            return Err(self.refusal(trust(), &by));
        }
        Ok(Data::Unknown)
    }

    fn wrapped(
        &mut self,
        name: &str,
        wrapper: &Wrapper,
        args: &[String],
        stdin: Data,
    ) -> Judged<Data> {
        let (before, rest) = programs::behind(wrapper, args);
        let by = format!("{name} {}", args.join(" "));
        let saved = self.state.cwds.clone();
        for (at, option) in before.iter().enumerate() {
            self.forbid(option, Place::Inside, &by)?;
            let folder = match option.as_str() {
                "-C" | "--chdir" | "-D" => before.get(at + 1).cloned(),
                option => option.strip_prefix("--chdir=").map(str::to_owned),
            };
            if let Some(folder) = folder.filter(|_| wrapper.moves) {
                self.go(&folder, false);
            }
            if let Some((name, value)) = option.split_once('=') {
                self.state.assign(name, vec![value.to_owned()], true);
            }
        }
        let asks = before
            .iter()
            .any(|option| matches!(option.as_str(), "-v" | "-V"));
        if name == "command" && asks {
            return Ok(Data::Known(rest.join(" ")));
        }
        let out = match wrapper.script {
            true => self.scripts_behind(&before, rest, stdin),
            false if wrapper.feeds => self.fed(&before, rest, stdin),
            false => self.command(rest.to_vec(), stdin),
        };
        if name == "script" {
            rest.iter()
                .try_for_each(|file| self.forbid(file, Place::Inside, &by))?;
        }
        self.state.cwds = saved;
        out
    }

    /// Looks at `su -c '…'` and its like, and at the command behind them.
    fn scripts_behind(&mut self, before: &[String], rest: &[String], stdin: Data) -> Judged<Data> {
        let texts = rest.iter().take_while(|word| word.contains(' '));
        for word in before.iter().chain(texts).filter(|word| word.contains(' ')) {
            self.apart(&marks::plain_but_unknown(word), Data::Unknown)?;
        }
        self.command(rest.to_vec(), stdin)
    }

    /// Looks at a command that gets its words from its input: `xargs`.
    fn fed(&mut self, before: &[String], rest: &[String], stdin: Data) -> Judged<Data> {
        let mut words = rest.to_vec();
        let place = place_of(before);
        if words.is_empty() {
            words.push("echo".to_owned());
        }
        match stdin {
            Data::Known(text) => {
                // With `-0` a shell gets all of it as one script.
                let first = words.first().map(|word| program(word));
                if first.is_some_and(|name| programs::is_shell(&name)) {
                    self.apart(&text, Data::Unknown)?;
                }
                let clean = text.replace(['\'', '"', '\\'], "");
                let given = clean.split([' ', '\n', '\t', '\0', marks::SPLIT]);
                words.extend(given.filter(|word| !word.is_empty()).map(str::to_owned));
                self.fill_in(&mut words, place, &clean)?;
            }
            Data::Tainted(path) => {
                self.tainted = path;
                self.fill_in(&mut words, place, &marks::TAINTED.to_string())?;
                words.push(marks::TAINTED.to_string());
            }
            Data::Unknown => words.push(marks::UNKNOWN.to_string()),
            // Whoever takes all of it away takes the folder away.
            Data::Tree(folder) => {
                if !self.fill_in(&mut words, place, &folder)? {
                    words.push(folder);
                }
            }
        }
        self.command(words, Data::Unknown)
    }

    /// Puts the input of `xargs -I` into the words behind it, and says whether it is in one now.
    fn fill_in(&mut self, words: &mut [String], place: &str, input: &str) -> Judged<bool> {
        let mut some = false;
        for word in words.iter_mut().filter(|word| word.contains(place)) {
            self.spend(word.matches(place).count() * input.len(), place)?;
            *word = word.replace(place, input);
            some = true;
        }
        Ok(some)
    }

    /// Looks at a script in the language of a shell, given as words.
    pub(in crate::defence) fn shell_words(
        &mut self,
        name: &str,
        args: &[String],
        stdin: Data,
    ) -> Judged<Data> {
        let found = programs::script(name, args);
        let kind = self.kind;
        self.kind = programs::kind_of(name, kind);
        let out = match found {
            programs::Script::Inline(text, rest) => {
                self.positional(&rest);
                self.apart(&marks::plain_but_unknown(&text), stdin)
            }
            programs::Script::Encoded(text) => {
                let bytes = super::escapes::base64(&text).unwrap_or_default();
                self.apart(&super::escapes::utf16(&bytes), stdin)
            }
            programs::Script::File(file, rest) => {
                self.positional(&rest);
                self.script_file(name, &file, args, stdin)
            }
            programs::Script::Input => self.script_input(name, args, stdin),
        };
        self.kind = kind;
        out
    }

    pub(in crate::defence) fn positional(&mut self, rest: &[String]) {
        let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        for (name, value) in names.iter().zip(rest) {
            self.state.assign(name, vec![value.clone()], false);
        }
        if let Some(all) = rest.get(1..).filter(|all| !all.is_empty()) {
            let all = vec![all.join(" ")];
            self.state.assign("@", all.clone(), false);
            self.state.assign("*", all, false);
        }
    }

    /// Looks at a script that the same command has written.
    pub(in crate::defence) fn script_file(
        &mut self,
        name: &str,
        file: &str,
        args: &[String],
        stdin: Data,
    ) -> Judged<Data> {
        match self.state.files.get(&self.absolute(file)).cloned() {
            Some(data) => self.script_input(name, args, data),
            None if file == "-" || file == "/dev/stdin" => self.script_input(name, args, stdin),
            None => self.unknown(name, args, &Data::Unknown, Place::Inside),
        }
    }

    fn script_input(&mut self, name: &str, args: &[String], stdin: Data) -> Judged<Data> {
        match stdin {
            Data::Known(text) => self.apart(&text, Data::Unknown),
            data => self.unknown(name, args, &data, Place::Inside),
        }
    }
}

/// Returns what stands for the input in the words behind `xargs`.
fn place_of(before: &[String]) -> &str {
    let next = before.iter().position(|option| option == "-I");
    let next = next.and_then(|at| before.get(at + 1));
    let attached = || before.iter().find_map(|option| option.strip_prefix("-I"));
    let place = next.map(String::as_str).or_else(attached);
    place.filter(|place| !place.is_empty()).unwrap_or("{}")
}

/// What is named when a command would change hookbox itself.
pub(in crate::defence) fn trust() -> Hit {
    Hit::new("what hookbox trusts", Place::Inside)
}

/// Returns the name of a program without its folder, as it is compared.
pub(in crate::defence) fn program(word: &str) -> String {
    let folded = paths::fold(word);
    let name = folded.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    match name.trim_end_matches(['.', ' ']) {
        "" => name.to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// Says whether a program comes from where programs of its name come from.
fn is_usual(word: &str) -> bool {
    let places = [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/opt/homebrew/bin/",
        "/sbin/",
        "/usr/sbin/",
    ];
    let bare = !word.contains(['/', '\\', marks::UNKNOWN, marks::TAINTED]);
    bare || places.iter().any(|place| {
        let rest = word.strip_prefix(place);
        rest.is_some_and(|rest| !rest.contains('/'))
    })
}

/// Says whether a word is more than a path.
pub(in crate::defence) fn is_text(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || "'\"`();|&<>{}\\$".contains(c))
}
