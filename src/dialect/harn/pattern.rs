//! Which payloads a hook wants to see.

use regex::Regex;
use serde_json::Value;

use super::events::Percentage;
use super::glob::{Glob, regex_error};
use super::path::{self, Path};

/// Why a pattern is none.
///
/// Harn lets such a pattern never match. A guard that never runs is an open gate,
/// so here it is an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The regex after `=~` is wrong.
    #[error("the regex `{part}` is wrong: {why}")]
    Regex {
        /// What was written.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// The glob is wrong.
    #[error("the glob `{part}` is wrong: {why}")]
    Glob {
        /// What was written.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// The path into the payload is wrong.
    #[error("the path `{part}` is wrong: {why}")]
    Path {
        /// What was written.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// What a path is compared with is wrong.
    #[error("the value `{part}` is wrong: {why}")]
    Value {
        /// What was written.
        part: String,
        /// What is wrong with it.
        why: String,
    },
}

/// The pattern of a manifest entry or a session hook.
///
/// Empty or `*` is everything; `path =~ "regex"`, `path == "value"` and
/// `path != "value"` look at one place of the payload; anything else is a glob on
/// the name of the tool or on the target, and with a dot in it also a path to
/// something that has to be true.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    All,
    Regex(Path, Regex),
    Equal(Path, String),
    Different(Path, String),
    Name(Glob, Option<Path>),
}

#[derive(Clone, Copy)]
enum Operator {
    Regex,
    Equal,
    Different,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Returns which part of it is wrong.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let rule = if matches!(text, "" | "*") {
            Rule::All
        } else if let Some((path, operator, value)) = split(text) {
            comparison(path.trim(), operator, value.trim())?
        } else {
            name(text)?
        };
        Ok(Self {
            text: text.to_owned(),
            rule,
        })
    }

    /// Returns it as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether it is a glob on names, so that it can only match where the
    /// payload has a tool or a target.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self.rule, Rule::Name(_, None))
    }

    /// Tells whether a payload fits.
    ///
    /// What is missing equals `null`, and no regex matches it.
    #[must_use]
    pub fn matches(&self, payload: &Value) -> bool {
        match &self.rule {
            Rule::All => true,
            Rule::Regex(path, regex) => {
                let found = path.find(payload).filter(|value| !value.is_null());
                found.is_some_and(|value| regex.is_match(&path::text(value)))
            }
            Rule::Equal(path, wanted) => equal(path, wanted, payload),
            Rule::Different(path, wanted) => !equal(path, wanted, payload),
            Rule::Name(glob, path) => {
                let found = path.as_ref().and_then(|path| path.find(payload));
                found.is_some_and(path::truthy) || names(payload).any(|name| glob.matches(name))
            }
        }
    }
}

fn names(payload: &Value) -> impl Iterator<Item = Option<&str>> {
    let target = payload.get("target").and_then(Value::as_str);
    [path::name(payload, "tool"), target].into_iter()
}

fn equal(path: &Path, wanted: &str, payload: &Value) -> bool {
    path::text(path.find(payload).unwrap_or(&Value::Null)) == wanted
}

/// Splits at the operator that comes first, so that a value can contain another.
fn split(text: &str) -> Option<(&str, Operator, &str)> {
    let operators = [
        ("=~", Operator::Regex),
        ("==", Operator::Equal),
        ("!=", Operator::Different),
    ];
    let found = operators
        .into_iter()
        .filter_map(|(sign, operator)| Some((text.find(sign)?, operator)));
    let (at, operator) = found.min_by_key(|&(at, _)| at)?;
    Some((&text[..at], operator, &text[at + 2..]))
}

fn comparison(path: &str, operator: Operator, value: &str) -> Result<Rule, PatternError> {
    let path = Path::parse(path).map_err(|why| PatternError::Path {
        part: path.to_owned(),
        why,
    })?;
    let is_regex = matches!(operator, Operator::Regex);
    let wanted = unquote(value, is_regex).map_err(|why| PatternError::Value {
        part: value.to_owned(),
        why: why.to_owned(),
    })?;
    Ok(match operator {
        Operator::Regex => Rule::Regex(path, regex(wanted)?),
        Operator::Equal => Rule::Equal(path, wanted.to_owned()),
        Operator::Different => Rule::Different(path, wanted.to_owned()),
    })
}

fn regex(text: &str) -> Result<Regex, PatternError> {
    Regex::new(text).map_err(|error| PatternError::Regex {
        part: text.to_owned(),
        why: regex_error(&error),
    })
}

