//! The world a component is built for. Toolchains that import all of it, used or not,
//! get one that has no more than the hook is granted.

use crate::capability::grant::{Grants, Kind};

/// The contract.
pub(crate) const CONTRACT: &str = include_str!("../../wit/hook.wit");

/// The name of the derived world.
pub(crate) const BUILT: &str = "built";

/// The interfaces that need no grant.
const FREE: [&str; 7] = [
    "log", "metrics", "cache", "events", "clock", "random", "fatal",
];

/// The interfaces that need one.
pub(crate) const GRANTED: [(&str, Kind); 5] = [
    ("http", Kind::Http),
    ("tools", Kind::Tools),
    ("environment", Kind::Env),
    ("files", Kind::Read),
    ("hooks", Kind::Hooks),
];

/// Returns the contract with one more world, `built`: what needs no grant, and what is
/// granted.
pub(crate) fn contract_for(grants: &Grants) -> String {
    let granted = GRANTED
        .iter()
        .filter(|(_, kind)| grants.has(*kind))
        .map(|(name, _)| *name);
    let imports: String = FREE
        .into_iter()
        .chain(granted)
        .map(|name| format!("    import {name};\n"))
        .collect();
    format!("{CONTRACT}\nworld {BUILT} {{\n{imports}    export handler;\n}}\n")
}
