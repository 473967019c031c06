//! `fd`, as a search like that of `find`.

use super::super::{Data, Judged, Shell, marks};
use super::expression::{Action, Expression, Query, Test};
use super::pattern::Pattern;

/// Short options with a value.
const SHORT: &str = "tdESecjoC";
/// Long options with a value.
const LONG: &[&str] = &[
    "--type",
    "--max-depth",
    "--maxdepth",
    "--min-depth",
    "--exact-depth",
    "--exclude",
    "--extension",
    "--size",
    "--changed-within",
    "--change-newer-than",
    "--newer",
    "--changed-before",
    "--change-older-than",
    "--older",
    "--owner",
    "--color",
    "--hyperlink",
    "--threads",
    "--format",
    "--max-results",
    "--max-buffer-time",
    "--batch-size",
    "--ignore-file",
    "--ignore-contain",
    "--path-separator",
    "--search-path",
    "--base-directory",
    "--and",
];
/// What stands for what is found, or for a part of it.
const PLACES: &[&str] = &["{/.}", "{//}", "{/}", "{.}"];

/// What the words of `fd` say.
#[derive(Default)]
struct Given {
    operands: Vec<String>,
    places: Vec<String>,
    base: Option<String>,
    sorts: Vec<String>,
    endings: Vec<String>,
    most: Option<usize>,
    hidden: bool,
    glob: bool,
    fixed: bool,
    whole: bool,
    case: bool,
    follows: bool,
    command: Option<Vec<String>>,
}

impl Shell<'_> {
    /// Looks at `fd`, which leaves out hidden names unless it is told not to.
    pub(in crate::defence) fn fd(&mut self, args: &[String]) -> Judged<Data> {
        let by = format!("fd {}", args.join(" "));
        let given = Given::read(args);
        let saved = (self.state.cwds.clone(), self.state.before.clone());
        if let Some(base) = &given.base {
            self.go(base, false);
        }
        let mut roots = given.places.clone();
        roots.extend(given.operands.iter().skip(1).cloned());
        if roots.is_empty() {
            roots.push(".".to_owned());
        }
        let out = self.found(&roots, &given.query(args.len()), &by);
        (self.state.cwds, self.state.before) = saved;
        out
    }
}

impl Given {
    fn read(args: &[String]) -> Self {
        let mut given = Self::default();
        let mut at = 0;
        let mut only_operands = false;
        while let Some(arg) = args.get(at) {
            at += 1;
            let rest = args.get(at..).unwrap_or_default();
            if only_operands || !arg.starts_with('-') || arg.len() < 2 {
                given.operands.push(arg.clone());
            } else if arg == "--" {
                only_operands = true;
            } else if matches!(arg.as_str(), "-x" | "-X" | "--exec" | "--exec-batch") {
                let end = rest.iter().position(|word| word == ";");
                let end = end.unwrap_or(rest.len());
                given.run(rest.get(..end).unwrap_or_default());
                at += end + 1;
            } else if let Some((name, value)) =
                arg.split_once('=').filter(|_| arg.starts_with("--"))
            {
                given.long(name, value);
            } else if arg.starts_with("--") {
                let valued = LONG.contains(&arg.as_str());
                given.long(
                    arg,
                    rest.first().filter(|_| valued).map_or("", String::as_str),
                );
                at += usize::from(valued);
            } else {
                at += given.cluster(arg, rest);
            }
        }
        given
    }

    fn run(&mut self, words: &[String]) {
        let place = |word: &String| {
            PLACES
                .iter()
                .fold(word.clone(), |word, it| word.replace(it, "{}"))
        };
        let mut words: Vec<String> = words.iter().map(place).collect();
        if !words.iter().any(|word| word.contains("{}")) {
            words.push("{}".to_owned());
        }
        self.command = Some(words);
    }

