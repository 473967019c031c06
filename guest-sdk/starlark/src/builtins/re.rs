//! `re`: regular expressions in linear time.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::{Captures, Regex, RegexBuilder};
use starlark::environment::GlobalsBuilder;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

use crate::problem::raise;

/// Bounds what one pattern may take once compiled.
const SIZE_LIMIT: usize = 1 << 20;

thread_local! {
    /// A pattern in a loop is compiled once.
    static COMPILED: RefCell<HashMap<String, Regex>> = RefCell::new(HashMap::new());
}

/// Drops all compiled patterns.
pub fn forget_patterns() {
    COMPILED.with_borrow_mut(HashMap::clear);
}

fn compile(function: &str, pattern: &str) -> starlark::Result<Regex> {
    if let Some(regex) = COMPILED.with_borrow(|known| known.get(pattern).cloned()) {
        return Ok(regex);
    }
    let regex = RegexBuilder::new(pattern)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| raise(format!("{function}: bad pattern: {}", one_line(&error))))?;
    COMPILED.with_borrow_mut(|known| known.insert(pattern.to_owned(), regex.clone()));
    Ok(regex)
}

/// The crate draws the pattern with a marker under it; the last line holds
/// what is wrong.
fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}

fn groups<'v>(captures: &Captures<'_>, heap: Heap<'v>) -> Value<'v> {
    heap.alloc(AllocList(captures.iter().map(|group| match group {
        Some(group) => heap.alloc(group.as_str()),
        None => Value::new_none(),
    })))
}

fn all<'v>(function: &str, pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
    let regex = compile(function, pattern)?;
    let text = |captures: &Captures<'_>, index: usize| {
        heap.alloc(captures.get(index).map_or("", |group| group.as_str()))
    };
    let found = regex.captures_iter(s).map(|captures| match captures.len() {
        1 => text(&captures, 0),
        2 => text(&captures, 1),
        count => heap.alloc(AllocList((1..count).map(|index| text(&captures, index)))),
    });
    Ok(heap.alloc(AllocList(found.collect::<Vec<_>>())))
}

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Matches at the start of `s`: `[full, group 1, …]` or None.
    fn r#match<'v>(pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let captures = compile("re.match", pattern)?.captures(s);
        // The leftmost match is found first, so one at the start is this one.
        let captures = captures.filter(|found| found.get(0).is_some_and(|all| all.start() == 0));
        Ok(captures.map_or(Value::new_none(), |found| groups(&found, heap)))
    }

    /// Matches anywhere in `s`: `[full, group 1, …]` or None.
    fn search<'v>(pattern: &str, s: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let captures = compile("re.search", pattern)?.captures(s);
        Ok(captures.map_or(Value::new_none(), |found| groups(&found, heap)))
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
        let regex = compile("re.replace", pattern)?;
        Ok(heap.alloc(regex.replace_all(s, repl).as_ref()))
    }
}

/// Adds `re`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("re", functions);
}
