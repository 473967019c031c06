//! What agents send that they should not. Everybody is asked with every mistake: where
//! something waits, what cannot be read is a no, and what can be read is for the hooks.

use std::path::Path;

use hookbox::agent::{Asked, MAX_INPUT, Setting, answer};
use serde_json::{Value, json};

use crate::readers::Effect;
use crate::samples::{self, Sample};
use crate::support::Project;
use crate::world::{self, Does, World, assert_undecided};

/// Wrong payloads made of a right one, each with a name.
type Mistakes = Vec<(String, Vec<u8>)>;

/// The agent's hooks may see it: those that refuse everything are not got around, those
/// that do not care change nothing, and everybody understands the answer.
fn is_for_the_hooks(mistakes: impl Fn(&Sample, &Value) -> Mistakes) {
    let (allowing, refusing) = (World::new(Does::Allow), World::new(Does::Block));
    for sample in samples::one_each() {
        let guards = sample.event.guards;
        let world = if guards { &refusing } else { &allowing };
        let right = sample.value(world.path());
        for (mistake, input) in mistakes(&sample, &right) {
            let reply = world.ask_with(sample.agent, sample.event, &input);
            let read = world::read(sample.agent, sample.event, &right, &reply);
            let title = format!("{}, {mistake}: {reply:?} is {read:?}", sample.title());
            assert!(understood(&read.doubts), "{title}");
            if guards {
                assert!(world::is_blocked(&read), "{title}");
            } else {
                assert_eq!(read.effect, Effect::Proceeds, "{title}");
            }
        }
    }
}

/// Versions of an agent differ in what they wait for, which is no fault of the answer.
fn understood(doubts: &[String]) -> bool {
    doubts.iter().all(|doubt| {
        doubt.contains("only the VS Code extension") || doubt.contains("Stop cannot block")
    })
}

/// Nobody can say what it is: a no, though every hook would allow it.
fn is_a_no(mistakes: impl Fn(&Sample, &Value) -> Mistakes) {
    let world = World::new(Does::Allow);
    for sample in samples::one_each() {
        let right = sample.value(world.path());
        for (mistake, input) in mistakes(&sample, &right) {
            let reply = world.ask_with(sample.agent, sample.event, &input);
            assert_undecided(&sample, &right, &reply, &mistake);
        }
    }
}

fn one(name: &str, input: impl Into<Vec<u8>>) -> Mistakes {
    vec![(name.to_owned(), input.into())]
}

/// Every place in a value, as JSON pointers.
fn places(value: &Value, at: &str) -> Vec<String> {
    let Value::Object(object) = value else {
        return Vec::new();
    };
    let below = |(key, value): (&String, &Value)| {
        let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        let mut places = places(value, &place);
        places.push(place);
        places
    };
    object.iter().flat_map(below).collect()
}

fn without(value: &Value, place: &str) -> Value {
    let mut value = value.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    parent.shift_remove(&key.replace("~1", "/").replace("~0", "~"));
    value
}

fn with(value: &Value, place: &str, new: Value) -> Value {
    let mut value = value.clone();
    *value.pointer_mut(place).unwrap() = new;
    value
}

#[test]
fn a_payload_without_one_of_its_fields() {
    is_for_the_hooks(|_, right| {
        let places = places(right, "");
        let mistakes = places.into_iter().map(|place| {
            let wrong = without(right, &place).to_string();
            (format!("without {place}"), wrong.into_bytes())
        });
        mistakes.collect()
    });
}

#[test]
fn a_payload_with_a_field_of_another_kind() {
    is_for_the_hooks(|_, right| {
        let mut mistakes = Vec::new();
        for place in places(right, "") {
            for new in [
                json!(null),
                json!(true),
                json!(-7.5),
                json!("x"),
                json!([["x"]]),
                json!({"x": 1}),
            ] {
                let name = format!("{place} is {new}");
                mistakes.push((name, with(right, &place, new).to_string().into_bytes()));
            }
        }
        mistakes
    });
}

