//! Projects whose hooks all decide the same, and agents that ask them.

use std::collections::BTreeSet;
use std::path::Path;

use hookbox::Runtime;
use hookbox::agent::{self, Agent, AgentEvent, Asked, Reply, Setting, answer, hand_on};
use hookbox::dialect::{harn, harness, polytoken};
use serde_json::{Value, json};

use crate::readers::{self, Effect, Finished, Read};
use crate::samples::Sample;
use crate::support::{Project, component, hook_file, module};

/// What a hook says where it refuses.
pub(crate) const REASON: &str = "not on a Friday";
/// What a hook asks.
pub(crate) const QUESTION: &str = "on a Friday?";
/// What a hook tells the model.
pub(crate) const TEXT: &str = "it is Friday";
/// What a hook reminds the model of.
pub(crate) const REMINDER: &str = "tests come first";

/// What all hooks of a project do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    Allow,
    Block,
    /// Refuses with words that are an answer themselves.
    BlockInJson,
    Ask,
    /// Changes what it may change.
    Modify,
    /// Puts another tool in the place of the one that was called.
    Rename,
    Tell,
    Trap,
    /// Has a condition that fails.
    WhenFails,
}

pub(crate) const EVERYTHING: [Does; 9] = [
    Does::Allow,
    Does::Block,
    Does::BlockInJson,
    Does::Ask,
    Does::Modify,
    Does::Rename,
    Does::Tell,
    Does::Trap,
    Does::WhenFails,
];

/// A reason that would be an answer to many agents.
pub(crate) const JSON_REASON: &str = r#"{"decision":"allow","permission":"allow"}"#;

/// A project with hooks on every event that an agent can fire.
pub(crate) struct World {
    pub(crate) project: Project,
    pub(crate) runtime: Runtime,
}

impl World {
    pub(crate) fn new(does: Does) -> Self {
        let project = Project::new();
        let mut listeners = BTreeSet::new();
        let mut foreign = Vec::new();
        for event in agent::ALL.iter().flat_map(|agent| agent.events) {
            if !listeners.insert((event.dialect.name, event.event)) {
                continue;
            }
            if event.dialect == &harness::DIALECT {
                native(&project, event.event, does);
            } else if event.dialect == &polytoken::DIALECT {
                foreign.push(json!({
                    "name": event.event, "event": event.event, "handler": {"wasm": "x.wasm"},
                }));
            } else {
                assert_eq!(event.dialect, &harn::DIALECT);
                let entry = format!(
                    "[[hooks]]\nevent = {:?}\npattern = \"*\"\nhandler = \"policy::decide\"\n",
                    event.event
                );
                project
                    .file("harn.toml", entry)
                    .file("policy.star", policy(does));
            }
        }
        project.file(".polytoken/hooks.json", Value::from(foreign).to_string());
        project.file(".polytoken/x.wasm", guest(does));
        Self::of(project)
    }

    /// Loads a project as `hookbox hook` does.
    pub(crate) fn of(project: Project) -> Self {
        let runtime = load(project.path()).unwrap_or_else(|error| panic!("{error}"));
        Self { project, runtime }
    }

    pub(crate) fn path(&self) -> &Path {
        self.project.path()
    }

    /// What an agent that works in the project is told.
    pub(crate) fn ask(&self, sample: &Sample) -> Reply {
        let input = sample.at(self.path());
        self.ask_with(sample.agent, sample.event, input.as_bytes())
    }

    pub(crate) fn ask_with(
        &self,
        agent: &'static Agent,
        event: &AgentEvent,
        input: &[u8],
    ) -> Reply {
        let asked = Asked {
            agent,
            wired: Some(event.name),
            input,
        };
        let setting = Setting {
            project: None,
            directory: Some(self.path().to_owned()),
            ..Setting::default()
        };
        answer(&asked, &setting, |_, _| Ok(self.runtime.clone())).reply
    }
}

pub(crate) fn load(project: &Path) -> Result<Runtime, hookbox::runtime::LoadError> {
    // A yes of the person who is asked later; that one is the agent's.
    let ask = |question: &hookbox::capability::services::Question| {
        hand_on(question);
        true
    };
    Runtime::builder(project).ask(ask).load()
}

/// What the agent does with an answer; it has doubts about one that its own schema refuses.
pub(crate) fn read(agent: &Agent, event: &AgentEvent, input: &Value, reply: &Reply) -> Read {
    let finished = Finished::new(&reply.stdout, &reply.stderr, reply.code);
    let mut read = readers::read(agent.name, event.name, input, &finished).unwrap();
    // A refusal by exit code alone says nothing on standard output.
    if reply.code == 0 || !reply.stdout.is_empty() {
        let accepted = readers::accepts(agent.name, event.name, &reply.stdout);
        read.doubts.extend(accepted.err());
    }
    read
}

/// The agent does not do it.
pub(crate) fn is_blocked(read: &Read) -> bool {
    matches!(&read.effect, Effect::Blocked { .. })
}

