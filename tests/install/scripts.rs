//! Cline's scripts: really run, and never written over those of others.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hookbox::agent::install::{self, InstallError, Scope};

use super::world::{World, find};

const SCRIPT: &str = "app/.clinerules/hooks/PreToolUse";
const THEIRS: &str = "#!/bin/bash\necho '{}'\n";

#[test]
fn a_script_hands_everything_on_to_hookbox_and_back() {
    let world = World::new();
    world.program("bin/hookbox", "#!/bin/sh\necho \"$@\" >&2\ncat\nexit 3\n");
    world.install("cline", Scope::Project);
    let mut child = Command::new(world.path(SCRIPT))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"a\":1}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"{\"a\":1}");
    assert_eq!(output.status.code(), Some(3));
    let arguments = world.plain(&String::from_utf8(output.stderr).unwrap());
    assert_eq!(
        arguments,
        "hook cline --event PreToolUse --project @PROJECT@\n"
    );
}

#[test]
fn paths_with_blanks_and_quotes_arrive_whole() {
    let world = World::new();
    let name = "it's a \"tool\" $HOME/hookbox";
    world.program(name, "#!/bin/sh\necho \"$#\"\n");
    let agent = find("cline");
    let binary = world.path(name);
    let plan = install::plan(agent, Scope::User, &world.places(), &binary).unwrap();
    install::apply(&plan).unwrap();
    let script = world.path("home/Documents/Cline/Hooks/PreToolUse");
    let output = Command::new(script).output().unwrap();
    assert_eq!(output.stdout, b"4\n");
}

#[test]
fn a_script_of_somebody_else_stays_and_the_way_on_is_told() {
    let world = World::new();
    world.write(SCRIPT, THEIRS);
    let agent = find("cline");
    let plan = || install::plan(agent, Scope::Project, &world.places(), &world.binary());
    let error = plan().unwrap_err();
    assert!(matches!(error, InstallError::Theirs { .. }), "{error}");
    let told = error.to_string();
    let line = told.lines().last().unwrap().trim();
    assert!(line.starts_with("exec "), "{told}");
    assert_eq!(world.read(SCRIPT).as_deref(), Some(THEIRS));

    // As it was told.
    world.program(SCRIPT, &format!("{THEIRS}{line}\n"));
    install::apply(&plan().unwrap()).unwrap();
    assert_eq!(world.read(SCRIPT), Some(format!("{THEIRS}{line}\n")));
    world.uninstall("cline", Scope::Project);
    assert_eq!(world.read(SCRIPT).as_deref(), Some(THEIRS));
    assert_eq!(world.read("app/.clinerules/hooks/TaskStart"), None);
}

#[test]
fn an_old_line_is_renewed_and_the_rest_of_the_script_stays() {
    let world = World::new();
    let old = "#!/bin/sh\n# mine\n  exec /old/hookbox hook cline --event PreToolUse --deadline 5\n";
    world.write(SCRIPT, old);
    world.install("cline", Scope::Project);
    let new = world.plain(&world.read(SCRIPT).unwrap());
    assert_eq!(
        new,
        "#!/bin/sh\n# mine\n  exec @BINARY@ hook cline --event PreToolUse --project @PROJECT@ --deadline 5\n"
    );
}

#[test]
fn there_and_back_leaves_nothing() {
    for agent in ["cline", "opencode", "goose"] {
        for scope in Scope::ALL {
            let world = World::new();
            world.binary();
            let before = world.all();
            world.install(agent, scope);
            assert_ne!(world.all(), before);
            world.uninstall(agent, scope);
            assert_eq!(world.all(), before, "{agent}");
        }
    }
}
