//! Names of the parts of a store.

use std::fmt;
use std::sync::Arc;

/// How long the name of a shared namespace may be.
const MAX_SHARED: usize = 64;

/// Names a part of a store that keeps its keys to itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(Arc<str>);

/// A name cannot be that of a shared namespace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name a shared cache namespace; use 1 to 64 letters (a-z, A-Z), digits, dots, dashes and underscores"
)]
pub struct NamespaceError(String);

impl Namespace {
    /// Returns the namespace that a hook has to itself.
    #[must_use]
    pub fn of_hook(name: &str) -> Self {
        Self(format!("hook/{name}").into())
    }

    /// Returns a namespace that several hooks may be given.
    ///
    /// # Errors
    /// Returns that the name is too long, empty, or has other characters. A
    /// slash is one of them, so a shared namespace is never a hook's own.
    pub fn shared(name: &str) -> Result<Self, NamespaceError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.len() > MAX_SHARED || !name.bytes().all(plain) {
            return Err(NamespaceError(name.chars().take(MAX_SHARED).collect()));
        }
        Ok(Self(name.into()))
    }

    /// Returns the whole name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
