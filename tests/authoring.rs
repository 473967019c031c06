//! Writing a hook: `new`, `build`, `test`, `inspect`, `bench`, as an author sees them.
//! No toolchain but Rust's own is needed here; tests/conformance/build uses the others.

mod support;

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use support::{Project, hook_file, hookbox, session};

const LANGUAGES: [&str; 8] = [
    "rust",
    "javascript",
    "typescript",
    "python",
    "go",
    "c",
    "zig",
    "starlark",
];

/// What a person reads, without what differs between machines: fuel is the same
/// everywhere, time is not.
fn steady(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let kept: Vec<&str> = words
            .iter()
            .enumerate()
            .map(|(index, word)| match words.get(index + 1) {
                Some(&"ms") | Some(&"fuel,") | Some(&"fuel") => "N",
                _ => word,
            })
            .collect();
        out += kept.join(" ").trim_end();
        out.push('\n');
    }
    out
}

fn guarded() -> Project {
    let script = "def handle(event, payload):\n    log.warn(\"looked at \" + payload[\"name\"])\n    metrics.incr(\"looks\")\n    if payload[\"name\"] == \"web\":\n        return block(http.get(\"https://api.example.com/v1\")[\"body\"])\n    if payload[\"name\"] == \"cached\":\n        return modify({\"args\": {\"seen\": cache.incr(\"n\")}})\n    return block(\"no \" + payload[\"name\"])";
    let project = Project::new();
    project.hook(
        "guard",
        &hook_file(
            "tool.pre",
            "priority: 10\ngrant: { http: [\"GET https://api.example.com/*\"] }",
            script,
        ),
    );
    project
}

#[test]
fn a_new_project_in_starlark_passes_its_own_cases() {
    let folder = Project::new();
    let made = session(
        folder.path(),
        &["new", "egress-guard", "--lang", "starlark"],
    );
    assert_snapshot!(made);
    let project = folder.path().join("egress-guard");
    assert_snapshot!(steady(&session(&project, &["test"])));
    let validated = session(&project, &["validate", "--strict"]);
    assert!(validated.ends_with("[exit code 0]\n"), "{validated}");
}

#[test]
fn every_language_has_a_project_with_a_hook_cases_a_readme_and_the_sdk() {
    for language in LANGUAGES {
        let folder = Project::new();
        let made = session(folder.path(), &["new", "my-guard", "--lang", language]);
        assert!(made.ends_with("[exit code 0]\n"), "{made}");
        let project = folder.path().join("my-guard");
        let read = |path: &str| std::fs::read_to_string(project.join(path)).unwrap_or_default();
        let readme = read("README.md");
        assert!(
            readme.contains("my-guard") && readme.lines().count() < 30,
            "{language}: {readme}"
        );
        assert!(
            read("my-guard.md").contains("event: tool.pre"),
            "{language}"
        );
        assert!(read("hookbox.toml").contains("my-guard.md"), "{language}");
        assert_eq!(std::fs::read_dir(project.join("cases")).unwrap().count(), 3);
        if language != "starlark" {
            assert!(
                read("my-guard.md").contains("component: my-guard.wasm"),
                "{language}"
            );
            assert!(project.join(".hookbox/sdk").is_dir(), "{language}");
            assert!(read(".gitignore").contains(".hookbox"), "{language}");
        }
        assert_no_placeholders(&project);
    }
}

