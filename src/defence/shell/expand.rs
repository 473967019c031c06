//! Turns words as they are written into the words that a command gets.

use super::super::glob;
use super::lexer::{self, Kind, Piece, Word};
use super::marks::{self, BRACE, CLOSE, COMMA, SPLIT, STAR, TAINTED, UNKNOWN};
use super::{Data, Judged, Shell};

/// How many words one may become.
const MOST: usize = 64;
/// Longer words are not taken apart at braces.
const LONGEST: usize = 4096;

/// How long all that a word may become is together, in bytes.
const LARGEST: usize = 1 << 22;

/// What one word became.
#[derive(Debug, Default)]
pub(in crate::defence) struct Expanded {
    pub words: Vec<String>,
    /// It may be one of several things.
    pub ambiguous: bool,
}

impl Shell<'_> {
    /// Expands a word into those that a command gets.
    pub(in crate::defence) fn expand(&mut self, word: &Word) -> Judged<Expanded> {
        let values = self.values(word)?;
        let ambiguous = values.len() > 1;
        let mut words = Vec::new();
        for value in values {
            for word in braces(&value) {
                let split = word.split(SPLIT).filter(|part| !part.is_empty());
                words.extend(split.map(unbraced));
            }
        }
        self.spend(words.len(), "")?;
        Ok(Expanded { words, ambiguous })
    }

    /// Expands a word into one, as in an assignment: each value that it may have.
    pub(in crate::defence) fn values(&mut self, word: &Word) -> Judged<Vec<String>> {
        let mut all = vec![String::new()];
        for piece in word {
            let next = self.piece(piece)?;
            self.fits(length(&all) * next.len() + length(&next) * all.len())?;
            all = product(all, &next);
        }
        self.spend(length(&all) / 16, "")?;
        Ok(all)
    }

    /// Expands a word into the text that it stands for.
    pub(in crate::defence) fn text(&mut self, word: &Word) -> Judged<String> {
        let values = self.values(word)?;
        Ok(values.join("\n").replace(SPLIT, " "))
    }

    /// Refuses words that double until no memory holds them.
    fn fits(&self, length: usize) -> Judged<()> {
        match length > LARGEST {
            true => Err(super::too_much("a long word")),
            false => Ok(()),
        }
    }

    fn piece(&mut self, piece: &Piece) -> Judged<Vec<String>> {
        match piece {
            Piece::Text(text) => Ok(vec![text.clone()]),
            Piece::Variable { name, rest, quoted } => {
                let values = self.variable(name, rest)?;
                let live = |value: String| match quoted {
                    true => value,
                    false => value.chars().map(marks::live_value).collect(),
                };
                Ok(values.into_iter().map(live).collect())
            }
            Piece::Output { command, quoted } => {
                let out = self.apart(command, Data::Unknown)?;
                let text = self.stand_in(&out);
                Ok(vec![match quoted {
                    true => text,
                    false => text.chars().map(marks::live_value).collect(),
                }])
            }
            Piece::Feed(command) => {
                let data = self.apart(command, Data::Unknown)?;
                self.feeds += 1;
                let name = format!("/dev/fd/feed-{}", self.feeds);
                let file = self.absolute(&name);
                self.state.files.insert(file, data);
                Ok(vec![name])
            }
        }
    }

    /// Returns what stands for the output of a command in a word.
    pub(in crate::defence) fn stand_in(&mut self, data: &Data) -> String {
        match data {
            Data::Known(text) => text.trim_end_matches('\n').to_owned(),
            Data::Unknown => UNKNOWN.to_string(),
            Data::Tree(folder) => folder.clone(),
            Data::Tainted(path) => {
                self.tainted.clone_from(path);
                TAINTED.to_string()
            }
        }
    }

    fn lookup(&self, name: &str) -> Vec<String> {
        match name {
            "PWD" => return self.state.cwds.clone(),
            "OLDPWD" => return self.state.cwds.iter().chain(self.old()).cloned().collect(),
            _ => {}
        }
        let found = self.state.variables.get(name);
        // PowerShell does not mind the case of its variables.
        let found = found.or_else(|| match self.kind {
            Kind::Windows => self.state.variables.get(&name.to_uppercase()),
            Kind::Posix => None,
        });
        found.cloned().unwrap_or_else(|| vec![UNKNOWN.to_string()])
    }

    fn old(&self) -> &[String] {
        let old = self.state.variables.get("OLDPWD");
        old.map_or(&[], Vec::as_slice)
    }

    fn variable(&mut self, name: &str, rest: &str) -> Judged<Vec<String>> {
        let (sign, rest) = match rest.strip_prefix('\0') {
            Some(rest) => rest.split_at_checked(1).unwrap_or(("", rest)),
            None => ("", rest),
        };
        let mut values = self.lookup(name);
        match sign {
            "#" => return Ok(vec![UNKNOWN.to_string()]),
            "!" => values = values.iter().flat_map(|name| self.lookup(name)).collect(),
            _ => {}
        }
        if rest.is_empty() {
            return Ok(values);
        }
        if self.depth >= super::DEEPEST {
            return Err(super::too_nested(rest));
        }
        self.spend(rest.len(), rest)?;
        self.depth += 1;
        let word = lexer::read_text(&rest.replace(['\'', '"'], ""), self.bare);
        let rest = self.text(&word);
        self.depth -= 1;
        let rest = rest?;
        if let Some((from, to)) = rest.trim_start_matches('/').split_once('/') {
            let times = values.iter().map(|value| value.matches(from).count());
            self.fits(times.sum::<usize>() * to.len())?;
        }
        Ok(self.modified(name, values, &rest))
    }

    /// Applies what follows a variable's name: defaults, cuts and replacements.
    fn modified(&mut self, name: &str, values: Vec<String>, rest: &str) -> Vec<String> {
        let bare = rest.trim_start_matches(':');
        let mut chars = bare.chars();
        let (first, text) = (chars.next().unwrap_or_default(), chars.as_str());
        let missing = values
            .iter()
            .any(|value| value.is_empty() || value.contains(UNKNOWN));
        match first {
            '-' | '=' | '?' if missing => {
                let mut both = vec![text.to_owned()];
                if first == '=' {
                    self.state.assign(name, both.clone(), true);
                }
                both.extend(values.into_iter().filter(|value| !value.is_empty()));
                both
            }
            '+' => vec![text.to_owned(), String::new()],
            '#' | '%' | '/' => values.iter().map(|value| cut(value, first, text)).collect(),
            c if rest.starts_with(':') && (c.is_ascii_digit() || c == ' ' || c == '-') => {
                values.iter().map(|value| part(value, bare)).collect()
            }
            _ => values,
        }
    }
}

