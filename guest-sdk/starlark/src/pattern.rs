//! Regular expressions for the short texts that hooks look at.
//!
//! A hook runs in a fresh instance and searches a line or two. The crate
//! `regex` takes ten times longer to build its automata than to search such a
//! text, so this takes over after its parser: classes stay ranges of code
//! points, and the search backtracks but enters no fork twice at one place,
//! which keeps the time linear. The matches are those of the crate.

use regex_automata::util::look::{Look, LookMatcher};
use regex_syntax::hir::{self, Class, Hir, HirKind, Repetition};

/// Bounds what one pattern may take once compiled.
pub const SIZE_LIMIT: usize = 1 << 20;

/// The longest text for which building automata does not pay.
const LONGEST: usize = 64 << 10;

/// Bounds the forks to remember, and with them the memory of a search.
const MOST_FORKS: usize = 1 << 19;

enum Step {
    Text(Box<[u8]>),
    Class(Set),
    Look(Look),
    Save(usize),
    /// Tries the one, then the other.
    Fork {
        number: usize,
        one: usize,
        other: usize,
    },
    Jump(usize),
    Match,
}

/// A set of characters.
struct Set {
    ascii: [bool; 128],
    /// What lies beyond, in order.
    ranges: Box<[(char, char)]>,
}

impl Set {
    fn of(class: &Class) -> Self {
        let ranges: Vec<(char, char)> = match class {
            Class::Unicode(class) => class.iter().map(|r| (r.start(), r.end())).collect(),
            Class::Bytes(class) => class
                .iter()
                .map(|r| (r.start().into(), r.end().into()))
                .collect(),
        };
        let mut ascii = [false; 128];
        for &(start, end) in ranges.iter().take_while(|(start, _)| start.is_ascii()) {
            ascii[start as usize..=(end as usize).min(127)].fill(true);
        }
        let beyond = ranges.partition_point(|(_, end)| end.is_ascii());
        Self {
            ascii,
            ranges: ranges[beyond..].into(),
        }
    }

    /// The length of the character at a place, if it is in the set.
    fn width(&self, text: &str, at: usize) -> Option<usize> {
        let byte = *text.as_bytes().get(at)?;
        if let Some(&member) = self.ascii.get(usize::from(byte)) {
            return member.then_some(1);
        }
        let character = text.get(at..)?.chars().next()?;
        let index = self.ranges.partition_point(|&(_, end)| end < character);
        (self.ranges.get(index)?.0 <= character).then(|| character.len_utf8())
    }
}

/// A compiled pattern.
pub struct Pattern {
    steps: Vec<Step>,
    forks: usize,
    /// The groups' names; the first is the whole match.
    groups: Vec<Option<Box<str>>>,
    /// The bytes a match can start with, unless it can be empty.
    starts: Option<[bool; 256]>,
    only_at_start: bool,
}

/// Where the groups of a match lie.
pub struct Found(pub Vec<Option<usize>>);

impl Found {
    pub fn groups(&self) -> usize {
        self.0.len() / 2
    }

    pub fn group<'t>(&self, index: usize, text: &'t str) -> Option<&'t str> {
        text.get((*self.0.get(2 * index)?)?..(*self.0.get(2 * index + 1)?)?)
    }

    /// The ends of the whole match.
    pub fn ends(&self) -> (usize, usize) {
        let end = |slot: usize| self.0.get(slot).copied().flatten().unwrap_or_default();
        (end(0), end(1))
    }
}

