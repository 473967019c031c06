//! What is there before the event: the cache's contents, and who answers for the world
//! outside.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::capability::cache::Memory;
use crate::capability::http::{HttpError, Request, Response, Target};
use crate::runtime::RuntimeBuilder;

/// What is there before the event.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// What every hook finds in its cache.
    pub cache: Map<String, Value>,
    /// What tools return, by name; `{"error": …}` for what a failing one says.
    pub tools: Map<String, Value>,
    /// The environment, for hooks that are granted a part of it.
    pub env: BTreeMap<String, String>,
    /// Who answers requests.
    pub http: Vec<Canned>,
    /// The time since 1970, for hooks that are granted the clock.
    pub clock: Option<Duration>,
}

/// An answer to one request.
#[derive(Debug, Clone)]
pub struct Canned {
    /// The method it answers.
    pub method: String,
    /// The URL it answers.
    pub url: String,
    /// What it says.
    pub answer: CannedAnswer,
}

/// What a canned answer says.
#[derive(Debug, Clone)]
pub enum CannedAnswer {
    /// There is a response.
    Response(Response),
    /// There is none.
    Error(HttpError),
}

/// What the hooks asked of the world, to tell whether it was what the case foresaw.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    shared: Arc<Mutex<Vec<Request>>>,
}

impl Asked {
    fn note(&self, request: &Request) {
        self.lock().push(request.clone());
    }

    /// Returns the requests that no answer was written for, and the answers that nobody
    /// asked for.
    pub(super) fn compare(&self, world: &World) -> (Vec<String>, Vec<String>) {
        let asked = self.lock();
        let unforeseen = asked
            .iter()
            .filter(|request| world.answer(request).is_none())
            .map(|request| format!("{} {}", request.method, request.url));
        let unused = world
            .http
            .iter()
            .filter(|canned| !asked.iter().any(|request| canned.answers(request)))
            .map(|canned| format!("{} {}", canned.method, canned.url));
        (unforeseen.collect(), unused.collect())
    }

    /// Nothing in here can panic while the lock is held.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Request>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Canned {
    fn answers(&self, request: &Request) -> bool {
        let same_url = match (Target::parse(&self.url), Target::parse(&request.url)) {
            (Ok(own), Ok(asked)) => own.as_str() == asked.as_str(),
            _ => self.url == request.url,
        };
        self.method.eq_ignore_ascii_case(&request.method) && same_url
    }
}

impl World {
    fn answer(&self, request: &Request) -> Option<&Canned> {
        self.http.iter().find(|canned| canned.answers(request))
    }

    fn respond(&self, request: &Request) -> Result<Response, HttpError> {
        match self.answer(request).map(|canned| &canned.answer) {
            Some(CannedAnswer::Response(response)) => Ok(response.clone()),
            Some(CannedAnswer::Error(error)) => Err(error.clone()),
            None => Err(HttpError::Failed(format!(
                "the case has no answer to {} {}; add one under `http:`",
                request.method, request.url
            ))),
        }
    }

    /// Puts the world in the place of the real one: nothing of a case reaches the
    /// network, the machine's environment or its caches.
    pub(super) fn around(
        &self,
        builder: RuntimeBuilder,
        event_time: SystemTime,
    ) -> (RuntimeBuilder, Asked) {
        let asked = Asked::default();
        let (noted, world) = (asked.clone(), self.clone());
        let env = self.env.clone();
        let now = self
            .clock
            .map_or(event_time, |since| SystemTime::UNIX_EPOCH + since);
        let mut builder = builder
            .without_tape()
            .store(Arc::new(Memory::default()))
            .environment(move |name| env.get(name).cloned())
            .clock(move || now)
            .http(move |request| {
                noted.note(request);
                world.respond(request)
            });
        for (name, result) in &self.tools {
            let result = result.clone();
            builder = builder.tool(name, move |_| match result.get("error") {
                Some(Value::String(error)) => Err(error.clone()),
                _ => Ok(result.clone()),
            });
        }
        (builder, asked)
    }
}
