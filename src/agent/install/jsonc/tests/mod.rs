//! Cases as data, properties of random texts, and texts that mean harm.

mod cases;
mod hostile;
mod properties;

use serde_json::Value;

use super::{Document, EditError, Step};

/// Reads a path like `["hooks", 0]`.
fn steps(path: &[Value]) -> Vec<Step<'_>> {
    let step = |step: &Value| step.as_u64().map(|index| Step::Index(index as usize));
    path.iter()
        .map(|part| step(part).unwrap_or_else(|| Step::Key(part.as_str().expect("a key"))))
        .collect()
}

/// Makes an edit like `{"do": "push", "path": ["hooks"], "value": 1}`.
fn make(document: &mut Document, edit: &Value) -> Result<bool, EditError> {
    let path = steps(edit["path"].as_array().expect("a path is an array"));
    match edit["do"].as_str() {
        Some("set") => document.set(&path, &edit["value"]).map(|()| true),
        Some("push") => document.push(&path, &edit["value"]).map(|()| true),
        Some("remove") => document.remove(&path),
        other => panic!("{other:?} is no edit"),
    }
}
