//! What stands behind the question mark.

use std::path::PathBuf;
use std::time::Duration;

use super::fault::Fault;

/// The longest that anybody may wait.
const LONGEST: Duration = Duration::from_secs(600);

/// What is known of a question beside its body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// The event that the entry in the agent's settings is for.
    pub(super) event: Option<String>,
    /// The project.
    pub(super) project: Option<PathBuf>,
    /// Where the agent was started.
    pub(super) started: Option<PathBuf>,
    /// Where the agent works.
    pub(super) cwd: Option<PathBuf>,
    /// How long the answer may take.
    pub(super) deadline: Option<Duration>,
}

impl Query {
    /// Reads it. What nobody knows is refused: it may have been meant to narrow something.
    pub(super) fn read(text: Option<&str>, takes: &[&str]) -> Result<Self, Fault> {
        let mut query = Self::default();
        for (key, value) in url::form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            let fresh = match &*key {
                key if !takes.contains(&key) => {
                    return Err(Fault::Request(format!("{key:?} is not known here")));
                }
                "event" => query.event.replace(value.into_owned()).is_none(),
                "project" => query.project.replace(absolute(&key, &value)?).is_none(),
                "started" => query.started.replace(absolute(&key, &value)?).is_none(),
                "cwd" => query.cwd.replace(absolute(&key, &value)?).is_none(),
                _ => query.deadline.replace(milliseconds(&value)?).is_none(),
            };
            if !fresh {
                return Err(Fault::Request(format!("{key:?} is there twice")));
            }
        }
        Ok(query)
    }
}

fn absolute(key: &str, value: &str) -> Result<PathBuf, Fault> {
    let path = PathBuf::from(value);
    if !path.is_absolute() {
        let told = format!("{key} has to be an absolute path, and {value:?} is none");
        return Err(Fault::Request(told));
    }
    Ok(path)
}

fn milliseconds(value: &str) -> Result<Duration, Fault> {
    value
        .parse()
        .map(|value| Duration::from_millis(value).min(LONGEST))
        .map_err(|_| Fault::Request(format!("{value:?} is no number of milliseconds")))
}
