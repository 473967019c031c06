//! `http`: requests to granted places.

use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::none::NoneOr;
use starlark::values::{Heap, Value};

use super::encode_arg;
use crate::host::{self, HttpError, Request, Response};
use crate::json_out::with_article;
use crate::phase::require_handling;
use crate::problem::raise;

const DEFAULT_TIMEOUT: f64 = 30.0;

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Fetches a URL.
    fn get<'v>(
        url: &str,
        #[starlark(default = NoneOr::None)] headers: NoneOr<Value<'v>>,
        #[starlark(default = UnpackFloat(DEFAULT_TIMEOUT))] timeout_seconds: UnpackFloat,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("http.get")?;
        let headers = read_headers("http.get", headers)?;
        send("http.get", "GET", url, headers, None, timeout_seconds, heap)
    }

    /// Sends a body to a URL. A dict or list goes as JSON.
    fn post<'v>(
        url: &str,
        #[starlark(default = NoneOr::None)] body: NoneOr<Value<'v>>,
        #[starlark(default = NoneOr::None)] headers: NoneOr<Value<'v>>,
        #[starlark(default = UnpackFloat(DEFAULT_TIMEOUT))] timeout_seconds: UnpackFloat,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("http.post")?;
        let mut headers = read_headers("http.post", headers)?;
        let body = read_body("http.post", body, &mut headers)?;
        send(
            "http.post",
            "POST",
            url,
            headers,
            body,
            timeout_seconds,
            heap,
        )
    }

    /// Sends a request of any method. What is refused or fails is no error but a
    /// dict with `ok` False and `error`, so that the hook can decide what it means.
    fn send<'v>(
        method: &str,
        url: &str,
        #[starlark(default = NoneOr::None)] body: NoneOr<Value<'v>>,
        #[starlark(default = NoneOr::None)] headers: NoneOr<Value<'v>>,
        #[starlark(default = UnpackFloat(DEFAULT_TIMEOUT))] timeout_seconds: UnpackFloat,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        require_handling("http.send")?;
        let mut headers = read_headers("http.send", headers)?;
        let body = read_body("http.send", body, &mut headers)?;
        let request = request(method, url, headers, body, timeout_seconds);
        Ok(match host::http_send(&request) {
            Ok(response) => answer(response, heap),
            Err(error) => failed(&request.url, error, heap),
        })
    }
}

/// Text goes as it is, everything else as JSON.
fn read_body(
    function: &str,
    body: NoneOr<Value<'_>>,
    headers: &mut Vec<(String, String)>,
) -> starlark::Result<Option<Vec<u8>>> {
    let Some(value) = body.into_option() else {
        return Ok(None);
    };
    if let Some(text) = value.unpack_str() {
        return Ok(Some(text.as_bytes().to_vec()));
    }
    let json = encode_arg(function, "body", value)?;
    let typed = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
    if !headers.iter().any(typed) {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
    }
    Ok(Some(json.into_bytes()))
}

fn read_headers(
    function: &str,
    headers: NoneOr<Value<'_>>,
) -> starlark::Result<Vec<(String, String)>> {
    let Some(value) = headers.into_option() else {
        return Ok(Vec::new());
    };
    let Some(dict) = DictRef::from_value(value) else {
        return Err(raise(format!(
            "{function}: headers must be a dict, not {}",
            with_article(value.get_type())
        )));
    };
    dict.iter()
        .map(
            |(name, content)| match (name.unpack_str(), content.unpack_str()) {
                (Some(name), Some(content)) => Ok((name.to_owned(), content.to_owned())),
                _ => Err(raise(format!(
                    "{function}: header {} and its value must both be strings",
                    name.to_repr()
                ))),
            },
        )
        .collect()
}

fn send<'v>(
    function: &str,
    method: &str,
    url: &str,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    timeout: UnpackFloat,
    heap: Heap<'v>,
) -> starlark::Result<Value<'v>> {
    match host::http_send(&request(method, url, headers, body, timeout)) {
        Ok(response) => Ok(answer(response, heap)),
        Err(error) => Err(raise(format!("{function}: {}", told(error).1))),
    }
}

fn request(
    method: &str,
    url: &str,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    timeout: UnpackFloat,
) -> Request {
    let seconds = if timeout.0 > 0.0 {
        timeout.0
    } else {
        DEFAULT_TIMEOUT
    };
    Request {
        method: method.to_owned(),
        url: url.to_owned(),
        headers,
        body,
        timeout_ms: Some((seconds * 1000.0).ceil() as u32),
    }
}

/// The kind of an error and what it says.
fn told(error: HttpError) -> (&'static str, String) {
    match error {
        HttpError::NotGranted(what) => ("not-granted", what),
        HttpError::InvalidRequest(what) => ("invalid-request", what),
        HttpError::Timeout(what) => ("timeout", what),
        HttpError::TooLarge(what) => ("too-large", what),
        HttpError::Failed(what) => ("failed", what),
    }
}

fn failed<'v>(url: &str, error: HttpError, heap: Heap<'v>) -> Value<'v> {
    let (kind, message) = told(error);
    let error = heap.alloc(AllocDict([
        ("kind", heap.alloc(kind)),
        ("message", heap.alloc(message)),
    ]));
    heap.alloc(AllocDict([
        ("status", heap.alloc(0)),
        ("ok", Value::new_bool(false)),
        ("url", heap.alloc(url)),
        ("error", error),
    ]))
}

fn answer<'v>(response: Response, heap: Heap<'v>) -> Value<'v> {
    let mut headers = SmallMap::<String, String>::new();
    for (name, content) in response.headers {
        let name = name.to_lowercase();
        match headers.get_mut(&name) {
            Some(joined) => {
                joined.push_str(", ");
                joined.push_str(&content);
            }
            None => {
                headers.insert(name, content);
            }
        }
    }
    heap.alloc(AllocDict([
        ("status", heap.alloc(u32::from(response.status))),
        ("ok", Value::new_bool((200..300).contains(&response.status))),
        ("url", heap.alloc(response.url)),
        ("headers", heap.alloc(AllocDict(headers))),
        (
            "body",
            heap.alloc(String::from_utf8_lossy(&response.body).as_ref()),
        ),
    ]))
}

/// Adds `http`.
pub fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("http", functions);
}
