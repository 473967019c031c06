//! `wasi:http/outgoing-handler`: ordinary client libraries in guests go through
//! the same door as the `http` import.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use wasmtime_wasi_http::{
    Error, RequestOptions, Result, WasiBody, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use super::clock::Clock;
use crate::capability::Border;
use crate::capability::doors::Doors;
use crate::capability::http::{HttpError, Request, Response};
use crate::capability::refusal::Refusals;
use crate::sandbox::instance::Call;
use crate::tape::reel::Reel;

/// How large the header of a request or of a response may be.
pub(super) const MAX_FIELD_BYTES: usize = 64 << 10;

/// The requests of one call.
pub(super) struct Outgoing {
    doors: Arc<Doors>,
    reel: Reel,
    refusals: Refusals,
    clock: Arc<Clock>,
    until: Instant,
    left: AtomicU32,
    limit: u32,
    body_limit: usize,
}

type Sent = (
    http::Response<WasiBody>,
    Box<dyn Future<Output = Result<()>> + Send>,
);

impl Outgoing {
    pub(super) fn new(border: &Border, clock: Arc<Clock>) -> Self {
        let limit = border.limits().http_requests;
        Self {
            doors: border.doors(),
            reel: border.reel().clone(),
            refusals: border.refusals(),
            clock,
            until: border.reply_by(),
            left: AtomicU32::new(limit),
            limit,
            body_limit: border.limits().request,
        }
    }

    /// Takes one of the requests a call may make.
    fn count(&self) -> std::result::Result<(), HttpError> {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        match taken {
            Ok(_) => Ok(()),
            Err(_) => Err(crate::capability::http::too_many(self.limit)),
        }
    }
}

impl WasiHttpView for Call {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let wasi = self.prepare_wasi();
        WasiHttpCtxView {
            ctx: &mut wasi.http_ctx,
            table: &mut wasi.table,
            hooks: &mut wasi.http,
        }
    }
}

impl WasiHttpHooks for Outgoing {
    /// The door writes it, from the URL it has checked.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _sent: Box<dyn Future<Output = Result<()>> + Send>,
    ) -> Box<dyn Future<Output = Result<Sent>> + Send> {
        let counted = self.count();
        let outside = self.clock.outside();
        let (doors, refusals) = (Arc::clone(&self.doors), self.refusals.clone());
        let reel = self.reel.clone();
        let (until, body_limit) = (self.until, self.body_limit);
        Box::new(async move {
            let _outside = outside;
            let shown = format!("{} {}", request.method(), without_query(request.uri()));
            let request = counted.and(whole(request, options, body_limit).await);
            let (answer, too_large) = match request {
                Ok(request) => (
                    send(doors, request, until, reel).await,
                    Error::HttpResponseBodySize(None),
                ),
                Err(error) => (Err(error), Error::HttpRequestBodySize(None)),
            };
            match answer {
                Ok(response) => Ok((to_wasi(response)?, done())),
                Err(error) => {
                    refusals.http(&shown, &error);
                    Err(in_wasi_words(error, too_large))
                }
            }
        })
    }
}

fn done() -> Box<dyn Future<Output = Result<()>> + Send> {
    Box::new(async { Ok(()) })
}

fn without_query(uri: &http::Uri) -> String {
    format!(
        "{}://{}{}",
        uri.scheme_str().unwrap_or_default(),
        uri.host().unwrap_or_default(),
        uri.path()
    )
}

/// Waits for the guest to finish the body.
async fn whole(
    request: http::Request<WasiBody>,
    options: Option<RequestOptions>,
    body_limit: usize,
) -> std::result::Result<Request, HttpError> {
    let (parts, body) = request.into_parts();
    let body = read_body(body, body_limit).await?;
    let mut headers = Vec::with_capacity(parts.headers.len());
    for (name, value) in &parts.headers {
        let value = value.to_str().map_err(|_| {
            HttpError::InvalidRequest(format!("the header {name} is not visible ASCII"))
        })?;
        // The door writes these from what it sends.
        if !["host", "content-length"].contains(&name.as_str()) {
            headers.push((name.to_string(), value.to_owned()));
        }
    }
    Ok(Request {
        method: parts.method.to_string(),
        url: parts.uri.to_string(),
        headers,
        body,
        timeout: options.and_then(|options| options.first_byte_timeout),
    })
}

/// Reads a body to its end, even if it is too long: a guest whose stream closes while
/// it writes does not hear why.
async fn read_body(mut body: WasiBody, limit: usize) -> std::result::Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    let mut fits = true;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| HttpError::Failed("the request's body was cut off".to_owned()))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        fits &= data.len() <= limit - bytes.len();
        if fits {
            bytes.extend_from_slice(&data);
        }
    }
    if fits {
        return Ok(bytes);
    }
    Err(HttpError::TooLarge(format!(
        "the request's body has more than {limit} bytes; raise `request` under `limits:`"
    )))
}

async fn send(
    doors: Arc<Doors>,
    request: Request,
    until: Instant,
    reel: Reel,
) -> std::result::Result<Response, HttpError> {
    tokio::task::spawn_blocking(move || doors.send(request, until, &reel))
        .await
        .unwrap_or_else(|_| Err(HttpError::Failed("the request was given up".to_owned())))
}

fn to_wasi(response: Response) -> Result<http::Response<WasiBody>> {
    let mut builder = http::Response::builder().status(response.status);
    for (name, value) in &response.headers {
        // The body is whole and decoded by now.
        if !["content-encoding", "content-length", "transfer-encoding"].contains(&name.as_str()) {
            builder = builder.header(name, value);
        }
    }
    let body = Full::new(Bytes::from(response.body))
        .map_err(|never| match never {})
        .boxed_unsync();
    builder
        .body(body)
        .map_err(|error| Error::InternalError(Some(error.to_string())))
}

fn in_wasi_words(error: HttpError, too_large: Error) -> Error {
    match error {
        HttpError::NotGranted(_) => Error::HttpRequestDenied,
        HttpError::InvalidRequest(_) => Error::HttpRequestUriInvalid,
        HttpError::Timeout(_) => Error::ConnectionTimeout,
        HttpError::TooLarge(_) => too_large,
        HttpError::Failed(what) => Error::InternalError(Some(what)),
    }
}
