//! What keeps Cursor from running hooks: it refuses a whole file for little things.

use super::super::named;
use super::{Finding, Look, copilot};

/// Checks the file as Cursor reads it, and the other one that it reads.
pub(in crate::agent) fn checks(look: &Look<'_>) -> Vec<Finding> {
    let found = [slashes(look), unknown(look), copilot::through_claude(look)];
    found.into_iter().flatten().collect()
}

fn slashes(look: &Look<'_>) -> Option<Finding> {
    let path = look.shown(&look.spot.path);
    let says =
        format!("{path}: Cursor takes // in a string for a comment, and cannot read the file");
    let is_cut = look.value.to_string().contains("//");
    is_cut.then(|| Finding::bad("readable", says).so("write the path or text without //"))
}

fn unknown(look: &Look<'_>) -> Option<Finding> {
    let cursor = named("cursor")?;
    // One that our entries have no use for.
    let known = |name: &str| cursor.event(name).is_some() || name == "workspaceOpen";
    let mut events = look.value["hooks"].as_object()?.keys();
    let event = events.find(|name| !known(name))?;
    let says = format!(
        "{event} is no event of Cursor that is known here; it refuses the whole file for one it does not know"
    );
    Some(Finding::warning("readable", says).so(format!("check the name {event}")))
}
