//! One suite for all languages: the same cases, the same decisions, reasons, payloads,
//! effects and failures, whatever a hook is written in.
//!
//! The components of small languages are checked in. Those of the others are built by
//! `tests/conformance/build`; their tests are ignored without them.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookbox::build::{BuildProject, inputs};
use hookbox::cases::{self, Case, Found};
use hookbox::tape::{Checker, Difference, Recorder, Replay};
use hookbox::{Ruling, Runtime};
use serde_json::{Value, json};
use support::Project;

const GRANTS: &str = r#"
grant:
  http: ["GET|POST https://api.example.com/v1/*", "GET https://api.example.com/read-only"]
  cache: { namespace: conformance, max: 64 KiB }
  env: [CONFORMANCE]
  read: ["docs/"]
  tools: [lookup]
  hooks: read
"#;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// A hook in one language.
struct Guest {
    language: &'static str,
    /// A component; nothing for Starlark.
    component: Option<Vec<u8>>,
    /// What the hook needs beyond the defaults.
    limits: &'static str,
}

impl Guest {
    fn checked_in(language: &'static str) -> Self {
        let path = here().join(format!("components/{language}.wasm"));
        Self::of(language, &path)
    }

    fn built(language: &'static str) -> Self {
        let path = here().join(format!("guests/{language}/conformance.wasm"));
        Self::of(language, &path)
    }

    fn of(language: &'static str, path: &Path) -> Self {
        let bytes = fs::read(path).unwrap_or_else(|error| {
            panic!("{}: {error}; run tests/conformance/build", path.display())
        });
        Self {
            language,
            component: Some(bytes),
            limits: "",
        }
    }

    /// Gives the hook more than the defaults: a megabyte is a lot for its engine.
    fn with(mut self, limits: &'static str) -> Self {
        self.limits = limits;
        self
    }

    fn starlark() -> Self {
        Self {
            language: "starlark",
            component: None,
            limits: "",
        }
    }

    /// Makes a project in which the hook hears of one event.
    fn project(&self, event: &str) -> Project {
        let project = Project::new();
        let file = match &self.component {
            Some(component) => {
                project.file(".harness/hooks/conformance.wasm", component);
                let limits = self.limits;
                let code = "component: conformance.wasm";
                format!("---\nevent: {event}\npriority: 10\n{code}\n{limits}{GRANTS}---\n")
            }
            None => {
                let text = fs::read_to_string(here().join("guests/starlark/conformance.md"));
                let text = text
                    .unwrap()
                    .replace("event: tool.pre", &format!("event: {event}"));
                text.replacen("script: |", &format!("{}\nscript: |", GRANTS.trim()), 1)
            }
        };
        project
            .hook("conformance", &file)
            .file("docs/a.txt", "täxt\n")
            .file("docs/more/b.txt", "b")
            .file("secret.txt", "secret");
        project
    }
}

/// All cases, and some that are too large for a file.
fn all_cases() -> Vec<Case> {
    let found = cases::find(&here(), []).unwrap();
    let mut all: Vec<Case> = found
        .into_iter()
        .map(|Found { case, path, .. }| {
            case.unwrap_or_else(|problems| panic!("{}: {problems:?}", path.display()))
        })
        .collect();
    assert!(all.len() > 50, "{} cases", all.len());
    let mut large = all
        .iter()
        .find(|case| case.name == "value-string")
        .unwrap()
        .clone();
    let megabyte = "añ🦀x".repeat(1 << 17);
    assert!(megabyte.len() >= 1 << 20);
    large.name = "value-megabyte".to_owned();
    large.payload["args"]["value"] = json!(megabyte);
    large.expect.as_mut().unwrap().payload = Some(json!({ "note": megabyte }));
    all.push(large);
    all
}