impl Pattern {
    /// Compiles a pattern or says what is wrong with it.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let hir = regex_syntax::parse(pattern).map_err(|error| one_line(&error))?;
        let mut compiler = Compiler {
            steps: Vec::new(),
            size: 0,
            forks: 0,
            groups: vec![None],
        };
        compiler
            .hir(&hir)
            .and_then(|()| compiler.push(Step::Match))
            .map_err(|TooLarge| {
                format!("Compiled regex exceeds size limit of {SIZE_LIMIT} bytes.")
            })?;
        let mut pattern = Self {
            steps: compiler.steps,
            forks: compiler.forks,
            groups: compiler.groups,
            starts: None,
            only_at_start: hir
                .properties()
                .look_set_prefix()
                .contains(hir::Look::Start),
        };
        pattern.starts = pattern.starts();
        Ok(pattern)
    }

    /// Whether the text is short enough.
    pub fn suits(&self, text: &str) -> bool {
        text.len() <= LONGEST && self.forks * text.len() <= MOST_FORKS
    }

    /// The number of the group with a name.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.groups
            .iter()
            .position(|known| known.as_deref() == Some(name))
    }

    fn starts(&self) -> Option<[bool; 256]> {
        let mut starts = [false; 256];
        let mut seen = vec![false; self.steps.len()];
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match &self.steps[at] {
                Step::Text(text) => starts[usize::from(text[0])] = true,
                Step::Class(set) => {
                    for (start, member) in starts.iter_mut().zip(set.ascii) {
                        *start |= member;
                    }
                    if !set.ranges.is_empty() {
                        starts[128..].fill(true);
                    }
                }
                Step::Look(_) | Step::Save(_) => waiting.push(at + 1),
                Step::Fork { one, other, .. } => waiting.extend([*one, *other]),
                Step::Jump(to) => waiting.push(*to),
                Step::Match => return None,
            }
        }
        Some(starts)
    }

    /// Finds the leftmost match that starts at `from` or later.
    pub fn search(&self, text: &str, from: usize) -> Option<Found> {
        let mut search = Search::new(self, text, from);
        let last = if self.only_at_start { 0 } else { text.len() };
        let mut start = from;
        while start <= last {
            let byte = text.as_bytes().get(start);
            let possible = self
                .starts
                .as_ref()
                .is_none_or(|starts| byte.is_some_and(|byte| starts[usize::from(*byte)]));
            if possible && text.is_char_boundary(start) && search.at(start) {
                return Some(Found(search.slots));
            }
            start += 1;
        }
        None
    }

    /// Finds the match that starts where the text starts.
    pub fn search_at_start(&self, text: &str) -> Option<Found> {
        let mut search = Search::new(self, text, 0);
        search.at(0).then_some(Found(search.slots))
    }

    /// Finds all matches that do not overlap.
    pub fn all(&self, text: &str) -> Vec<Found> {
        let mut all = Vec::new();
        let mut from = 0;
        let mut last_end = None;
        while let Some(mut found) = self.search(text, from) {
            let (start, end) = found.ends();
            if start == end && last_end == Some(end) {
                // An empty match right behind another does not count.
                match self.search(text, from + 1) {
                    Some(next) if from < text.len() => found = next,
                    _ => break,
                }
            }
            from = found.ends().1;
            last_end = Some(from);
            all.push(found);
        }
        all
    }
}

/// The crate draws the pattern with a marker under it; the last line holds
/// what is wrong.
fn one_line(error: &regex_syntax::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}

struct TooLarge;

struct Compiler {
    steps: Vec<Step>,
    size: usize,
    forks: usize,
    groups: Vec<Option<Box<str>>>,
}

impl Compiler {
    fn push(&mut self, step: Step) -> Result<(), TooLarge> {
        self.size += size_of::<Step>();
        if let Step::Class(set) = &step {
            self.size += size_of_val(&*set.ranges);
        }
        if self.size > SIZE_LIMIT {
            return Err(TooLarge);
        }
        self.steps.push(step);
        Ok(())
    }

    /// Adds a fork into what follows it; its other way is set by `lead`.
    fn fork(&mut self) -> Result<usize, TooLarge> {
        let (number, at) = (self.forks, self.steps.len());
        self.forks += 1;
        self.push(Step::Fork {
            number,
            one: at + 1,
            other: at + 1,
        })?;
        Ok(at)
    }

    /// Leads a fork's other way to `to`, or a jump. A lazy fork prefers it.
    fn lead(&mut self, at: usize, to: usize, greedy: bool) {
        match &mut self.steps[at] {
            Step::Fork { one, .. } if !greedy => *one = to,
            Step::Fork { other: target, .. } | Step::Jump(target) => *target = to,
            _ => {}
        }
    }

