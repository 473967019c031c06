//! Files that change while a server runs.

use super::*;

#[test]
fn an_edit_holds_from_the_next_event_on() {
    let project = Project::with(&[("guard", &saying("one"))]);
    let serving = Serving::start(&["--project", project.path().to_str().unwrap()]);
    assert_eq!(reason(&serving, &project, "ls"), "one");
    // Of the same length, at once, and again.
    for words in ["two", "six", "ten", "two"] {
        project.hook("guard", &saying(words));
        assert_eq!(reason(&serving, &project, "ls"), words);
    }
    let allowing = "def handle(event, payload):\n    metrics.incr('seen')\n    return allow()";
    project.hook("guard", &hook_file("tool.pre", "priority: 10", allowing));
    project.hook(
        "late",
        &hook_file("tool.pre", "priority: 20", &{
            "def handle(event, payload):\n    return block(str(metrics.get('seen')))".to_owned()
        }),
    );
    assert_eq!(reason(&serving, &project, "ls"), "1");
    // What hooks counted stays.
    assert_eq!(serving.post("/v1/reload", "").status, 200);
    assert_eq!(reason(&serving, &project, "ls"), "2");
    std::fs::remove_file(project.path().join(".harness/hooks/late.md")).unwrap();
    let answer = serving.post("/v1/dispatch", event(project.path(), "ls"));
    assert_eq!(answer.json()["decision"], "allow");
}

#[test]
fn a_hook_file_elsewhere_is_watched_as_well() {
    let project = Project::new();
    project.file("hookbox.toml", "hooks = [\"policies/guard.md\"]\n");
    project.file("policies/guard.md", saying("one"));
    let serving = Serving::start(&[]);
    assert_eq!(reason(&serving, &project, "ls"), "one");
    project.file("policies/guard.md", saying("two"));
    assert_eq!(reason(&serving, &project, "ls"), "two");
}

#[test]
fn a_broken_project_says_no_until_it_is_repaired() {
    let project = Project::with(&[("guard", "---\nevent: nonsense\n---\n")]);
    let path = project.path().to_str().unwrap();
    let serving = Serving::start(&["--project", path, "--project", "/no/such/project"]);
    let agent = "/v1/agents/claude-code/PreToolUse";
    for round in 0..2 {
        let answer = serving.post("/v1/dispatch", event(project.path(), "ls"));
        assert_eq!(answer.kind(), "503 load");
        let answer = serving.post(agent, bash(project.path(), "ls"));
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains("\"deny\"") && answer.body.contains("does not load"));
        let answer = serving.post("/v1/hook/claude-code", bash(project.path(), "ls"));
        assert_eq!(answer.json()["code"], 2, "{answer:?}");
        let answer = serving.post("/v1/reload", "");
        assert_eq!(answer.status, 503);
        assert_eq!(answer.json()["projects"][0]["error"]["kind"], "load");
        project.hook("guard", &saying("repaired"));
        assert_eq!(reason(&serving, &project, "ls"), "repaired");
        assert_eq!(serving.post("/v1/reload", "").status, 200);
        if round == 0 {
            project.hook("guard", "---\nevent: tool.pre\nscript: |\n  def\n---\n");
        }
    }
}
