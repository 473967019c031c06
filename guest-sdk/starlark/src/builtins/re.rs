//! `re`: regular expressions in linear time.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use regex::{Captures, Regex, RegexBuilder};
use regex_automata::util::interpolate;
use starlark::environment::GlobalsBuilder;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

use crate::pattern::{Found, Pattern, SIZE_LIMIT};
use crate::problem::raise;

thread_local! {
    /// A pattern in a loop is compiled once.
    static COMPILED: RefCell<HashMap<String, Rc<Compiled>>> = RefCell::new(HashMap::new());
}

/// Drops all compiled patterns.
pub fn forget_patterns() {
    COMPILED.with_borrow_mut(HashMap::clear);
}

struct Compiled {
    pattern: Pattern,
    /// The same with automata, for long texts.
    automaton: OnceCell<Regex>,
}

/// What one search goes through.
enum Engine<'c> {
    Short(&'c Pattern),
    Long(&'c Regex),
}

fn compile(function: &str, pattern: &str) -> starlark::Result<Rc<Compiled>> {
    if let Some(known) = COMPILED.with_borrow(|known| known.get(pattern).cloned()) {
        return Ok(known);
    }
    let compiled = Rc::new(Compiled {
        pattern: Pattern::new(pattern)
            .map_err(|what| raise(format!("{function}: bad pattern: {what}")))?,
        automaton: OnceCell::new(),
    });
    COMPILED.with_borrow_mut(|known| known.insert(pattern.to_owned(), compiled.clone()));
    Ok(compiled)
}

impl Compiled {
    fn engine(&self, function: &str, source: &str, text: &str) -> starlark::Result<Engine<'_>> {
        if self.pattern.suits(text) {
            return Ok(Engine::Short(&self.pattern));
        }
        if self.automaton.get().is_none() {
            // Automata over bytes are larger than what the limit is about.
            let regex = RegexBuilder::new(source)
                .size_limit(16 * SIZE_LIMIT)
                .dfa_size_limit(SIZE_LIMIT)
                .build()
                .map_err(|error| raise(format!("{function}: bad pattern: {error}")))?;
            let _ = self.automaton.set(regex);
        }
        Ok(match self.automaton.get() {
            Some(regex) => Engine::Long(regex),
            None => Engine::Short(&self.pattern),
        })
    }
}

fn found(captures: &Captures<'_>) -> Found {
    let ends = |index| {
        captures
            .get(index)
            .map(|group| (group.start(), group.end()))
    };
    let slots = (0..captures.len()).flat_map(|index| match ends(index) {
        Some((start, end)) => [Some(start), Some(end)],
        None => [None, None],
    });
    Found(slots.collect())
}

impl Engine<'_> {
    fn search(&self, s: &str) -> Option<Found> {
        match self {
            Self::Short(pattern) => pattern.search(s, 0),
            Self::Long(regex) => regex.captures(s).as_ref().map(found),
        }
    }

    fn search_at_start(&self, s: &str) -> Option<Found> {
        match self {
            Self::Short(pattern) => pattern.search_at_start(s),
            // The leftmost match is found first, so one at the start is this one.
            Self::Long(_) => self.search(s).filter(|found| found.ends().0 == 0),
        }
    }

    fn all(&self, s: &str) -> Vec<Found> {
        match self {
            Self::Short(pattern) => pattern.all(s),
            Self::Long(regex) => regex.captures_iter(s).map(|each| found(&each)).collect(),
        }
    }
}

fn groups<'v>(found: Option<&Found>, s: &str, heap: Heap<'v>) -> Value<'v> {
    let Some(found) = found else {
        return Value::new_none();
    };
    let group = |index| match found.group(index, s) {
        Some(group) => heap.alloc(group),
        None => Value::new_none(),
    };
    heap.alloc(AllocList((0..found.groups()).map(group)))
}

fn all<'v>(function: &str, pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
    let compiled = compile(function, pattern)?;
    let found = compiled.engine(function, pattern, s)?.all(s);
    let text = |found: &Found, index: usize| heap.alloc(found.group(index, s).unwrap_or_default());
    let found = found.iter().map(|found| match found.groups() {
        1 => text(found, 0),
        2 => text(found, 1),
        count => heap.alloc(AllocList((1..count).map(|index| text(found, index)))),
    });
    Ok(heap.alloc(AllocList(found)))
}

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Matches at the start of `s`: `[full, group 1, …]` or None.
    fn r#match<'v>(pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let compiled = compile("re.match", pattern)?;
        let found = compiled.engine("re.match", pattern, s)?.search_at_start(s);
        Ok(groups(found.as_ref(), s, heap))
    }

    /// Matches anywhere in `s`: `[full, group 1, …]` or None.
    fn search<'v>(pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let compiled = compile("re.search", pattern)?;
        let found = compiled.engine("re.search", pattern, s)?.search(s);
        Ok(groups(found.as_ref(), s, heap))
    }

    /// Returns all matches; with one group that group, with more a list each.
    fn findall<'v>(pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        all("re.findall", pattern, s, heap)
    }

    /// The other spelling of `findall`.
    fn find_all<'v>(pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        all("re.find_all", pattern, s, heap)
    }

    /// Replaces all matches; `$1` in `repl` stands for a group.
    fn replace<'v>(
        pattern: &str,
        repl: &str,
        s: &str,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let compiled = compile("re.replace", pattern)?;
        let mut result = String::with_capacity(s.len());
        let mut copied = 0;
        for found in compiled.engine("re.replace", pattern, s)?.all(s) {
            let (start, end) = found.ends();
            result.push_str(&s[copied..start]);
            copied = end;
            interpolate::string(
                repl,
                |index, result| result.push_str(found.group(index, s).unwrap_or_default()),
                |name| compiled.pattern.group(name),
                &mut result,
            );
        }
        result.push_str(&s[copied..]);
        Ok(heap.alloc(result))
    }
}

/// Adds `re`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("re", functions);
}