    fn hir(&mut self, hir: &Hir) -> Result<(), TooLarge> {
        match hir.kind() {
            HirKind::Empty => Ok(()),
            HirKind::Literal(text) => self.push(Step::Text(text.0.clone())),
            HirKind::Class(class) => self.push(Step::Class(Set::of(class))),
            HirKind::Look(look) => match Look::from_repr(look.as_repr()) {
                Some(look) => self.push(Step::Look(look)),
                None => Err(TooLarge),
            },
            HirKind::Repetition(repetition) => self.repetition(repetition),
            HirKind::Capture(group) => {
                let index = group.index as usize;
                if self.groups.len() <= index {
                    self.groups.resize(index + 1, None);
                }
                self.groups[index].clone_from(&group.name);
                self.push(Step::Save(2 * index))?;
                self.hir(&group.sub)?;
                self.push(Step::Save(2 * index + 1))
            }
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.hir(part)),
            HirKind::Alternation(parts) => self.alternation(parts),
        }
    }

    fn alternation(&mut self, parts: &[Hir]) -> Result<(), TooLarge> {
        let Some((last, parts)) = parts.split_last() else {
            return Ok(());
        };
        let mut jumps = Vec::with_capacity(parts.len());
        for part in parts {
            let fork = self.fork()?;
            self.hir(part)?;
            jumps.push(self.steps.len());
            self.push(Step::Jump(0))?;
            self.lead(fork, self.steps.len(), true);
        }
        self.hir(last)?;
        for jump in jumps {
            self.lead(jump, self.steps.len(), true);
        }
        Ok(())
    }

    fn repetition(&mut self, repetition: &Repetition) -> Result<(), TooLarge> {
        let Repetition {
            min, max, greedy, ..
        } = *repetition;
        let part = &*repetition.sub;
        let once_more = max.is_none() && min > 0;
        for _ in 0..min - u32::from(once_more) {
            self.hir(part)?;
        }
        let Some(max) = max else {
            return self.endless(part, min, greedy);
        };
        let mut forks = Vec::new();
        for _ in min..max {
            forks.push(self.fork()?);
            self.hir(part)?;
        }
        for fork in forks {
            self.lead(fork, self.steps.len(), greedy);
        }
        Ok(())
    }

    /// Adds `part*`, or `part+` if it must occur.
    fn endless(&mut self, part: &Hir, min: u32, greedy: bool) -> Result<(), TooLarge> {
        let never_empty = part.properties().minimum_len().is_some_and(|len| len > 0);
        if min == 0 && never_empty {
            let fork = self.fork()?;
            self.hir(part)?;
            self.push(Step::Jump(fork))?;
            self.lead(fork, self.steps.len(), greedy);
            return Ok(());
        }
        // What can be empty is entered as `(part+)?`, or else an empty round
        // would hide the rounds after it.
        let question = if min == 0 { Some(self.fork()?) } else { None };
        let start = self.steps.len();
        self.hir(part)?;
        let plus = self.fork()?;
        let end = self.steps.len();
        // Here the way on is what follows, and the other leads back.
        self.lead(plus, start, !greedy);
        if let Some(question) = question {
            self.lead(question, end, greedy);
        }
        Ok(())
    }
}

enum Job {
    Try { step: usize, at: usize },
    Restore { slot: usize, value: Option<usize> },
}

struct Search<'p> {
    pattern: &'p Pattern,
    text: &'p str,
    from: usize,
    looks: LookMatcher,
    /// One bit for each fork at each place, as far as the search has come.
    entered: Vec<u32>,
    jobs: Vec<Job>,
    slots: Vec<Option<usize>>,
}

impl<'p> Search<'p> {
    fn new(pattern: &'p Pattern, text: &'p str, from: usize) -> Self {
        Self {
            pattern,
            text,
            from,
            looks: LookMatcher::new(),
            entered: Vec::new(),
            jobs: Vec::new(),
            slots: vec![None; 2 * pattern.groups.len()],
        }
    }

