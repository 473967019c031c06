//! What `doctor` says of what is wired.

use hookbox::agent::install::Scope;
use insta::assert_snapshot;
use serde_json::Value;

use super::world::World;

#[test]
fn all_well_is_short() {
    let world = World::new();
    world.session(&["install", "windsurf"]);
    world.session(&["install", "opencode"]);
    assert_snapshot!(world.session(&["doctor"]));
}

#[test]
fn nothing_wired_runs_nothing() {
    let world = World::new();
    assert_snapshot!(world.session(&["doctor"]));
    assert_snapshot!(world.session(&["doctor", "kiro"]));
    world.write("app/.claude/settings.json", "{}");
    assert_snapshot!(world.session(&["doctor"]));
}

#[test]
fn half_wired_says_what_is_open() {
    let world = World::new();
    world.session(&["install", "claude-code"]);
    let path = "app/.claude/settings.json";
    let mut settings: Value = serde_json::from_str(&world.read(path).unwrap()).unwrap();
    let hooks = settings["hooks"].as_object_mut().unwrap();
    hooks.remove("UserPromptSubmit");
    hooks.remove("SessionEnd");
    hooks["Stop"][0]["hooks"][0]["timeout"] = 5.into();
    hooks["PreToolUse"][0]["matcher"] = "Bash".into();
    hooks["PreToolUse"][0]["hooks"][0]["async"] = true.into();
    let entry = hooks["Setup"][0].clone();
    hooks["Setup"].as_array_mut().unwrap().push(entry);
    let others = serde_json::json!({"hooks": [{"type": "command", "command": "./mine"}]});
    hooks["PostToolUse"].as_array_mut().unwrap().push(others);
    world.write(path, settings.to_string());
    assert_snapshot!(world.session(&["doctor"]));
    // What it advises helps.
    world.session(&["install", "claude-code"]);
    let told = world.session(&["doctor"]);
    assert!(told.contains("all 32 events wired"), "{told}");
    assert!(!told.contains("not as install"), "{told}");
}

#[test]
fn a_binary_that_is_gone_or_another_is_told() {
    let world = World::new();
    world.install("windsurf", Scope::Project);
    assert_snapshot!(world.session(&["doctor"]));
    world.write("bin/hookbox", "");
    std::fs::remove_file(world.path("bin/hookbox")).unwrap();
    assert_snapshot!(world.session(&["doctor"]));
    world.write("bin/hookbox", "not a program");
    assert_snapshot!(world.session(&["doctor"]));
}

#[test]
fn a_program_of_the_project_is_not_started() {
    let world = World::new();
    let path = "app/tools/hookbox";
    world.program(path, "#!/bin/sh\ntouch \"$0.started\"\n");
    let binary = world.path(path).display().to_string();
    world.session(&["install", "windsurf", "--binary", &binary]);
    let told = world.session(&["doctor"]);
    assert!(told.contains("was not asked for its version"), "{told}");
    assert!(world.read("app/tools/hookbox.started").is_none());
}

#[test]
fn switches_that_turn_hooks_off_are_found() {
    let world = World::new();
    for agent in ["claude-code", "gemini", "copilot", "goose"] {
        world.session(&["install", agent, "--user"]);
    }
    world.write(
        "app/.claude/settings.local.json",
        "{\"disableAllHooks\": true}",
    );
    world.write(
        "app/.gemini/settings.json",
        "{\"hooksConfig\": {\"enabled\": false}}",
    );
    world.write("home/.copilot/settings.json", "{\"disableAllHooks\": true}");
    let goose = "{\"disabledPlugins\": [\"hookbox\"]}";
    world.write("app/.config/goose/settings.json", goose);
    assert_snapshot!(world.session(&["doctor"]));
    world.write(
        "app/.gemini/settings.json",
        "{\"hooksConfig\": {\"disabled\": [\"hookbox\"]}}",
    );
    let told = world.session(&["doctor", "gemini"]);
    assert!(told.contains("list of disabled hooks"), "{told}");
}