    /// Reads short options, and says how many of the next words are values.
    fn cluster(&mut self, arg: &str, rest: &[String]) -> usize {
        let letters = arg.char_indices().skip(1);
        for (at, letter) in letters {
            let attached = arg.get(at + letter.len_utf8()..).unwrap_or_default();
            if matches!(letter, 'x' | 'X') {
                self.run(rest);
                return rest.len();
            }
            if SHORT.contains(letter) {
                let next = rest.first().map_or("", String::as_str);
                let value = if attached.is_empty() { next } else { attached };
                self.valued(letter, value.trim_start_matches('='));
                return usize::from(attached.is_empty());
            }
            match letter {
                'H' | 'u' => self.hidden = true,
                'g' => self.glob = true,
                'F' => self.fixed = true,
                'p' => self.whole = true,
                's' => self.case = true,
                'L' => self.follows = true,
                _ => {}
            }
        }
        0
    }

    fn long(&mut self, name: &str, value: &str) {
        match name {
            "--hidden" | "--unrestricted" => self.hidden = true,
            "--glob" => self.glob = true,
            "--fixed-strings" | "--literal" => self.fixed = true,
            "--full-path" => self.whole = true,
            "--case-sensitive" => self.case = true,
            "--follow" => self.follows = true,
            "--type" => self.valued('t', value),
            "--extension" => self.valued('e', value),
            "--max-depth" | "--maxdepth" | "--exact-depth" => self.valued('d', value),
            "--base-directory" => self.valued('C', value),
            "--search-path" => self.places.push(value.to_owned()),
            _ => {}
        }
    }

    fn valued(&mut self, letter: char, value: &str) {
        match letter {
            't' => self.sorts.push(value.to_owned()),
            'e' => self.endings.push(value.trim_start_matches('.').to_owned()),
            'd' => self.most = value.parse().ok(),
            'C' => self.base = Some(value.to_owned()),
            _ => {}
        }
    }

    fn query(&self, size: usize) -> Query {
        let mut tests = Vec::new();
        let pattern = self.operands.first().filter(|text| !text.is_empty());
        let pattern = pattern.filter(|text| text.as_str() != ".");
        tests.extend(pattern.map(|text| Expression::Test(self.pattern(text))));
        if !self.endings.is_empty() {
            let ending = |end: &String| Pattern::shell(&format!("*.{end}"), true);
            let endings = self.endings.iter().map(|end| Test::Name(ending(end)));
            tests.push(Expression::Or(endings.map(Expression::Test).collect()));
        }
        if !self.sorts.is_empty() {
            tests.push(Expression::Test(self.sort()));
        }
        let named = !tests.is_empty();
        let command = self.command.clone();
        let action = command.map(|words| Action::Run {
            words,
            there: false,
        });
        let mut query = Query::of(Expression::And(tests), action);
        if !self.hidden {
            let hidden = Expression::Test(Test::Name(Pattern::shell(".*", false)));
            let hidden = Expression::And(vec![hidden, Expression::Prune]);
            query.expression = Expression::Or(vec![hidden, query.expression]);
        }
        query.named = named;
        query.size = size + 4;
        query.least = 1;
        query.most = self.most;
        query.follows = self.follows;
        query
    }

    fn pattern(&self, text: &str) -> Test {
        let text = marks::plain_but_unknown(text);
        let caseless = !self.case && !text.chars().any(char::is_uppercase);
        if self.whole || self.glob && text.contains(['{', '/']) {
            return Test::Unknown;
        }
        Test::Name(match (self.glob, self.fixed) {
            (true, _) => Pattern::shell(&text, caseless),
            (_, true) => Pattern::expression(&regex::escape(&text), caseless),
            _ => Pattern::expression(&text, caseless),
        })
    }

    fn sort(&self) -> Test {
        let letter = |sort: &String| match sort.as_str() {
            "f" | "file" => Some('f'),
            "d" | "dir" | "directory" => Some('d'),
            "l" | "symlink" => Some('l'),
            _ => None,
        };
        let letters: Option<String> = self.sorts.iter().map(letter).collect();
        letters.map_or(Test::Unknown, Test::Sort)
    }
}
