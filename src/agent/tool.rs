//! Tool calls in one vocabulary, so that one policy fits every agent.
//!
//! | canonical | arguments |
//! |---|---|
//! | `run_command` | `command`, `cwd` |
//! | `read_file` | `path` |
//! | `write_file` | `path`, `content` |
//! | `edit_file` | `path`, `old_text`, `new_text`, or `patch` |
//! | `delete_file`, `move_file` | `path`, and where to: `target_path` |
//! | `list_files`, `glob`, `search_files` | `path`, `pattern` |
//! | `web_fetch`, `web_search` | `url`, `query` |
//! | `delegate` | `agent`, `prompt` |
//!
//! Tools of an MCP server are `mcp__server__tool`. Every other tool keeps its name, and
//! every argument without a canonical name keeps its own.

use std::path::Path;

use serde_json::{Map, Value};

use super::place::Root;

/// A tool of an agent, with its canonical form.
#[derive(Debug)]
pub struct Tool {
    /// The agent's name for it.
    pub own: &'static str,
    /// The canonical name.
    pub canonical: &'static str,
    /// The agent's argument names, each with its canonical one.
    pub keys: &'static [(&'static str, &'static str)],
}

/// The name of a tool that runs several commands, each of which is a call of its own.
pub(super) const RUN_COMMANDS: &str = "run_commands";

/// The argument that names a place in the project.
const PATH: &str = "path";

/// A tool call in canonical form.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Map<String, Value>,
}

impl Tool {
    /// Returns the canonical name of an argument.
    fn canonical_key<'k>(&self, own: &'k str) -> &'k str {
        let known = self.keys.iter().find(|(key, _)| *key == own);
        known.map_or(own, |(_, canonical)| canonical)
    }

    /// Returns the agent's name of an argument.
    fn own_key<'k>(&self, canonical: &'k str) -> &'k str {
        let known = self.keys.iter().find(|(_, key)| *key == canonical);
        known.map_or(canonical, |(own, _)| own)
    }

    /// Brings a call into canonical form. Nothing where two arguments would become one, and
    /// say different things: a guard must not see the one and the tool take the other.
    #[must_use]
    pub fn call(&self, input: &Map<String, Value>, root: &Root) -> Option<Call> {
        let mut args = Map::new();
        for (own, value) in input {
            let key = self.canonical_key(own);
            let value = match value {
                Value::String(text) if key == PATH => root.inside(text).into(),
                other => other.clone(),
            };
            if args.get(key).is_some_and(|other| *other != value) {
                return None;
            }
            args.insert(key.to_owned(), value);
        }
        Some(Call {
            name: self.canonical.to_owned(),
            args,
        })
    }

    /// Brings rewritten arguments back into the agent's form. What was not touched stays
    /// as it came in.
    #[must_use]
    pub fn input(
        &self,
        original: &Map<String, Value>,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        root: &Root,
    ) -> Map<String, Value> {
        let mut input = Map::new();
        for (own, value) in original {
            let key = self.canonical_key(own);
            match after.get(key) {
                None => {}
                Some(new) if before.get(key) == Some(new) => {
                    input.insert(own.clone(), value.clone());
                }
                Some(new) => {
                    input.insert(own.clone(), outward(key, value, new, root));
                }
            }
        }
        for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            input.insert(self.own_key(key).to_owned(), new.clone());
        }
        input
    }
}

/// A new path is absolute where the old one was: some agents insist on that. So it is where
/// what an agent takes it to be relative to is not the project.
fn outward(key: &str, old: &Value, new: &Value, root: &Root) -> Value {
    match (old, new) {
        (Value::String(old), Value::String(new))
            if key == PATH
                && (Path::new(old).is_absolute() || root.works_below())
                && !Path::new(new).is_absolute() =>
        {
            root.real.join(new).display().to_string().into()
        }
        _ => new.clone(),
    }
}

/// Takes a call of a tool that has no canonical form as it is.
#[must_use]
pub(super) fn unknown(name: &str, input: &Value) -> Call {
    let args = match input {
        Value::Object(args) => args.clone(),
        Value::Null => Map::new(),
        other => Map::from_iter([("input".to_owned(), other.clone())]),
    };
    Call {
        name: name.to_owned(),
        args,
    }
}

/// Returns a call for each of several commands; nothing where one of them is no command,
/// because a guard would not see what is run.
#[must_use]
pub(super) fn commands(call: &Call) -> Option<Vec<Call>> {
    let mut given = COMMANDS.iter().filter(|key| call.args.contains_key(**key));
    let (key, None) = (given.next()?, given.next()) else {
        return None;
    };
    let all = match &call.args[*key] {
        Value::Array(all) => all.clone(),
        // One command, or a list of them as text.
        Value::String(text) => match crate::json::parse_value(text) {
            Ok(Value::Array(all)) => all,
            // Its arguments may lie beside it.
            _ if *key == "command" => vec![call.args.clone().into()],
            _ => vec![text.clone().into()],
        },
        other => vec![other.clone()],
    };
    let one = |command: &Value| {
        let text = match command {
            Value::String(text) => text.clone(),
            Value::Object(object) => spelled_out(object)?,
            _ => return None,
        };
        Some(Call {
            name: "run_command".to_owned(),
            args: Map::from_iter([("command".to_owned(), text.into())]),
        })
    };
    all.iter().map(one).collect()
}