#[test]
fn wired_twice_is_decided_twice() {
    let world = World::new();
    for agent in ["windsurf", "goose", "cursor", "claude-code"] {
        world.session(&["install", agent]);
    }
    world.session(&["install", "windsurf", "--user"]);
    world.session(&["install", "goose", "--user"]);
    assert_snapshot!(world.session(&["doctor"]));
}

#[test]
fn codex_runs_what_was_trusted_and_reviewed() {
    let world = World::new();
    world.session(&["install", "codex"]);
    assert_snapshot!(world.session(&["doctor", "codex"]));
    let project = world.path("app").display().to_string();
    let mut config = format!("[projects.\"{project}\"]\ntrust_level = \"trusted\"\n");
    world.write("home/.codex/config.toml", &config);
    assert_snapshot!(world.session(&["doctor", "codex"]));
    config += &format!(
        "[features]\nhooks = false\n[hooks.state.\"{project}/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n"
    );
    world.write("home/.codex/config.toml", &config);
    assert_snapshot!(world.session(&["doctor", "codex"]));
}

#[test]
fn gemini_wants_a_trusted_folder() {
    let world = World::new();
    world.session(&["install", "gemini"]);
    let told = |folders: &str| {
        world.write("home/.gemini/trustedFolders.json", folders);
        let told = world.session(&["doctor", "gemini"]);
        !told.contains("does not trust")
    };
    let app = world.path("app").display().to_string();
    let root = world.path("").display().to_string();
    let root = root.trim_end_matches('/');
    assert!(!told("{}"));
    assert!(told(&format!("{{\"{app}\": \"TRUST_FOLDER\"}}")));
    assert!(told(&format!("{{\"{root}\": \"TRUST_FOLDER\"}}")));
    assert!(told(&format!("{{\"{app}\": \"TRUST_PARENT\"}}")));
    assert!(!told(&format!(
        "{{\"{root}\": \"TRUST_FOLDER\", \"{app}\": \"DO_NOT_TRUST\"}}"
    )));
    assert!(!told("{\"/elsewhere\": \"TRUST_FOLDER\"}"));
}

#[test]
fn settings_that_cannot_be_read_are_told() {
    let world = World::new();
    world.session(&["install", "cursor"]);
    let path = "app/.cursor/hooks.json";
    let wired = world.read(path).unwrap();
    world.write(
        path,
        wired.replacen("\"sessionStart\"", "\"sessionStarts\"", 1),
    );
    assert_snapshot!(world.session(&["doctor"]));
    world.write(
        path,
        wired.replacen("\"timeout\": 30", "\"x\": \"a//b\"", 1),
    );
    let told = world.session(&["doctor"]);
    assert!(told.contains("cannot read the file"), "{told}");
    world.write(path, "{");
    assert_snapshot!(world.session(&["doctor"]));
}

#[test]
fn an_old_claude_is_told_by_its_version() {
    let world = World::new();
    world.session(&["install", "claude-code"]);
    for (version, is_old) in [("2.1.294", true), ("2.1.295", false), ("3.0.0", false)] {
        world.program(
            "bin/claude",
            &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"),
        );
        let told = world.session(&["doctor"]);
        assert_eq!(told.contains("before 2.1.295"), is_old, "{told}");
    }
}

#[test]
fn a_project_that_moved_or_broke_is_told() {
    let world = World::new();
    world.session(&["install", "windsurf"]);
    std::fs::rename(world.path("app"), world.path("moved")).unwrap();
    let mut command = world.command(&["doctor"]);
    assert_snapshot!(world.shown(command.current_dir(world.path("moved"))));
    world.write("moved/.harness/hooks/guard.md", "---\nevent: [\n---\n");
    let mut command = world.command(&["doctor"]);
    let told = world.shown(command.current_dir(world.path("moved")));
    assert!(
        told.contains("1 error, so all that is guarded is refused"),
        "{told}"
    );
}

#[test]
fn programs_read_json() {
    let world = World::new();
    world.session(&["install", "windsurf"]);
    assert_snapshot!(world.session(&["doctor", "--json"]));
}