fn assert_no_placeholders(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            !name.contains("NAME") && !name.ends_with(".tmpl"),
            "{}",
            path.display()
        );
        if path.is_dir() {
            if name != ".hookbox" {
                assert_no_placeholders(&path);
            }
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("{{name}}") && !text.contains("{{snake}}"),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn a_name_or_folder_that_cannot_be_says_what_can() {
    let folder = Project::new();
    folder.file("taken/file", "x");
    for arguments in [
        &["new", "Bad Name", "--lang", "rust"][..],
        &["new", "taken", "--lang", "rust"],
        &["new", "guard", "--lang", "cobol"],
        &["new", "guard"],
    ] {
        let said = session(folder.path(), arguments);
        assert!(said.contains("[exit code 1]"), "{said}");
        insta::with_settings!({ description => arguments.join(" ") }, {
            assert_snapshot!(said);
        });
    }
    assert!(!folder.path().join("Bad Name").exists());
}

#[test]
fn a_case_that_fails_shows_what_differs() {
    let project = guarded();
    project
        .file(
            "cases/wrong.yaml",
            "# Expects too much.\nevent: tool.pre\npayload: { name: shell, args: { a: 1 } }\nexpect:\n  decision: modify\n  reason: { contains: never }\n  payload: { args: { a: 2, b: [1, 2, 3], long: \"a text that makes this longer than a line\" } }\n  logs: [{ level: error, message: looked }]\n  metrics: { looks: 2, other: 1 }\n  effects: [{ kind: context }]\n",
        )
        .file(
            "cases/right.yaml",
            "event: tool.pre\npayload: { name: shell }\nexpect: { decision: block, reason: no shell, logs: [looked at shell], metrics: { looks: 1 } }\n",
        );
    assert_snapshot!(steady(&session(project.path(), &["test"])));
}

#[test]
fn a_case_that_cannot_be_read_says_where() {
    let project = guarded();
    project
        .file("cases/unknown.yaml", "event: tool.pre\npayloda: {}\nexpect: { decision: allow }\n")
        .file("cases/decision.yaml", "event: tool.pre\nexpect: { decision: maybe }\n")
        .file("cases/event.yaml", "payload: {}\nexpect: {}\n")
        .file("cases/http.yaml", "event: tool.pre\nhttp: [{ request: nonsense }, { status: 200 }, { request: GET https://a.example, error: odd }]\nexpect: {}\n")
        .file("cases/yaml.yaml", "event: [tool.pre\n")
        .file("cases/no-event.yaml", "event: tool.pre\npayload: {}\nexpect: { decision: allow }\n");
    assert_snapshot!(steady(&session(project.path(), &["test"])));
}

#[test]
fn a_hook_that_fails_fails_its_case_although_it_blocks() {
    let project = Project::script("def handle(event, payload):\n    fail(\"broken\")");
    project
        .file("cases/blocks.yaml", "event: tool.pre\npayload: { name: x }\nexpect: { decision: block }\n")
        .file("cases/fails.yaml", "event: tool.pre\npayload: { name: x }\nexpect: { decision: block, error: { cause: hook-error, message: { contains: broken } } }\n")
        .file("cases/fails-otherwise.yaml", "event: tool.pre\npayload: { name: x }\nexpect: { error: { cause: out-of-fuel } }\n");
    let said = session(project.path(), &["test"]);
    assert!(said.contains("✗ cases/blocks"), "{said}");
    assert!(said.contains("✓ cases/fails "), "{said}");
    assert!(said.contains("✗ cases/fails-otherwise"), "{said}");
}

#[test]
fn canned_answers_stand_for_the_network_and_each_has_to_be_asked_for() {
    let project = guarded();
    let case = |answers: &str, expect: &str| {
        format!("event: tool.pre\npayload: {{ name: web }}\nhttp:\n{answers}\nexpect: {expect}\n")
    };
    project
        .file(
            "cases/answered.yaml",
            case(
                "  - { request: GET https://api.example.com/v1, body: because }",
                "{ decision: block, reason: because }",
            ),
        )
        .file(
            "cases/unasked.yaml",
            case(
                "  - { request: GET https://api.example.com/v1, body: because }\n  - { request: GET https://api.example.com/v2 }",
                "{ decision: block }",
            ),
        )
        .file("cases/unforeseen.yaml", case("  []", "{ decision: block }"));
    let said = session(project.path(), &["test"]);
    assert!(said.contains("✓ cases/answered"), "{said}");
    assert!(said.contains("nobody asked for it"), "{said}");
    assert!(
        said.contains("the case has no answer to GET https://api.example.com/v1"),
        "{said}"
    );
}

#[test]
fn the_cache_is_as_the_case_says_and_gone_afterwards() {
    let project = guarded();
    let case = "event: tool.pre\npayload: { name: cached }\ncache: { n: 41 }\nexpect: { decision: modify, payload: { args: { seen: 42 } }, cache: { n: 42, other: null } }\n";
    project
        .file("cases/one.yaml", case)
        .file("cases/two.yaml", case);
    let said = session(project.path(), &["test"]);
    assert!(said.contains("2 passed"), "{said}");
}

#[test]
fn a_folder_beside_a_hook_is_for_that_hook_alone() {
    let project = guarded();
    project
        .hook("first", &hook_file("tool.pre", "priority: 1", "def handle(event, payload):\n    return block(\"first\")"))
        .file("cases/chain.yaml", "event: tool.pre\npayload: { name: x }\nexpect: { decision: block, reason: first, hook: first }\n")
        .file(".harness/hooks/guard.cases/alone.yaml", "event: tool.pre\npayload: { name: x }\nexpect: { decision: block, reason: no x, hook: guard }\n");
    let said = session(project.path(), &["test"]);
    assert!(said.contains("2 passed"), "{said}");
    let filtered = session(project.path(), &["test", "guard.cases"]);
    assert!(filtered.contains("1 passed"), "{filtered}");
    let none = session(project.path(), &["test", "nothing-like-it"]);
    assert!(
        none.contains("none of the 2 cases has nothing-like-it in its path"),
        "{none}"
    );
}

#[test]
fn update_writes_down_what_came_out_and_leaves_the_rest_alone() {
    let project = guarded();
    let before = "# Why this case exists.\nevent: tool.pre\nexpect:\n  decision: allow\n  metrics: { looks: 9 }\n  logs: []\n# What is asked.\npayload: { name: shell }  # kept\n";
    project.file("cases/a.yaml", before);
    project.file(
        "cases/begun.yaml",
        "event: tool.pre\npayload: { name: cached }\n",
    );
    let said = session(project.path(), &["test", "--update"]);
    assert!(said.contains("✎ cases/a"), "{said}");
    let after = std::fs::read_to_string(project.path().join("cases/a.yaml")).unwrap();
    assert_snapshot!(after);
    let begun = std::fs::read_to_string(project.path().join("cases/begun.yaml")).unwrap();
    assert!(
        begun.contains("decision: \"modify\"") && begun.contains("\"seen\":1"),
        "{begun}"
    );
    let again = session(project.path(), &["test"]);
    assert!(again.contains("2 passed"), "{again}");
}

#[test]
fn programs_read_json_and_junit() {
    let project = guarded();
    project
        .file(
            "cases/good.yaml",
            "event: tool.pre\npayload: { name: x }\nexpect: { decision: block }\n",
        )
        .file(
            "cases/bad.yaml",
            "event: tool.pre\npayload: { name: \"<x>\" }\nexpect: { decision: allow }\n",
        );
    let folder = project.path().display().to_string();
    let report = project.path().join("report.xml");
    let output = hookbox(&[
        "test",
        "--project",
        &folder,
        "--json",
        "--junit",
        report.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["passed"], &value["failed"]), (&1.into(), &1.into()));
    assert_eq!(value["cases"][0]["differences"][0]["what"], "decision");
    assert!(value["most"]["fuel"].as_u64().unwrap() > 1_000);
    let xml = std::fs::read_to_string(&report).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    let output = hookbox(&[
        "bench",
        "--project",
        &folder,
        "--json",
        "--time",
        "0.05",
        "good",
    ]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value[0]["median_us"].as_f64().unwrap() > 0.0);
    assert!(value[0]["dispatches"].as_u64().unwrap() >= 10);
}

#[test]
fn a_project_without_cases_says_how_to_write_one() {
    let said = session(guarded().path(), &["test"]);
    assert!(
        said.contains("has no cases; write one to cases/NAME.yaml"),
        "{said}"
    );
    assert!(said.ends_with("[exit code 1]\n"));
}

#[test]
fn inspect_says_what_a_component_is_and_will_ask_for() {
    let components = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/components");
    let said = session(&components, &["inspect", "contract-1.0.wasm"]);
    assert_snapshot!(said);
    let output = hookbox(&[
        "inspect",
        "--json",
        components.join("rust.wasm").to_str().unwrap(),
    ]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["nature"], "hook");
    assert_eq!(value["contract"], "1.1");
    assert_eq!(value["languages"], serde_json::json!(["Rust"]));
    assert_eq!(value["wasi"], serde_json::json!([]));
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests/components");
    let said = session(&programs, &["inspect", "command.wasm"]);
    assert!(said.contains("a program: exports wasi:cli/run"), "{said}");
    let folder = Project::new();
    folder.file("text.wasm", "hello");
    let said = session(folder.path(), &["inspect", "text.wasm"]);
    assert!(
        said.contains("text.wasm: this is not a WebAssembly component"),
        "{said}"
    );
}

#[test]
fn inspect_measures_the_cases_of_the_project_around_a_component() {
    let bytes = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/components/c.wasm"),
    );
    let project = Project::new();
    project
        .file("guard.wasm", bytes.unwrap())
        .file("hookbox.toml", "hooks = [\"guard.md\"]\n")
        .file("guard.md", "---\nevent: tool.pre\npriority: 10\ncomponent: guard.wasm\ngrant: { http: [\"GET https://a.example/\"], env: [CI], read: [\"cases/\"], tools: [x], hooks: read, cache: { namespace: x } }\n---\n")
        .file("cases/a.yaml", "event: tool.pre\npayload: { name: x, args: { do: block, reason: y } }\nexpect: { decision: block }\n");
    let said = session(project.path(), &["inspect", "guard.wasm"]);
    assert!(
        said.contains("its case needs") && said.contains("limits: { fuel: 1M, memory: 2 MiB }"),
        "{said}"
    );
}

#[test]
fn a_tool_that_is_missing_is_named_with_the_command_that_installs_it() {
    for language in LANGUAGES {
        if language == "starlark" {
            continue;
        }
        let folder = Project::new();
        session(folder.path(), &["new", "guard", "--lang", language]);
        let empty = folder.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_hookbox"))
            .args(["build", "--project"])
            .arg(folder.path().join("guard"))
            .env("PATH", &empty)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{language}: {said}");
        assert!(
            said.contains("is not installed") && said.contains("install it with: "),
            "{language}: {said}"
        );
    }
}

#[test]
fn a_project_with_nothing_to_build_says_so() {
    let project = guarded();
    let said = session(project.path(), &["build"]);
    assert!(said.contains("has no `[build]` in hookbox.toml"), "{said}");
    project.file(
        "hookbox.toml",
        "[build]\nlanguage = \"cobol\"\nengin = \"x\"\n",
    );
    assert_snapshot!(session(project.path(), &["build"]));
}
