//! From a request to its response.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};

use super::body;
use super::decide::{Question, in_words, refused};
use super::dispatch::{Dispatch, project_at};
use super::fault::Fault;
use super::guard::{self, Via};
use super::query::Query;
use super::route::Route;
use super::server::Shared;
use super::{SCHEMA, VERSION, VERSION_HEADER, surroundings};
use crate::agent;
use crate::json::to_text;

/// What goes back.
pub(super) type Answer = Response<Full<Bytes>>;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const SCHEMA_JSON: &str = "application/schema+json";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn respond(
    shared: Arc<Shared>,
    via: Via,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let found = Route::of(&parts.method, path);
    let name = found.as_ref().map_or("none", Route::name);
    let mut allowed = guard::check(&parts, via, &shared.token);
    if let Some(temporary) = &shared.temporary {
        allowed = temporary.asked(allowed);
    }
    let result = match (allowed, &found) {
        (Err(fault), _) => Err(fault),
        (Ok(()), Ok(route)) => answer(&shared, route, &parts, body).await,
        (Ok(()), Err(_)) => Err(Fault::Path(path.to_owned())),
    };
    let answer = match (result, found) {
        (Ok(answer), _) => answer,
        (Err(fault), Ok(Route::Agent { agent, event })) => {
            words(in_words(&refused(&agent, &event, &fault)))
        }
        // Who may not ask does not learn what there is either.
        (Err(fault @ (Fault::Token | Fault::Host(_) | Fault::Origin)), _) => faulty(&fault),
        (Err(_), Err(fault)) | (Err(fault), Ok(_)) => faulty(&fault),
    };
    shared.meter.responded(name, answer.status().as_u16());
    Ok(answer)
}

async fn answer(
    shared: &Arc<Shared>,
    route: &Route,
    parts: &Parts,
    body: Incoming,
) -> Result<Answer, Fault> {
    let query = |takes: &[&str]| Query::read(parts.uri.query(), takes);
    match route {
        Route::Hook { agent } => {
            let own = shared.surroundings.as_bytes();
            let asked = parts.headers.get(surroundings::HEADER);
            if asked.is_some_and(|asked| asked.as_bytes() != own) {
                return Err(Fault::Elsewhere);
            }
            let query = query(&["event", "project", "started", "cwd", "deadline"])?;
            let question = Question::handed_on(agent, query)?;
            let reply = decided(shared, agent, question, body).await?;
            let told = json!({"stdout": reply.stdout, "stderr": reply.stderr, "code": reply.code});
            Ok(json_of(StatusCode::OK, &told))
        }
        Route::Agent { agent, event } => {
            let query = query(&["project", "started", "cwd", "deadline"])?;
            let question = Question::direct(agent, event, query)?;
            let reply = decided(shared, agent, question, body).await?;
            Ok(words(in_words(&reply)))
        }
        Route::Dispatch => {
            let query = query(&["deadline"])?;
            dispatched(shared, query, body).await
        }
        Route::Reload => {
            let project = query(&["project"])?.project;
            reloaded(shared, project).await
        }
        Route::Stop => {
            query(&[])?;
            shared.stop.notify_one();
            Ok(json_of(StatusCode::OK, &json!({"status": "ending"})))
        }
        Route::Health => {
            query(&[])?;
            let projects = shared.projects.roots();
            let told = json!({"status": "ok", "version": VERSION, "projects": projects});
            Ok(json_of(StatusCode::OK, &told))
        }
        Route::Metrics => {
            query(&[])?;
            let text = shared.meter.text(&shared.projects);
            Ok(response(StatusCode::OK, PROMETHEUS, text.into()))
        }
        Route::Schema => {
            query(&[])?;
            let schema = Bytes::from_static(SCHEMA.as_bytes());
            Ok(response(StatusCode::OK, SCHEMA_JSON, schema))
        }
    }
}

async fn decided(
    shared: &Arc<Shared>,
    agent: &str,
    question: Question,
    body: Incoming,
) -> Result<agent::Reply, Fault> {
    let input = body::read(body).await?;
    let started = Instant::now();
    let answered = question.decide(shared, input).await?;
    let event = answered.event.map_or("unknown", |event| event.name);
    shared
        .meter
        .decided(agent, event, answered.word, started.elapsed());
    Ok(answered.reply)
}

async fn dispatched(shared: &Arc<Shared>, query: Query, body: Incoming) -> Result<Answer, Fault> {
    let body = body::read(body).await?;
    let started = Instant::now();
    let dispatch = Dispatch::read(&body)?;
    let event = dispatch.event.clone();
    let usual = agent::DEFAULT_TIMEOUT * 4 / 5;
    let deadline = query.deadline.unwrap_or(usual);
    let done = Shared::run(shared, deadline, move |shared| {
        let outcome = dispatch.run(shared)?;
        let bytes = serde_json::to_vec(&outcome).map_err(|it| Fault::Broken(it.to_string()))?;
        Ok((outcome.decision.name(), bytes))
    });
    let done = done.await.flatten();
    let (word, event) = match &done {
        Ok((word, _)) => (*word, event.as_str()),
        // The names of events that there are not would have no end.
        Err(_) => ("error", "unknown"),
    };
    shared
        .meter
        .decided("dispatch", event, word, started.elapsed());
    let (_, bytes) = done?;
    Ok(response(StatusCode::OK, JSON, bytes.into()))
}

/// Loads projects again: later questions wait for it, earlier ones keep what they have.
async fn reloaded(shared: &Arc<Shared>, project: Option<PathBuf>) -> Result<Answer, Fault> {
    let work = move |shared: &Shared| {
        let roots = match project {
            Some(project) => vec![project_at(&project)?],
            None => shared.projects.roots(),
        };
        let load = |root: &PathBuf| match shared.projects.reload(root) {
            Ok(runtime) => (
                true,
                json!({"project": root, "hooks": runtime.hooks().len()}),
            ),
            Err(error) => {
                let error = Fault::Load(error).body()["error"].take();
                (false, json!({"project": root, "error": error}))
            }
        };
        Ok::<Vec<_>, Fault>(roots.iter().map(load).collect())
    };
    let loaded = Shared::run(shared, crate::sandbox::compiled::COMPILE_TIME, work).await??;
    let whole = loaded.iter().all(|(whole, _)| *whole);
    let projects: Vec<Value> = loaded.into_iter().map(|(_, project)| project).collect();
    let status = if whole {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    Ok(json_of(status, &json!({"projects": projects})))
}

fn faulty(fault: &Fault) -> Answer {
    let mut answer = json_of(fault.status(), &fault.body());
    if matches!(fault, Fault::Token) {
        let bearer = HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(WWW_AUTHENTICATE, bearer);
    }
    answer
}

/// An answer in an agent's words.
fn words(text: String) -> Answer {
    let kind = if text.starts_with('{') { JSON } else { TEXT };
    response(StatusCode::OK, kind, text.into())
}

fn json_of(status: StatusCode, value: &Value) -> Answer {
    response(status, JSON, to_text(value).into())
}

fn response(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VERSION_HEADER, HeaderValue::from_static(VERSION));
    answer
}
