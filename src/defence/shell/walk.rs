//! Goes through the commands of a script in order.

use super::lexer::{Direction, Kind, Piece, Token, Word};
use super::marks;
use super::state::State;
use super::{Data, Judged, Place, Shell, readers, too_nested};

/// How deep groups may be nested.
const DEEPEST: usize = 200;
/// Loops whose input is known only at their end are gone through again, but not for ever.
const AGAIN: usize = 12;

/// A command that is being put together.
#[derive(Default)]
struct Current {
    words: Vec<Word>,
    redirects: Vec<(Direction, Word)>,
    input: Option<Word>,
    /// The group that ended here, if this is the end of one.
    group: Option<(usize, usize)>,
}

struct Frame {
    /// The shell before the group.
    saved: State,
    /// It is a shell of its own, which leaves nothing behind.
    apart: bool,
    stdin: Data,
    start: usize,
}

struct Walk<'t> {
    tokens: &'t [Token],
    at: usize,
    frames: Vec<Frame>,
    current: Current,
    stdin: Data,
    piped: Option<Data>,
    out: Data,
    /// The command runs only if others before it did, or did not.
    perhaps: bool,
    /// The shell before the first command of which that holds.
    chain: Option<State>,
    /// In `case`, what comes up to the parenthesis is no command.
    pattern: bool,
}

