//! What keeps goose from running hooks: plugins can be switched off by name.

use serde_json::Value;

use super::{Finding, Look, json};

/// Checks the lists of plugins that are off.
pub(in crate::agent) fn checks(look: &Look<'_>) -> Vec<Finding> {
    let roots = [&look.places.project, &look.places.home];
    let names = ["settings.local.json", "settings.json"];
    let folders = roots.into_iter().flatten();
    let files = folders.flat_map(|root| names.map(|name| root.join(".config/goose").join(name)));
    let is_off = |value: &Value| {
        let list = value["disabledPlugins"].as_array();
        list.is_some_and(|list| list.iter().any(|name| name == "hookbox"))
    };
    files
        .filter(|path| is_off(&json(path)))
        .map(|path| {
            let says = format!("{}: the plugin hookbox is disabled", look.shown(&path));
            Finding::bad("switched-off", says).so("take it out of disabledPlugins")
        })
        .collect()
}
