//! Projects that are not what they should be.

use std::path::{Path, PathBuf};

use hookbox::agent::{AgentError, Asked, Reply, Setting, answer};
use serde_json::Value;

use crate::readers::Effect;
use crate::samples::{self, Sample};
use crate::support::{Project, component, hook_file, module};
use crate::world::{self, assert_undecided, load};

/// Asks as `hookbox hook` does, with `--project` or without.
fn ask(sample: &Sample, project: Option<PathBuf>, place: &Path) -> Reply {
    let input = sample.at(place);
    let asked = Asked {
        agent: sample.agent,
        wired: Some(sample.event.name),
        input: input.as_bytes(),
    };
    let setting = Setting {
        project,
        directory: Some(place.to_owned()),
        ..Setting::default()
    };
    answer(&asked, &setting, |root, _| {
        load(&root.real).map_err(AgentError::Load)
    })
    .reply
}

/// The hooks of a project cannot be asked, so everything that waits gets a no.
fn is_a_no(project: &Project) {
    for sample in samples::one_each() {
        let reply = ask(&sample, None, project.path());
        assert_undecided(
            &sample,
            &sample.value(project.path()),
            &reply,
            "a bad project",
        );
    }
}

#[test]
fn a_named_project_that_is_gone_is_a_no() {
    let place = tempfile::tempdir().unwrap();
    for gone in [place.path().join("gone"), place.path().to_owned()] {
        for sample in samples::one_each() {
            let reply = ask(&sample, Some(gone.clone()), place.path());
            assert_undecided(&sample, &sample.value(place.path()), &reply, "no project");
        }
    }
}

#[test]
fn where_there_is_no_project_every_agent_goes_on() {
    let place = tempfile::tempdir().unwrap();
    for sample in samples::one_each() {
        let reply = ask(&sample, None, place.path());
        let read = world::read(sample.agent, sample.event, &Value::Null, &reply);
        assert_eq!(
            read.effect,
            Effect::Proceeds,
            "{}: {reply:?}",
            sample.title()
        );
        assert_eq!(read.doubts, [""; 0], "{}", sample.title());
    }
}

#[test]
fn a_hook_file_that_is_no_yaml_is_a_no() {
    is_a_no(&Project::with(&[("bad", "---\nevent: [tool.pre\n---\n")]));
}

#[test]
fn a_script_that_does_not_parse_is_a_no() {
    is_a_no(&Project::script(
        "def handle(event, payload)\n    return allow()",
    ));
}

#[test]
fn a_condition_that_does_not_parse_is_a_no() {
    let hook = hook_file(
        "tool.pre",
        "priority: 1\nwhen: payload[",
        "def handle(event, payload):\n    return allow()",
    );
    is_a_no(&Project::with(&[("bad", &hook)]));
}

#[test]
fn a_component_that_is_not_there_is_a_no() {
    is_a_no(&Project::with(&[(
        "bad",
        "---\nevent: tool.pre\npriority: 1\ncomponent: gone.wasm\n---\n",
    )]));
}

#[test]
fn settings_that_are_no_settings_are_a_no() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    project.file("hookbox.toml", "limits = [");
    is_a_no(&project);
}

#[test]
fn a_project_that_cannot_be_read_is_a_no() {
    let project = Project::new();
    project.file(".harness/hooks", "no folder");
    is_a_no(&project);
}

/// A project with the same component on every event that something waits for.
fn everywhere(bytes: &[u8], more: &str) -> Project {
    let project = Project::new();
    for sample in samples::one_each() {
        let event = sample.event.event;
        if sample.event.dialect.name == "harness" {
            let name = event.replace('.', "_");
            let text =
                format!("---\nevent: {event}\npriority: 10\ncomponent: x.wasm\n{more}\n---\n");
            project.hook(&name, &text);
        }
    }
    project.file(".harness/hooks/x.wasm", bytes);
    project
}

/// Every event of the native format, in one runtime.
fn hooks_fail(project: Project) {
    let world = world::World::of(project);
    let mut samples = samples::one_each();
    samples.retain(|sample| sample.event.dialect.name == "harness");
    for sample in samples {
        let reply = world.ask(&sample);
        assert_undecided(
            &sample,
            &sample.value(world.path()),
            &reply,
            "a hook that fails",
        );
    }
}

#[test]
fn a_hook_that_loops_for_ever_is_a_no() {
    let endless = module("", "", "(loop $again (br $again))");
    hooks_fail(everywhere(&component(&endless), "limits:\n  fuel: 1M"));
}

#[test]
fn a_hook_that_takes_all_memory_is_a_no() {
    let body = "(loop $again (drop (memory.grow (i32.const 1024))) (i32.store (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 4)) (i32.const 1)) (br $again))";
    hooks_fail(everywhere(
        &component(&module("", "", body)),
        "limits:\n  fuel: 1M",
    ));
}

#[test]
fn a_hook_that_answers_what_is_no_json_is_a_no() {
    hooks_fail(everywhere(
        &component(&crate::support::answer(2, "{\"args\": ")),
        "",
    ));
}

#[test]
fn a_hook_that_answers_with_no_decision_at_all_is_a_no() {
    hooks_fail(everywhere(&component(&crate::support::answer(200, "")), ""));
}

#[test]
fn a_bug_in_hookbox_is_a_no() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    for sample in samples::one_each() {
        let input = sample.at(project.path());
        let asked = Asked {
            agent: sample.agent,
            wired: Some(sample.event.name),
            input: input.as_bytes(),
        };
        let setting = Setting {
            project: Some(project.path().to_owned()),
            directory: None,
            ..Setting::default()
        };
        let reply = answer(&asked, &setting, |_, _| panic!("this test breaks it")).reply;
        assert_undecided(&sample, &sample.value(project.path()), &reply, "a panic");
    }
}