/// Runs the suite against a hook and says everything that differs.
fn conforms(guest: &Guest) {
    let mut projects: BTreeMap<String, Project> = BTreeMap::new();
    let tapes = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for case in all_cases() {
        if case.skip.iter().any(|skipped| skipped == guest.language) {
            continue;
        }
        let project = projects
            .entry(case.event.clone())
            .or_insert_with(|| guest.project(&case.event));
        let tape = tapes.path().join(format!("{}.tape", case.name));
        let recorder = Recorder::create(&tape).unwrap();
        let builder = Runtime::builder(project.path()).tape(&recorder);
        match cases::run(&case, builder) {
            Ok(report) if report.passed() => ran += 1,
            Ok(report) => wrong.push(format!("{}: {:#?}", case.name, report.differences)),
            Err(error) => panic!("{}: {error}", guest.language),
        }
        recorder.close().unwrap();
        if let Some(difference) = replayed(project, &tape) {
            wrong.push(format!("{} replayed: {difference:#?}", case.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}:\n{}",
        guest.language,
        wrong.join("\n")
    );
    assert!(ran > 20, "only {ran} cases ran");
}

/// Runs the hook again in the world of the tape: no server, no tools, no variables, and
/// still the same calls, the same answer and the same fuel.
fn replayed(project: &Project, tape: &Path) -> Option<Difference> {
    let checker = Checker::load(Runtime::builder(project.path())).unwrap();
    let mut replay = Replay::open(tape).unwrap();
    let dispatch = replay.next_dispatch().unwrap()?;
    assert_eq!(replay.next_dispatch().unwrap(), None);
    checker.check(&dispatch).unwrap().difference
}

/// Says whether the same event costs the same fuel and gives the same bytes twice.
fn repeats(guest: &Guest) {
    let project = guest.project("tool.pre");
    let payload =
        json!({"name": "conformance", "args": {"do": "cache", "value": {"b": 1.5, "a": "é"}}});
    let once = || {
        let runtime = Runtime::load(project.path()).unwrap();
        let outcome = runtime.dispatch("tool.pre", payload.clone()).unwrap();
        assert_eq!(outcome.decision, Ruling::Modify, "{:?}", outcome.trace);
        (outcome.payload.text().to_owned(), outcome.trace[0].fuel)
    };
    let first = once();
    assert!(first.1.is_some());
    assert_eq!(first, once(), "{}", guest.language);
}

fn holds_for(guest: &Guest) {
    conforms(guest);
    repeats(guest);
}

#[test]
fn starlark_conforms() {
    holds_for(&Guest::starlark());
}

#[test]
fn rust_conforms() {
    holds_for(&Guest::checked_in("rust"));
}

#[test]
fn c_conforms() {
    holds_for(&Guest::checked_in("c"));
}

#[test]
fn zig_conforms() {
    holds_for(&Guest::checked_in("zig"));
}

#[test]
fn a_program_conforms_without_an_sdk() {
    let path = here().join("../guests/components/command.wasm");
    conforms(&Guest::of("command", &path));
}

#[test]
#[ignore = "its component is built by tests/conformance/build"]
fn javascript_in_quickjs_conforms() {
    holds_for(&Guest::built("javascript").with("limits: { fuel: 2G, wall_time: 10s }"));
}

#[test]
#[ignore = "its component is built by tests/conformance/build"]
fn javascript_in_spidermonkey_conforms() {
    let limits = "limits: { fuel: 4G, memory: 128 MiB, wall_time: 20s }";
    holds_for(&Guest::built("spidermonkey").with(limits));
}

#[test]
#[ignore = "its component is built by tests/conformance/build"]
fn python_conforms() {
    holds_for(&Guest::built("python"));
}

#[test]
#[ignore = "its component is built by tests/conformance/build"]
fn go_conforms() {
    holds_for(&Guest::built("go"));
}

#[test]
#[ignore = "its component is built by tests/conformance/build"]
fn what_is_built_anew_conforms_like_what_is_checked_in() {
    for language in ["rust", "c", "zig"] {
        holds_for(&Guest::built(language));
    }
}

/// A component that was built from other sources than these proves nothing about them.
#[test]
fn the_components_that_are_checked_in_are_not_stale() {
    for language in ["rust", "c", "zig"] {
        let folder = here().join("guests").join(language);
        let project = BuildProject::open(&folder).unwrap();
        let now = inputs(&project).unwrap();
        let then = fs::read_to_string(here().join(format!("components/{language}.inputs")));
        assert_eq!(
            then.unwrap_or_default().trim(),
            now,
            "{language} has changed since its component was built; run tests/conformance/build"
        );
    }
}

#[test]
fn a_component_for_an_older_minor_version_of_the_contract_keeps_working() {
    let path = here().join("components/contract-1.0.wasm");
    let inspection = hookbox::inspect::Inspection::of(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(inspection.contract.as_deref(), Some("1.0"));
    assert_eq!(inspection.problem, None);
    let guest = Guest::of("contract-1.0", &path);
    let project = guest.project("tool.pre");
    let runtime = Runtime::load(project.path()).unwrap();
    let modes = [
        (json!({"do": "allow"}), Ruling::Allow),
        (json!({"do": "block", "reason": "old"}), Ruling::Block),
        (json!({"do": "cache", "value": 1}), Ruling::Modify),
        (json!({"do": "ask", "message": "old?"}), Ruling::Ask),
    ];
    for (args, expected) in modes {
        let payload: Value = json!({"name": "conformance", "args": args});
        let outcome = runtime.dispatch("tool.pre", payload).unwrap();
        assert_eq!(outcome.decision, expected, "{:?}", outcome.trace);
        assert_eq!(outcome.trace[0].error, None);
    }
}
