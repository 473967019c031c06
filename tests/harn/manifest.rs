//! `harn.toml`: which hooks it registers, what their handlers resolve to, what their
//! patterns look at, and what is wrong with those that do not load.

use hookbox::Ruling::{Allow, Block, Modify};
use hookbox::dialect::harn::Hooks;
use hookbox::dialect::harn::events::CATALOGUE;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::programs::{Says, environment};
use super::support::{Project, answer, component, session};
use super::{bodies, call, entry, folder, native, policy, runtime};

const NOTHING: &str = "def f(event):\n    return None\n\ndef g(event):\n    return None\n";

#[test]
fn hn_043_a_manifest_registers_its_hooks_in_order() {
    let manifest = r#"
[package]
name = "guarded"
version = "0.1.0"

[[hooks]]
event = "UserPromptSubmit"
pattern = "*"
handler = "policy::g"

[[hooks]]
event = "UserPromptSubmit"
handler = "policy::f"
"#;
    let project = policy(manifest, NOTHING);
    let runtime = runtime(&project, &Hooks::new());
    let hooks: Vec<_> = runtime
        .hooks()
        .iter()
        .map(|hook| (&*hook.name, &*hook.event, &*hook.origin.file))
        .collect();
    assert_eq!(
        hooks,
        [
            ("policy::g", "UserPromptSubmit", "harn.toml"),
            ("policy::f", "UserPromptSubmit", "harn.toml")
        ]
    );
    let outcome = runtime
        .dispatch("user_prompt_submit", json!({"prompt": "x"}))
        .unwrap();
    let called: Vec<_> = outcome.stages.dispatch.iter().map(|hook| &**hook).collect();
    assert_eq!(called, ["policy::g", "policy::f"]);
}

#[test]
fn hn_043_only_the_project_s_own_manifest_counts() {
    let project = policy(&entry("PreCompact", "*", "policy::f"), NOTHING);
    let stranger = entry("PreCompact", "*", "policy::g");
    project
        .file(".harn/packages/other/harn.toml", &stranger)
        .file("vendor/other/harn.toml", &stranger);
    assert_eq!(runtime(&project, &Hooks::new()).hooks().len(), 1);
}

#[test]
fn hn_044_every_event_of_the_catalogue_can_be_in_a_manifest() {
    let mut manifest = String::new();
    for info in CATALOGUE {
        manifest += &entry(info.name, "*", "policy::f");
        if let Some(snake) = info.snake {
            manifest += &entry(snake, "*", "policy::f");
        }
    }
    let runtime = runtime(&policy(&manifest, NOTHING), &Hooks::new());
    for info in CATALOGUE {
        let of_it = runtime
            .hooks()
            .iter()
            .filter(|hook| *hook.event == *info.name);
        let spellings = if info.snake.is_some() { 2 } else { 1 };
        assert_eq!(of_it.count(), spellings, "{}", info.name);
        let outcome = runtime
            .dispatch(info.name, call("exec", json!({})))
            .unwrap();
        assert_eq!(outcome.stages.dispatch.len(), spellings, "{}", info.name);
    }
}