/// Returns a word with the braces that meant nothing.
fn unbraced(word: &str) -> String {
    let typed = |c| match c {
        BRACE => '{',
        COMMA => ',',
        CLOSE => '}',
        c => c,
    };
    word.chars().map(typed).collect()
}

fn length(all: &[String]) -> usize {
    all.iter().map(String::len).sum()
}

fn product(left: Vec<String>, right: &[String]) -> Vec<String> {
    if let [only] = right {
        return left.into_iter().map(|start| start + only).collect();
    }
    if left.len() * right.len() > MOST {
        // Too many to keep apart: anything of them may be in it, or something protected.
        let mark = if right.iter().any(|text| text.contains(TAINTED)) {
            TAINTED
        } else {
            STAR
        };
        return left
            .into_iter()
            .map(|start| format!("{start}{mark}"))
            .collect();
    }
    let ends = |start: String| right.iter().map(move |end| format!("{start}{end}"));
    left.into_iter().flat_map(ends).collect()
}

/// Reads `${x#…}`, `${x%…}` and `${x/…/…}`.
fn cut(value: &str, how: char, text: &str) -> String {
    let text = text.trim_start_matches(how);
    let mark = |text: &str| text.chars().map(marks::live).collect::<String>();
    match how {
        '/' => {
            let (from, to) = text.split_once('/').unwrap_or((text, ""));
            if from.is_empty() || from.contains(['*', '?', '[']) {
                return UNKNOWN.to_string();
            }
            value.replace(from, to)
        }
        '#' => {
            let pattern = mark(text);
            let mut ends = value.char_indices().map(|(at, c)| at + c.len_utf8());
            let end = ends.find(|at| glob::one(&pattern, value.get(..*at).unwrap_or(""), true));
            end.and_then(|at| value.get(at..))
                .unwrap_or(value)
                .to_owned()
        }
        _ => {
            let pattern = mark(text);
            let mut starts = value.char_indices().map(|(at, _)| at).rev();
            let start = starts.find(|at| glob::one(&pattern, value.get(*at..).unwrap_or(""), true));
            start
                .and_then(|at| value.get(..at))
                .unwrap_or(value)
                .to_owned()
        }
    }
}

