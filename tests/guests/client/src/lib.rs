//! A hook that sends requests with an ordinary client library, and blocks with the
//! last answer or the first error.

use exports::hookbox::hook::handler::Guest;
use hookbox::hook::types::{Answer, Decision, Event, Failure};
use serde_json::{Value, json};
use wstd::http::{Body, Client, Request};

wit_bindgen::generate!({ path: "../../../wit", world: "hook" });

struct Sender;

impl Guest for Sender {
    fn handle(event: Event) -> Result<Answer, Failure> {
        let payload: Value = serde_json::from_str(&event.payload).map_err(failure)?;
        let answer = wstd::runtime::block_on(send_all(&payload["args"]));
        let said = answer.unwrap_or_else(|error| json!({ "error": format!("{error:?}") }));
        Ok(Answer {
            decision: Decision::Block(said.to_string()),
            effects: Vec::new(),
        })
    }
}

/// Sends the same request as often as it is asked to.
async fn send_all(wanted: &Value) -> Result<Value, wstd::http::Error> {
    let mut answer = Value::Null;
    for _ in 0..wanted["times"].as_u64().unwrap_or(1) {
        answer = send(wanted).await?;
    }
    Ok(answer)
}

async fn send(wanted: &Value) -> Result<Value, wstd::http::Error> {
    let text = |key: &str| wanted[key].as_str().unwrap_or_default().to_owned();
    let body = match wanted["zeroes"].as_u64() {
        Some(count) => vec![b'0'; count as usize],
        None => text("body").into_bytes(),
    };
    let request = Request::builder()
        .method(text("method").as_str())
        .uri(text("url"))
        .header("x-guest", "hello")
        .body(Body::from(body))?;
    let mut response = Client::new().send(request).await?;
    let headers: Vec<String> = response
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or("?")))
        .collect();
    let status = response.status().as_u16();
    let body = response.body_mut().contents().await?;
    Ok(json!({
        "status": status,
        "headers": headers,
        "length": body.len(),
        "body": String::from_utf8_lossy(&body[..body.len().min(1_000)]),
    }))
}

fn failure(error: serde_json::Error) -> Failure {
    Failure {
        message: error.to_string(),
        stack: None,
    }
}

export!(Sender);
