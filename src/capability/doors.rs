//! The doors one hook has been given, opened when it loads.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use super::cache::{Cache, Memory, Namespace, Store};
use super::grant::Grants;
use super::http::{Domains, Door, HttpError, HttpLimits, Request, Response};
use super::services::Services;
use crate::sandbox::limits::Limits;
use crate::tape::reel::Reel;

/// What one hook can go through.
#[derive(Debug)]
pub struct Doors {
    pub(crate) grants: Grants,
    pub(crate) cache: Cache,
    http: Option<Door>,
}

impl Doors {
    /// Opens the doors of a hook. `run` keeps what is not granted a place that lasts.
    #[must_use]
    pub fn open(
        hook: &str,
        grants: &Grants,
        limits: &Limits,
        domains: Option<&Domains>,
        run: &Arc<Memory>,
        services: &Services,
    ) -> Self {
        let http = (!grants.http.entries.is_empty()).then(|| {
            Door::new(
                grants.http.clone(),
                domains.cloned(),
                Arc::clone(&services.resolve),
                Arc::clone(&services.secrets),
                http_limits(limits),
            )
            .with_stand_in(services.http.clone())
        });
        Self {
            cache: cache(hook, grants, run, services),
            grants: grants.clone(),
            http,
        }
    }

    /// Returns doors that lead nowhere, for looking at code without running it.
    #[must_use]
    pub fn closed() -> Arc<Self> {
        static CLOSED: LazyLock<Arc<Doors>> = LazyLock::new(|| {
            Arc::new(Doors::open(
                "",
                &Grants::default(),
                &Limits::default(),
                None,
                &Arc::default(),
                &Services::default(),
            ))
        });
        Arc::clone(&CLOSED)
    }

    /// Sends a request, if the hook may.
    ///
    /// # Errors
    /// Returns which rule refused it, or what went wrong.
    pub(crate) fn send(
        &self,
        request: Request,
        until: Instant,
        reel: &Reel,
    ) -> Result<Response, HttpError> {
        let Some(door) = &self.http else {
            let why = "the hook has no `grant: http:`".to_owned();
            return refused(&request, HttpError::NotGranted(why), reel);
        };
        if !reel.runs() {
            return door.send(request, until);
        }
        // What today's grants refuse is refused, whatever the tape says.
        if let Err(error) = door.allows(&request) {
            return refused(&request, error, reel);
        }
        let shown = request.to_json();
        reel.cross_result("http.send", || shown, || door.send(request, until))
            // The hook fails for it when it ends.
            .unwrap_or_else(|failure| Err(HttpError::Failed(failure.message)))
    }
}

fn refused(request: &Request, error: HttpError, reel: &Reel) -> Result<Response, HttpError> {
    reel.derive_result("http.send", || request.to_json(), || Err(error))
}

fn cache(hook: &str, grants: &Grants, run: &Arc<Memory>, services: &Services) -> Cache {
    let own = Namespace::of_hook(hook);
    match &grants.cache {
        None => Cache::new(Arc::clone(run) as Arc<dyn Store>, own),
        Some(grant) => {
            let namespace = grant.namespace.clone().unwrap_or(own);
            Cache::new(Arc::clone(&services.store), namespace)
                .with_quota(grant.quota)
                .with_ttl(grant.ttl)
        }
    }
}

fn http_limits(limits: &Limits) -> HttpLimits {
    HttpLimits {
        request_bytes: limits.request,
        response_bytes: limits.response,
        timeout: limits.wall_time,
        ..HttpLimits::default()
    }
}
