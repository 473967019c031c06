//! One vocabulary for all agents: what hooks see of a tool call, and that one guard is
//! enough for everybody.

use std::path::Path;

use hookbox::agent::{self, Agent, Asked, Carries, Heard, Root};
use insta::{Settings, assert_snapshot};
use serde_json::{Value, json};

use crate::readers::Effect;
use crate::samples::{self, HOME, Sample};
use crate::support::{Project, hook_file};
use crate::world::{self, World};

#[test]
fn every_tool_has_one_form_for_all_agents() {
    for agent in agent::ALL {
        let calls: Vec<Sample> = samples::all()
            .into_iter()
            .filter(|sample| is_call(agent, sample))
            .collect();
        let shown: Vec<String> = calls.iter().map(shown).collect();
        let mut settings = Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_path("canonical");
        settings.bind(|| assert_snapshot!(agent.name, shown.join("\n")));
    }
}

fn is_call(agent: &Agent, sample: &Sample) -> bool {
    let other = matches!(
        sample.event.carries,
        Carries::Prompt(_) | Carries::Model(_) | Carries::Stop(_) | Carries::Object
    );
    sample.agent.name == agent.name && !other
}

/// What hooks see, without the copy of what the agent said.
fn shown(sample: &Sample) -> String {
    let said = sample.value(Path::new(HOME));
    let mut text = format!("== {}\n", sample.name);
    for mut payload in payloads(sample, &said) {
        let own = payload["agent"].as_object_mut().unwrap();
        assert_eq!(
            own.shift_remove("payload"),
            Some(said.clone()),
            "{}",
            sample.title()
        );
        assert_eq!(own["name"], sample.agent.name);
        assert_eq!(own["event"], sample.event.name);
        text += &format!("{}\n", serde_json::to_string_pretty(&payload).unwrap());
    }
    text
}

fn payloads(sample: &Sample, said: &Value) -> Vec<Value> {
    let text = said.to_string();
    let asked = Asked {
        agent: sample.agent,
        wired: Some(sample.event.name),
        input: text.as_bytes(),
    };
    let parsed = asked.parse().unwrap_or_else(|error| panic!("{error}"));
    let root = Root::new(HOME.into(), None);
    let heard = Heard::new(sample.agent, parsed.event, &parsed.said, &root);
    heard
        .unwrap_or_else(|error| panic!("{}: {error}", sample.title()))
        .payloads
}

/// A project with one guard of commands, one of files and one of a tool of an MCP server.
fn guarded() -> World {
    let project = Project::new();
    for (name, when, reason) in [
        (
            "commands",
            "payload['name'] == 'run_command'",
            "'command ' + payload['args']['command']",
        ),
        (
            "files",
            "payload['name'] in ('write_file', 'edit_file', 'delete_file', 'move_file')",
            "'file ' + payload['args']['path']",
        ),
        (
            "servers",
            "payload['name'].startswith('mcp__')",
            "'server ' + payload['name']",
        ),
        (
            "reads",
            "payload['name'] == 'read_file'",
            "'read ' + payload['args']['path']",
        ),
    ] {
        let more = format!("priority: 10\nwhen: \"{when}\"");
        let script = format!("def handle(event, payload):\n    return block({reason})");
        project.hook(name, &hook_file("tool.pre", &more, &script));
    }
    World::of(project)
}

/// A sample of an agent, and what the guards say of it.
const GUARDED: &str = include_str!("guarded.txt");

#[test]
fn one_guard_sees_the_commands_files_and_servers_of_every_agent() {
    let world = guarded();
    let samples = samples::all();
    for line in GUARDED.lines().filter(|line| !line.trim().is_empty()) {
        let (name, reason) = line.split_once(" => ").unwrap();
        let sample = samples.iter().find(|sample| sample.title() == name);
        let sample = sample.unwrap_or_else(|| panic!("no sample {name}"));
        let input = sample.value(world.path());
        let read = world::read(sample.agent, sample.event, &input, &world.ask(sample));
        match read.effect {
            Effect::Blocked { reason: found } if found.contains(reason.trim()) => {}
            other => panic!("{name}: {other:?} and not {reason}"),
        }
    }
}

