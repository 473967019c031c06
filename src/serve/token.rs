//! The token: whoever can read its file may ask.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rand::TryRng as _;
use rand::rngs::SysRng;
use rustix::fs::OFlags;
use zeroize::Zeroizing;

use super::ServeError;
use crate::sandbox::engine::hex;

/// How many random bytes a token has.
const BYTES: usize = 32;

/// What a token of somebody's own has at least: one that can be guessed is none.
const SHORTEST: usize = 32;

/// How large a token file may be.
const LONGEST: u64 = 4096;

/// What others must not be able to do to a token file.
const OTHERS: u32 = 0o077;

/// What a request has to know.
pub(super) struct Token(Zeroizing<String>);

impl Token {
    /// Makes a new one.
    pub(super) fn new() -> std::io::Result<Self> {
        let mut bytes = Zeroizing::new([0; BYTES]);
        SysRng
            .try_fill_bytes(&mut *bytes)
            .map_err(std::io::Error::other)?;
        Ok(Self(Zeroizing::new(hex(&*bytes))))
    }

    /// Reads the one in a file, which nobody else may be able to read.
    pub(super) fn read(path: &Path) -> Result<Self, ServeError> {
        let refuse = |why: &str| ServeError::Token {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        // Opening something else than a file may take for ever.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)
            .map_err(|error| refuse(&error.to_string()))?;
        let metadata = file
            .metadata()
            .map_err(|error| refuse(&error.to_string()))?;
        if !metadata.is_file() {
            return Err(refuse("it is not a file"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(refuse("it belongs to another user"));
        }
        if metadata.mode() & OTHERS != 0 {
            return Err(refuse(
                "other users can read or write it; run `chmod 600` on it, and put a new token in if somebody could have read it",
            ));
        }
        let mut text = Zeroizing::new(String::new());
        file.take(LONGEST)
            .read_to_string(&mut text)
            .map_err(|error| refuse(&error.to_string()))?;
        let token = text.trim();
        if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refuse(
                "it has to hold one token of at least 32 printable characters; `openssl rand -hex 32` makes one",
            ));
        }
        Ok(Self(Zeroizing::new(token.to_owned())))
    }

    /// Writes it to a file that is whole from its first moment on, and the user's own.
    pub(super) fn write(&self, path: &Path) -> Result<(), ServeError> {
        let failed = |error: std::io::Error| ServeError::Token {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        // Made with mode 0600.
        let mut file = tempfile::Builder::new()
            .prefix(".token-")
            .tempfile_in(folder)
            .map_err(failed)?;
        writeln!(file, "{}", *self.0).map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Writes it to a file that is not there yet.
    pub(super) fn write_new(&self, path: &Path) -> Result<(), ServeError> {
        let failed = |error: std::io::Error| ServeError::Token {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        writeln!(file, "{}", *self.0).map_err(failed)
    }

    /// Takes the token that a server uses: the one in the file that is named, or a new
    /// one. Clients find it beside the socket.
    pub(super) fn take(given: Option<&Path>, beside: &Path) -> Result<Self, ServeError> {
        let token = match given {
            Some(path) if fs::symlink_metadata(path).is_ok() => Self::read(path)?,
            Some(path) => {
                let token = Self::new()?;
                token.write_new(path)?;
                token
            }
            None => Self::new()?,
        };
        token.write(beside)?;
        Ok(token)
    }

    /// Says whether this is it, in a time that does not tell how much of it is right.
    pub(super) fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differs = own
            .iter()
            .zip(given)
            .fold(0, |differs, (own, given)| differs | (own ^ given));
        own.len() == given.len() && std::hint::black_box(differs) == 0
    }

    /// Returns the text, for a request.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_it() {
        let token = Token::new().unwrap();
        let text = token.text().to_owned();
        assert_eq!(text.len(), 2 * BYTES);
        assert!(token.is(text.as_bytes()));
        assert!(!token.is(&text.as_bytes()[1..]));
        assert!(!token.is(format!("{text}0").as_bytes()));
        assert!(!token.is(b""));
        assert!(!token.is(Token::new().unwrap().text().as_bytes()));
    }
}
