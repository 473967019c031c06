//! The expression of `find`: tests, what joins them, and what is done where they are met.

use super::super::marks;
use super::pattern::{self, Pattern};

/// How deep parentheses may be nested.
const DEEPEST: usize = 32;

#[derive(Debug)]
pub(super) enum Expression {
    Test(Test),
    Not(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    /// Joined by commas: all are gone through, and the last counts.
    List(Vec<Expression>),
    Prune,
    /// The number of an action.
    Act(usize),
}

#[derive(Debug)]
pub(super) enum Test {
    Name(Pattern),
    Path(Pattern),
    /// The letters of what it may be.
    Sort(String),
    Link,
    Empty,
    Known(bool),
    Unknown,
}

#[derive(Debug)]
pub(super) enum Action {
    Delete,
    /// A command, and whether it runs in the folder of what was found.
    Run {
        words: Vec<String>,
        there: bool,
    },
    Print,
}

/// All that `find` is told after where to look.
#[derive(Debug)]
pub(super) struct Query {
    pub expression: Expression,
    pub actions: Vec<Action>,
    /// What lies in a folder comes before the folder, so that nothing is pruned.
    pub deep: bool,
    pub least: usize,
    pub most: Option<usize>,
    /// It goes through links.
    pub follows: bool,
    /// Names are among what is tested.
    pub named: bool,
    /// Files that it writes what it finds into.
    pub writes: Vec<String>,
    /// How much there is to look at.
    pub size: usize,
}

impl Query {
    /// Reads an expression; nothing if it is nested too deep. Regular expressions are those
    /// of Emacs, or others.
    pub(super) fn read(words: &[String], other_regex: bool) -> Option<Self> {
        let mut reader = Reader::new(words);
        reader.other_regex = other_regex;
        let mut parts = Vec::new();
        while reader.at < words.len() {
            parts.push(reader.list(0)?);
            // A parenthesis that was never opened.
            reader.at += 1;
        }
        let mut query = reader.query;
        query.expression = Expression::And(parts);
        query.or_print();
        Some(query)
    }

    /// Makes one of a single expression, with an action or without.
    pub(super) fn of(expression: Expression, action: Option<Action>) -> Self {
        let mut query = Self::empty(0);
        query.expression = expression;
        if let Some(action) = action {
            query.actions.push(action);
            query.then(0);
        }
        query.or_print();
        query
    }

    fn empty(size: usize) -> Self {
        Self {
            expression: Expression::And(Vec::new()),
            actions: Vec::new(),
            deep: false,
            least: 0,
            most: None,
            follows: false,
            named: false,
            writes: Vec::new(),
            size,
        }
    }

    fn then(&mut self, action: usize) {
        let before = std::mem::replace(&mut self.expression, Expression::Prune);
        self.expression = Expression::And(vec![before, Expression::Act(action)]);
    }

    /// Prints what is found if nothing else is to be done.
    fn or_print(&mut self) {
        if self.actions.is_empty() && self.writes.is_empty() {
            self.actions.push(Action::Print);
            self.then(0);
        }
    }

    /// Says whether it does more than to print.
    pub(super) fn acts(&self) -> bool {
        let prints = |action: &Action| matches!(action, Action::Print);
        !self.actions.iter().all(prints)
    }
}

struct Reader<'w> {
    words: &'w [String],
    at: usize,
    query: Query,
    /// Expressions are not those of Emacs.
    other_regex: bool,
}

impl<'w> Reader<'w> {
    fn new(words: &'w [String]) -> Self {
        Self {
            words,
            at: 0,
            query: Query::empty(words.len()),
            other_regex: false,
        }
    }