/// Takes the quotes away; nothing inside is unescaped. One word needs no quotes.
fn unquote(value: &str, is_regex: bool) -> Result<&str, &'static str> {
    for quote in ['"', '\''] {
        let Some(rest) = value.strip_prefix(quote) else {
            continue;
        };
        let inner = rest
            .strip_suffix(quote)
            .ok_or("the closing quote is missing")?;
        // A regex can escape a quote itself.
        let mut quotes = inner.match_indices(quote);
        if quotes.any(|(at, _)| !(is_regex && escaped(&inner[..at]))) {
            return Err(
                "it has its own quote inside; a pattern is one comparison with one quoted value",
            );
        }
        return Ok(inner);
    }
    if value.is_empty() {
        return Err("nothing comes after the operator; write \"\" for an empty text");
    }
    let odd = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    if value.contains(odd) || value.starts_with(['=', '~']) {
        return Err("put it in double quotes");
    }
    Ok(value)
}

/// Tells whether what comes next is escaped: after an odd number of `\`.
fn escaped(before: &str) -> bool {
    let slashes = before.len() - before.trim_end_matches('\\').len();
    slashes % 2 == 1
}

fn name(text: &str) -> Result<Rule, PatternError> {
    if text.contains(['=', '"', '\'']) {
        return Err(PatternError::Glob {
            part: text.to_owned(),
            why: "it has `=` or a quote but no operator; those are =~, == and !=, and names take no quotes".to_owned(),
        });
    }
    let glob = Glob::parse(text).map_err(|why| PatternError::Glob {
        part: text.to_owned(),
        why,
    })?;
    // With a `*` or a `{` it can only be a glob.
    if !text.contains('.') || text.contains(['*', '{']) {
        return Ok(Rule::Name(glob, None));
    }
    match Path::parse(text) {
        Ok(path) => Ok(Rule::Name(glob, Some(path))),
        Err(why) => Err(PatternError::Path {
            part: text.to_owned(),
            why,
        }),
    }
}

/// The pattern of a tool hook: a glob on the name of the tool alone.
#[derive(Debug, Clone)]
pub struct ToolGlob(Glob);

impl ToolGlob {
    /// Reads a glob.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Glob::parse(text)
            .map(Self)
            .map_err(|why| PatternError::Glob {
                part: text.to_owned(),
                why,
            })
    }

    /// Returns it as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Tells whether the tool of a payload fits.
    #[must_use]
    pub fn matches(&self, payload: &Value) -> bool {
        self.0.matches(path::name(payload, "tool"))
    }
}

/// The pattern of a persona or step hook.
#[derive(Debug, Clone)]
pub struct PersonaPattern {
    persona: Glob,
    step: Option<String>,
    least: Option<Percentage>,
}

impl PersonaPattern {
    /// Reads a glob on the persona, and takes the one step and the least share of
    /// the budget that it is narrowed to.
    ///
    /// # Errors
    /// Returns what is wrong with the glob.
    pub fn parse(
        persona: &str,
        step: Option<&str>,
        least: Option<Percentage>,
    ) -> Result<Self, PatternError> {
        let glob = Glob::parse(persona).map_err(|why| PatternError::Glob {
            part: persona.to_owned(),
            why,
        })?;
        Ok(Self {
            persona: glob,
            step: step.map(str::to_owned),
            least,
        })
    }

    /// Returns the glob as it was written.
    #[must_use]
    pub fn persona(&self) -> &str {
        self.persona.text()
    }

    /// Returns the one step.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.step.as_deref()
    }

    /// Returns the share of the budget from which on it matches.
    #[must_use]
    pub fn least(&self) -> Option<Percentage> {
        self.least
    }

    /// Tells whether a payload fits.
    #[must_use]
    pub fn matches(&self, payload: &Value) -> bool {
        let step = self.step.as_deref();
        let spent = || payload.get("pct").and_then(number);
        self.persona.matches(path::name(payload, "persona"))
            && step.is_none_or(|step| path::name(payload, "step") == Some(step))
            && self
                .least
                .is_none_or(|least| spent().is_some_and(|spent| spent >= least.value()))
    }
}

