//! Which hooks an event can concern, told without running anything.

/// An event, as far as it narrows the hooks that are brought back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Narrow<'a> {
    /// The points in the agent's loop; nothing for all of them.
    pub(crate) points: Option<&'a [&'a str]>,
    /// The tool it is about, if it is about one and only one.
    pub(crate) tool: Option<&'a str>,
}

impl Narrow<'_> {
    /// Says whether a hook can matter. In doubt it does.
    pub(super) fn concerns(&self, point: Option<&str>, names: Option<&[String]>) -> bool {
        let elsewhere =
            matches!((self.points, point), (Some(own), Some(other)) if !own.contains(&other));
        let unnamed = match (self.tool, names) {
            (Some(tool), Some(names)) => !names.iter().any(|name| name == tool),
            _ => false,
        };
        !elsewhere && !unnamed
    }
}

/// Returns the only tools for which a `when` can be true, if it begins by asking for them:
/// `payload["name"] == "x"` or `payload["name"] in ["x", "y"]`, alone or before an `and`.
/// For every other tool such an expression is false before it comes to anything else.
pub(super) fn names_of(when: &str) -> Option<Vec<String>> {
    let rest = when.trim();
    let rest = [
        "payload[\"name\"]",
        "payload['name']",
        "payload.get(\"name\")",
    ]
    .iter()
    .find_map(|start| rest.strip_prefix(start))?
    .trim_start();
    let (names, rest) = if let Some(rest) = rest.strip_prefix("==") {
        let (name, rest) = literal(rest.trim_start())?;
        (vec![name], rest)
    } else {
        list(rest.strip_prefix("in")?)?
    };
    let rest = rest.trim_start();
    let ends = rest.is_empty()
        || rest
            .strip_prefix("and")
            .is_some_and(|more| more.starts_with([' ', '\n', '(']));
    // An `or` further on binds less than `and`.
    (ends && !has_or(rest)).then_some(names)
}

/// Says whether the word occurs anywhere: more often than as an operator, which is safe.
fn has_or(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| matches!(word, "or" | "if" | "else" | "lambda" | "for"))
}

/// A list or tuple of plain strings.
fn list(text: &str) -> Option<(Vec<String>, &str)> {
    let text = text.trim_start();
    let (open, close) = (
        text.chars().next()?,
        if text.starts_with('[') { ']' } else { ')' },
    );
    if !matches!(open, '[' | '(') {
        return None;
    }
    let mut rest = text.get(1..)?.trim_start();
    let mut names = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(close) {
            // `("x")` is a string, in which a name may be a part.
            let tuple = close == ']' || names.len() > 1;
            return tuple.then_some((names, after));
        }
        let (name, after) = literal(rest)?;
        names.push(name);
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.starts_with(close) => after,
            None => return None,
        };
    }
}

/// A string in quotes without anything special in it.
fn literal(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = text.get(1..)?;
    let end = inside.find(quote)?;
    let (name, rest) = (inside.get(..end)?, inside.get(end + 1..)?);
    // Three quotes, and a string that goes on in the next one.
    let plain = !name.is_empty() && !name.contains(['\\', '\n']);
    (plain
        && !rest
            .trim_start()
            .starts_with(['"', '\'', '+', '%', '.', '[']))
    .then(|| (name.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_expressions_that_begin_with_the_name_narrow() {
        for (when, wanted) in [
            (r#"payload["name"] == "a""#, Some(vec!["a"])),
            (r#"payload['name'] == 'a' and x(payload)"#, Some(vec!["a"])),
            (r#"payload.get("name") == "a""#, Some(vec!["a"])),
            (r#"payload["name"] in ["a", "b"]"#, Some(vec!["a", "b"])),
            (
                r#"payload["name"] in ("a", "b",) and True"#,
                Some(vec!["a", "b"]),
            ),
            (r#"payload["name"] in []"#, Some(vec![])),
            (r#"payload["name"] in ("ab")"#, None),
            (r#"payload["name"] in "ab""#, None),
            (r#"payload["name"] == "a" or True"#, None),
            (r#"payload["name"] == "a" and x or y"#, None),
            (r#"payload["name"] == "a" if x else y"#, None),
            (r#"payload["name"] == "a" + "b""#, None),
            (r#"payload["name"] == "a" "b""#, None),
            (r#"payload["name"] == "a\x62""#, None),
            (r#"payload["name"] == """a""""#, None),
            (r#"payload["name"] != "a""#, None),
            (r#"payload["name"].lower() == "a""#, None),
            (r#"not payload["name"] == "a""#, None),
            (r#"True and payload["name"] == "a""#, None),
            (r#"payload["name"] == "a" == True"#, None),
            (r#"payload["name"] == "a".upper()"#, None),
            (r#"payload["name"] == "a" android"#, None),
        ] {
            let wanted = wanted.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(names_of(when), wanted, "{when}");
        }
    }
}
