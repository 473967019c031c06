//! Fills secrets into headers. A hook never sees them.

use std::fmt;
use std::sync::Arc;

use ureq::http::HeaderValue;
use zeroize::Zeroizing;

use super::error::HttpError;
use super::header::{HeaderName, LONGEST_VALUE};
use super::template::{Piece, Template};

/// Looks up a secret by its name.
pub type Secrets = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A shorter secret could be found out by trying, since its echo is replaced.
const SHORTEST: usize = 8;

/// A secret that was sent with a request.
pub(super) struct Filled {
    /// Its name.
    pub(super) name: String,
    /// Its value.
    pub(super) value: Zeroizing<String>,
}

impl fmt::Debug for Filled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filled({}: …)", self.name)
    }
}

/// Fills a template and notes in `filled` what was filled in.
pub(super) fn fill(
    header: &HeaderName,
    template: &Template,
    secrets: &Secrets,
    filled: &mut Vec<Filled>,
) -> Result<HeaderValue, HttpError> {
    let mut text = Zeroizing::new(String::new());
    for piece in template.pieces() {
        match piece {
            Piece::Text(literal) => text.push_str(literal),
            Piece::Secret(name) => {
                let value = look_up(name, header, secrets)?;
                text.push_str(&value);
                filled.push(Filled {
                    name: name.clone(),
                    value,
                });
            }
        }
    }
    let malformed =
        || HttpError::NotGranted(format!("the header `{header}` of the grant is too long"));
    if text.len() > LONGEST_VALUE {
        return Err(malformed());
    }
    let mut value = HeaderValue::from_str(&text).map_err(|_| malformed())?;
    value.set_sensitive(true);
    Ok(value)
}

fn look_up(
    name: &str,
    header: &HeaderName,
    secrets: &Secrets,
) -> Result<Zeroizing<String>, HttpError> {
    let refuse = |why: &str| {
        HttpError::NotGranted(format!(
            "the secret {name}, which the grant sends in the header `{header}`, {why}; \
             set it in the environment variable HOOKBOX_SECRET_{name}"
        ))
    };
    let value = secrets(name).map(Zeroizing::new);
    let value = value.ok_or_else(|| refuse("is not set"))?;
    if value.len() < SHORTEST {
        return Err(refuse("is shorter than 8 characters"));
    }
    if !value.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return Err(refuse("has characters other than visible ascii"));
    }
    Ok(value)
}
