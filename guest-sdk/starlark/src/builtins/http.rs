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
        let body = match body.into_option() {
            None => None,
            Some(value) => Some(match value.unpack_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => {
                    let json = encode_arg("http.post", "body", value)?;
                    if !headers
                        .iter()
                        .any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
                    {
                        headers.push(("content-type".to_owned(), "application/json".to_owned()));
                    }
                    json.into_bytes()
                }
            }),
        };
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
    let seconds = if timeout.0 > 0.0 {
        timeout.0
    } else {
        DEFAULT_TIMEOUT
    };
    let request = Request {
        method: method.to_owned(),
        url: url.to_owned(),
        headers,
        body,
        timeout_ms: Some((seconds * 1000.0).ceil() as u32),
    };
    match host::http_send(&request) {
        Ok(response) => Ok(answer(response, heap)),
        Err(error) => {
            let (HttpError::NotGranted(what)
            | HttpError::InvalidRequest(what)
            | HttpError::Timeout(what)
            | HttpError::TooLarge(what)
            | HttpError::Failed(what)) = error;
            Err(raise(format!("{function}: {what}")))
        }
    }
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
