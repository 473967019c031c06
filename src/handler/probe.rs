//! What tests run to see that two ways of making an instance come to the same.

use super::starlark::{Entry, Script, Text};
use crate::capability::{Border, Pass};
use crate::chain::Ran;
use crate::diagnostic::Source;
use crate::sandbox::bindings::types;
use crate::sandbox::limits::Limits;

pub(super) fn script(code: &str) -> Script {
    let source = Source::new("probe.md", code);
    Script {
        text: Text::of_file(&source),
        entry: Entry::Present,
    }
}

pub(super) fn event() -> types::Event {
    types::Event {
        name: "tool.pre".to_owned(),
        payload: r#"{"name":"x","args":{"n":[1,2,3]}}"#.to_owned(),
        id: "e".to_owned(),
        subject: None,
        hook: "probe".to_owned(),
        depth: 0,
    }
}

pub(super) fn border(limits: Limits) -> Border {
    Border::new(Pass {
        limits,
        ..Pass::nowhere()
    })
}

/// All that a call leaves, but for how long it took.
pub(super) type Seen = (String, Option<u64>, u64, bool, String);

pub(super) fn seen<T: std::fmt::Debug>(ran: Ran<T>) -> Seen {
    let usage = ran.usage;
    let left = format!("{:?}", ran.left);
    (
        format!("{:?}", ran.result),
        usage.fuel,
        usage.memory_bytes,
        usage.refused_memory,
        left,
    )
}

pub(super) const SCRIPTS: [&str; 9] = [
    "def handle(event, payload):\n    return allow()",
    "def handle(event, payload):\n    return block('no')",
    "def handle(event, payload):\n    payload['args']['n'].append(4)\n    return modify(payload)",
    "def handle(event, payload):\n    log.warn('x' * 100)\n    metrics.incr('a')\n    return allow()",
    "def handle(event, payload):\n    n = 0\n    for i in range(30000):\n        n += i\n    return block(str(n))",
    "def handle(event, payload):\n    fail('on purpose')",
    "def handle(event, payload):\n    return block('x' * 3000000)",
    "def handle(event, payload):\n    x = ['x' * 1000 for i in range(100000)]\n    return block(str(len(x)))",
    "def handle(event, payload)",
];
