//! How hook files are found, read and judged. `tests/malformed` holds a small
//! project for each mistake a person can make, and the snapshots what
//! `hookbox validate` says about it.

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookbox::dialect::harness::events;
use hookbox::handler::Handler;
use hookbox::hook::Hook;
use hookbox::{Ruling, Runtime};
use serde_json::{Value, json};
use support::{Project, command, hook_file, hookbox};

const ALLOW: &str = "def handle(event, payload):\n  return allow()";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed")
}

/// What `hookbox validate` prints in a folder, and its exit code. Standard error
/// is left out: it says when the interpreter is compiled, which happens once.
fn validate(folder: &Path) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .arg("validate")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code(),
    )
}

/// One test for each project of the corpus: its folder, and the exit code.
macro_rules! corpus {
    ($($(#[$attribute:meta])* fn $test:ident($folder:literal) exits $code:literal;)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $test() {
                let (text, code) = validate(&corpus().join($folder));
                insta::assert_snapshot!($folder, text);
                assert_eq!(code, Some($code));
            }
        )*

        #[test]
        fn ah_016_every_project_of_the_corpus_is_tested() {
            let tested = BTreeSet::from([$($folder.to_owned()),*]);
            let entries = std::fs::read_dir(corpus()).unwrap().map(Result::unwrap);
            let there: BTreeSet<String> = entries
                .filter(|entry| entry.path().is_dir())
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            assert_eq!(there, tested);
        }
    };
}

corpus! {
    fn grant_missing("grant_missing") exits 1;
    fn grant_unused("grant_unused") exits 0;
    fn grant_rules_malformed("grant_rules_malformed") exits 1;
    fn grant_kinds_malformed("grant_kinds_malformed") exits 1;
    fn grant_is_a_list("grant_is_a_list") exits 1;
    fn settings_malformed("settings_malformed") exits 1;
    fn settings_broken_toml("settings_broken_toml") exits 1;
    fn settings_twice("settings_twice") exits 1;
    fn ah_002_ah_016_no_frontmatter("no_frontmatter") exits 1;
    fn ah_003_ah_016_unclosed_frontmatter("unclosed_frontmatter") exits 1;
    fn ah_003_ah_016_nothing_after_the_delimiter("nothing_after_the_delimiter") exits 1;
    fn ah_008_ah_016_frontmatter_is_a_list("frontmatter_is_a_list") exits 1;
    fn ah_014_ah_016_broken_yaml_on_line_4("broken_yaml_on_line_4") exits 1;
    fn ah_014_ah_016_unclosed_quote("unclosed_quote") exits 1;
    fn ah_014_ah_016_tab_in_yaml("tab_in_yaml") exits 1;
    fn ah_014_ah_016_duplicate_keys("duplicate_keys") exits 1;
    fn ah_014_ah_016_yaml_alias_bomb("yaml_alias_bomb") exits 1;
    fn ah_014_ah_016_yaml_unknown_alias("yaml_unknown_alias") exits 1;
    fn ah_014_ah_016_yaml_nested_too_deep("yaml_nested_too_deep") exits 1;
    fn ah_006_ah_016_event_missing("event_missing") exits 1;
    fn ah_006_ah_016_event_empty("event_empty") exits 1;
    fn ah_021_event_is_a_list("event_is_a_list") exits 1;
    fn ah_015_ah_016_event_unknown("event_unknown") exits 1;
    fn ah_015_ah_016_event_misspelt("event_misspelt") exits 1;
    fn ah_011_ah_015_bundle_event_unknown("bundle_event_unknown") exits 1;
    fn ah_008_key_misspelt("key_misspelt") exits 0;
    fn ah_025_priority_is_text("priority_is_text") exits 1;
    fn ah_024_when_is_a_bool("when_is_a_bool") exits 1;
    fn ah_024_when_syntax_error("when_syntax_error") exits 1;
    fn on_error_unknown("on_error_unknown") exits 1;
    fn limits_unknown("limits_unknown") exits 1;
    fn limits_over_the_ceiling("limits_over_the_ceiling") exits 1;
    fn limits_nonsense("limits_nonsense") exits 1;
    fn limits_not_a_map("limits_not_a_map") exits 1;
    fn ah_022_script_syntax_error("script_syntax_error") exits 1;
    fn ah_022_script_bad_indentation("script_bad_indentation") exits 1;
    fn ah_072_script_loads_a_module("script_loads_a_module") exits 1;
    fn ah_072_script_while_loop("script_while_loop") exits 1;
    fn ah_089_script_and_component("script_and_component") exits 1;
    fn ah_089_component_missing("component_missing") exits 1;
    fn ah_089_component_is_not_one("component_is_not_one") exits 1;
    fn ah_089_component_outside_the_project("component_outside_the_project") exits 1;
    fn byte_order_mark("byte_order_mark") exits 1;
    fn crlf("crlf") exits 0;
    fn ah_010_inline_without_handler("inline_without_handler") exits 1;
    fn ah_010_inline_hooks_not_a_list("inline_hooks_not_a_list") exits 1;
    fn ah_010_inline_entries_malformed("inline_entries_malformed") exits 1;
    fn ah_010_ah_014_inline_broken_yaml("inline_broken_yaml") exits 1;
    fn ah_001_directory_named_like_a_hook("directory_named_like_a_hook") exits 1;
    fn ah_001_upper_case_ending("upper_case_ending") exits 0;
    fn ah_004_empty_name("empty_name") exits 1;
    fn ah_054_no_entry_point("no_entry_point") exits 0;
    fn ah_017_no_decision_shape_check("no_decision_shape_check") exits 0;
    fn ah_084_ah_085_ah_092_ah_095_suspicious_names("suspicious_names") exits 0;
    fn ah_016_several_problems("several_problems") exits 1;
}

