//! Tests of all stores.

mod attacks;
mod conformance;
mod files;
mod model;
mod names;
mod outages;
mod processes;
mod server;

use std::time::{Duration, Instant};

use super::{CacheError, Namespace, Place, Quota};

/// More time than any call needs on a machine that works.
const PLENTY: Duration = Duration::from_secs(60);

/// As little as makes a test of a silent server quick.
const LITTLE: Duration = Duration::from_millis(300);

fn at(namespace: &Namespace) -> Place<'_> {
    within(namespace, Quota::default())
}

fn within(namespace: &Namespace, quota: Quota) -> Place<'_> {
    Place {
        namespace,
        quota,
        until: Instant::now() + PLENTY,
    }
}

fn hurried(namespace: &Namespace) -> Place<'_> {
    Place {
        until: Instant::now() + LITTLE,
        ..at(namespace)
    }
}

fn is_quota<T>(result: &Result<T, CacheError>) -> bool {
    matches!(result, Err(CacheError::Quota(_)))
}

fn is_unavailable<T>(result: &Result<T, CacheError>) -> bool {
    matches!(result, Err(CacheError::Unavailable(_)))
}