/// Reads a number by its text, so that one too large for a float is still large.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::events;
    use super::super::testing::any_json;
    use super::*;

    fn matches(pattern: &str, payload: &Value) -> bool {
        Pattern::parse(pattern).unwrap().matches(payload)
    }

    fn call(tool: &str) -> Value {
        json!({"event": "PreToolUse", "tool": {"name": tool, "args": {"path": "src/a.rs", "n": 5}}})
    }

    fn wrong(pattern: &str) -> String {
        Pattern::parse(pattern).unwrap_err().to_string()
    }

    #[test]
    fn hn_043_patterns_of_a_manifest() {
        for (pattern, expected) in [
            ("", true),
            ("  ", true),
            (" * ", true),
            ("exec_*", true),
            ("exec", false),
            ("fetch_*", false),
            (r#"tool.name =~ "^exec""#, true),
            (r#"tool.name =~ "ROOT$""#, false),
            (r"tool.name =~ '_'", true),
            ("tool.name=~root", true),
            (r#"tool.args.path =~ "\.rs$""#, true),
            (r#"tool.args.nothing =~ ".*""#, false),
            (r#"tool.name == "exec_root""#, true),
            (r#"tool.name == "exec""#, false),
            (r#"tool.name != "exec""#, true),
            (r#"tool.name != "exec_root""#, false),
            (r#"event == "PreToolUse""#, true),
            (r#"tool.name != "a =~ b""#, true),
            ("tool.args.path", true),
            ("tool.args.nothing", false),
        ] {
            assert_eq!(matches(pattern, &call("exec_root")), expected, "{pattern}");
        }
    }

    #[test]
    fn values_that_are_no_strings_compare_by_their_json() {
        let payload = json!({"n": 5, "t": true, "z": null, "s": "null", "l": [1, "a"]});
        for (pattern, expected) in [
            (r#"n == "5""#, true),
            ("n == 5", true),
            ("n == 5.0", false),
            ("n =~ ^5$", true),
            ("t == true", true),
            ("t != false", true),
            (r#"l == '[1,"a"]'"#, true),
            // What is missing is like null.
            ("z == null", true),
            ("missing == null", true),
            ("s == null", true),
            ("missing != null", false),
            (r#"missing != "x""#, true),
            (r#"missing == """#, false),
            // No regex matches nothing.
            ("z =~ null", false),
            (r#"missing =~ """#, false),
            ("s =~ null", true),
        ] {
            assert_eq!(matches(pattern, &payload), expected, "{pattern}");
        }
    }

    #[test]
    fn a_dotted_path_has_to_be_true() {
        let payload = json!({"a": {
            "null": null, "false": false, "zero": 0, "text": "", "list": [], "map": {},
            "yes": true, "one": 1, "word": "x", "full": [0]
        }});
        for key in ["missing", "null", "false", "zero", "text", "list", "map"] {
            assert!(!matches(&format!("a.{key}"), &payload), "{key}");
        }
        for key in ["yes", "one", "word", "full"] {
            assert!(matches(&format!("a.{key}"), &payload), "{key}");
        }
    }

    #[test]
    fn a_glob_also_matches_the_target() {
        let payload = json!({"event": "PreStep", "target": "merge_bot.audit"});
        for pattern in ["merge_*", "*.audit", "merge_bot.audit", "{a,merge}_bot.*"] {
            assert!(matches(pattern, &payload), "{pattern}");
        }
        for pattern in ["audit", "merge_bot", "merge_bot.build"] {
            assert!(!matches(pattern, &payload), "{pattern}");
        }
    }

    #[test]
    fn a_tool_with_a_dot_in_its_name_is_guarded_too() {
        assert!(matches("fs.write", &call("fs.write")));
        assert!(matches("fs.*", &call("fs.write")));
        assert!(!matches("fs.write", &call("fs.read")));
    }

    #[test]
    fn a_pattern_that_would_never_match_is_an_error() {
        for (pattern, expected) in [
            (
                r#"tool.name =~ "[a""#,
                "the regex `[a` is wrong: unclosed character class",
            ),
            (
                r#"tool.name =~ "(?=x)""#,
                "the regex `(?=x)` is wrong: look-around",
            ),
            ("exec_[", "the glob `exec_[` is wrong: a `[` has no `]`"),
            ("a.{b", "the glob `a.{b` is wrong: a `{` has no `}`"),
            (r#"== "x""#, "the path `` is wrong: a key is missing"),
            (
                r#"a..b == "x""#,
                "the path `a..b` is wrong: a key is missing",
            ),
            (
                r#"tool.args[0] == "x""#,
                "the path `tool.args[0]` is wrong: '['",
            ),
            ("tool.args[0]", "the path `tool.args[0]` is wrong: '['"),
            ("tool?.name", "the path `tool?.name` is wrong: '?'"),
            ("a.b c", "the path `a.b c` is wrong: ' '"),
            ("tool.name ==", "the value `` is wrong: nothing comes after"),
            (
                r#"tool.name == "x"#,
                "the value `\"x` is wrong: the closing quote",
            ),
            (
                r#"a == "x" && b == "y""#,
                "the value `\"x\" && b == \"y\"` is wrong: it has",
            ),
            (
                r#"a == "x\"y""#,
                "the value `\"x\\\"y\"` is wrong: it has its own quote",
            ),
            (
                r#"a =~ "x\\" && b =~ "y""#,
                "the value `\"x\\\\\" && b =~ \"y\"` is wrong: it has",
            ),
            (
                "a == x && b",
                "the value `x && b` is wrong: put it in double quotes",
            ),
            ("a === b", "the value `= b` is wrong: put it"),
            ("a ===b", "the value `=b` is wrong: put it"),
            (
                r#"tool.name = "exec_*""#,
                "the glob `tool.name = \"exec_*\"` is wrong: it has `=`",
            ),
            (
                "\"exec_*\"",
                "the glob `\"exec_*\"` is wrong: it has `=` or a quote",
            ),
        ] {
            let message = wrong(pattern);
            assert!(message.starts_with(expected), "{pattern}: {message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn a_regex_can_escape_its_quote() {
        let payload = json!({"s": "say \"hi\""});
        assert!(matches(r#"s =~ "\"hi\"""#, &payload));
        assert!(matches(r#"s =~ '"hi"'"#, &payload));
    }

    #[test]
    fn only_globs_need_a_name() {
        for (pattern, expected) in [
            ("exec_*", true),
            ("a.*", true),
            ("a.b", false),
            ("*", false),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().is_name(), expected);
        }
        assert_eq!(Pattern::parse(" a ").unwrap().text(), "a");
    }

    #[test]
    fn hn_012_tool_patterns_are_globs_on_the_name_alone() {
        for (glob, tool, expected) in [
            ("exec_*", "exec_root", true),
            ("exec_*", "exec_a/b.c", true),
            ("exec_*", "exec", false),
            ("exec_*", "pre_exec_x", false),
            ("*", "anything/at.all", true),
            ("fetch_*", "fetch_url", true),
            ("fetch_*", "exec_root", false),
            ("tool.name", "x", false),
        ] {
            let found = ToolGlob::parse(glob).unwrap().matches(&call(tool));
            assert_eq!(found, expected, "{glob} {tool}");
        }
        let target = json!({"target": "exec_root"});
        assert!(!ToolGlob::parse("exec_*").unwrap().matches(&target));
        assert!(ToolGlob::parse("*").unwrap().matches(&json!({})));
        assert!(ToolGlob::parse("").is_err());
    }

    #[test]
    fn hn_016_a_step_hook_fires_for_its_step_only() {
        let pattern = PersonaPattern::parse("merge_*", Some("audit"), None).unwrap();
        for (persona, step, expected) in [
            (json!("merge_bot"), json!("audit"), true),
            (json!({"name": "merge_bot"}), json!({"name": "audit"}), true),
            (json!("merge_bot"), json!("audits"), false),
            (json!("merge_bot"), json!(null), false),
            (json!("bot"), json!("audit"), false),
        ] {
            let payload = json!({"persona": persona, "step": step});
            assert_eq!(pattern.matches(&payload), expected, "{payload}");
        }
        let every = PersonaPattern::parse("*", None, None).unwrap();
        assert!(every.matches(&json!({"persona": "x", "step": "y"})));
    }

    #[test]
    fn hn_015_a_threshold_is_met_from_its_number_on() {
        let (_, least) = events::parse("OnBudgetThreshold(80)").unwrap();
        let pattern = PersonaPattern::parse("*", None, least).unwrap();
        for (pct, expected) in [
            ("85", true),
            ("80", true),
            ("80.0", true),
            ("1e999", true),
            ("79", false),
            ("79.99", false),
            ("\"85\"", false),
            ("null", false),
        ] {
            let pct: Value = serde_json::from_str(pct).unwrap();
            let payload = json!({"persona": "x", "pct": pct});
            assert_eq!(pattern.matches(&payload), expected, "{payload}");
        }
        let without = PersonaPattern::parse("*", None, None).unwrap();
        assert!(without.matches(&json!({"persona": "x", "pct": 1})));
    }

    fn any_pattern() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            r#"[a-c.*?\[\]{},\\ ]{0,8}"#,
            r#"[a.]{0,4} ?(=~|==|!=) ?["']?[a-c.()\[|"'\\]{0,6}["']?"#,
        ]
    }

    proptest! {
        #[test]
        fn nothing_makes_a_pattern_panic(text in any_pattern(), payload in any_json()) {
            if let Ok(pattern) = Pattern::parse(&text) {
                let _ = pattern.matches(&payload);
            }
            if let Ok(glob) = ToolGlob::parse(&text) {
                let _ = glob.matches(&payload);
            }
            let least = events::parse("OnBudgetThreshold(1)").unwrap().1;
            if let Ok(pattern) = PersonaPattern::parse(&text, Some(&text), least) {
                let _ = pattern.matches(&payload);
            }
        }
    }
}