    /// Whether this is the first time at this fork and place.
    fn enter(&mut self, fork: usize, at: usize) -> bool {
        let index = (at - self.from) * self.pattern.forks + fork;
        let (word, bit) = (index / 32, 1 << (index % 32));
        if word >= self.entered.len() {
            self.entered.resize(word + 1, 0);
        }
        let new = self.entered[word] & bit == 0;
        self.entered[word] |= bit;
        new
    }

    /// Tries to match at one place.
    fn at(&mut self, start: usize) -> bool {
        self.slots.fill(None);
        self.jobs.clear();
        self.jobs.push(Job::Try { step: 0, at: start });
        while let Some(job) = self.jobs.pop() {
            match job {
                Job::Restore { slot, value } => self.slots[slot] = value,
                Job::Try { step, at } => {
                    if let Some(end) = self.run(step, at) {
                        self.slots[0] = Some(start);
                        self.slots[1] = Some(end);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Follows one way to its end and returns the end of the match there.
    fn run(&mut self, mut step: usize, mut at: usize) -> Option<usize> {
        let pattern = self.pattern;
        let bytes = self.text.as_bytes();
        loop {
            let mut next = step + 1;
            match &pattern.steps[step] {
                Step::Text(text) => {
                    if !bytes[at..].starts_with(text) {
                        return None;
                    }
                    at += text.len();
                }
                Step::Class(set) => at += set.width(self.text, at)?,
                Step::Look(look) => {
                    if !self.looks.matches(*look, bytes, at) {
                        return None;
                    }
                }
                Step::Save(slot) => {
                    let value = self.slots[*slot].replace(at);
                    self.jobs.push(Job::Restore { slot: *slot, value });
                }
                Step::Fork { number, one, other } => {
                    if !self.enter(*number, at) {
                        return None;
                    }
                    self.jobs.push(Job::Try { step: *other, at });
                    next = *one;
                }
                Step::Jump(to) => next = *to,
                Step::Match => return Some(at),
            }
            step = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, Pattern};

    const PATTERNS: &[&str] = &[
        "",
        "a",
        "ab",
        "a|b",
        "ab|a",
        "a|ab",
        "|a",
        "a|",
        "(a)(b)?",
        "(a|b)*",
        "(a*)*",
        "(a*)+",
        "(a*)*?",
        "(a*)+?",
        "(|a)*",
        "(|a)+",
        "(a|)*b",
        "(a?|b)*",
        "(a??)*b",
        "(\\b|a)*",
        "(a|b*)*c",
        "a*",
        "a*?",
        "a+?b",
        "a??",
        "a{2}",
        "a{2,}",
        "a{2,3}",
        "a{0,2}?b",
        "(a{1,2}){2}",
        "(ab){2,}?",
        "^a",
        "a$",
        "^",
        "$",
        "^$",
        "(?m)^a$",
        "(?m)^",
        "\\ba",
        "a\\b",
        "\\B",
        "\\b",
        "\\b\\w+\\b",
        "\\w+",
        "\\W+",
        "\\d",
        "\\D+",
        "\\s+",
        "\\S+",
        "[\\w-]+",
        "[^\\w]",
        "[^a]",
        "[^ab ]*",
        ".",
        ".*",
        "(?s).+",
        ".+?b",
        "(?i)AB",
        "(?i)É",
        "(?i)k",
        "é+",
        "[à-ü]+",
        "[^é]+",
        "(?-u:\\w)+",
        "(?-u:\\b)a",
        "(?-u:\\B)",
        "(?P<x>a)(?<y>b)",
        "(a)|(b)",
        "((a)|b)+",
        "(?:(a)|b)*",
        "(a+)(b+)?",
        "a.b",
        "[a-c]+=[^ ]*",
        "(x+x+)+y",
        "(?i)[a-z]+$",
        "\\bé",
        "(?U)a+",
        "(?x) a b ",
        "a\\z",
        "\\Aa",
        "(^a|b)c?",
        "(?:^|[^a])b",
        "🦀",
        "[🦀b]",
        "(a|ab)(c|bcd)(d*)",
        "(?:a(b)?)+",
        "(?:(a)|(b)|(c))*",
        "(a*)(a|aa)",
        "\\b{start}a",
    ];

    const TEXTS: &[&str] = &[
        "",
        "a",
        "b",
        "ab",
        "ba",
        "aab",
        "aaa",
        "aaaa",
        "abab",
        "abcd",
        "abc bca",
        "a\nb",
        "a\na",
        "a b",
        "é",
        "aé",
        "éa é",
        "É ab",
        "naïve x",
        "🦀",
        "a🦀b",
        "🦀é",
        "abc=1 b=é",
        "xxxx",
        "xxy",
        "K\u{212a}",
        "a-b_c 12",
        "\u{a0}a\t b",
        "ABab",
        "ca",
        "٣",
        "a\r\n",
    ];

    fn slots(found: &[Found]) -> Vec<&[Option<usize>]> {
        found.iter().map(|found| &*found.0).collect()
    }

    #[test]
    fn the_matches_are_those_of_the_crate() {
        for source in PATTERNS {
            let pattern = Pattern::new(source).expect("a pattern");
            let regex = regex::Regex::new(source).expect("a pattern");
            for text in TEXTS {
                let expected: Vec<Vec<Option<usize>>> = regex
                    .captures_iter(text)
                    .map(|captures| {
                        let ends = captures
                            .iter()
                            .map(|group| group.map(|g| (g.start(), g.end())));
                        ends.flat_map(|g| [g.map(|g| g.0), g.map(|g| g.1)])
                            .collect()
                    })
                    .collect();
                let found = pattern.all(text);
                assert_eq!(slots(&found), expected, "{source:?} in {text:?}");
                let at_start = expected.first().filter(|slots| slots[0] == Some(0));
                let found = pattern.search_at_start(text);
                assert_eq!(
                    found.map(|f| f.0).as_ref(),
                    at_start,
                    "{source:?} in {text:?}"
                );
            }
        }
    }

    #[test]
    fn a_long_text_is_for_automata() {
        let pattern = Pattern::new("(a|b)*c").expect("a pattern");
        assert!(pattern.suits(&"a".repeat(super::LONGEST)));
        assert!(!pattern.suits(&"a".repeat(super::LONGEST + 1)));
        let pattern = Pattern::new("a?".repeat(100).as_str()).expect("a pattern");
        assert!(!pattern.suits(&"a".repeat(super::LONGEST / 2)));
    }

    /// Puts patterns together from pieces, the same ones in every run.
    #[test]
    fn the_matches_are_those_of_the_crate_for_odd_patterns() {
        let pieces = [
            "a", "b", "(", ")", "(?:", ")", "|", "*", "+", "?", "*?", "{2}", "{0,2}", "[^a]", ".",
            "\\b", "^", "$", "é",
        ];
        let mut state = 1_u64;
        let mut valid = 0;
        for _ in 0..20_000 {
            let mut source = String::new();
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let mut rest = state >> 8;
            for _ in 0..3 + (state >> 60) % 9 {
                source += pieces[usize::try_from(rest % 19).expect("an index")];
                rest = (rest / 19) ^ (rest << 40);
            }
            let Ok(pattern) = Pattern::new(&source) else {
                continue;
            };
            valid += 1;
            let Ok(regex) = regex::Regex::new(&source) else {
                panic!("{source:?} is no pattern")
            };
            for text in ["", "aab", "ba\u{e9}ab", "abba ab"] {
                let expected: Vec<_> = regex
                    .captures_iter(text)
                    .map(|c| c.iter().map(|g| g.map(|g| g.range())).collect::<Vec<_>>())
                    .collect();
                let found: Vec<_> = pattern
                    .all(text)
                    .iter()
                    .map(|f| {
                        f.0.chunks(2)
                            .map(|s| Some(s[0]?..s[1]?))
                            .collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(found, expected, "{source:?} in {text:?}");
            }
        }
        assert!(valid > 500, "{valid}");
    }
}
