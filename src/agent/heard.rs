//! What an agent said, read once: the events that hookbox knows, with everything the
//! agent sent still at hand.

use serde_json::{Map, Value, json};

use super::patch::{self, APPLY_PATCH};
use super::place::Root;
use super::tool::{self, Call, Tool};
use super::{Agent, AgentEvent};

/// Where something lies in a payload: names of fields with dots between, and bars between
/// places that are tried in turn.
pub type Place = &'static str;

/// How the payload of an event is read.
#[derive(Debug)]
pub enum Carries {
    /// A call of any tool, under these keys.
    Tool {
        /// Its name.
        name: Place,
        /// Its arguments.
        input: Place,
        /// What tells the call from others.
        id: Place,
    },
    /// A call of one tool, whose arguments lie in the payload itself or under a key.
    OneTool {
        /// The tool, as the agent's table of tools has it.
        tool: &'static str,
        /// The key, if there is one.
        within: Option<&'static str>,
        /// The arguments; the rest of the payload is about something else.
        keys: &'static [&'static str],
    },
    /// A call of a tool of an MCP server.
    Mcp {
        /// The server's name.
        server: Place,
        /// The tool's name.
        name: Place,
        /// Its arguments.
        input: Place,
    },
    /// What a tool came back with.
    Output {
        /// The tool's name.
        name: Place,
        /// Its arguments.
        input: Place,
        /// What it came back with.
        output: Place,
        /// What tells the call from others.
        id: Place,
        /// Whether it failed.
        failed: bool,
    },
    /// The user's message.
    Prompt(Place),
    /// A request to a model, or its response.
    Model(Place),
    /// The end of the agent's work, with its last message.
    Stop(Place),
    /// Anything else, as it is.
    Object,
}

impl Carries {
    /// A tool call under the names that most agents took over from Claude Code.
    pub(super) const TOOL: Self = Self::Tool {
        name: "tool_name",
        input: "tool_input",
        id: "tool_use_id",
    };

    /// What a tool came back with, under the same names.
    pub(super) const fn output(output: Place, failed: bool) -> Self {
        Self::Output {
            name: "tool_name",
            input: "tool_input",
            output,
            id: "tool_use_id",
            failed,
        }
    }
}

/// The event of the hooks that want to know all that an agent says of a prompt: the payload
/// of `turn.start` is its text alone.
pub const WHOLE_PROMPT: &str = "custom.prompt";

/// An event of an agent in canonical form.
#[derive(Debug)]
pub struct Heard {
    /// The event.
    pub event: &'static AgentEvent,
    /// What hooks see: one payload for each thing that would be done.
    pub payloads: Vec<Value>,
    /// All that was said of a prompt, for the hooks of [`WHOLE_PROMPT`].
    pub(super) prompt: Option<Value>,
    /// The tool call it is about.
    pub(super) tool: Option<ToolCall>,
    /// Who talks.
    pub(super) session: Option<String>,
    /// Where the agent keeps what was said.
    pub(super) transcript: Option<String>,
}

/// A tool call as it came in, to bring rewritten arguments back into its form.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) own: Option<&'static Tool>,
    pub(super) input: Value,
    /// The canonical calls: several for a patch of several files.
    pub(super) calls: Vec<Call>,
}

/// What was wrong with what an agent said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeardError {
    /// A field is not there, or of another kind.
    #[error("the payload of {event} must have {field:?}, {wanted}; it has {found}")]
    Field {
        /// The event.
        event: &'static str,
        /// The field.
        field: &'static str,
        /// What it has to be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Two names for one argument.
    #[error(
        "the call of {tool} names one argument twice, under two names: which one counts is anybody's guess"
    )]
    Twice {
        /// The tool.
        tool: String,
    },
}

/// One payload on its way to its canonical form.
struct Reader<'a> {
    agent: &'static Agent,
    event: &'static AgentEvent,
    said: &'a Map<String, Value>,
    root: &'a Root,
}

impl Heard {
    /// Brings what an agent said into canonical form.
    ///
    /// # Errors
    /// Returns the field without which nothing can be decided.
    pub fn new(
        agent: &'static Agent,
        event: &'static AgentEvent,
        said: &Map<String, Value>,
        root: &Root,
    ) -> Result<Self, HeardError> {
        let reader = Reader {
            agent,
            event,
            said,
            root,
        };
        let (payloads, tool) = reader.read()?;
        let text = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| said.get(*key)?.as_str());
            found.map(str::to_owned)
        };
        Ok(Self {
            event,
            prompt: reader.prompt()?,
            payloads,
            tool,
            session: text(&[
                "session_id",
                "sessionId",
                "conversation_id",
                "trajectory_id",
                "taskId",
            ]),
            transcript: text(&["transcript_path", "transcriptPath"]),
        })
    }
}

