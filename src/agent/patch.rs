//! The files that a patch touches, each as a call of its own: a guard of one path must
//! not miss the second file of a patch.

use serde_json::{Map, json};

use super::place::Root;
use super::tool::Call;

/// The canonical name of a tool that takes a patch of several files.
pub(super) const APPLY_PATCH: &str = "apply_patch";

/// The lines that say which file comes next, with the tool that would do the same.
const HEADERS: [(&str, &str); 3] = [
    ("*** Add File:", "write_file"),
    ("*** Update File:", "edit_file"),
    ("*** Delete File:", "delete_file"),
];

/// The line that renames the file above it.
const MOVE: &str = "*** Move to:";

/// Returns a call for each file of a patch; none if it names no file.
#[must_use]
pub(super) fn calls(patch: &str, root: &Root) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut bodies: Vec<String> = Vec::new();
    for line in patch.lines() {
        let header = HEADERS
            .iter()
            .find_map(|(start, tool)| Some((line.trim().strip_prefix(start)?, tool)));
        if let Some((path, tool)) = header {
            calls.push(call(tool, path, root));
            bodies.push(String::new());
        } else if let Some(target) = line.trim().strip_prefix(MOVE)
            && let Some(last) = calls.last_mut()
        {
            last.name = "move_file".to_owned();
            let target = root.inside(target.trim());
            last.args.insert("target_path".to_owned(), target.into());
        } else if let Some(body) = bodies.last_mut() {
            *body += line;
            body.push('\n');
        }
    }
    for (call, body) in calls.iter_mut().zip(bodies) {
        let body = body.trim_end().trim_end_matches("*** End Patch").to_owned();
        if call.name == "write_file" {
            call.args.insert("content".to_owned(), added(&body).into());
        } else if call.name != "delete_file" {
            call.args.insert("patch".to_owned(), body.into());
        }
    }
    calls
}

fn call(tool: &str, path: &str, root: &Root) -> Call {
    let path = json!(root.inside(path.trim()));
    Call {
        name: tool.to_owned(),
        args: Map::from_iter([("path".to_owned(), path)]),
    }
}

/// The text of a new file: its lines without their plus signs.
fn added(body: &str) -> String {
    let lines = body.lines();
    lines
        .map(|line| line.strip_prefix('+').unwrap_or(line).to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_a_call() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: /w/p/b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n*** Update File: d.rs\n@@\n-1\n+2\n*** Delete File: e.rs\n*** End Patch\n";
        let root = Root::new("/w/p".into(), None);
        let found: Vec<String> = calls(patch, &root)
            .into_iter()
            .map(|call| format!("{} {}", call.name, serde_json::Value::from(call.args)))
            .collect();
        assert_eq!(
            found,
            [
                r#"write_file {"path":"a.txt","content":"one\ntwo\n"}"#,
                r#"move_file {"path":"b.rs","target_path":"c.rs","patch":"@@\n-x\n+y"}"#,
                r#"edit_file {"path":"d.rs","patch":"@@\n-1\n+2"}"#,
                r#"delete_file {"path":"e.rs"}"#,
            ]
        );
        assert!(calls("hello", &root).is_empty());
    }
}
