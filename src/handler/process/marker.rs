//! The variable that marks the processes of one call.

use std::hash::{BuildHasher, RandomState};

/// The environment variable by which the processes of a call are recognised.
pub const MARKER: &str = "HOOKBOX_CALL";

/// The mark of one call.
#[derive(Debug, Clone)]
pub(super) struct Marker {
    // Looked for in /proc, which only Linux has.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    own: String,
    value: String,
}

impl Marker {
    pub(super) fn new() -> Self {
        // Every state has new keys; that two calls differ is all that is needed.
        let random = || RandomState::new().hash_one(std::process::id());
        let own = format!("{:016x}{:016x}", random(), random());
        // A hook may run hooks itself: what those start belongs to both calls.
        let value = match std::env::var(MARKER) {
            Ok(outer) => format!("{outer}.{own}"),
            Err(_) => own.clone(),
        };
        Self { own, value }
    }

    /// Returns the value of the variable.
    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// Returns whether an environment, as `/proc` shows it, has this mark.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        let own = self.own.as_bytes();
        environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(MARKER.as_bytes()))
            .any(|value| value.windows(own.len()).any(|part| part == own))
    }
}
