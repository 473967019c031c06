//! Ends a server from outside, in order: what runs may finish.

use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::ServeError;
use super::client;
use super::place::{default_socket, is_own, token_beside};
use super::token::Token;
use crate::sandbox::compiled::private;

/// How long it may take: what runs has ten seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// How often to look whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// Ends the server on a socket, or the one that `hookbox hook` asks. Returns where that was.
///
/// # Errors
/// Returns that there is none, or why it does not end.
pub fn stop(socket: Option<&Path>) -> Result<PathBuf, ServeError> {
    let socket = match socket {
        Some(given) => std::path::absolute(given)?,
        None => client::socket()
            .or_else(default_socket)
            .ok_or(ServeError::NoHome)?,
    };
    if !is_own(&socket) || !client::listens(&socket) {
        return Err(ServeError::Nobody(socket));
    }
    let token = Token::read(&token_beside(&socket))?;
    let stays = |why: String| ServeError::Stays {
        socket: socket.clone(),
        why,
    };
    match client::tell(&socket, "/v1/stop", &token, PATIENCE) {
        Some(200) => {}
        Some(status) => return Err(stays(format!("it answers {status}"))),
        None => return Err(stays("it does not answer".to_owned())),
    }
    let until = Instant::now() + PATIENCE;
    while is_held(&socket)? {
        if Instant::now() > until {
            return Err(stays("something in it does not end".to_owned()));
        }
        std::thread::sleep(LOOK);
    }
    Ok(socket)
}

/// Says whether a process still has the place of a server.
fn is_held(socket: &Path) -> Result<bool, ServeError> {
    let lock = private::create(&socket.with_extension("lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}
