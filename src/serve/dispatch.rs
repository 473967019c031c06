//! Answers programs that speak hookbox's own words.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::fault::Fault;
use super::server::Shared;
use crate::agent::{self, MAX_INPUT};
use crate::dialect::{self, Dialect};
use crate::event::About;
use crate::json::Json;
use crate::outcome::Outcome;

/// An event of a program.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) event: String,
    payload: Value,
    dialect: Option<&'static Dialect>,
    project: Option<PathBuf>,
}

impl Dispatch {
    pub(super) fn read(body: &[u8]) -> Result<Self, Fault> {
        let wrong = |told: String| Err(Fault::Request(told));
        let Value::Object(said) = Json::parse(body, MAX_INPUT)?.into_value() else {
            return wrong("the body has to be an object".to_owned());
        };
        let (mut event, mut payload, mut dialect, mut project) = (None, None, None, None);
        for (key, value) in said {
            match (key.as_str(), value) {
                ("payload", value) => payload = Some(value),
                ("event", Value::String(name)) => event = Some(name),
                ("dialect", Value::String(name)) => dialect = Some(named(&name)?),
                ("project", Value::String(path)) => project = Some(PathBuf::from(path)),
                ("dialect" | "project", Value::Null) => {}
                ("event" | "dialect" | "project", _) => {
                    return wrong(format!("{key:?} has to be a string"));
                }
                _ => return wrong(format!("{key:?} is not known here")),
            }
        }
        let (Some(event), Some(payload)) = (event, payload) else {
            return wrong("the body has to have `event` and `payload`".to_owned());
        };
        Ok(Self {
            event,
            payload,
            dialect,
            project,
        })
    }

    pub(super) fn run(self, shared: &Shared) -> Result<Outcome, Fault> {
        let root = match &self.project {
            Some(project) => project_at(project)?,
            None => project_at(shared.only.as_deref().ok_or_else(|| {
                Fault::Request("say which project is meant under `project`".to_owned())
            })?)?,
        };
        let runtime = shared.projects.get(&root)?;
        let outcome = match self.dialect {
            Some(dialect) => {
                runtime.dispatch_in(dialect, &self.event, self.payload, About::default())
            }
            None => runtime.dispatch(&self.event, self.payload),
        };
        Ok(outcome?)
    }
}

fn named(name: &str) -> Result<&'static Dialect, Fault> {
    dialect::named(name).ok_or_else(|| {
        let known: Vec<&str> = dialect::ALL.iter().map(|known| known.name).collect();
        Fault::Request(format!("the dialects are {}", known.join(", ")))
    })
}

/// Finds the project that a request names.
pub(super) fn project_at(path: &Path) -> Result<PathBuf, Fault> {
    let real = path
        .is_absolute()
        .then(|| std::fs::canonicalize(path).ok())
        .flatten()
        .filter(|real| agent::is_project(real));
    real.ok_or_else(|| Fault::Project(path.display().to_string()))
}
