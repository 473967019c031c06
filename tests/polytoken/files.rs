//! Where hooks lie, what their files look like, and what is said about wrong ones.

use std::path::{Path, PathBuf};

use hookbox::runtime::{LoadError, RuntimeBuilder};
use hookbox::{Ruling, Runtime};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Project;
use crate::support::programs::Says;
use crate::{bash, builder, data, fire, load, loaded, native, project, tool, write};

/// A directory of the user's own configuration, with these hooks.
fn global(hooks: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hooks.json"), hooks.to_string()).unwrap();
    folder
}

/// A hook on the start of a session that adds its name to what the model sees.
fn adds(name: &str) -> Value {
    let answer = json!({"outcome": "allow", "additional_context": name});
    bash(name, "session_start", &format!("echo '{answer}'"))
}

fn names(runtime: &Runtime) -> Vec<String> {
    let hooks = runtime.hooks().iter();
    hooks.map(|hook| hook.name.to_string()).collect()
}

/// The errors of a project, as `file:line:column: message`.
fn errors(builder: RuntimeBuilder) -> Vec<String> {
    let loaded = builder.inspect().unwrap();
    let errors = loaded.problems.iter().filter(|problem| problem.is_error());
    errors
        .map(|problem| {
            let place = match (problem.line(), problem.column()) {
                (Some(line), Some(column)) => format!("{line}:{column}: "),
                _ => String::new(),
            };
            format!("{}:{place}{}", problem.file, problem.message)
        })
        .collect()
}

#[test]
fn pt_001_pt_002_pt_004_global_hooks_come_first_and_the_project_adds_its_own() {
    let global = global(&json!([adds("g1"), adds("g2")]));
    let project = project(json!([adds("p1")]));
    let both = builder(&project).config_dir(global.path()).load().unwrap();
    assert_eq!(names(&both), ["g1", "g2", "p1"]);
    let (outcome, _) = fire(&both, "session_start", json!({}));
    assert_eq!(crate::called(&outcome), ["g1", "g2", "p1"]);
    assert_eq!(
        native(&both, &outcome),
        json!({"outcome": "allow", "additional_context": "g1\ng2\np1"})
    );

    let own = load(&project);
    assert_eq!(names(&own), ["p1"]);
}

#[test]
fn pt_001_a_global_component_lies_beside_the_global_file() {
    let project = project(json!([]));
    for (name, handler) in [("here", "here.wasm"), ("below", "hooks/below.wasm")] {
        let global = global(&json!([
            {"name": name, "event": "stop", "handler": {"wasm": handler}}
        ]));
        let path = global.path().join(handler);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, Says::new("go on", "", 2).wasm()).unwrap();
        let builder = Runtime::builder(project.path()).config_dir(global.path());
        let runtime = builder.load().unwrap_or_else(|error| panic!("{error}"));
        let (outcome, _) = fire(&runtime, "stop", json!({}));
        assert_eq!(outcome.reason.as_deref(), Some("go on"));
    }
}

#[test]
fn pt_001_what_is_wrong_in_the_global_file_names_that_file() {
    let project = project(json!([]));
    let empty = tempfile::tempdir().unwrap();
    assert!(errors(builder(&project).config_dir(empty.path())).is_empty());

    let global = global(&json!([
        {"name": "a", "event": "stop", "handler": {"wasm": "a.wasm"}},
        {"name": "b", "event": "pre_tool", "handler": {"bash": "exit 0"}}
    ]));
    let file = global.path().join("hooks.json");
    let found = errors(builder(&project).config_dir(global.path()));
    assert_eq!(found.len(), 2, "{found:?}");
    for error in &found {
        assert!(
            error.starts_with(&format!("{}:1:", file.display())),
            "{error}"
        );
    }

    let nowhere = errors(builder(&project).config_dir("/nowhere/at/all"));
    assert_eq!(
        nowhere.len(),
        1,
        "a directory that was named has to be there"
    );
    assert!(nowhere[0].contains("/nowhere/at/all"), "{nowhere:?}");
}

#[test]
fn pt_003_a_project_without_the_file_has_no_hooks_and_an_empty_list_is_fine() {
    assert!(names(&load(&Project::new())).is_empty());
    assert!(names(&load(&project(json!([])))).is_empty());
}

