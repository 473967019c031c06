//! What the format tolerates and nobody wants: said when a project is looked at,
//! refused only by `--strict`.

mod support;

use hookbox::Runtime;
use hookbox::decision::Ruling;
use support::{Project, command, hook_file};

/// A hook that breaks every convention at once.
fn careless() -> Project {
    let script = "def handle(event, payload):\n    if payload[\"name\"] == \"run_command\":\n        return block(\"no\")";
    Project::with(&[("careless", &hook_file("tool.pre", "extra: 1", script))])
}

#[test]
fn ah_105_conventions_are_warnings_and_nothing_fails() {
    let project = careless();
    let told = project.problems();
    for convention in [
        "has no priority",
        "handle can end without a decision",
        "looks at the tool's name in `handle`",
    ] {
        assert!(
            told.iter().any(|problem| problem.contains(convention)),
            "{convention}: {told:?}"
        );
    }
    assert!(project.errors().is_empty());
    assert_eq!(
        project.dispatch("tool.pre", command("ls")).decision,
        Ruling::Block
    );
}

#[test]
fn ah_105_a_hook_that_keeps_them_hears_nothing() {
    let project = Project::with(&[(
        "careful",
        &hook_file(
            "tool.pre",
            "priority: 10\nwhen: payload[\"name\"] == \"run_command\"",
            "def handle(event, payload):\n    return block(\"no\")",
        ),
    )]);
    assert!(project.problems().is_empty());
}

#[test]
fn strict_refuses_what_the_format_tolerates() {
    let strict = |project: &Project| {
        let loaded = Runtime::builder(project.path())
            .strict(true)
            .inspect()
            .unwrap();
        let errors = loaded
            .problems
            .into_iter()
            .filter(|problem| problem.is_error());
        errors.map(|problem| problem.message).collect::<Vec<_>>()
    };
    let told = strict(&careless()).join("\n");
    for refusal in [
        "unknown key \"extra\"",
        "has no priority",
        "can end without a decision",
    ] {
        assert!(told.contains(refusal), "{refusal}: {told}");
    }
    let no_handle = Project::with(&[(
        "x",
        &hook_file("tool.pre", "priority: 1", "def run(args):\n    return None"),
    )]);
    assert!(
        strict(&no_handle)
            .join("\n")
            .contains("defines no `handle`")
    );
    assert!(no_handle.errors().is_empty());
    let no_script = Project::with(&[("x", "---\nevent: tool.pre\npriority: 1\n---\n")]);
    assert!(strict(&no_script).join("\n").contains("has no script"));
    let unknown_name = Project::script("def handle(event, payload):\n    return alow()");
    assert!(
        strict(&unknown_name)
            .join("\n")
            .contains("did you mean allow?")
    );
    assert!(unknown_name.errors().is_empty());
}