#[test]
fn hn_045_a_handler_is_a_function_of_a_module() {
    let project = policy(
        &[
            entry("PreToolUse", "deep", "rules::tools::deep"),
            entry("PreToolUse", "in_src", "more::in_src"),
            entry("PreToolUse", "here", "policy::here"),
            entry("PreToolUse", "typed", "guards::typed::check"),
            entry("PreToolUse", "program", "guards::program::check"),
        ]
        .concat(),
        "def other(event):\n    return None\n\ndef here(event):\n    return {\"deny\": _why()}\n\ndef _why():\n    return \"here\"\n",
    );
    project
        .file(
            "rules/tools.star",
            "def deep(event):\n    return {\"deny\": \"deep\"}\n",
        )
        .file(
            "src/more.star",
            "def in_src(event):\n    return {\"deny\": \"in_src\"}\n",
        )
        .file("guards/typed.wasm", component(&answer(1, "typed")))
        .file(
            "guards/program.wasm",
            Says::new(r#"{"deny": "program"}"#, "", 0).wasm(),
        );
    let runtime = runtime(&project, &Hooks::new());
    let kinds: Vec<_> = runtime
        .hooks()
        .iter()
        .map(|hook| hook.handler.kind())
        .collect();
    assert_eq!(
        kinds,
        ["starlark", "starlark", "starlark", "component", "command"]
    );
    for tool in ["deep", "in_src", "here", "typed", "program"] {
        let outcome = runtime
            .dispatch("PreToolUse", call(tool, json!({})))
            .unwrap();
        assert_eq!(outcome.decision, Block, "{tool}");
        assert_eq!(native(&runtime, &outcome), json!({"deny": tool}));
    }
}

#[test]
fn hn_045_a_component_is_told_which_function_is_meant() {
    let project = Project::new();
    project
        .file("harn.toml", entry("PreToolUse", "*", "policy::check_args"))
        .file("policy.wasm", environment());
    let outcome = runtime(&project, &Hooks::new())
        .dispatch("PreToolUse", call("x", json!({})))
        .unwrap();
    let reason = outcome.reason.unwrap();
    assert!(
        reason.contains("HARN_HANDLER=policy::check_args"),
        "{reason}"
    );
}

#[test]
fn hn_045_a_handler_that_is_not_there_keeps_the_project_from_loading() {
    let project = policy(&entry("PreCompact", "*", "policy::missing"), NOTHING);
    let told = session(project.path(), &["run", "PreCompact", "--dialect", "harn"]);
    assert!(
        told.contains("hook handler 'missing' is not exported by module 'policy'"),
        "{told}"
    );
    assert!(told.ends_with("[exit code 1]\n"), "{told}");
}

/// Folders of projects that do not load.
#[test]
fn what_is_wrong_with_a_manifest_has_its_place() {
    let mut folders: Vec<_> = std::fs::read_dir(folder("bad"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    assert!(folders.len() >= 15);
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let loaded = hookbox::Runtime::builder(&folder).inspect().unwrap();
        assert!(
            loaded.problems.iter().any(|problem| problem.is_error()),
            "{name}"
        );
        for problem in &loaded.problems {
            let file = folder.join(&problem.file);
            assert!(file.exists(), "{name}: {problem:?}");
        }
        let told = session(&folder, &["validate"]);
        assert!(told.ends_with("[exit code 1]\n"), "{name}: {told}");
        assert_snapshot!(format!("bad_{name}"), told);
    }
}

#[test]
fn a_broken_manifest_is_an_error_at_its_line_and_column() {
    let project = policy(
        "[package]\nname = \"x\"\n\n[[hooks]]\nevent = = 3\n",
        NOTHING,
    );
    let errors = project.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("harn.toml:5:9: parse harn.toml: "),
        "{errors:?}"
    );
    project.file("harn.toml", "[hooks]\nevent = \"PreCompact\"\n");
    assert_eq!(
        project.errors(),
        ["harn.toml:1:1: hooks must be written as `[[hooks]]`, and is a map"]
    );
}

#[test]
fn a_module_with_a_syntax_error_is_named_with_the_place_in_it() {
    let project = policy(
        &entry("PreCompact", "*", "policy::f"),
        "def g(event):\n    return None\n\ndef f(event):\n    return {\n",
    );
    let errors = project.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("policy.star:5:"), "{errors:?}");
    assert!(errors[0].contains("syntax error"), "{errors:?}");
}

#[test]
fn a_module_may_have_built_ins_of_its_own() {
    for own in ["def modify(value):\n    return None\n", "modify = len\n"] {
        let module = format!("{own}\ndef f(event):\n    return False\n");
        let project = policy(&entry("PreCompact", "*", "policy::f"), &module);
        let outcome = runtime(&project, &Hooks::new())
            .dispatch("pre_compact", json!({}))
            .unwrap();
        assert_eq!(outcome.decision, Block, "{own}");
    }
}

#[test]
fn a_manifest_without_hooks_is_none_of_our_business() {
    for text in ["", "[package]\nname = \"x\"\n", "hooks = []\n"] {
        let project = policy(text, NOTHING);
        assert_eq!(project.problems(), [""; 0], "{text}");
    }
}