/// The one problem of a project with one hook file.
fn only_problem(file: &str) -> String {
    let problems = Project::with(&[("x", file)]).problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems.into_iter().next().unwrap()
}

#[test]
fn ah_013_a_script_that_is_not_a_string_is_a_parse_error_and_nothing_else() {
    for (script, kind) in [
        ("42", "a number"),
        ("[a]", "a list"),
        ("true", "a boolean"),
        ("{a: 1}", "a map"),
    ] {
        let problem = only_problem(&format!(
            "---\nevent: tool.pre\npriority: 10\nscript: {script}\n---\n"
        ));
        let expected = format!("parse hook x.md: script must be a string, not {kind}");
        assert_eq!(problem, format!(".harness/hooks/x.md:4:9: {expected}"));
    }
}

#[test]
fn ah_025_a_number_that_is_no_priority_is_not_called_no_number() {
    for priority in ["9223372036854775808", "1.5"] {
        let problem = only_problem(&format!(
            "---\nevent: tool.pre\npriority: {priority}\nwhen: 'True'\nscript: |\n  def handle(e, p): return allow()\n---\n"
        ));
        assert!(
            problem.starts_with(".harness/hooks/x.md:3:11: parse hook x.md: priority must be "),
            "{problem}"
        );
        assert!(!problem.ends_with("not a number"), "{problem}");
    }
}

#[test]
fn ah_022_a_script_that_ends_too_early_is_shown_at_its_own_end() {
    let file = "---\nevent: tool.pre\npriority: 10\nscript: |\n  def handle(event, payload):\n    return allow(\n---\n";
    let problem = only_problem(file);
    assert!(
        problem.starts_with(".harness/hooks/x.md:6:"),
        "line 7 is not part of the script: {problem}"
    );
}

#[test]
fn ah_024_a_when_is_one_expression_and_is_shown_in_its_own_words() {
    let file = |when: &str| hook_file("tool.pre", &format!("priority: 1\nwhen: {when}"), ALLOW);
    let problem = only_problem(&file("True) or bool(False"));
    assert_eq!(
        problem,
        ".harness/hooks/x.md:4:7: a `when` must be one expression"
    );
    let problem = only_problem(&file("1 +"));
    assert!(problem.starts_with(".harness/hooks/x.md:4:"), "{problem}");
    assert!(
        !problem.contains(')'),
        "there is no parenthesis in the expression: {problem}"
    );
}