/// Every file in `malformed/` does not load, and for the reasons that stand beside it.
#[test]
fn pt_003_pt_012_a_malformed_file_is_rejected_with_its_line_and_column() {
    let mut paths: Vec<PathBuf> = (std::fs::read_dir(data("malformed")).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    paths.sort();
    assert!(paths.len() > 30);
    let mut wrong = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let project = Project::new();
        project.file(".polytoken/hooks.json", text);
        let found: String = (errors(builder(&project)).iter())
            .map(|error| format!("{error}\n"))
            .collect();
        assert!(!found.is_empty(), "{} loads", path.display());
        let load = builder(&project).load();
        assert!(matches!(load, Err(LoadError::Project(_))));
        let expected = std::fs::read_to_string(path.with_extension("errors")).unwrap_or_default();
        if found != expected {
            wrong += &format!("=== {}\n{found}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn pt_003_a_file_that_cannot_be_read_is_no_empty_list() {
    let project = Project::new();
    project.file(".polytoken/hooks.json", b"[\xff]");
    assert_eq!(
        errors(builder(&project)),
        [".polytoken/hooks.json:cannot be read: it is not UTF-8"]
    );

    let project = Project::new();
    project.file(".polytoken/hooks.json/inside", "");
    let found = errors(builder(&project));
    assert!(found[0].contains("it is a directory"), "{found:?}");

    let project = Project::new();
    project.file(
        ".polytoken/hooks.json",
        format!("[{}]", " ".repeat(2 << 20)),
    );
    let found = errors(builder(&project));
    assert!(found[0].contains("larger than 1024 KiB"), "{found:?}");

    let project = Project::new();
    project.file(".polytoken/other.json", "[]");
    std::os::unix::fs::symlink(
        "/etc/hostname",
        project.path().join(".polytoken/hooks.json"),
    )
    .unwrap();
    assert_eq!(
        errors(builder(&project)).len(),
        1,
        "no link leads out of a project"
    );

    let project = Project::new();
    project.file(".polytoken/hooks.json", "[".repeat(100_000));
    let found = errors(builder(&project));
    assert!(found[0].contains("nested"), "{found:?}");
}

#[test]
fn pt_005_the_name_is_in_the_trace_the_log_and_every_message() {
    let project = project(json!([bash(
        "log-edits",
        "notification",
        "echo odd >&2; exit 1"
    )]));
    let (outcome, _) = fire(&load(&project), "notification", json!({}));
    assert_eq!(&*outcome.trace[0].hook, "log-edits");
    assert_eq!(&*outcome.logs[0].hook, "log-edits");
    assert_eq!(outcome.logs[0].message, "odd");
    assert!(
        outcome.warnings[0].contains("\"log-edits\""),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn pt_007_without_a_matcher_a_hook_fires_on_every_instance() {
    let project = project(json!([bash("all", "pre_tool_use", "exit 2")]));
    let runtime = load(&project);
    for name in ["file_read", "shell", "mcp/server/tool", "", "ä b"] {
        let (outcome, _) = fire(&runtime, "pre_tool_use", tool(name, "a"));
        assert_eq!(outcome.decision, Ruling::Block, "{name}");
    }
}

#[test]
fn pt_010_a_hook_that_can_never_run_is_reported() {
    for (event, matcher, reported) in [
        ("stop", "stop", false),
        ("stop", "s*", false),
        ("stop", "**", false),
        ("stop", "file_*", true),
        ("stop", "", true),
        ("pre_tool_use", "", true),
        ("pre_tool_use", "pre_tool_use", false),
        ("subagent_start", "research*", false),
    ] {
        let mut hook = bash("a", event, "exit 0");
        hook["matcher"] = matcher.into();
        let (_project, runtime) = loaded(json!([hook]));
        let warnings = runtime.warnings().iter();
        let never = warnings
            .filter(|warning| warning.message.contains("never runs"))
            .count();
        assert_eq!(never, usize::from(reported), "{matcher:?} on {event}");
    }
}

#[test]
fn pt_012_one_bad_entry_keeps_all_hooks_from_loading() {
    let good = bash("good", "pre_tool_use", "exit 2");
    let bad = json!({"name": "bad", "event": "nope", "handler": {"bash": "exit 0"}});
    for hooks in [json!([good, bad]), json!([bad, good])] {
        let Err(LoadError::Project(problems)) = builder(&project(hooks)).load() else {
            panic!("it loads");
        };
        assert!(
            problems
                .iter()
                .any(|problem| problem.message == "hook \"bad\": there is no event \"nope\"")
        );
    }
}

#[test]
fn pt_013_a_project_can_switch_a_global_hook_off() {
    let hooks = json!([adds("log-edits"), adds("other"), adds("log-edits")]);
    let global = global(&hooks);
    let folder = global.path();
    let with = |hooks: Value| {
        let project = project(hooks);
        let runtime = builder(&project).config_dir(folder).load();
        names(&runtime.unwrap_or_else(|error| panic!("{error}")))
    };
    assert_eq!(with(json!([])), ["log-edits", "other", "log-edits"]);
    assert_eq!(with(json!(["!log-edits"])), ["other"], "all of that name");
    assert_eq!(with(json!(["!log-edits", "!other"])), [""; 0]);
    assert_eq!(
        with(json!(["!other", adds("p")])),
        ["log-edits", "log-edits", "p"]
    );
    let own = json!([adds("other"), "!other", adds("other")]);
    assert_eq!(
        with(own),
        ["log-edits", "log-edits", "other", "other"],
        "its own hooks stay, whatever they are called"
    );
}

#[test]
fn pt_014_only_a_global_hook_that_is_there_can_be_switched_off() {
    let global = global(&json!([adds("log-edits")]));
    for hooks in [
        json!(["!log-edit"]),
        json!(["!log-edits", "!log-edits"]),
        json!(["!Log-Edits"]),
        json!(["! log-edits"]),
    ] {
        let project = project(hooks.clone());
        let found = errors(builder(&project).config_dir(global.path()));
        assert_eq!(found.len(), 1, "{hooks}: {found:?}");
        assert!(found[0].contains("there is no global hook"), "{found:?}");
    }
    // The global file has none to switch off.
    let itself = self::global(&json!([adds("a"), "!a"]));
    let found = errors(builder(&Project::new()).config_dir(itself.path()));
    assert_eq!(found.len(), 1, "{found:?}");
}

fn reason(runtime: &Runtime) -> Option<String> {
    fire(runtime, "stop", json!({})).0.reason
}

#[test]
fn pt_015_an_edit_takes_effect_on_the_next_reload_and_a_broken_one_never() {
    let says = |text: &str| bash("a", "stop", &format!("echo {text}; exit 2"));
    let global = global(&json!([]));
    let project = project(json!([says("old")]));
    let mut runtime = builder(&project).config_dir(global.path()).load().unwrap();
    assert_eq!(reason(&runtime).as_deref(), Some("old"));

    write(&project, json!([says("new")]));
    assert_eq!(reason(&runtime).as_deref(), Some("old"));
    runtime.reload().unwrap();
    assert_eq!(reason(&runtime).as_deref(), Some("new"));

    project.file(".polytoken/hooks.json", "[");
    assert!(runtime.reload().is_err());
    assert_eq!(reason(&runtime).as_deref(), Some("new"));

    write(&project, json!([]));
    std::fs::write(
        global.path().join("hooks.json"),
        json!([says("global")]).to_string(),
    )
    .unwrap();
    runtime.reload().unwrap();
    assert_eq!(reason(&runtime).as_deref(), Some("global"));
}

#[test]
fn a_script_does_not_load_unless_processes_are_allowed() {
    let project = project(json!([bash("a", "stop", "exit 0")]));
    let refused = errors(Runtime::builder(project.path()));
    assert_eq!(
        refused,
        [
            ".polytoken/hooks.json:1:47: hook \"a\" is a program of this machine and would run outside of the sandbox"
        ]
    );
    project.file("hookbox.toml", "process = \"allow\"\n");
    let runtime = Runtime::load(project.path()).unwrap();
    assert!(
        runtime.warnings()[0]
            .message
            .contains("outside of the sandbox")
    );
    project.file("hookbox.toml", "process = \"deny\"\n");
    assert_eq!(errors(Runtime::builder(project.path())).len(), 1);
}

#[test]
fn a_component_that_is_not_granted_what_it_wants_is_said_by_its_name() {
    let project =
        project(json!([{"name": "caller", "event": "stop", "handler": {"wasm": "client.wasm"}}]));
    project.file(".polytoken/client.wasm", crate::support::guest("client"));
    let found = errors(Runtime::builder(project.path()));
    assert!(
        found[0].contains("hook \"caller\" is not granted"),
        "{found:?}"
    );
}

#[test]
fn one_hook_may_change_its_limits_and_what_its_failure_means() {
    let mut open = bash("open", "pre_tool_use", "sleep 60");
    open["limits"] = json!({"wall_time": "100ms"});
    open["on_error"] = "allow".into();
    let (_project, runtime) = loaded(json!([open]));
    let (outcome, _) = fire(&runtime, "pre_tool_use", tool("a", "b"));
    assert_eq!(
        (outcome.decision, outcome.warnings.len()),
        (Ruling::Allow, 1)
    );
    assert!(outcome.warnings[0].contains("deadline"));

    let mut closed = bash("closed", "notification", "exit 1");
    closed["on_error"] = "block".into();
    let (_project, runtime) = loaded(json!([closed]));
    let (outcome, _) = fire(&runtime, "notification", json!({}));
    assert_eq!(native(&runtime, &outcome)["outcome"], "suppress");
}

#[test]
fn a_path_of_a_project_may_be_anything() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a b'\"$x\nö");
    std::fs::create_dir_all(odd.join(".polytoken")).unwrap();
    let hooks = json!([bash(
        "a",
        "stop",
        "printf %s \"$POLYTOKEN_PROJECT_DIR\"; exit 2"
    )]);
    std::fs::write(odd.join(".polytoken/hooks.json"), hooks.to_string()).unwrap();
    let runtime = Runtime::builder(&odd).allow_process(true).load().unwrap();
    let (outcome, _) = fire(&runtime, "stop", json!({}));
    assert_eq!(Path::new(outcome.reason.as_deref().unwrap()), odd);
}