#[test]
fn hn_012_patterns_of_a_manifest_look_into_the_payload() {
    let tool = json!({"name": "exec_shell", "args": {"command": "rm -rf /", "force": true}, "tool_call_id": "c1"});
    for (pattern, called) in [
        ("", true),
        ("*", true),
        ("exec_*", true),
        ("fetch_*", false),
        ("tool.name == 'exec_shell'", true),
        ("tool.name != 'exec_shell'", false),
        ("tool.args.command =~ '^rm '", true),
        ("tool.args.command =~ '^ls'", false),
        ("tool.args.force", true),
        ("tool.args.absent", false),
        ("session.id == 's1'", true),
        ("session.user.name == 'me'", true),
        ("tool.annotations.destructive", true),
        ("source == 'cli'", true),
        ("tool_call_id == 'c1'", true),
    ] {
        let project = policy(&entry("PreToolUse", pattern, "policy::f"), NOTHING);
        let mut tool = tool.clone();
        tool["annotations"] = json!({"destructive": true});
        let payload = json!({
            "tool": tool, "source": "cli",
            "session": {"id": "s1", "user": {"name": "me"}},
        });
        let outcome = runtime(&project, &Hooks::new())
            .dispatch("PreToolUse", payload.clone())
            .unwrap();
        assert_eq!(outcome.stages.dispatch.len() == 1, called, "{pattern}");
        // Whatever came in comes back.
        let mut back = outcome.payload.value().clone();
        for key in ["tool", "source", "session"] {
            assert_eq!(back[key].take(), payload[key], "{key}");
        }
    }
}

#[test]
fn what_came_beside_a_result_comes_back() {
    let project = policy(
        &entry("PostToolUse", "result.exit_code == 1", "policy::shorten"),
        "def shorten(event):\n    return \"failed with \" + str(event[\"result\"][\"exit_code\"])\n",
    );
    let runtime = runtime(&project, &Hooks::new());
    let mut payload = call("exec", json!({}));
    payload["result"] = json!({"text": "long", "exit_code": 1});
    let outcome = runtime.dispatch("PostToolUse", payload).unwrap();
    assert_eq!(outcome.decision, Modify);
    assert_eq!(
        outcome.payload.value()["result"],
        json!({"text": "failed with 1", "exit_code": 1})
    );
}

const REWRITES: &str = r#"
def clean(event):
    return {"args": {"command": "ls"}}

def refuse(event):
    return {"deny": "rm is refused"}

def tell(event):
    return {"body": event["tool"]["args"]["command"]}
"#;

#[test]
fn a_pattern_sees_what_earlier_hooks_left_of_the_payload() {
    let dangerous = "tool.args.command =~ '^rm '";
    let harmless = "tool.args.command == 'ls'";
    let first = policy(
        &[
            entry("PreToolUse", dangerous, "policy::clean"),
            entry("PreToolUse", dangerous, "policy::refuse"),
            entry("PreToolUse", harmless, "policy::tell"),
        ]
        .concat(),
        REWRITES,
    );
    let outcome = runtime(&first, &Hooks::new())
        .dispatch("PreToolUse", call("exec", json!({"command": "rm -rf /"})))
        .unwrap();
    assert_eq!(outcome.decision, Modify);
    assert_eq!(bodies(&outcome), ["ls"]);
    let matched: Vec<bool> = outcome.trace.iter().map(|row| row.matched).collect();
    assert_eq!(matched, [true, false, true]);
}

#[test]
fn an_event_that_matches_no_pattern_passes() {
    let project = policy(&entry("PreToolUse", "exec_*", "policy::refuse"), REWRITES);
    let runtime = runtime(&project, &Hooks::new());
    let outcome = runtime
        .dispatch("PreToolUse", call("read", json!({})))
        .unwrap();
    assert_eq!(outcome.decision, Allow);
    assert_eq!(native(&runtime, &outcome), Value::Null);
}

#[test]
fn explain_shows_the_hooks_of_a_manifest() {
    let project = policy(
        &[
            entry("PreToolUse", "exec_*", "policy::refuse"),
            entry(
                "PreToolUse",
                "tool.args.command =~ '^rm '",
                "guards::typed::check",
            ),
            entry("OnBudgetThreshold(80)", "*", "policy::tell"),
            entry("user_prompt_submit", "*", "policy::tell"),
        ]
        .concat(),
        REWRITES,
    );
    project
        .file("guards/typed.wasm", component(&answer(1, "typed")))
        .file("hookbox.toml", "[limits]\nfuel = \"10M\"\n");
    assert_snapshot!(session(project.path(), &["explain"]));
}
