//! OpenCode's plugin, run by Node with a hookbox that does what a test wants.

use std::process::Command;

use hookbox::agent::install::{InstallError, Scope, plan};

use super::world::{World, find};

/// Calls one handler of the plugin and prints what came of it.
const HARNESS: &str = r#"
import { Hookbox } from "./hookbox.mjs";
const hooks = await Hookbox({ directory: process.cwd(), worktree: "/" });
const args = { command: "ls", cwd: "/tmp" };
const outputs = {
  "tool.execute.before": { args },
  "tool.execute.after": { title: "t", output: "out", metadata: {} },
  "chat.message": { message: {}, parts: [{ type: "text", text: "one" }, { type: "file" }, { type: "text", text: "two" }] },
};
const event = process.argv[2];
try {
  await hooks[event]({ tool: "bash", sessionID: "s", callID: "c", args }, outputs[event]);
  console.log("goes on", JSON.stringify(args));
} catch (error) {
  console.log("throws", error.message);
}
"#;

/// Runs a handler; nothing if there is no Node.
fn run(event: &str, stub: &str) -> Option<String> {
    let world = World::new();
    world.program("bin/hookbox", &format!("#!/bin/sh\n{stub}\n"));
    world.install("opencode", Scope::Project);
    let plugin = world.read("app/.opencode/plugin/hookbox.js").unwrap();
    assert!(plugin.contains("30000"), "it waits");
    world.write("app/hookbox.mjs", plugin.replace("30000", "700"));
    world.write("app/harness.mjs", HARNESS);
    if stub == GONE {
        std::fs::remove_file(world.path("bin/hookbox")).unwrap();
    }
    let output = Command::new("node")
        .args(["harness.mjs", event])
        .current_dir(world.path("app"))
        .output();
    let Ok(output) = output else {
        eprintln!("SKIPPED: there is no node, so nothing was proved about the plugin");
        return None;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    Some(world.plain(String::from_utf8(output.stdout).unwrap().trim_end()))
}

/// In place of what hookbox does: it is removed after the agent was wired.
const GONE: &str = "# gone";

const BEFORE: &str = "tool.execute.before";

#[test]
fn the_plugin_does_what_hookbox_says_and_closes_otherwise() {
    let same = r#"goes on {"command":"ls","cwd":"/tmp"}"#;
    for (stub, wanted) in [
        ("cat >/dev/null", same),
        ("exit 0", same),
        ("echo '{}'", same),
        (
            r#"echo '{"args":{"command":"pwd"}}'"#,
            r#"goes on {"command":"pwd"}"#,
        ),
        ("echo 'not here' >&2; exit 2", "throws not here"),
        ("exit 2", "throws a hook refused this"),
        ("echo no", "throws hookbox did not answer in JSON: no"),
        (
            "echo '[]'",
            "throws hookbox answered with something else than an object",
        ),
        (
            r#"echo '{"args":[]}'"#,
            "throws hookbox answered with arguments that are no object",
        ),
        (
            "echo broken >&2; exit 1",
            "throws hookbox ended with 1: broken",
        ),
        ("kill -9 $$", "throws hookbox ended with SIGKILL: "),
        ("exec sleep 20", "throws hookbox did not answer in 700 ms"),
    ] {
        let Some(found) = run(BEFORE, stub) else {
            return;
        };
        assert_eq!(found.trim_end(), wanted.trim_end(), "{stub}");
    }
}

#[test]
fn a_hookbox_that_is_gone_is_a_no() {
    let Some(found) = run(BEFORE, GONE) else {
        return;
    };
    assert!(
        found.starts_with("throws hookbox cannot be started"),
        "{found}"
    );
    let found = run(BEFORE, "exec /no/such/program").unwrap();
    assert!(
        found.starts_with("throws hookbox ended with 127"),
        "{found}"
    );
}

#[test]
fn after_a_tool_nothing_is_thrown() {
    for stub in ["exit 0", "exit 1", "echo no >&2; exit 2", "exec sleep 20"] {
        let Some(found) = run("tool.execute.after", stub) else {
            return;
        };
        assert!(found.starts_with("goes on"), "{stub}: {found}");
    }
}

#[test]
fn a_prompt_can_be_refused() {
    let Some(found) = run("chat.message", "exit 0") else {
        return;
    };
    assert!(found.starts_with("goes on"), "{found}");
    let found = run("chat.message", "echo 'not so' >&2; exit 2").unwrap();
    assert_eq!(found, "throws not so");
}

#[test]
fn hookbox_gets_the_event_the_arguments_and_the_folder() {
    let stub = "{ echo \"$@\"; cat; } >&2; exit 2";
    let Some(found) = run(BEFORE, stub) else {
        return;
    };
    assert_eq!(
        found,
        r#"throws hook opencode --event tool.execute.before --project @PROJECT@
{"event":"tool.execute.before","tool":"bash","sessionID":"s","callID":"c","args":{"command":"ls","cwd":"/tmp"},"directory":"@PROJECT@","worktree":"/"}"#
    );
    let found = run("chat.message", stub).unwrap();
    assert!(found.contains(r#""prompt":"one\ntwo""#), "{found}");
    let after = run("tool.execute.after", "cat > input; exit 0").unwrap();
    assert!(after.starts_with("goes on"));
}

#[test]
fn a_plugin_of_somebody_else_stays() {
    let world = World::new();
    let path = "app/.opencode/plugin/hookbox.js";
    world.write(path, "export const Mine = async () => ({})\n");
    let agent = find("opencode");
    let error = plan(agent, Scope::Project, &world.places(), &world.binary()).unwrap_err();
    assert!(matches!(error, InstallError::Theirs { .. }), "{error}");
    world.uninstall("opencode", Scope::Project);
    assert!(world.read(path).unwrap().contains("Mine"));
}