    /// Returns the next word, without the backslash that another shell would have taken off.
    fn peek(&self) -> Option<&'w str> {
        let word = self.words.get(self.at)?;
        match word.strip_prefix('\\') {
            Some(bare @ ("(" | ")" | "!")) => Some(bare),
            _ => Some(word),
        }
    }

    fn value(&mut self) -> &'w str {
        let value = self.words.get(self.at).map_or("", String::as_str);
        self.at += 1;
        value
    }

    fn list(&mut self, depth: usize) -> Option<Expression> {
        let mut all = vec![self.or(depth)?];
        while self.peek() == Some(",") {
            self.at += 1;
            all.push(self.or(depth)?);
        }
        Some(single(all, Expression::List))
    }

    fn or(&mut self, depth: usize) -> Option<Expression> {
        let mut all = vec![self.and(depth)?];
        while matches!(self.peek(), Some("-o" | "-or")) {
            self.at += 1;
            all.push(self.and(depth)?);
        }
        Some(single(all, Expression::Or))
    }

    fn and(&mut self, depth: usize) -> Option<Expression> {
        let mut all = Vec::new();
        while let Some(word) = self.peek() {
            match word {
                ")" | "," | "-o" | "-or" => break,
                "-a" | "-and" => self.at += 1,
                _ => all.push(self.one(depth)?),
            }
        }
        Some(single(all, Expression::And))
    }

    fn one(&mut self, depth: usize) -> Option<Expression> {
        let mut negated = false;
        while matches!(self.peek(), Some("!" | "-not")) {
            negated = !negated;
            self.at += 1;
        }
        let one = match self.peek() {
            Some("(") if depth >= DEEPEST => return None,
            Some("(") => {
                self.at += 1;
                let inner = self.list(depth + 1)?;
                self.at += usize::from(self.peek() == Some(")"));
                inner
            }
            Some(")" | "," | "-o" | "-or" | "-a" | "-and") | None => Expression::And(Vec::new()),
            Some(word) => {
                self.at += 1;
                self.primary(word)
            }
        };
        Some(match negated {
            true => Expression::Not(Box::new(one)),
            false => one,
        })
    }

    fn primary(&mut self, word: &str) -> Expression {
        match word {
            "-prune" => return Expression::Prune,
            "-delete" => {
                self.query.deep = true;
                return self.act(Action::Delete);
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let there = word.ends_with("dir");
                let words = self.command();
                return self.act(Action::Run { words, there });
            }
            "-print" | "-print0" | "-ls" => return self.act(Action::Print),
            "-printf" => {
                self.at += 1;
                return self.act(Action::Print);
            }
            _ => {}
        }
        Expression::Test(self.test(word))
    }

    fn act(&mut self, action: Action) -> Expression {
        self.query.actions.push(action);
        Expression::Act(self.query.actions.len() - 1)
    }

    /// Reads the words of a command, up to what ends it.
    fn command(&mut self) -> Vec<String> {
        let rest = self.words.get(self.at..).unwrap_or_default();
        let before = [""].into_iter().chain(rest.iter().map(String::as_str));
        let mut pairs = before.zip(rest);
        let ends =
            |(before, word): (&str, &String)| word == ";" || word == "+" && before.contains("{}");
        let end = pairs.position(ends).unwrap_or(rest.len());
        self.at += end + 1;
        rest.get(..end).unwrap_or_default().to_vec()
    }

    fn test(&mut self, word: &str) -> Test {
        match word {
            "-name" | "-iname" => {
                self.query.named = true;
                Test::Name(Pattern::shell(self.value(), word == "-iname"))
            }
            "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                self.query.named = true;
                Test::Path(Pattern::shell(self.value(), word.starts_with("-i")))
            }
            "-regex" | "-iregex" => {
                self.query.named = true;
                Test::Path(self.regex(word == "-iregex"))
            }
            "-type" => Test::Sort(self.value().to_owned()),
            "-lname" | "-ilname" | "-xtype" => self.of_links(word),
            "-empty" => Test::Empty,
            "-true" => Test::Known(true),
            "-false" => Test::Known(false),
            _ => self.option(word),
        }
    }

    fn regex(&mut self, caseless: bool) -> Pattern {
        let text = marks::plain_but_unknown(self.value());
        let read = pattern::of_emacs(&text).filter(|_| !self.other_regex);
        read.map_or(Pattern::Unknown, |text| {
            Pattern::expression(&text, caseless)
        })
    }

    fn of_links(&mut self, word: &str) -> Test {
        match self.value() {
            "l" | "" => Test::Link,
            _ if word != "-xtype" => Test::Link,
            _ => Test::Unknown,
        }
    }

    /// Reads what holds for all of the search, and tests that are not looked into.
    fn option(&mut self, word: &str) -> Test {
        match word {
            "-maxdepth" => self.query.most = self.value().parse().ok(),
            "-mindepth" => self.query.least = self.value().parse().unwrap_or_default(),
            "-follow" => self.query.follows = true,
            "-depth" | "-d" => {
                self.query.deep = true;
                // One of BSD has a number.
                let number = self.peek().is_some_and(|next| next.parse::<u32>().is_ok());
                self.at += usize::from(number);
                if number {
                    return Test::Unknown;
                }
            }
            "-regextype" => {
                self.at += 1;
                self.other_regex = true;
            }
            "-daystart"
            | "-mount"
            | "-xdev"
            | "-noleaf"
            | "-warn"
            | "-nowarn"
            | "-ignore_readdir_race"
            | "-noignore_readdir_race" => {}
            "-fprint" | "-fprint0" | "-fls" => self.written(0),
            "-fprintf" => self.written(1),
            _ => {
                self.at += usize::from(takes_value(word));
                return Test::Unknown;
            }
        }
        Test::Known(true)
    }

    fn written(&mut self, more: usize) {
        let file = self.value().to_owned();
        self.query.writes.push(file);
        self.at += more;
    }
}

fn single(mut all: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match (all.len(), all.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            all.extend(last);
            join(all)
        }
    }
}

/// Says whether the next word belongs to a test that is not looked into.
fn takes_value(word: &str) -> bool {
    let exact = [
        "-anewer",
        "-cnewer",
        "-amin",
        "-cmin",
        "-mmin",
        "-atime",
        "-ctime",
        "-mtime",
        "-Bmin",
        "-Btime",
        "-used",
        "-size",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-samefile",
        "-fstype",
        "-context",
        "-flags",
        "-files0-from",
        "-D",
    ];
    exact.contains(&word) || word.starts_with("-newer")
}
