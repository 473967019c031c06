//! `string`: helpers that Starlark's own methods do not have, or that scripts
//! spell this way.

use starlark::environment::GlobalsBuilder;
use starlark::values::list::AllocList;
use starlark::values::none::NoneOr;
use starlark::values::{Heap, Value};

use crate::json_out::with_article;
use crate::problem::raise;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    fn upper(s: &str) -> starlark::Result<String> {
        Ok(s.to_uppercase())
    }

    fn lower(s: &str) -> starlark::Result<String> {
        Ok(s.to_lowercase())
    }

    fn trim(s: &str) -> starlark::Result<String> {
        Ok(s.trim().to_owned())
    }

    /// Splits at `sep`, or at white space without one, into at most `n` parts.
    fn split<'v>(
        s: &str,
        #[starlark(default = NoneOr::None)] sep: NoneOr<&str>,
        #[starlark(default = NoneOr::None)] n: NoneOr<i32>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let limit = match n.into_option() {
            None => usize::MAX,
            Some(n) => usize::try_from(n)
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| raise("string.split: n must be > 0".to_owned()))?,
        };
        let parts = match sep.into_option() {
            Some("") => return Err(raise("string.split: sep must not be empty".to_owned())),
            Some(sep) => s.splitn(limit, sep).collect(),
            None => split_blanks(s, limit),
        };
        Ok(heap.alloc(AllocList(parts)))
    }

    /// Joins strings.
    fn join<'v>(sep: &str, items: Value<'v>, heap: Heap<'v>) -> starlark::Result<String> {
        let mut joined = String::new();
        for (index, item) in items.iterate(heap)?.enumerate() {
            let Some(part) = item.unpack_str() else {
                return Err(raise(format!(
                    "string.join: items[{index}] must be a string, not {}",
                    with_article(item.get_type())
                )));
            };
            if index > 0 {
                joined.push_str(sep);
            }
            joined.push_str(part);
        }
        Ok(joined)
    }

    /// Keeps the first `n` code points and marks a cut with `ellipsis`.
    fn truncate(
        s: &str,
        n: i32,
        #[starlark(default = "")] ellipsis: &str,
    ) -> starlark::Result<String> {
        let n =
            usize::try_from(n).map_err(|_| raise("string.truncate: n must be >= 0".to_owned()))?;
        Ok(truncate_to(s, n, ellipsis))
    }

    fn pad_left(s: &str, n: i32, #[starlark(default = " ")] ch: &str) -> starlark::Result<String> {
        Ok(padding("string.pad_left", s, n, ch)? + s)
    }

    fn pad_right(s: &str, n: i32, #[starlark(default = " ")] ch: &str) -> starlark::Result<String> {
        Ok(s.to_owned() + &padding("string.pad_right", s, n, ch)?)
    }
}

fn split_blanks(s: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = s.trim();
    while !rest.is_empty() {
        match rest.find(char::is_whitespace) {
            Some(end) if parts.len() + 1 < limit => {
                parts.push(&rest[..end]);
                rest = rest[end..].trim_start();
            }
            _ => {
                parts.push(rest);
                break;
            }
        }
    }
    parts
}

fn truncate_to(s: &str, n: usize, ellipsis: &str) -> String {
    match s.char_indices().nth(n) {
        Some((end, _)) => s[..end].to_owned() + ellipsis,
        None => s.to_owned(),
    }
}

fn padding(function: &str, s: &str, n: i32, ch: &str) -> starlark::Result<String> {
    if ch.chars().count() != 1 {
        return Err(raise(format!("{function}: ch must be one character")));
    }
    let width = usize::try_from(n).unwrap_or(0);
    Ok(ch.repeat(width.saturating_sub(s.chars().count())))
}

/// Adds `string`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("string", functions);
}

#[cfg(test)]
mod tests {
    use super::{split_blanks, truncate_to};

    #[test]
    fn truncate_counts_code_points() {
        assert_eq!(truncate_to("héllo", 2, "…"), "hé…");
        assert_eq!(truncate_to("hé", 2, "…"), "hé");
        assert_eq!(truncate_to("", 0, "…"), "");
    }

    #[test]
    fn split_at_blanks_stops_at_the_limit() {
        assert_eq!(split_blanks("  a b  c ", usize::MAX), ["a", "b", "c"]);
        assert_eq!(split_blanks("  a b  c ", 2), ["a", "b  c"]);
        assert!(split_blanks(" ", 3).is_empty());
    }
}