/// What cannot be decided: a no where anything waits, and elsewhere nothing.
pub(crate) fn assert_undecided(sample: &Sample, input: &Value, reply: &Reply, why: &str) {
    let read = read(sample.agent, sample.event, input, reply);
    let title = format!("{}, {why}: {reply:?} is {read:?}", sample.title());
    if sample.event.guards {
        assert!(is_blocked(&read), "{title}");
        assert!(
            format!("{}{}", reply.stderr, reply.stdout).contains("hookbox"),
            "{title}"
        );
    } else {
        assert_eq!(read.effect, Effect::Proceeds, "{title}");
    }
}

/// Puts a hook of the native format into a project.
fn native(project: &Project, event: &str, does: Does) {
    let name = event.replace('.', "_");
    let script = |body: &str| {
        let text = hook_file(
            event,
            "priority: 10",
            &format!("def handle(event, payload):\n{body}"),
        );
        project.hook(&name, &text);
    };
    match does {
        Does::Allow => script("    return allow()"),
        Does::Block => script(&format!("    return block({REASON:?})")),
        Does::BlockInJson => script(&format!("    return block({JSON_REASON:?})")),
        Does::Modify => script(modification(event)),
        Does::Rename if event == "tool.pre" => script("    return modify({'name': 'other_tool'})"),
        Does::Rename => script("    return allow()"),
        Does::WhenFails => {
            let more = "priority: 10\nwhen: payload['nothing']['of'] == 'this'";
            project.hook(
                &name,
                &hook_file(
                    event,
                    more,
                    "def handle(event, payload):\n    return block('called')",
                ),
            );
        }
        Does::Ask | Does::Tell | Does::Trap => {
            let text = format!("---\nevent: {event}\npriority: 10\ncomponent: {name}.wasm\n---\n");
            project.hook(&name, &text);
            project.file(&format!(".harness/hooks/{name}.wasm"), guest(does));
        }
    }
}

/// How a hook changes what an event carries.
fn modification(event: &str) -> &'static str {
    match event {
        // Arguments of all tools have other names; the first text gets a mark.
        "tool.pre" => {
            "    args = dict(payload['args'])
    texts = [key for key in args if type(args[key]) == 'string' and args[key] != '.']
    if texts:
        args[texts[0]] += '~'
    else:
        args['marked'] = True
    return modify({'args': args})"
        }
        "tool.post" => "    return modify({'result': 'rewritten'})",
        "turn.start" => "    return modify(payload + '~')",
        "completion.pre" => "    return modify({'model': 'rewritten'})",
        "completion.post" => "    return modify({'text': 'rewritten'})",
        _ => "    return modify({'transformedPrompt': 'rewritten'})",
    }
}

/// A function of a Harn module.
fn policy(does: Does) -> String {
    let body = match does {
        Does::Block => format!("return {{'decision': 'deny', 'reason': {REASON:?}}}"),
        Does::BlockInJson => format!("return {{'decision': 'deny', 'reason': {JSON_REASON:?}}}"),
        Does::Ask => format!("return {{'decision': 'ask', 'reason': {QUESTION:?}}}"),
        Does::Tell => format!(
            "return [{{'reminder': {{'body': {TEXT:?}}}}}, {{'reminder': {{'body': {REMINDER:?}}}}}]"
        ),
        Does::Trap => "fail('broken')".to_owned(),
        Does::Allow | Does::Modify | Does::Rename | Does::WhenFails => "return None".to_owned(),
    };
    format!("def decide(event):\n    {body}\n")
}

/// The same as a component.
fn guest(does: Does) -> Vec<u8> {
    let (decision, text) = match does {
        Does::Block => (1, REASON),
        Does::BlockInJson => (1, JSON_REASON),
        Does::Ask => (3, QUESTION),
        Does::Tell => return component(&telling()),
        Does::Trap => return component(&module("", "", "unreachable")),
        Does::Allow | Does::Modify | Does::Rename | Does::WhenFails => (0, ""),
    };
    component(&crate::support::answer(decision, text))
}

/// A component that allows with a text and a reminder for the model, laid out as the
/// canonical ABI has them.
fn telling() -> String {
    let data = format!(r#"(data (i32.const 2048) "{TEXT}") (data (i32.const 2304) "{REMINDER}")"#);
    let body = format!(
        "(i32.store (i32.const 1040) (i32.const 3072))
         (i32.store (i32.const 1044) (i32.const 2))
         (i32.store (i32.const 3076) (i32.const 2048))
         (i32.store (i32.const 3080) (i32.const {}))
         (i32.store8 (i32.const 3116) (i32.const 1))
         (i32.store (i32.const 3120) (i32.const 2304))
         (i32.store (i32.const 3124) (i32.const {}))",
        TEXT.len(),
        REMINDER.len(),
    );
    module("", &data, &body)
}