#[test]
fn ah_015_ah_047_what_is_suggested_instead_of_an_unknown_event_is_an_event() {
    for name in [
        "custom.a-b",
        "custom.A",
        "custom.a.b",
        "custom.",
        "metta.x",
        "turn.strat",
        "toolpre",
    ] {
        let project = Project::with(&[("x", &hook_file(name, "priority: 1", ALLOW))]);
        let loaded = Runtime::builder(project.path()).inspect().unwrap();
        assert_eq!(loaded.problems.len(), 1);
        assert_eq!(
            loaded.problems[0].message,
            format!("hooks[0].event {name:?} is invalid")
        );
        let help = loaded.problems[0].help.as_deref().unwrap();
        if let Some(guess) = help.strip_prefix("did you mean `") {
            let guess = guess.strip_suffix("`?").unwrap();
            assert!(
                events::find(guess).is_some(),
                "{name}: {guess} is refused as well"
            );
        }
    }
}

#[test]
fn ah_001_only_markdown_files_directly_in_the_folder_are_hooks() {
    let project = Project::with(&[
        ("one", &hook_file("tool.pre", "priority: 1", ALLOW)),
        ("two", &hook_file("tool.post", "priority: 1", ALLOW)),
        ("sub/three", &hook_file("tool.pre", "priority: 1", ALLOW)),
    ]);
    project.file(".harness/hooks/notes.txt", "no hook");
    project.file(".harness/hooks/README", "no hook");
    project.file(
        "elsewhere/four.md",
        hook_file("tool.pre", "priority: 1", ALLOW),
    );
    let runtime = project.runtime();
    let names: Vec<&str> = runtime.hooks().iter().map(|hook| &*hook.name).collect();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn ah_004_ah_005_the_file_name_is_the_name_whatever_the_frontmatter_says() {
    let script = "def handle(event, payload):\n  log('seen')\n  return block('no')";
    let more = "priority: 1\nname: b\nhandler: c";
    let project = Project::with(&[("command_guard", &hook_file("tool.pre", more, script))]);
    assert!(project.errors().is_empty());
    let runtime = project.runtime();
    assert_eq!(&*runtime.hooks()[0].name, "command_guard");
    assert_eq!(
        &*runtime.hooks()[0].origin.file,
        ".harness/hooks/command_guard.md"
    );
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(outcome.hook.as_deref(), Some("command_guard"));
    assert_eq!(&*outcome.logs[0].hook, "command_guard");
    assert_eq!(&*outcome.trace[0].hook, "command_guard");
}

#[test]
fn ah_004_dots_in_a_file_name_belong_to_the_name() {
    let project = Project::with(&[("guard.v2", &hook_file("tool.pre", "priority: 1", ALLOW))]);
    assert_eq!(&*project.runtime().hooks()[0].name, "guard.v2");
    // Only the ending is cut off, and only once.
    let project = Project::with(&[("guard.md", &hook_file("tool.pre", "priority: 1", ALLOW))]);
    assert_eq!(&*project.runtime().hooks()[0].name, "guard.md");
}

#[test]
fn ah_007_the_body_changes_nothing_and_goes_nowhere() {
    let script = "def handle(event, payload):\n  return modify({'args': {'command': 'echo'}})";
    let mut seen = Vec::new();
    for body in [
        "",
        "# SECRET\n\nSECRET prose.\n",
        "---\nevent: tool.post\npriority: 1\n---\nSECRET\n",
    ] {
        let file = hook_file("tool.pre", "priority: 1", script).replace("A hook.\n", body);
        let outcome = Project::with(&[("x", &file)]).dispatch("tool.pre", command("ls"));
        let shown = serde_json::to_string(&outcome).unwrap();
        assert!(!shown.contains("SECRET"), "{shown}");
        let fuel: Vec<_> = outcome.trace.iter().map(|row| row.fuel).collect();
        seen.push((outcome.decision, outcome.payload.text().to_owned(), fuel));
    }
    assert_eq!(seen[0].0, Ruling::Modify);
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

#[test]
fn ah_008_ah_019_keys_of_the_future_are_ignored_silently() {
    let more = "priority: 1\nverify: true\nverify_policy: { tries: [1, 2] }\nx-team: blue";
    let project = Project::with(&[("x", &hook_file("tool.pre", more, ALLOW))]);
    assert_eq!(project.problems(), Vec::<String>::new());
    assert_eq!(
        project.dispatch("tool.pre", command("ls")).decision,
        Ruling::Allow
    );
}

#[test]
fn ah_008_ah_018_a_misspelt_priority_is_0_and_validate_shows_it() {
    let project = Project::with(&[(
        "x",
        &hook_file("tool.pre", "prioritty: 5\nwhen: True == True", ALLOW),
    )]);
    assert!(project.errors().is_empty());
    assert_eq!(project.runtime().hooks()[0].priority, 0);
    let path = project.path().to_str().unwrap();
    let output = hookbox(&["validate", "-v", "--project", path]);
    assert_eq!(output.status.code(), Some(0));
    let shown = String::from_utf8(output.stdout).unwrap();
    for line in [
        "x\n",
        "  event     tool.pre\n",
        "  priority  0 (default)\n",
        "  when      True == True\n",
        "  handler   starlark\n",
        "  on error  block\n",
        "  file      .harness/hooks/x.md\n",
    ] {
        assert!(shown.contains(line), "{line:?} is not in {shown}");
    }
}

#[test]
fn ah_018_validate_json_has_all_fields_the_runtime_sees() {
    let project = Project::with(&[("x", "---\nevent: turn.end\n---\n\n# X\n\nA placeholder.\n")]);
    let path = project.path().to_str().unwrap();
    let output = hookbox(&["validate", "--json", "--project", path]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["valid"], true);
    let mut hook = shown["hooks"][0].clone();
    hook.as_object_mut().unwrap().remove("limits").unwrap();
    assert_eq!(
        hook,
        json!({
            "hook": "x", "dialect": "harness", "event": "turn.end",
            "point": "turn.end", "waits": true, "sandboxed": true,
            "priority": 0, "explicit_priority": false, "when": null,
            "handler": "none", "script": false, "on_error": "allow",
            "file": ".harness/hooks/x.md", "summary": "A placeholder.", "grants": {},
        })
    );
}

#[test]
fn ah_009_code_in_the_body_never_runs() {
    let body = "```starlark\ndef handle(event, payload):\n    return block(\"x\")\n```\n\nscript: |\n  def handle(event, payload):\n    return block('y')\n";
    let file = format!("---\nevent: tool.pre\npriority: 1\n---\n{body}");
    let outcome = Project::with(&[("x", &file)]).dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Allow);
}

/// The fields of a hook, indented for a list.
fn entry(handler: &str, fields: &str) -> String {
    let fields: String = fields.lines().map(|line| format!("    {line}\n")).collect();
    format!("  - handler: {handler}\n{fields}")
}

const GUARD: &str = "event: tool.pre
priority: 12
on_error: allow
limits: { fuel: 50M, log_lines: 7 }
when: payload[\"name\"] == \"run_command\"
script: |
  def handle(event, payload):
    return block(\"no \" + payload[\"args\"][\"command\"])
";

/// What a hook is, without where it came from.
fn canonical(hook: &Hook) -> Value {
    let Handler::Starlark(script) = &hook.handler else {
        panic!("{:?} has no script", hook.name);
    };
    json!({
        "event": hook.event, "priority": hook.priority, "when": hook.when(),
        "script": script.text.code, "on_error": hook.on_error, "limits": hook.limits,
        "explicit": hook.origin.explicit_priority,
    })
}

#[test]
fn ah_010_ah_011_ah_012_the_schema_is_the_same_wherever_a_hook_is_written() {
    let project = Project::with(&[("filed", &format!("---\n{GUARD}---\n"))]);
    project.file(
        "harness.md",
        format!(
            "---\nname: demo\nhooks:\n{}---\n# Demo\n",
            entry("inline", GUARD)
        ),
    );
    for folder in ["plugins", "builtins", "overrides"] {
        let bundle = format!(
            "---\nhooks:\n{}{}---\n",
            entry(&format!("{folder}_1"), GUARD),
            entry(&format!("{folder}_2"), GUARD)
        );
        project.file(&format!(".harness/{folder}/pack.md"), bundle);
    }
    assert_eq!(project.problems(), Vec::<String>::new());
    let runtime = project.runtime();
    let names: BTreeSet<&str> = runtime.hooks().iter().map(|hook| &*hook.name).collect();
    let expected = [
        "filed",
        "inline",
        "plugins_1",
        "plugins_2",
        "builtins_1",
        "builtins_2",
        "overrides_1",
        "overrides_2",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    let first = canonical(&runtime.hooks()[0]);
    assert_eq!(first["limits"]["fuel"], 50_000_000);
    assert_eq!(first["on_error"], "allow");
    for hook in runtime.hooks() {
        assert_eq!(canonical(hook), first, "{}", hook.name);
    }
}

#[test]
fn ah_010_ah_011_ah_012_the_decision_is_the_same_wherever_a_hook_is_written() {
    let file = Project::with(&[("guard", &format!("---\n{GUARD}---\n"))]);
    let inline = Project::new();
    inline.file(
        "harness.md",
        format!("---\nhooks:\n{}---\n", entry("guard", GUARD)),
    );
    let bundle = Project::new();
    bundle.file(
        ".harness/overrides/b.md",
        format!("---\nhooks:\n{}---\n", entry("guard", GUARD)),
    );
    for project in [file, inline, bundle] {
        let outcome = project.dispatch("tool.pre", command("ls"));
        assert_eq!(outcome.decision, Ruling::Block);
        assert_eq!(outcome.reason.as_deref(), Some("no ls"));
        assert_eq!(outcome.hook.as_deref(), Some("guard"));
    }
}

#[test]
fn ah_010_a_file_takes_the_place_of_the_inline_hook_of_its_name() {
    let project = Project::with(&[("guard", &hook_file("tool.pre", "priority: 1", ALLOW))]);
    project.file(
        "harness.md",
        format!("---\nhooks:\n{}---\n", entry("guard", GUARD)),
    );
    let warnings = project.problems();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        warnings[0],
        "harness.md:4:12: hook \"guard\" is replaced by .harness/hooks/guard.md"
    );
    assert_eq!(
        project.dispatch("tool.pre", command("ls")).decision,
        Ruling::Allow
    );
}

#[test]
fn ah_017_a_hook_that_answers_42_loads_and_warns_when_it_is_called() {
    let project = Project::with(&[(
        "x",
        &hook_file(
            "tool.pre",
            "priority: 1",
            "def handle(event, payload):\n  return 42",
        ),
    )]);
    assert_eq!(project.problems(), Vec::<String>::new());
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(outcome.warnings.len(), 1);
    assert!(
        outcome.warnings[0]
            .starts_with("hook \"x\": handle returned the int 42; treated as allow()")
    );
}

#[test]
fn ah_019_events_json_marks_what_is_experimental() {
    let output = hookbox(&["events", "--json"]);
    let catalogue: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(catalogue.len(), 15);
    for event in catalogue {
        assert_eq!(
            event["experimental"],
            event["name"] == "agent.stop",
            "{event}"
        );
    }
}

#[test]
fn ah_020_a_hook_moves_as_a_file_and_goes_as_a_file() {
    let here = Project::with(&[("guard", &format!("---\n{GUARD}---\n"))]);
    let there = Project::new();
    std::fs::create_dir_all(there.path().join(".harness/hooks")).unwrap();
    let file = ".harness/hooks/guard.md";
    std::fs::copy(here.path().join(file), there.path().join(file)).unwrap();
    let mut runtime = there.runtime();
    assert_eq!(
        runtime
            .dispatch("tool.pre", command("ls"))
            .unwrap()
            .decision,
        Ruling::Block
    );
    std::fs::remove_file(there.path().join(file)).unwrap();
    assert_eq!(
        runtime
            .dispatch("tool.pre", command("ls"))
            .unwrap()
            .decision,
        Ruling::Block
    );
    runtime.reload().unwrap();
    assert_eq!(
        runtime
            .dispatch("tool.pre", command("ls"))
            .unwrap()
            .decision,
        Ruling::Allow
    );
}

#[test]
fn ah_021_ah_022_ah_024_ah_025_an_event_is_all_a_hook_needs() {
    let minimal = Project::with(&[("x", "---\nevent: tool.pre\n---\n")]);
    let empty = Project::with(&[(
        "x",
        "---\nevent: tool.pre\nscript: ''\nwhen: ''\npriority:\n---\n",
    )]);
    for project in [minimal, empty] {
        assert!(project.errors().is_empty(), "{:?}", project.errors());
        let runtime = project.runtime();
        let hook = &runtime.hooks()[0];
        assert_eq!(
            (&*hook.event, hook.priority, hook.when()),
            ("tool.pre", 0, None)
        );
        assert!(matches!(hook.handler, Handler::Placeholder));
        assert!(!hook.origin.explicit_priority);
    }
}

#[test]
fn ah_023_a_hook_without_a_script_is_listed_and_does_nothing() {
    let project = Project::with(&[("x", "---\nevent: tool.pre\npriority: 1\n---\n")]);
    assert!(project.errors().is_empty());
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Allow);
    assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
    assert_eq!(outcome.trace.len(), 1);
    assert_eq!(outcome.trace[0].decision, Some(Ruling::Allow));
}

/// A hook that logs its own name.
fn logs(name: &str, priority: &str) -> (String, String) {
    let script = format!("def handle(event, payload):\n  log('{name}')\n  return allow()");
    (name.to_owned(), hook_file("tool.pre", priority, &script))
}

/// The order in which hooks that log their names run.
fn order(hooks: &[(String, String)]) -> Vec<String> {
    let project = Project::new();
    for (name, text) in hooks {
        project.hook(name, text);
    }
    let outcome = project.dispatch("tool.pre", command("ls"));
    outcome.logs.into_iter().map(|line| line.message).collect()
}

#[test]
fn ah_026_ah_029_lower_numbers_run_first_whatever_band_they_are_in() {
    let hooks = [
        logs("a", "priority: 30"),
        logs("b", "priority: 1"),
        logs("c", "priority: 15"),
        logs("d", "priority: -5"),
        logs("e", "priority: 1000"),
        logs("f", "priority: -9223372036854775808"),
        logs("g", "priority: 9223372036854775807"),
    ];
    assert_eq!(order(&hooks), ["f", "d", "b", "c", "a", "e", "g"]);
}

#[test]
fn ah_027_a_hook_without_priority_runs_before_an_audit_hook() {
    assert_eq!(
        order(&[logs("audit", "priority: 1"), logs("plain", "")]),
        ["plain", "audit"]
    );
    assert_eq!(
        order(&[
            logs("a", "priority: 0"),
            logs("b", ""),
            logs("c", "priority: -1")
        ]),
        ["c", "a", "b"]
    );
}

#[test]
fn ah_028_equal_priority_runs_in_order_of_source_path() {
    let mut hooks: Vec<_> = ["b", "a", "a-b", "a.b", "a_b", "é", "10", "9"]
        .iter()
        .map(|name| logs(name, "priority: 5"))
        .collect();
    let mut expected: Vec<String> = hooks.iter().map(|(name, _)| format!("{name}.md")).collect();
    expected.sort();
    let expected: Vec<String> = expected
        .iter()
        .map(|file| file.replace(".md", ""))
        .collect();
    // A directory lists its files in an order that depends on how they came to be.
    for _ in 0..hooks.len() {
        hooks.rotate_left(1);
        assert_eq!(order(&hooks), expected);
        hooks.swap(0, 3);
    }
}

#[test]
fn ah_028_sources_of_all_kinds_are_ordered_by_path_and_entries_by_place() {
    let fields = |name: &str| {
        format!(
            "event: tool.pre\npriority: 5\nscript: |\n  def handle(event, payload):\n    log('{name}')\n    return allow()\n"
        )
    };
    let project = Project::with(&[("z", &format!("---\n{}---\n", fields("file")))]);
    let list = |names: [&str; 2]| {
        let entries: String = names
            .iter()
            .map(|name| entry(name, &fields(name)))
            .collect();
        format!("---\nhooks:\n{entries}---\n")
    };
    project.file("harness.md", list(["inline_2", "inline_1"]));
    project.file(".harness/plugins/a.md", list(["plugin_2", "plugin_1"]));
    project.file(".harness/builtins/b.md", list(["builtin_2", "builtin_1"]));
    project.file(
        ".harness/overrides/a.md",
        list(["override_2", "override_1"]),
    );
    let outcome = project.dispatch("tool.pre", command("ls"));
    let order: Vec<&str> = outcome
        .logs
        .iter()
        .map(|line| line.message.as_str())
        .collect();
    assert_eq!(
        order,
        [
            "builtin_2",
            "builtin_1",
            "file",
            "override_2",
            "override_1",
            "plugin_2",
            "plugin_1",
            "inline_2",
            "inline_1",
        ]
    );
}

#[test]
fn a_project_that_does_not_load_whole_does_not_load_at_all() {
    let project = Project::with(&[
        ("good", &hook_file("tool.pre", "priority: 1", ALLOW)),
        ("bad", "no frontmatter"),
    ]);
    let error = Runtime::load(project.path()).unwrap_err().to_string();
    assert_eq!(
        error,
        "the project does not load: parse hook bad.md: markdown file must start with --- frontmatter delimiter"
    );
}

#[test]
fn a_large_file_is_refused_by_its_size() {
    for size in [2 << 20, 10 << 20] {
        let text = format!(
            "---\nevent: tool.pre\npriority: 1\n---\n{}",
            "x".repeat(size)
        );
        assert_eq!(
            Project::with(&[("big", &text)]).problems(),
            [".harness/hooks/big.md: cannot be read: it is larger than 1024 KiB"]
        );
    }
}

#[test]
fn a_file_that_is_not_utf_8_is_refused_with_its_line() {
    let project = Project::new();
    project.file(
        ".harness/hooks/latin.md",
        b"---\nevent: tool.pre\n# caf\xe9\n---\n",
    );
    assert_eq!(
        project.problems(),
        [".harness/hooks/latin.md: the file is not UTF-8: line 3 has a byte that does not fit"]
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_project_and_not_out_of_it() {
    use std::os::unix::fs::symlink;
    let outside = Project::with(&[("guard", &hook_file("tool.pre", "priority: 1", ALLOW))]);
    let secret = outside.path().join(".harness/hooks/guard.md");
    let project = Project::new();
    project.file(
        "policies/real.md",
        hook_file("tool.pre", "priority: 1", ALLOW),
    );
    let hooks = project.path().join(".harness/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    symlink("../../policies/real.md", hooks.join("inside.md")).unwrap();
    assert_eq!(&*project.runtime().hooks()[0].name, "inside");
    symlink(&secret, hooks.join("outside.md")).unwrap();
    symlink("nowhere.md", hooks.join("dangling.md")).unwrap();
    let errors = project.errors();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        errors[0].starts_with(".harness/hooks/dangling.md: cannot be read: "),
        "{errors:?}"
    );
    assert!(
        errors[1].starts_with(".harness/hooks/outside.md: cannot be read: "),
        "{errors:?}"
    );
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_one_without_hooks_a_warning() {
    let project = Project::new();
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(outcome.warnings.len(), 1);
    assert!(outcome.warnings[0].starts_with("no hooks were found in "));
    let errors = Runtime::load(project.path().join("nowhere"))
        .unwrap_err()
        .to_string();
    assert!(
        errors.contains("the project directory cannot be opened"),
        "{errors}"
    );
}

#[test]
fn ah_008_ah_023_ah_054_strict_refuses_what_the_format_tolerates() {
    let project = Project::with(&[
        (
            "key",
            &hook_file("tool.pre", "priority: 1\nx-team: a", ALLOW),
        ),
        ("plain", &hook_file("tool.pre", "", ALLOW)),
        (
            "run",
            &hook_file("tool.pre", "priority: 1", "def run(args):\n  pass"),
        ),
        ("nothing", "---\nevent: tool.pre\npriority: 1\n---\n"),
        ("fine", &hook_file("tool.pre", "priority: 1", ALLOW)),
    ]);
    assert!(project.errors().is_empty());
    let loaded = Runtime::builder(project.path())
        .strict(true)
        .inspect()
        .unwrap();
    let errors = loaded.problems.iter().filter(|problem| problem.is_error());
    let files: BTreeSet<&str> = errors
        .map(|error| error.file.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        files,
        BTreeSet::from(["key.md", "nothing.md", "plain.md", "run.md"])
    );
    let path = project.path().to_str().unwrap();
    let code = |arguments: &[&str]| hookbox(arguments).status.code();
    assert_eq!(code(&["validate", "--project", path]), Some(0));
    assert_eq!(code(&["validate", "--strict", "--project", path]), Some(1));
}
