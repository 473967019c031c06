//! What the table of an agent's events promises, against what the agent does.

use std::path::Path;

use hookbox::agent::{AgentEvent, Carries, Reply};
use serde_json::{Value, json};

use crate::decisions::{Exception, exceptions};
use crate::readers::{Effect, Read};
use crate::samples::{self, Sample};
use crate::support::{Project, answer, component, hook_file};
use crate::world::{self, Does, JSON_REASON, QUESTION, REASON, REMINDER, TEXT, World};

/// What has to come of a decision.
#[derive(Debug)]
enum Wanted {
    Proceeds,
    /// It goes on, and somebody can read why it should not have.
    Noted(&'static str),
    Blocked(&'static str),
    Asks(&'static str),
    Rewritten(Value),
    Told,
}

#[test]
fn every_agent_does_with_every_decision_what_its_table_promises() {
    let samples = samples::wired();
    let exceptions = exceptions();
    let mut wrong = Vec::new();
    for does in world::EVERYTHING {
        let world = World::new(does);
        for sample in &samples {
            let input = sample.value(world.path());
            let reply = world.ask(sample);
            let read = world::read(sample.agent, sample.event, &input, &reply);
            let wanted = wanted(sample, &input, world.path(), does);
            let problem = unlike(&wanted, &read, &reply)
                .or_else(|| unheard(sample.event, &read, does, sample, &exceptions));
            if let Some(problem) = problem {
                wrong.push(format!(
                    "{}, {does:?}: {problem}\n  wanted {wanted:?}\n  {reply:?}\n  {read:?}",
                    sample.title()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Says what the agent did with an answer beside what it should.
fn unheard(
    event: &AgentEvent,
    read: &Read,
    does: Does,
    sample: &Sample,
    exceptions: &[Exception],
) -> Option<String> {
    let known = |found: &str| {
        exceptions.iter().any(|exception| {
            exception.agent == sample.agent.name
                && exception.events.contains(&event.name)
                && found.contains(exception.found)
        })
    };
    let found: Vec<&String> = read
        .ignored
        .iter()
        .chain(&read.doubts)
        .filter(|found| !known(found))
        .collect();
    if !found.is_empty() {
        return Some(format!("not heard, or not by all: {found:?}"));
    }
    let told = does == Does::Tell && event.context.is_some();
    (!told && !read.context.is_empty()).then(|| "the model is told what nobody said".to_owned())
}

/// Says how what the agent does is not what is wanted.
fn unlike(wanted: &Wanted, read: &Read, reply: &Reply) -> Option<String> {
    let visible = |text: &str| {
        reply.stderr.contains(text)
            || reply
                .stdout
                .contains(&json!(text).to_string().trim_matches('"').to_owned())
    };
    let fits = match (wanted, &read.effect) {
        (Wanted::Proceeds, Effect::Proceeds) => true,
        (Wanted::Noted(text), Effect::Proceeds) => visible(text),
        (Wanted::Blocked(text), Effect::Blocked { reason }) => reason.contains(text),
        (Wanted::Asks(text), Effect::Asks { reason }) => reason.contains(text),
        (Wanted::Rewritten(new), Effect::Rewritten(found)) => new == found,
        (Wanted::Told, Effect::Proceeds) => {
            let all = read.context.join("\n");
            all.contains(TEXT) && all.contains(REMINDER)
        }
        _ => false,
    };
    (!fits).then(|| "does something else".to_owned())
}

fn wanted(sample: &Sample, input: &Value, project: &Path, does: Does) -> Wanted {
    let event = sample.event;
    let blocked = |reason: &'static str| {
        if event.block.is_some() {
            Wanted::Blocked(reason)
        } else {
            Wanted::Noted(reason)
        }
    };
    // A format without a word for something has a hook that fails.
    let has_words = event.dialect.name != "polytoken" || event.block.is_some();
    match does {
        Does::Allow => Wanted::Proceeds,
        Does::Ask | Does::Tell if event.dialect.name == "polytoken" => failed(event),
        Does::Block | Does::BlockInJson if !has_words => Wanted::Proceeds,
        Does::Block => blocked(REASON),
        Does::BlockInJson => blocked(JSON_REASON),
        Does::Ask if shows_dialog(event) => Wanted::Proceeds,
        Does::Ask if event.ask.is_some() => Wanted::Asks(QUESTION),

        Does::Ask => blocked(QUESTION),
        Does::Modify => modified(sample, input, project),
        Does::Rename if event.event == "tool.pre" => Wanted::Blocked("a hook"),
        Does::Rename => Wanted::Proceeds,
        Does::Tell if event.context.is_some() => Wanted::Told,
        Does::Tell => Wanted::Noted("takes no text for the model"),
        Does::Trap => failed(event),
        // AI Harness has it that such a hook sits the event out, and that it is said.
        Does::WhenFails if event.dialect.name == "harness" => Wanted::Noted("`when` failed"),
        Does::WhenFails => Wanted::Proceeds,
    }
}

/// A person is being asked already.
fn shows_dialog(event: &AgentEvent) -> bool {
    event.ask.is_some_and(|how| how.starts_with("nothing"))
}

fn failed(event: &AgentEvent) -> Wanted {
    if event.guards {
        Wanted::Blocked("")
    } else {
        Wanted::Proceeds
    }
}

/// The whole thing with the change that the hooks of the project make.
fn modified(sample: &Sample, input: &Value, project: &Path) -> Wanted {
    let event = sample.event;
    if event.dialect.name != "harness" {
        return Wanted::Proceeds;
    }
    if event.modify.is_none() {
        return if event.guards {
            Wanted::Blocked("rewrote")
        } else {
            Wanted::Noted("rewrote")
        };
    }
    match event.carries {
        Carries::Tool { input: place, .. } => called(sample, input, &input[place], project),
        Carries::Output { .. } if sample.agent.name == "copilot" => {
            Wanted::Rewritten(json!({"resultType": "success", "textResultForLlm": "rewritten"}))
        }
        Carries::Output { .. } => Wanted::Rewritten("rewritten".into()),
        Carries::Model(place) => {
            let mut new = input[place].clone();
            let key = if event.event == "completion.pre" {
                "model"
            } else {
                "text"
            };
            new[key] = "rewritten".into();
            Wanted::Rewritten(new)
        }
        _ => Wanted::Rewritten("rewritten".into()),
    }
}

/// The input of a tool whose first text has a mark; a patch cannot be rewritten in part.
fn called(sample: &Sample, said: &Value, input: &Value, project: &Path) -> Wanted {
    let text = match input {
        // Some send their arguments as text.
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut new: Value = serde_json::from_str(&text).unwrap();
    if sample.name.ends_with("patch") && input_tool(said) != "Bash" {
        return Wanted::Blocked("of a patch");
    }
    let project = project.display().to_string();
    let object = new.as_object_mut().unwrap();
    let is_text = |value: &&mut Value| value.as_str().is_some_and(|text| text != project);
    match object.values_mut().find(is_text) {
        Some(text) => *text = format!("{}~", text.as_str().unwrap()).into(),
        None => {
            object.insert("marked".to_owned(), true.into());
        }
    }
    Wanted::Rewritten(new)
}

fn input_tool(said: &Value) -> &str {
    said["tool_name"].as_str().unwrap_or_default()
}

#[test]
fn what_a_hook_rewrote_is_what_a_person_is_asked_about() {
    let project = Project::new();
    let asks = "---\nevent: tool.pre\npriority: 20\ncomponent: asks.wasm\n---\n";
    let script = "def handle(event, payload):\n    return modify({'args': {'command': 'id'}})";
    project.hook("asks", asks);
    project.file(".harness/hooks/asks.wasm", component(&answer(3, QUESTION)));
    project.hook("rewrites", &hook_file("tool.pre", "priority: 10", script));
    let world = World::of(project);
    for sample in samples::guarding() {
        if sample.event.event != "tool.pre" {
            continue;
        }
        let input = sample.value(world.path());
        let reply = world.ask(&sample);
        let read = world::read(sample.agent, sample.event, &input, &reply);
        let both = sample.event.ask.is_some() && sample.event.modify.is_some();
        match read.effect {
            Effect::Asks { reason } if both => {
                assert!(reason.contains(QUESTION), "{}", sample.title());
                assert!(reply.stdout.contains(r#"{"command":"id"}"#), "{reply:?}");
            }
            // Neither the question nor the change may get lost.
            Effect::Blocked { .. } if !both => {}
            other => panic!("{}: {other:?}", sample.title()),
        }
    }
}
