//! Looks at a shell command: follows it as a shell would, without running anything.
//!
//! What only running would tell is called unknown. A command is refused for what it is known
//! to name, and, where a protected path went into something unknown, for that.

mod builtins;
mod close;
mod commands;
mod copies;
pub(in crate::defence) mod escapes;
mod expand;
mod find;
mod git;
mod here;
mod lexer;
pub(in crate::defence) mod marks;
mod names;
mod output;
mod programs;
mod readers;
mod state;
mod walk;

use super::code;
use super::paths::Base;
use super::refusal::{Judged, Refusal, brief, too_much, too_nested};
use super::scene::{Hit, Nearer as _, Place, Scene};
pub(in crate::defence) use lexer::Kind;
use state::State;

/// How deep commands may be nested in each other.
const DEEPEST: usize = 16;
/// How many things that are never closed are looked behind.
const LOOSE: usize = 4;
/// How much work one call may cause.
const MOST_WORK: usize = 4_000_000;

/// What a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::defence) enum Data {
    Unknown,
    Known(String),
    /// Unknown, but made from this protected path.
    Tainted(String),
    /// A list of everything below this folder.
    Tree(String),
}

/// A shell that is followed through a command.
pub(in crate::defence) struct Shell<'a> {
    scene: &'a Scene<'a>,
    state: State,
    kind: Kind,
    /// The same text was looked at in another reading before.
    second: bool,
    /// Single quotes mean themselves in defaults within quotes, which shells do not agree on.
    bare: bool,
    depth: usize,
    calls: usize,
    /// Something ran that may have put files anywhere.
    ran: bool,
    work: usize,
    /// What tainted the words that are marked so.
    tainted: String,
    /// How many process substitutions there were.
    feeds: usize,
}

impl<'a> Shell<'a> {
    pub(in crate::defence) fn new(scene: &'a Scene<'a>, cwd: &str, kind: Kind) -> Self {
        Self {
            scene,
            state: State::new(scene, cwd),
            kind,
            second: false,
            bare: false,
            depth: 0,
            calls: 0,
            ran: false,
            work: 0,
            tainted: String::new(),
            feeds: 0,
        }
    }

    /// Makes one for a text that a shell of another kind was taken to read before.
    pub(in crate::defence) fn second(scene: &'a Scene<'a>, cwd: &str, kind: Kind) -> Self {
        Self {
            second: true,
            ..Self::new(scene, cwd, kind)
        }
    }

    /// Looks at a command line, in each way that shells may read it.
    pub(in crate::defence) fn look(&mut self, text: &str) -> Judged<()> {
        let fresh = self.state.clone();
        self.script(text, Data::Unknown)?;
        if text.contains("${") && text.contains('\'') && text.contains('"') {
            self.state = fresh.clone();
            self.bare = true;
            self.script(text, Data::Unknown)?;
            self.bare = false;
        }
        self.loose(text, &fresh)
    }

    /// Looks at what comes after quotes and brackets that are never closed: shells do not
    /// agree on what of it runs.
    fn loose(&mut self, text: &str, fresh: &State) -> Judged<()> {
        if !text.contains(['\'', '"', '`', '(', '{']) {
            return Ok(());
        }
        let mut text = text.to_owned();
        for _ in 0..LOOSE {
            let Some(rest) = lexer::unclosed(&text, self.kind) else {
                break;
            };
            self.state = fresh.clone();
            self.script(&rest, Data::Unknown)?;
            text = rest;
        }
        Ok(())
    }

    /// Looks at the words of one command that no shell reads.
    pub(in crate::defence) fn look_at_words(&mut self, words: Vec<String>) -> Judged<()> {
        self.command(words, Data::Unknown).map(drop)
    }

    /// Looks at a script in this shell, and says what it writes.
    fn script(&mut self, text: &str, stdin: Data) -> Judged<Data> {
        if self.depth >= DEEPEST {
            return Err(too_nested(text));
        }
        self.spend(text.len() / 2, text)?;
        self.depth += 1;
        let tokens = lexer::read(text, self.kind, self.bare);
        let out = self.walk(&tokens, stdin);
        self.depth -= 1;
        out
    }

    /// Looks at a script in a shell of its own.
    fn apart(&mut self, text: &str, stdin: Data) -> Judged<Data> {
        self.spend(self.state.size(), text)?;
        let saved = self.state.clone();
        let out = self.script(text, stdin);
        self.state.restore(saved);
        out
    }

    fn spend(&mut self, work: usize, what: &str) -> Judged<()> {
        self.work = self.work.saturating_add(work);
        if self.work > MOST_WORK || self.scene.exhausted() {
            return Err(too_much(what));
        }
        Ok(())
    }

    /// Refuses a word that names something protected, or something that holds it.
    fn forbid(&self, word: &str, least: Place, by: &str) -> Judged<()> {
        if self.scene.exhausted() {
            return Err(too_much(by));
        }
        self.scene.cut.set(false);
        match self.hit(word) {
            Some(hit) if hit.place >= least => Err(self.refusal(hit, by)),
            // Nobody knows what the rest of it leads to.
            _ if self.scene.cut.get() => Err(too_much(by)),
            _ => Ok(()),
        }
    }

    fn refusal(&self, hit: Hit, by: &str) -> Refusal {
        Refusal::new(
            hit,
            format!("the shell command `{}`", brief(&marks::plain(by))),
        )
    }

    /// Returns what a word names, as a path, as part of an option, or as a list of paths.
    fn hit(&self, word: &str) -> Option<Hit> {
        names::candidates(word)
            .into_iter()
            .map(|name| self.place(name))
            .fold(None, |best, hit| best.max_place(hit))
    }

    /// Returns what a word names as a path.
    fn place(&self, name: &str) -> Option<Hit> {
        if name.contains(marks::TAINTED) {
            return Some(Hit::new(&self.tainted, Place::Inside));
        }
        if name.contains(marks::UNKNOWN) {
            return names::unknown(self.scene, &self.state, name);
        }
        let relative = !name.starts_with(['/', '~']);
        let lost = self.state.lost && relative;
        if lost
            && name
                .trim_start_matches("./")
                .starts_with([marks::STAR, marks::ANY, marks::OPEN])
        {
            return None;
        }
        let cwds = self.state.cwds.iter();
        let found = cwds
            .map(|cwd| names::place(self.scene, &self.state, name, cwd))
            .fold(None, |best, hit| best.max_place(hit));
        found.filter(|hit| !lost || hit.place != Place::FarAbove)
    }

    /// Returns what a text names that is no path.
    fn mention(&self, text: &str) -> Option<Hit> {
        if text.contains(marks::TAINTED) {
            return Some(Hit::new(&self.tainted, Place::Inside));
        }
        let mut bases = self.state.cwds.clone();
        bases.push(self.scene.project());
        code::mention(self.scene, &bases, &marks::plain(text))
    }

    fn base<'b>(&'b self, cwd: &'b str) -> Base<'b> {
        let home = self.state.home.as_deref();
        Base { cwd, home }
    }
}
