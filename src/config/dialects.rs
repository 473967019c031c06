//! What a project says about dialects as wholes: which ones it has and in which order
//! they run, and the choices some of them leave.

use super::Reader;
use crate::dialect::{self, Dialect};
use crate::yaml::Node;

/// Reads `dialects`: all that are named, in this order.
pub(super) fn order(node: &Node, reader: &mut Reader<'_>) -> Option<Vec<&'static str>> {
    const HELP: &str = "write for example `dialects = [\"harness\", \"polytoken\"]`";
    let Some(entries) = node.as_list() else {
        let message = format!("dialects must be a list, not {}", node.kind_name());
        reader.error_with_help(message, &node.span, HELP);
        return None;
    };
    let mut order: Vec<&'static str> = Vec::new();
    for entry in entries {
        match entry.as_str().and_then(dialect::named) {
            Some(Dialect { name, .. }) if order.contains(name) => {
                reader.error(format!("the dialect {name:?} is named twice"), &entry.span);
            }
            Some(dialect) => order.push(dialect.name),
            None => {
                let known: Vec<&str> = dialect::ALL.iter().map(|known| known.name).collect();
                let help = format!("the dialects are {}", known.join(", "));
                reader.error_with_help("this is none of the dialects", &entry.span, help);
            }
        }
    }
    Some(order)
}

/// Reads a table with one choice between two words, and says whether it is the second.
/// `table` and `key` name it.
pub(super) fn choice(
    table: &Node,
    whose: &str,
    key: &'static str,
    words: [&str; 2],
    reader: &mut Reader<'_>,
) -> bool {
    let Some(entries) = table.as_map() else {
        let message = format!("{whose} must be a table, not {}", table.kind_name());
        reader.error(message, &table.span);
        return false;
    };
    for (found, _) in entries {
        if found.name != key {
            reader.unknown_key(&format!("settings of {whose}"), found, [key]);
        }
    }
    let Some(node) = table.get(key) else {
        return false;
    };
    match node.as_str() {
        Some(word) if word == words[1] => true,
        Some(word) if word == words[0] => false,
        _ => {
            let message = format!("{whose}.{key} must be {:?} or {:?}", words[0], words[1]);
            reader.error(message, &node.span);
            false
        }
    }
}