impl Heard {
    /// Returns the points that the event stands for, where only their hooks matter.
    #[must_use]
    pub fn points(&self) -> Option<Vec<&str>> {
        let point = self.event.info()?.point_of(self.event.event);
        let whole = self.prompt.as_ref().map(|_| WHOLE_PROMPT);
        Some(std::iter::once(point).chain(whole).collect())
    }

    /// Returns the tool that the event is about, if it is about one and only one.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self.payloads.as_slice() {
            [only] => only.get("name")?.as_str(),
            _ => None,
        }
    }
}

impl Reader<'_> {
    fn read(&self) -> Result<(Vec<Value>, Option<ToolCall>), HeardError> {
        match self.event.carries {
            Carries::Tool { name, input, id } => {
                let name = self.text(name)?;
                let input = self.arguments(name, input)?;
                self.calls(name, input, self.find(id))
            }
            Carries::Mcp {
                server,
                name,
                input,
            } => {
                let name = format!("mcp__{}__{}", self.text(server)?, self.text(name)?);
                let input = self.arguments(&name, input)?;
                self.calls(&name, input, None)
            }
            Carries::OneTool { tool, within, keys } => {
                let input = self.part(within, keys)?;
                self.calls(tool, Value::Object(input), None)
            }
            Carries::Output {
                name,
                input,
                output,
                id,
                failed,
            } => Ok((vec![self.output(name, input, output, id, failed)?], None)),
            Carries::Prompt(key) => Ok((vec![self.text(key)?.into()], None)),
            Carries::Model(key) => {
                let mut payload = self.object(key)?.clone();
                payload.insert("agent".to_owned(), self.agent_part(None));
                Ok((vec![payload.into()], None))
            }
            Carries::Stop(key) => {
                let message = self.find(key).cloned().unwrap_or(Value::Null);
                let mut payload = self.about(None);
                payload.insert("response".to_owned(), message);
                Ok((vec![payload.into()], None))
            }
            Carries::Object => {
                let mut payload = self.said.clone();
                payload.insert("agent".to_owned(), self.agent_part(None));
                Ok((vec![payload.into()], None))
            }
        }
    }

    fn prompt(&self) -> Result<Option<Value>, HeardError> {
        let Carries::Prompt(key) = self.event.carries else {
            return Ok(None);
        };
        let mut prompt = self.about(None);
        prompt.insert("prompt".to_owned(), self.text(key)?.into());
        Ok(Some(prompt.into()))
    }

    /// What every object of ours says about the agent.
    fn agent_part(&self, tool: Option<&str>) -> Value {
        let mut part = Map::new();
        part.insert("name".to_owned(), self.agent.name.into());
        part.insert("event".to_owned(), self.event.name.into());
        if let Some(tool) = tool {
            part.insert("tool".to_owned(), tool.into());
        }
        part.insert("payload".to_owned(), self.said.clone().into());
        part.into()
    }

    fn about(&self, tool: Option<&str>) -> Map<String, Value> {
        let mut about = Map::new();
        for key in ["cwd", "timestamp"] {
            if let Some(value) = self.said.get(key) {
                about.insert(key.to_owned(), value.clone());
            }
        }
        about.insert("agent".to_owned(), self.agent_part(tool));
        about
    }

    /// The calls that a tool event stands for.
    fn calls(
        &self,
        name: &str,
        input: Value,
        id: Option<&Value>,
    ) -> Result<(Vec<Value>, Option<ToolCall>), HeardError> {
        let (own, canonical) = self.tool(name);
        let calls = self.canonical(&canonical, own, &input)?;
        let payloads = calls.iter().map(|call| {
            let mut payload = Map::new();
            if let Some(id @ Value::String(_)) = id {
                payload.insert("id".to_owned(), id.clone());
            }
            payload.insert("name".to_owned(), call.name.clone().into());
            payload.insert("args".to_owned(), call.args.clone().into());
            payload.extend(self.about(Some(name)));
            payload.into()
        });
        Ok((payloads.collect(), Some(ToolCall { own, input, calls })))
    }

    /// The tool that a name stands for, and the name where it is none of the agent's own. A
    /// tool of an MCP server may be called like one of those, and is another.
    fn tool(&self, name: &str) -> (Option<&'static Tool>, String) {
        if let Some(mcp) = (self.agent.mcp)(name, self.said) {
            return (None, mcp);
        }
        let own = self.agent.tools.iter().find(|tool| tool.own == name);
        (own, name.to_owned())
    }

    fn canonical(
        &self,
        name: &str,
        own: Option<&'static Tool>,
        input: &Value,
    ) -> Result<Vec<Call>, HeardError> {
        let Some(own) = own else {
            return Ok(vec![tool::unknown(name, input)]);
        };
        let input = input.as_object().cloned().unwrap_or_default();
        let call = own
            .call(&input, self.root)
            .ok_or_else(|| HeardError::Twice {
                tool: name.to_owned(),
            })?;
        let parts = match call.name.as_str() {
            APPLY_PATCH => {
                let text = call.args.get("patch").and_then(Value::as_str);
                patch::calls(text.unwrap_or_default(), self.root)
            }
            tool::RUN_COMMANDS => tool::commands(&call)
                .ok_or_else(|| self.wrong("commands", "a list of commands", "something else"))?,
            "read_file" => tool::files(&call, self.root),
            _ => Vec::new(),
        };
        Ok(if parts.is_empty() { vec![call] } else { parts })
    }

    /// The arguments of a call. A tool that guards know has an object, or its text: what
    /// is neither would be a call whose arguments nobody saw.
    fn arguments(&self, name: &str, key: &'static str) -> Result<Value, HeardError> {
        let known = self.agent.tools.iter().any(|tool| tool.own == name);
        match self.find(key) {
            Some(object @ Value::Object(_)) => Ok(object.clone()),
            Some(Value::String(text)) => match crate::json::parse_value(text) {
                Ok(object @ Value::Object(_)) => Ok(object),
                _ if known => Err(self.wrong(key, "an object", "a string")),
                _ => Ok(text.clone().into()),
            },
            other if known => Err(self.wrong(key, "an object", kind(other))),
            other => Ok(other.cloned().unwrap_or(Value::Null)),
        }
    }

    /// The arguments that lie in the payload itself.
    fn part(
        &self,
        within: Option<&'static str>,
        keys: &[&'static str],
    ) -> Result<Map<String, Value>, HeardError> {
        let all = match within {
            Some(key) => self.object(key)?,
            None => self.said,
        };
        let mut part = Map::new();
        for (index, key) in keys.iter().enumerate() {
            match all.get(*key) {
                Some(value) => {
                    part.insert((*key).to_owned(), value.clone());
                }
                // The first is what the event is about.
                None if index == 0 => return Err(self.wrong(key, "what it is about", "nothing")),
                None => {}
            }
        }
        Ok(part)
    }

    fn output(
        &self,
        name: &'static str,
        input: &'static str,
        output: Place,
        id: Place,
        failed: bool,
    ) -> Result<Value, HeardError> {
        let own_name = self.text(name)?;
        let (own, canonical) = self.tool(own_name);
        let mut payload = Map::new();
        if let Some(id @ Value::String(_)) = self.find(id) {
            payload.insert("call_id".to_owned(), id.clone());
        }
        // It is over: arguments that cannot be read are no reason to say nothing.
        let calls = self
            .arguments(own_name, input)
            .and_then(|input| self.canonical(&canonical, own, &input));
        let only = calls.ok().filter(|calls| calls.len() == 1);
        let only = only.and_then(|mut calls| calls.pop());
        let several = own.map_or(canonical.as_str(), |own| own.canonical);
        let name = only.as_ref().map_or(several, |call| &call.name);
        payload.insert("name".to_owned(), name.into());
        let found = self.find(output);
        payload.insert("result".to_owned(), found.cloned().unwrap_or(Value::Null));
        payload.insert("is_error".to_owned(), failed.into());
        if let Some(call) = only {
            payload.insert("args".to_owned(), call.args.into());
        }
        payload.extend(self.about(Some(own_name)));
        Ok(json!(payload))
    }

    /// Finds what lies at a place.
    fn find(&self, place: Place) -> Option<&Value> {
        place.split('|').find_map(|path| {
            let mut steps = path.split('.');
            let first = self.said.get(steps.next()?)?;
            steps.try_fold(first, |value, step| value.get(step))
        })
    }

    fn text(&self, key: &'static str) -> Result<&str, HeardError> {
        match self.find(key) {
            Some(Value::String(text)) => Ok(text),
            other => Err(self.wrong(key, "a string", kind(other))),
        }
    }

    fn object(&self, key: &'static str) -> Result<&Map<String, Value>, HeardError> {
        match self.find(key) {
            Some(Value::Object(object)) => Ok(object),
            other => Err(self.wrong(key, "an object", kind(other))),
        }
    }

    fn wrong(&self, field: &'static str, wanted: &'static str, found: &'static str) -> HeardError {
        HeardError::Field {
            event: self.event.name,
            field,
            wanted,
            found,
        }
    }
}

fn kind(value: Option<&Value>) -> &'static str {
    match value {
        None => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a truth value",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    }
}
