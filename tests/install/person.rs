//! What a person reads.

use hookbox::agent::install::{InstallError, Plan, Scope, apply, plan, plan_serving};
use insta::assert_snapshot;

use super::world::{World, find};

#[test]
fn wiring_says_what_was_done_and_what_is_left_to_approve() {
    let world = World::new();
    world.write("app/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    assert_snapshot!(world.session(&["install", "claude-code"]));
    assert_snapshot!(world.session(&["install", "claude-code", "--project"]));
    assert_snapshot!(world.session(&["uninstall", "claude-code"]));
    assert_snapshot!(world.session(&["uninstall", "claude-code"]));
    assert_snapshot!(world.session(&["install", "codex", "--user"]));
    assert_snapshot!(world.session(&["uninstall", "codex", "--user"]));
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let world = World::new();
    let mine = "{\n  // mine\n  \"version\": \"v1\"\n}\n";
    world.write("app/.kiro/hooks/hookbox.json", mine);
    let before = world.all();
    assert_snapshot!(world.session(&["install", "kiro", "--dry-run"]));
    assert_eq!(world.all(), before);
    let shown = world.session(&["install", "cline", "--dry-run", "--color", "always"]);
    assert!(shown.contains("\x1b[32m"), "{shown}");
    assert_eq!(world.all(), before);
    world.session(&["install", "kiro"]);
    let wired = world.all();
    assert_snapshot!(world.session(&["install", "kiro", "--dry-run"]));
    assert_snapshot!(world.session(&["uninstall", "kiro", "--dry-run"]));
    assert_eq!(world.all(), wired);
    assert_snapshot!(world.session(&["uninstall", "opencode", "--dry-run"]));
}

#[test]
fn a_server_that_events_start_can_be_done_without() {
    let world = World::new();
    assert_snapshot!(world.session(&["install", "windsurf", "--alone", "--dry-run"]));
    assert_snapshot!(world.session(&["install", "windsurf"]));
    let again = world.session(&["install", "windsurf", "--serve"]);
    assert!(again.contains("was wired as it should be"), "{again}");
    assert_snapshot!(world.session(&["install", "windsurf", "--alone"]));
    for agent in hookbox::agent::ALL {
        let world = World::new();
        let places = world.places();
        let wire = |plan: Result<Plan, InstallError>| {
            let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", agent.name));
            apply(&plan).unwrap();
            plan.changes.len()
        };
        let alone = || wire(plan(agent, Scope::Project, &places, &world.binary()));
        let serving = || {
            wire(plan_serving(
                agent,
                Scope::Project,
                &places,
                &world.binary(),
            ))
        };
        let wired = || -> String {
            let all = world.all().into_iter();
            all.filter_map(|(_, bytes)| String::from_utf8(bytes?).ok())
                .collect()
        };
        world.binary();
        let unwired = wired();
        assert!(
            alone() > 0 && !wired().contains("--serve"),
            "{}",
            agent.name
        );
        let before = wired();
        // Each of them changes what the other one wrote, and nothing when it is asked again.
        assert!(serving() > 0 && serving() == 0, "{}", agent.name);
        assert!(wired().contains("--serve") && !wired().contains("--serve --serve"));
        assert!(alone() > 0 && alone() == 0, "{}", agent.name);
        assert_eq!(wired(), before, "{}", agent.name);
        world.uninstall(agent.name, Scope::Project);
        assert_eq!(wired(), unwired, "{}", agent.name);
    }
}

/// What somebody is told to type has to work.
#[test]
fn a_project_without_hooks_gets_one_as_it_is_told() {
    let world = World::new();
    let bare = world.path("bare");
    std::fs::create_dir(&bare).unwrap();
    let run = |arguments: &[&str]| world.shown(world.command(arguments).current_dir(&bare));
    let told = run(&["install", "claude-code"]);
    let advice = told.split("make one first: ").nth(1).unwrap();
    let advice = advice.lines().next().unwrap();
    assert!(run(&["doctor"]).contains(advice));
    let this = std::path::Path::new(env!("CARGO_BIN_EXE_hookbox"));
    let path = format!("{}:/usr/bin:/bin", this.parent().unwrap().display());
    let done = std::process::Command::new("sh")
        .args(["-ec", advice])
        .current_dir(&bare)
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let told = run(&["install", "claude-code"]);
    assert!(told.contains("is wired"), "{told}");
}

#[test]
fn changes_of_others_are_told_when_unwiring() {
    let world = World::new();
    let path = "app/.windsurf/hooks.json";
    world.write(path, "{}\n");
    world.session(&["install", "windsurf"]);
    let wired = world.read(path).unwrap();
    world.write(path, wired.replacen('{', "{ // theirs", 1));
    assert_snapshot!(world.session(&["uninstall", "windsurf"]));
    assert_eq!(world.read(path).as_deref(), Some("{ // theirs\n}\n"));
}

#[test]
fn what_cannot_be_wired_says_why_and_what_to_do() {
    let world = World::new();
    world.write(
        "app/.gemini/settings.json",
        "{\n  \"a\": 1\n  \"b\": 2\n}\n",
    );
    world.write("app/.claude/settings.json", "{\"hooks\": []}\n");
    world.write("app/.clinerules/hooks/PreToolUse", "#!/bin/sh\n");
    world.write("plain/hookbox", "not a program");
    world.program("plain/other", "#!/bin/sh\n");
    let plain = world.path("plain").display().to_string();
    for arguments in [
        &["install", "gemini"][..],
        &["uninstall", "gemini"],
        &["install", "claude-code"],
        &["install", "cline"],
        &["install", "codex", "--binary", &format!("{plain}/hookbox")],
        &["install", "codex", "--binary", &format!("{plain}/gone")],
        &["install", "codex", "--binary", &format!("{plain}/other")],
        &["install", "codex", "--project", &plain],
        &["install", "codex", "--project", "/no/such/folder"],
        &["install", "codex", "--user", "--project"],
        &["install", "emacs"],
    ] {
        assert_snapshot!(world.session(arguments));
    }
    assert!(world.read("app/.codex/hooks.json").is_none());
}

#[test]
fn cursor_does_not_get_a_path_that_it_cannot_read() {
    let world = World::new();
    let twice = std::path::PathBuf::from(format!("{}//hookbox", world.path("bin").display()));
    world.binary();
    let error = plan(find("cursor"), Scope::Project, &world.places(), &twice).unwrap_err();
    assert!(matches!(error, InstallError::TwoSlashes { .. }), "{error}");
    world.session(&[
        "install",
        "cursor",
        "--binary",
        &twice.display().to_string(),
    ]);
    let text = world.read("app/.cursor/hooks.json").unwrap();
    assert!(
        text.contains("/bin/hookbox hook") && !text.contains("//"),
        "{text}"
    );
}

#[test]
fn a_project_that_does_not_load_is_not_wired_unless_forced() {
    let world = World::new();
    world.write("app/.harness/hooks/guard.md", "---\nevent: [\n---\n");
    assert_snapshot!(world.session(&["install", "windsurf"]));
    assert!(world.read("app/.windsurf/hooks.json").is_none());
    let told = world.session(&["install", "windsurf", "--force"]);
    assert!(told.ends_with("[exit code 0]\n"), "{told}");
    assert!(world.read("app/.windsurf/hooks.json").is_some());
}

#[test]
fn the_project_is_the_nearest_one_upwards() {
    let world = World::new();
    std::fs::create_dir_all(world.path("app/src/deep")).unwrap();
    let mut command = world.command(&["install", "windsurf"]);
    world.shown(command.current_dir(world.path("app/src/deep")));
    assert!(world.read("app/.windsurf/hooks.json").is_some());
    let mut command = world.command(&["uninstall", "windsurf"]);
    world.shown(command.current_dir(world.path("app/src/deep")));
    assert!(world.read("app/.windsurf/hooks.json").is_none());
}

#[test]
fn without_a_home_there_is_no_user_to_wire_for() {
    let world = World::new();
    let mut command = world.command(&["install", "codex", "--user"]);
    assert_snapshot!(world.shown(command.env_remove("HOME")));
    let mut command = world.command(&["install", "codex"]);
    let told = world.shown(command.env_remove("HOME"));
    assert!(told.ends_with("[exit code 0]\n"), "{told}");
    let mut command = world.command(&["doctor", "codex"]);
    let told = world.shown(command.env_remove("HOME"));
    assert!(told.contains("all 11 events wired"), "{told}");
}

#[test]
fn what_was_wired_answers() {
    let world = World::new();
    world.session(&["install", "claude-code"]);
    let text = world.read("app/.claude/settings.json").unwrap();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(entry["onFailure"], "block");
    let arguments: Vec<&str> = entry["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let told = world.session(&arguments);
    assert!(
        told.contains("permissionDecision") && told.contains("deny"),
        "{told}"
    );
}

#[test]
fn help_is_helpful() {
    let world = World::new();
    for verb in ["install", "uninstall", "doctor"] {
        assert_snapshot!(world.session(&[verb, "--help"]));
    }
}