/// Returns a call for each of several files; none where it names no list of them.
#[must_use]
pub(super) fn files(call: &Call, root: &Root) -> Vec<Call> {
    let given = FILES.iter().find_map(|key| call.args.get(*key));
    let one = |file: &Value| {
        let (path, mut args) = match file {
            Value::String(path) => (path, Map::new()),
            Value::Object(file) => (path_of(file)?, file.clone()),
            _ => return None,
        };
        args.insert(PATH.to_owned(), root.inside(path).into());
        Some(Call {
            name: call.name.clone(),
            args,
        })
    };
    let files = given.and_then(Value::as_array).into_iter().flatten();
    let mut calls: Vec<Call> = files.map(one).collect::<Option<_>>().unwrap_or_default();
    if call.args.contains_key(PATH) {
        calls.push(call.clone());
    }
    calls
}

/// Where several commands are found.
const COMMANDS: [&str; 3] = ["commands", "command", "cmd"];

/// Where several files are found.
const FILES: [&str; 4] = ["files", "operations", "paths", "file_paths"];

fn path_of(file: &Map<String, Value>) -> Option<&String> {
    match file.get(PATH)? {
        Value::String(path) => Some(path),
        _ => None,
    }
}

/// A command and its arguments as a line for a shell.
fn spelled_out(object: &Map<String, Value>) -> Option<String> {
    let mut line = object.get("command")?.as_str()?.to_owned();
    for word in object
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        line.push(' ');
        line += &format!("'{}'", word.as_str()?.replace('\'', "'\\''"));
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_of_several_commands_is_a_call() {
        let call = |commands| Call {
            name: RUN_COMMANDS.to_owned(),
            args: object(json!({"commands": commands})),
        };
        let lines = |value| -> Vec<String> {
            let calls = commands(&call(value)).unwrap_or_default();
            calls
                .iter()
                .map(|call| call.args["command"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            lines(json!(["ls", {"command": "rm", "args": ["-rf", "a'b"]}])),
            ["ls", r"rm '-rf' 'a'\''b'"]
        );
        assert_eq!(lines(json!("ls -l")), ["ls -l"]);
        assert_eq!(lines(json!("[\"ls\", \"id\"]")), ["ls", "id"]);
        let beside = Call {
            name: RUN_COMMANDS.to_owned(),
            args: object(json!({"command": "rm", "args": ["-rf"]})),
        };
        assert_eq!(commands(&beside).unwrap()[0].args["command"], "rm '-rf'");
        let mut twice = beside;
        twice.args.insert("cmd".to_owned(), "id".into());
        assert_eq!(commands(&twice), None);
        for unreadable in [json!(["ls", 1]), json!(7), json!([{"args": []}])] {
            assert_eq!(commands(&call(unreadable)), None);
        }
    }

    const WRITE: Tool = Tool {
        own: "Write",
        canonical: "write_file",
        keys: &[("file_path", "path")],
    };

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_path_in_the_project_is_relative_and_comes_back_absolute() {
        let root = &Root::new("/w/p".into(), None);
        let own = object(json!({"file_path": "/w/p/b.rs", "content": "x"}));
        let call = WRITE.call(&own, root).unwrap();
        assert_eq!(call.args, object(json!({"path": "b.rs", "content": "x"})));
        let mut after = call.args.clone();
        assert_eq!(WRITE.input(&own, &call.args, &after, root), own);
        after.insert("path".to_owned(), "c.rs".into());
        after.insert("mode".to_owned(), 1.into());
        after.remove("content");
        assert_eq!(
            WRITE.input(&own, &call.args, &after, root),
            object(json!({"file_path": "/w/p/c.rs", "mode": 1}))
        );
    }

    #[test]
    fn two_arguments_that_would_become_one_are_refused_unless_they_say_the_same() {
        let root = &Root::new("/w/p".into(), None);
        let own = object(json!({"file_path": "/w/p/a", "path": "b"}));
        assert_eq!(WRITE.call(&own, root), None);
        let own = object(json!({"file_path": "/w/p/a", "path": "a"}));
        let call = WRITE.call(&own, root).unwrap();
        assert_eq!(call.args, object(json!({"path": "a"})));
        let new = object(json!({"path": "c"}));
        assert_eq!(
            WRITE.input(&own, &call.args, &new, root),
            object(json!({"file_path": "/w/p/c", "path": "c"}))
        );
    }

    #[test]
    fn each_of_several_files_is_a_call() {
        let root = &Root::new("/w/p".into(), None);
        let paths = |args| -> Vec<String> {
            let call = Call {
                name: "read_file".to_owned(),
                args: object(args),
            };
            let calls = files(&call, root);
            calls
                .iter()
                .map(|call| call.args[PATH].to_string())
                .collect()
        };
        assert_eq!(
            paths(json!({"files": [{"path": "/w/p/a"}, "b"]})),
            [r#""a""#, r#""b""#]
        );
        assert_eq!(
            paths(json!({"path": "c", "paths": ["./a"]})),
            [r#""a""#, r#""c""#]
        );
        assert!(paths(json!({"files": [{"name": "a"}]})).is_empty());
    }
}