/// Asks Codex about a call in a directory of the project.
fn codex(world: &World, directory: &Path, tool: &str, input: Value) -> Effect {
    let codex = agent::named("codex").unwrap();
    let event = codex.event("PreToolUse").unwrap();
    let said = json!({
        "hook_event_name": "PreToolUse", "cwd": directory, "tool_name": tool, "tool_input": input,
    });
    let reply = world.ask_with(codex, event, said.to_string().as_bytes());
    world::read(codex, event, &said, &reply).effect
}

#[test]
fn every_file_of_a_patch_meets_the_guard_and_not_only_the_first() {
    let script = "def handle(event, payload):\n    if payload['args']['path'] == 'secret/key':\n        return block('the key, by ' + payload['name'])\n    return allow()";
    let world = World::of(Project::script(script));
    for (header, tool) in [
        ("*** Add File: secret/key\n+x", "write_file"),
        ("*** Update File: ./secret//key\n@@\n-x\n+y", "edit_file"),
        ("*** Delete File: secret/key", "delete_file"),
        (
            "*** Update File: secret/key\n*** Move to: key\n@@\n-x\n+y",
            "move_file",
        ),
    ] {
        let patch = format!(
            "*** Begin Patch\n*** Add File: a\n+a\n{header}\n*** Delete File: b\n*** End Patch\n"
        );
        let effect = codex(
            &world,
            world.path(),
            "apply_patch",
            json!({"command": patch}),
        );
        let reason = format!("the key, by {tool} (hookbox: probe)");
        assert_eq!(effect, Effect::Blocked { reason });
    }
}

#[test]
fn a_path_is_relative_to_the_project_also_where_the_agent_works_further_down() {
    let world = guarded();
    let below = world.path().join("src");
    std::fs::create_dir(&below).unwrap();
    let patch = "*** Begin Patch\n*** Delete File: deep/a.rs\n*** End Patch\n";
    let effect = codex(&world, &below, "apply_patch", json!({"command": patch}));
    let reason = "file src/deep/a.rs (hookbox: files)".to_owned();
    assert_eq!(effect, Effect::Blocked { reason });
}

#[test]
fn a_tool_of_a_server_is_not_taken_for_the_agents_own_tool_of_that_name() {
    let world = guarded();
    for (agent, event, said, reason) in [
        (
            "cursor",
            "beforeMCPExecution",
            json!({"hook_event_name": "beforeMCPExecution", "tool_name": "Read", "tool_input": "{\"path\": \"a\"}"}),
            "server mcp__cursor__Read",
        ),
        (
            "gemini",
            "BeforeTool",
            json!({"hook_event_name": "BeforeTool", "tool_name": "read_file", "tool_input": {"file_path": "a"},
                "mcp_context": {"server_name": "disk", "tool_name": "read_file"}}),
            "server mcp__disk__read_file",
        ),
    ] {
        let agent = agent::named(agent).unwrap();
        let event = agent.event(event).unwrap();
        let reply = world.ask_with(agent, event, said.to_string().as_bytes());
        assert!(reply.stderr.contains(reason), "{reply:?}");
    }
}

#[test]
fn commands_that_cline_takes_in_other_forms_meet_the_guard_too() {
    let world = guarded();
    let cline = agent::named("cline").unwrap();
    let event = cline.event("PreToolUse").unwrap();
    for input in [
        json!({"commands": ["id", "rm -rf /"]}),
        json!({"commands": [{"command": "rm", "args": ["-rf", "/"]}]}),
        json!({"commands": "[\"rm -rf /\"]"}),
        json!({"commands": "rm -rf /"}),
        json!({"command": "rm -rf /"}),
        json!({"cmd": "rm -rf /"}),
        json!({"commands": [1]}),
        json!({"commands": {"rm": "-rf"}}),
        json!({}),
        json!(["rm -rf /"]),
        json!("rm -rf /"),
    ] {
        let said = json!({"tool_call": {"name": "run_commands", "input": input}});
        let reply = world.ask_with(cline, event, said.to_string().as_bytes());
        let read = world::read(cline, event, &said, &reply);
        assert!(world::is_blocked(&read), "{said}: {reply:?}");
    }
}