impl Shell<'_> {
    pub(in crate::defence) fn walk(&mut self, tokens: &[Token], stdin: Data) -> Judged<Data> {
        let mut walk = Walk {
            tokens,
            at: 0,
            frames: Vec::new(),
            current: Current::default(),
            stdin,
            piped: None,
            out: Data::Unknown,
            perhaps: false,
            chain: None,
            pattern: false,
        };
        while let Some(token) = walk.tokens.get(walk.at) {
            walk.at += 1;
            self.token(&mut walk, token)?;
        }
        self.finish(&mut walk, false)?;
        self.end_chain(&mut walk);
        Ok(walk.out)
    }

    fn token(&mut self, walk: &mut Walk, token: &Token) -> Judged<()> {
        if walk.pattern {
            walk.pattern = *token != Token::Close && keyword(token) != Some("esac".into());
            if walk.pattern || *token == Token::Close {
                return Ok(());
            }
        }
        match token {
            Token::Word(word) => self.word(walk, word)?,
            Token::Redirect(direction) => {
                if let Some(Token::Word(word)) = walk.tokens.get(walk.at) {
                    walk.at += 1;
                    walk.current.redirects.push((*direction, word.clone()));
                }
            }
            Token::Input(word) => walk.current.input = Some(word.clone()),
            Token::Pipe => {
                self.finish(walk, true)?;
                self.state.doubt(true);
                walk.perhaps = true;
                walk.piped = Some(std::mem::replace(&mut walk.out, Data::Unknown));
            }
            Token::And | Token::Or => {
                self.finish(walk, false)?;
                if *token == Token::Or {
                    self.state.doubt(true);
                }
                if walk.chain.is_none() {
                    self.spend(self.state.size(), "")?;
                    walk.chain = Some(self.state.clone());
                }
                walk.perhaps = true;
            }
            Token::Background | Token::End | Token::CaseEnd => {
                let background = *token == Token::Background;
                self.finish(walk, background)?;
                self.state.doubt(background);
                self.end_chain(walk);
                walk.pattern = *token == Token::CaseEnd;
            }
            Token::Open => self.open(walk)?,
            Token::Close => {
                self.finish(walk, false)?;
                self.end_chain(walk);
                self.leave(walk);
            }
        }
        Ok(())
    }

    fn end_chain(&mut self, walk: &mut Walk) {
        walk.perhaps = false;
        walk.piped = None;
        self.state.doubt(false);
        if let Some(before) = walk.chain.take() {
            self.state.merge(&before);
        }
    }

    fn word(&mut self, walk: &mut Walk, word: &Word) -> Judged<()> {
        if !walk.current.words.is_empty() || !walk.current.redirects.is_empty() {
            walk.current.words.push(word.clone());
            return Ok(());
        }
        let name = keyword_of(word).unwrap_or_default();
        match name.as_str() {
            "if" | "while" | "until" => self.enter(walk, false)?,
            "for" | "select" | "foreach" if self.kind == Kind::Posix => {
                self.enter(walk, false)?;
                self.each(walk)?;
            }
            "case" => {
                self.enter(walk, false)?;
                while let Some(token) = walk.tokens.get(walk.at) {
                    walk.at += 1;
                    if keyword(token) == Some("in".into()) {
                        break;
                    }
                }
                walk.pattern = true;
            }
            "{" => self.enter(walk, false)?,
            "}" | "fi" | "done" | "esac" => {
                self.end_chain(walk);
                self.leave(walk);
            }
            "else" | "elif" => {
                if let Some(frame) = walk.frames.last() {
                    self.state.merge(&frame.saved);
                }
            }
            "then" | "do" | "!" | "coproc" => {}
            "function" => {
                if let Some(Token::Word(name)) = walk.tokens.get(walk.at) {
                    walk.at += 1;
                    self.shadow(name);
                }
            }
            _ => walk.current.words.push(word.clone()),
        }
        Ok(())
    }

    fn shadow(&mut self, name: &Word) {
        let name = keyword_of(name).unwrap_or_default();
        self.state.shadowed.insert(name);
    }

    /// Reads `for x in a b c`.
    fn each(&mut self, walk: &mut Walk) -> Judged<()> {
        let Some(Token::Word(name)) = walk.tokens.get(walk.at) else {
            return Ok(());
        };
        let name = keyword_of(name).unwrap_or_default();
        walk.at += 1;
        let mut values = Vec::new();
        while let Some(Token::Word(word)) = walk.tokens.get(walk.at) {
            walk.at += 1;
            values.extend(self.expand(word)?.words);
        }
        if values.first().map(String::as_str) == Some("in") {
            values.remove(0);
        }
        let protected = values.iter().find_map(|value| {
            let hit = self.hit(value)?;
            (hit.place >= Place::Above && values.len() > 8).then_some(hit)
        });
        // Of many values only some are kept; one that is protected has to be.
        if let Some(hit) = protected {
            self.tainted = hit.path;
            values = vec![marks::TAINTED.to_string()];
        }
        self.state.assign(&name, values, false);
        Ok(())
    }

    fn enter(&mut self, walk: &mut Walk, apart: bool) -> Judged<()> {
        if walk.frames.len() >= DEEPEST {
            return Err(too_nested("("));
        }
        self.spend(self.state.size(), "")?;
        let inherited = walk.frames.last().map(|frame| &frame.stdin);
        let stdin = walk.piped.take();
        let stdin = stdin.unwrap_or_else(|| inherited.unwrap_or(&walk.stdin).clone());
        walk.frames.push(Frame {
            saved: self.state.clone(),
            apart,
            stdin,
            start: walk.at,
        });
        walk.perhaps = false;
        if let Some(frame) = walk.frames.last_mut()
            && let Some(chain) = walk.chain.take()
        {
            frame.saved.merge(&chain);
        }
        Ok(())
    }

    fn leave(&mut self, walk: &mut Walk) {
        let Some(frame) = walk.frames.pop() else {
            return;
        };
        if frame.apart {
            self.state.restore(frame.saved);
        } else {
            self.state.merge(&frame.saved);
        }
        walk.current.group = Some((frame.start, walk.at.saturating_sub(1)));
    }

    fn open(&mut self, walk: &mut Walk) -> Judged<()> {
        if self.kind == Kind::Windows {
            return Ok(());
        }
        let last = walk.current.words.last();
        let is_list =
            last.is_some_and(|word| assigned(word).is_some_and(|(_, rest)| rest.is_empty()));
        if is_list {
            return self.list(walk);
        }
        if walk.tokens.get(walk.at) == Some(&Token::Close) && walk.current.words.len() == 1 {
            walk.at += 1;
            if let Some(name) = walk.current.words.pop() {
                self.shadow(&name);
            }
            return Ok(());
        }
        self.finish(walk, false)?;
        self.enter(walk, true)
    }

    /// Reads `x=(a b c)`.
    fn list(&mut self, walk: &mut Walk) -> Judged<()> {
        let Some((name, _)) = walk.current.words.pop().and_then(|word| assigned(&word)) else {
            return Ok(());
        };
        let mut values = Vec::new();
        while let Some(token) = walk.tokens.get(walk.at) {
            walk.at += 1;
            match token {
                Token::Close => break,
                Token::Word(word) => values.extend(self.expand(word)?.words),
                _ => {}
            }
        }
        // All at once is what `${x[@]}` gives.
        let all = values.join(" ");
        values.insert(0, all);
        self.state.assign(&name, values, true);
        Ok(())
    }

    /// Looks at the command that was put together.
    fn finish(&mut self, walk: &mut Walk, apart: bool) -> Judged<()> {
        let current = std::mem::take(&mut walk.current);
        if current.words.is_empty() && current.redirects.is_empty() && current.input.is_none() {
            return Ok(());
        }
        let inherited = walk.frames.last().map_or(&walk.stdin, |frame| &frame.stdin);
        let mut stdin = walk.piped.take().unwrap_or_else(|| inherited.clone());
        let mut targets = Vec::new();
        for (direction, word) in &current.redirects {
            self.redirect(*direction, word, &mut stdin, &mut targets)?;
        }
        if let Some(word) = &current.input {
            stdin = Data::Known(self.text(word)?);
        }
        if let Some((start, end)) = current.group {
            return self.again(walk, start, end, stdin);
        }
        let perhaps = walk.perhaps || apart;
        walk.out = self.simple(&current.words, stdin, perhaps)?;
        for target in targets {
            self.state.files.insert(target, walk.out.clone());
        }
        Ok(())
    }

    /// Goes through a group again, now that it is known what it reads.
    fn again(&mut self, walk: &mut Walk, start: usize, end: usize, stdin: Data) -> Judged<()> {
        let body = walk.tokens.get(start..end).unwrap_or_default();
        if stdin == Data::Unknown || self.depth >= AGAIN {
            return Ok(());
        }
        self.spend(body.len(), "")?;
        self.depth += 1;
        let out = self.walk(body, stdin);
        self.depth -= 1;
        walk.out = out?;
        Ok(())
    }

    fn redirect(
        &mut self,
        direction: Direction,
        word: &Word,
        stdin: &mut Data,
        targets: &mut Vec<String>,
    ) -> Judged<()> {
        if direction == Direction::Text {
            *stdin = Data::Known(self.text(word)?);
            return Ok(());
        }
        for target in self.expand(word)?.words {
            let known = self.state.files.get(&self.absolute(&target)).cloned();
            match direction {
                Direction::Out => {
                    let how = format!("> {target}");
                    self.forbid_path(&target, Place::Above, &how)?;
                    targets.push(self.absolute(&target));
                }
                _ => {
                    let tainted = self.place(&target).filter(|hit| hit.place == Place::Inside);
                    let tainted = tainted.map(|hit| Data::Tainted(hit.path));
                    *stdin = known.or(tainted).unwrap_or(Data::Unknown);
                }
            }
        }
        Ok(())
    }

    fn forbid_path(&self, path: &str, least: Place, by: &str) -> Judged<()> {
        match self.place(path) {
            Some(hit) if hit.place >= least => Err(self.refusal(hit, by)),
            _ => Ok(()),
        }
    }

    /// Looks at one command: its assignments, and its words.
    fn simple(&mut self, words: &[Word], stdin: Data, perhaps: bool) -> Judged<Data> {
        let mut rest = words;
        let mut set = Vec::new();
        while let Some((first, after)) = rest.split_first() {
            let Some((name, value)) = assigned(first) else {
                break;
            };
            set.push((name, self.values(&value)?));
            rest = after;
        }
        let prefix = !rest.is_empty();
        let mut given = Vec::new();
        for (name, values) in set {
            let values = values.iter().map(|value| marks::plain_but_unknown(value));
            let values: Vec<String> = values.collect();
            given.extend(values.iter().cloned());
            self.state.assign(&name, values, perhaps || prefix);
        }
        let mut all = Vec::new();
        for (index, word) in rest.iter().enumerate() {
            let expanded = self.expand(word)?;
            if index == 0 && expanded.ambiguous {
                self.ambiguous(&expanded.words, rest, &stdin)?;
            }
            all.extend(expanded.words);
        }
        // A program may write where a variable of its own says: `GIT_WORK_TREE=… git checkout`.
        if prefix && !readers::is_reader(&all) {
            let by = all.join(" ");
            given
                .iter()
                .try_for_each(|value| self.forbid(value, Place::Inside, &by))?;
        }
        self.command(all, stdin)
    }

    /// Looks at each command that a word may stand for.
    fn ambiguous(&mut self, names: &[String], rest: &[Word], stdin: &Data) -> Judged<()> {
        let mut args = Vec::new();
        for word in rest.iter().skip(1) {
            args.extend(self.expand(word)?.words);
        }
        for name in names.iter().take(16) {
            let words = [name.clone()].into_iter().chain(args.iter().cloned());
            self.command(words.collect(), stdin.clone())?;
        }
        Ok(())
    }

    /// Returns the absolute path of a word, from the first folder the shell may be in.
    pub(in crate::defence) fn absolute(&self, name: &str) -> String {
        let cwd = self.state.cwds.first().map_or("/", String::as_str);
        let name = marks::plain(name);
        super::super::paths::folded_parts(&name, self.base(cwd)).join("/")
    }
}

fn keyword(token: &Token) -> Option<String> {
    match token {
        Token::Word(word) => keyword_of(word),
        _ => None,
    }
}

/// Returns a word that is nothing but text.
fn keyword_of(word: &Word) -> Option<String> {
    match word.as_slice() {
        [Piece::Text(text)] => Some(marks::plain(text)),
        _ => None,
    }
}

/// Takes `name=value` apart.
fn assigned(word: &Word) -> Option<(String, Word)> {
    let Some(Piece::Text(text)) = word.first() else {
        return None;
    };
    let (name, value) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split([marks::OPEN]).next().unwrap_or(name);
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if !starts || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut rest = word.get(1..).unwrap_or_default().to_vec();
    if !value.is_empty() {
        rest.insert(0, Piece::Text(value.to_owned()));
    }
    Some((name.to_owned(), rest))
}