#[test]
fn a_payload_with_fields_that_nobody_knows() {
    is_for_the_hooks(|_, right| {
        let mut wrong = right.clone();
        for key in [
            "",
            "hookbox",
            "args",
            "name",
            "agent",
            "decision",
            "__proto__",
            "\u{0}",
        ] {
            wrong[key] = json!({"permissionDecision": "allow"});
        }
        one("more fields", wrong.to_string())
    });
}

#[test]
fn a_payload_without_anything_in_it() {
    is_for_the_hooks(|_, _| one("nothing in it", "{}"));
}

/// Calls of a tool that guards know, with other arguments.
fn arguments(sample: &Sample, right: &Value, new: &Value) -> Mistakes {
    let places = [
        "/tool_input",
        "/toolArgs",
        "/tool_call/input",
        "/args",
        "/tool_info",
    ];
    let is_call = sample.event.event == "tool.pre" && sample.event.guards;
    let found = places
        .iter()
        .find(|place| is_call && right.pointer(place).is_some());
    // What names no tool of its own is looked at by whoever runs it.
    let found = found.filter(|_| !sample.name.contains("MCP") && !sample.name.contains("mcp"));
    found.map_or_else(Vec::new, |place| {
        one(
            &format!("{place} is {new}"),
            with(right, place, new.clone()).to_string(),
        )
    })
}