/// Reads `${x:1:3}`.
fn part(value: &str, range: &str) -> String {
    let (from, length) = range.split_once(':').unwrap_or((range, ""));
    let count = value.chars().count();
    let number = |text: &str| text.trim().parse::<isize>().ok();
    let Some(from) = number(from) else {
        return UNKNOWN.to_string();
    };
    let back = |number: isize| count.saturating_sub(number.unsigned_abs());
    let from = if from < 0 {
        back(from)
    } else {
        from.unsigned_abs()
    };
    let end = match number(length) {
        None => count,
        Some(length) if length < 0 => back(length),
        Some(length) => from.saturating_add(length.unsigned_abs()),
    };
    value.chars().take(end).skip(from).collect()
}

/// Reads `{a,b}` and `{a..c}`.
fn braces(word: &str) -> Vec<String> {
    if !word.contains(BRACE) {
        return vec![word.to_owned()];
    }
    let mut done = Vec::new();
    let mut waiting = vec![word.to_owned()];
    while let Some(word) = waiting.pop() {
        if done.len() + waiting.len() > MOST || word.len() > LONGEST {
            done.push(loose(&word));
            continue;
        }
        match group(&word) {
            Some((before, options, after)) => {
                let fill = |option: &String| format!("{before}{option}{after}");
                waiting.extend(options.iter().rev().map(fill));
            }
            None => done.push(word),
        }
    }
    done
}

/// Takes every group of braces for a wildcard.
fn loose(word: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    for c in word.chars().take(LONGEST) {
        match c {
            BRACE => {
                depth += 1;
                out.push(STAR);
            }
            CLOSE => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// Finds the first group with something to choose from.
fn group(word: &str) -> Option<(&str, Vec<String>, &str)> {
    for (open, _) in word.match_indices(BRACE).take(16) {
        let inner = word.get(open + BRACE.len_utf8()..)?;
        let mut depth = 0usize;
        let mut commas = Vec::new();
        let mut close = None;
        for (at, c) in inner.char_indices() {
            match c {
                BRACE => depth += 1,
                CLOSE if depth == 0 => {
                    close = Some(at);
                    break;
                }
                CLOSE => depth -= 1,
                COMMA if depth == 0 => commas.push(at),
                _ => {}
            }
        }
        let Some(close) = close else { continue };
        let body = inner.get(..close)?;
        let after = inner.get(close + CLOSE.len_utf8()..)?;
        let options = match commas.is_empty() {
            true => sequence(body),
            false => Some(at_commas(body, &commas)),
        };
        if let Some(options) = options {
            return Some((word.get(..open)?, options, after));
        }
    }
    None
}

fn at_commas(body: &str, commas: &[usize]) -> Vec<String> {
    let mut from = 0;
    let mut out = Vec::new();
    for at in commas.iter().copied().chain([body.len()]) {
        out.push(body.get(from..at).unwrap_or_default().to_owned());
        from = at + COMMA.len_utf8();
    }
    out
}

fn sequence(body: &str) -> Option<Vec<String>> {
    let (low, high) = body.split_once("..")?;
    let high = high.split("..").next().unwrap_or(high);
    let single = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    if let (Ok(low), Ok(high)) = (low.parse::<i32>(), high.parse::<i32>()) {
        let numbers = low.min(high)..=low.max(high);
        return Some(numbers.take(MOST).map(|n| n.to_string()).collect());
    }
    let (low, high) = (single(low)?, single(high)?);
    Some(
        (low.min(high)..=low.max(high))
            .take(MOST)
            .map(String::from)
            .collect(),
    )
}