#[test]
fn arguments_that_are_a_text_of_json_are_read() {
    is_for_the_hooks(|sample, right| arguments(sample, right, &json!(r#"{"command": "id"}"#)));
}

#[test]
fn arguments_that_are_no_object_are_a_no() {
    for new in [
        json!("rm -rf /"),
        json!(r#""{\"command\": \"id\"}""#),
        json!(r#""\"{\\\"command\\\": \\\"id\\\"}\"""#),
        json!(r#"{"command": "id"} {"command": "id"}"#),
        json!(r#"{"command": "id", "command": "rm"}"#),
        json!(["rm"]),
        json!(7),
        json!(true),
        json!(null),
    ] {
        is_a_no(|sample, right| {
            let mut mistakes = arguments(sample, right, &new);
            // Here the arguments are not a field that could be a text.
            mistakes.retain(|_| sample.agent.name != "windsurf" || !new.is_string());
            if sample.event.guards {
                mistakes
            } else {
                Vec::new()
            }
        });
    }
}

#[test]
fn a_field_that_is_there_twice() {
    is_a_no(|_, right| {
        let text = right.to_string();
        let key = right.as_object().unwrap().keys().next().unwrap();
        one("twice", format!("{{{}: null, {}", json!(key), &text[1..]))
    });
}

#[test]
fn text_that_is_not_utf_8() {
    is_a_no(|_, right| {
        let mut bytes = right.to_string().into_bytes();
        bytes[2] = 0xff;
        one("not UTF-8", bytes)
    });
}

#[test]
fn half_of_a_character() {
    is_a_no(|_, right| {
        one(
            "a lone surrogate",
            right.to_string().replacen('{', r#"{"half": "\ud800", "#, 1),
        )
    });
}

#[test]
fn a_mark_before_the_text_says_nothing() {
    is_for_the_hooks(|_, right| one("a byte order mark", format!("\u{feff}{right}")));
}

#[test]
fn zero_bytes_around_the_text() {
    is_a_no(|_, right| {
        let mut both = one("before", format!("\0{right}"));
        both.extend(one("behind", format!("{right}\0")));
        both
    });
}

#[test]
fn zero_characters_in_every_text() {
    is_for_the_hooks(|_, right| {
        let texts = places(right, "");
        let texts = texts
            .into_iter()
            .filter(|place| right.pointer(place).is_some_and(Value::is_string));
        texts
            .map(|place| {
                let wrong = with(right, &place, json!("a\0b"));
                (format!("a zero in {place}"), wrong.to_string().into_bytes())
            })
            .collect()
    });
}

#[test]
fn what_is_nested_ten_thousand_deep() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    is_a_no(|_, right| {
        one(
            "deep",
            right
                .to_string()
                .replacen('{', &format!("{{\"deep\": {deep}, "), 1),
        )
    });
}

#[test]
fn what_is_no_object_or_more_than_one() {
    is_a_no(|_, right| {
        let mut all = Vec::new();
        for text in [
            "",
            " ",
            "null",
            "[]",
            "true",
            "7",
            "\"x\"",
            "{",
            "hello",
            "{'a': 1}",
            "{\"a\": NaN}",
        ] {
            all.extend(one(text, text));
        }
        all.extend(one("garbage behind it", format!("{right} x")));
        all.extend(one("two of them", format!("{right}{right}")));
        all.extend(one("a list of it", format!("[{right}]")));
        all.extend(one(
            "half of it",
            &right.to_string()[..right.to_string().len() / 2],
        ));
        all
    });
}

/// One event of each agent that something waits for.
fn one_guard_each() -> Vec<Sample> {
    let mut samples = samples::guarding();
    samples.retain(|sample| sample.event.event == "tool.pre");
    samples.dedup_by_key(|sample| sample.agent.name);
    samples
}

#[test]
fn twenty_megabytes_are_for_the_hooks_or_a_no() {
    let world = World::new(Does::Block);
    let large = format!("{{\"large\": \"{}\",", "x".repeat(20 << 20));
    for sample in one_guard_each() {
        let input = sample.at(world.path()).replacen('{', &large, 1);
        let reply = world.ask_with(sample.agent, sample.event, input.as_bytes());
        let read = world::read(sample.agent, sample.event, &Value::Null, &reply);
        assert!(world::is_blocked(&read), "{}", sample.title());
    }
}

#[test]
fn more_than_anybody_reads_is_a_no() {
    let world = World::new(Does::Allow);
    let large = format!("{{\"x\": \"{}\"}}", "x".repeat(MAX_INPUT));
    for sample in one_guard_each() {
        let reply = world.ask_with(sample.agent, sample.event, large.as_bytes());
        assert_undecided(&sample, &Value::Null, &reply, "too large");
    }
}

#[test]
fn a_transcript_without_an_end_is_not_read() {
    is_for_the_hooks(|_, right| {
        let mut wrong = right.clone();
        for key in ["transcript_path", "transcriptPath", "agent_transcript_path"] {
            wrong[key] = "/dev/zero".into();
        }
        one("/dev/zero", wrong.to_string())
    });
}

#[test]
fn the_event_of_another_entry_is_a_no() {
    let world = World::new(Does::Allow);
    for sample in samples::guarding() {
        let key = sample.agent.event_key;
        let mut said = sample.value(world.path());
        if key.is_empty() || said.get(key).is_none() {
            continue;
        }
        let other = sample
            .agent
            .events
            .iter()
            .find(|event| event.name != sample.event.name);
        for name in [other.unwrap().name, "NoSuchEvent", ""] {
            said[key] = name.into();
            let reply = world.ask_with(sample.agent, sample.event, said.to_string().as_bytes());
            assert_undecided(&sample, &said, &reply, name);
        }
    }
}

#[test]
fn an_event_that_nobody_knows_is_a_no_to_everybody() {
    let world = World::new(Does::Allow);
    for sample in one_guard_each() {
        for wired in [Some("NoSuchEvent"), Some(""), None] {
            let mut said = sample.value(world.path());
            if !sample.agent.event_key.is_empty() {
                said[sample.agent.event_key] = wired.into();
            }
            let text = said.to_string();
            let asked = Asked {
                agent: sample.agent,
                wired,
                input: text.as_bytes(),
            };
            let setting = Setting {
                project: None,
                directory: Some(world.path().to_owned()),
                ..Setting::default()
            };
            let reply = answer(&asked, &setting, |_, _| Ok(world.runtime.clone())).reply;
            // It is read as what it would have been.
            assert_undecided(&sample, &said, &reply, "unknown");
        }
    }
}

/// The roots that the agents' hooks are looked for in, where the agent says that it works
/// in a directory.
fn roots(directory: &Path, started_in: Option<&Path>) -> Vec<(String, Option<std::path::PathBuf>)> {
    let world = World::new(Does::Block);
    let ask = |sample: &Sample| {
        let mut found = None;
        let input = sample.at(directory);
        let asked = Asked {
            agent: sample.agent,
            wired: Some(sample.event.name),
            input: input.as_bytes(),
        };
        let setting = Setting {
            project: None,
            directory: started_in.map(Path::to_owned),
            ..Setting::default()
        };
        let reply = answer(&asked, &setting, |root, _| {
            found = Some(root.real.clone());
            Ok(world.runtime.clone())
        })
        .reply;
        let read = world::read(sample.agent, sample.event, &sample.value(directory), &reply);
        assert_eq!(
            world::is_blocked(&read),
            found.is_some(),
            "{}: {reply:?}",
            sample.title()
        );
        (sample.title(), found)
    };
    let places = |sample: &&Sample| sample.at(Path::new("<here>")).contains("\"<here>\"");
    one_guard_each().iter().filter(places).map(ask).collect()
}

fn all_in(project: &Path, directory: &Path, started_in: Option<&Path>) {
    let project = project.canonicalize().unwrap();
    let roots = roots(directory, started_in);
    assert!(roots.len() > 5, "{roots:?}");
    for (title, root) in roots {
        assert_eq!(root.as_ref(), Some(&project), "{title}");
    }
}

#[test]
fn a_directory_that_is_gone_still_lies_in_its_project() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    all_in(project.path(), &project.path().join("gone/for good"), None);
}

#[test]
fn a_relative_directory_says_nothing_and_where_hookbox_was_started_counts() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    all_in(
        project.path(),
        Path::new("some/where"),
        Some(project.path()),
    );
}

#[test]
fn a_directory_that_is_a_file_lies_in_its_project() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    project.file("a.txt", "");
    all_in(project.path(), &project.path().join("a.txt"), None);
}

#[test]
#[cfg(unix)]
fn a_link_to_the_project_is_the_project() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(project.path(), &link).unwrap();
    all_in(project.path(), &link, None);
}

#[test]
fn a_project_in_a_project_has_its_own_hooks() {
    let outer = Project::script("def handle(event, payload):\n    return allow()");
    let inner = outer.path().join("inner");
    std::fs::create_dir_all(inner.join(".harness/hooks")).unwrap();
    all_in(&inner, &inner, Some(outer.path()));
}

#[test]
fn a_command_that_is_run_elsewhere_belongs_to_the_project_of_the_workspace() {
    let world = World::new(Does::Block);
    let elsewhere = tempfile::tempdir().unwrap();
    let cursor = hookbox::agent::named("cursor").unwrap();
    let event = cursor.event("beforeShellExecution").unwrap();
    let said = json!({
        "hook_event_name": "beforeShellExecution", "command": "id", "cwd": elsewhere.path(),
        "workspace_roots": [elsewhere.path(), world.path()],
    });
    let text = said.to_string();
    let asked = Asked {
        agent: cursor,
        wired: Some(event.name),
        input: text.as_bytes(),
    };
    // As it is for the hooks of a person, who has them for all projects.
    let setting = Setting {
        project: None,
        directory: Some(elsewhere.path().to_owned()),
        ..Setting::default()
    };
    let reply = answer(&asked, &setting, |_, _| Ok(world.runtime.clone())).reply;
    assert!(
        world::is_blocked(&world::read(cursor, event, &said, &reply)),
        "{reply:?}"
    );
}

#[test]
fn what_an_agent_sent_comes_back_short_and_without_control_characters() {
    let world = World::new(Does::Allow);
    for sample in samples::one_each() {
        let key = sample.agent.event_key;
        if key.is_empty() {
            continue;
        }
        let mut said = sample.value(world.path());
        said[key] = format!("\u{1b}[2J\u{0}{}", "x".repeat(100_000)).into();
        let reply = world.ask_with(sample.agent, sample.event, said.to_string().as_bytes());
        let text = reply.stdout + &reply.stderr;
        assert!(
            text.len() < 40_000,
            "{}: {} bytes",
            sample.title(),
            text.len()
        );
        assert!(
            !text.contains("\u{1b}") && !text.contains("\u{0}"),
            "{}",
            sample.title()
        );
    }
}
