//! Answers agents and programs over HTTP, from hooks that stay loaded: on a Unix socket
//! of the user's own, and on loopback for agents that have HTTP hooks.
//!
//! Every request needs the token, and what cannot be decided is a no. `docs/serve.md`
//! has the API.

mod body;
pub mod client;
mod decide;
mod dispatch;
mod fault;
mod gate;
mod guard;
mod io;
mod listen;
mod meter;
pub mod place;
mod projects;
mod query;
mod respond;
mod route;
mod server;
mod stamp;
pub mod start;
mod stop;
mod surroundings;
mod temporary;
mod token;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::runtime::LoadError;

pub use server::Server;
pub use stop::stop;

/// The version of hookbox, which client and server have to share.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The header that carries it.
pub const VERSION_HEADER: &str = "hookbox-version";

/// The JSON Schema of the API.
pub const SCHEMA: &str = include_str!("../../docs/serve.schema.json");

/// Where a server listens, and what it has ready.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The Unix socket; the user's own unless it is given.
    pub socket: Option<PathBuf>,
    /// A loopback address to listen on as well.
    pub listen: Option<SocketAddr>,
    /// A file with the token; a new token unless there is one.
    pub token_file: Option<PathBuf>,
    /// The projects that are loaded before the first request.
    pub projects: Vec<PathBuf>,
    /// How long nobody may ask before it ends; for ever unless it is given.
    pub idle: Option<Duration>,
}

/// Where a server can be reached.
#[derive(Debug, Clone, Serialize)]
pub struct Address {
    /// The Unix socket.
    pub socket: PathBuf,
    /// The loopback address, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// The file that has the token.
    pub token_file: PathBuf,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is no place for the socket.
    #[error("there is no directory for the socket: set HOOKBOX_CACHE_DIR to one of your own")]
    NoHome,
    /// The directory of the socket cannot be used.
    #[error("{} cannot be used for the socket: {error}; give another one with --socket", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Somebody else could put a socket there.
    #[error("{} is not safe for the socket: {why}; give one in a directory that only you can write to with --socket", directory.display())]
    Unsafe {
        /// The directory.
        directory: PathBuf,
        /// Who could.
        why: String,
    },
    /// There is one already.
    #[error("a server already listens on {}; stop it, or give another socket with --socket", .0.display())]
    Running(PathBuf),
    /// There is none to end.
    #[error("no server listens on {}", .0.display())]
    Nobody(PathBuf),
    /// It goes on.
    #[error("the server on {} does not end: {why}; end its process", socket.display())]
    Stays {
        /// Where it is.
        socket: PathBuf,
        /// Why.
        why: String,
    },
    /// What lies there is not a socket.
    #[error("{} is there and is not a socket; move it away, or give another one with --socket", .0.display())]
    NoSocket(PathBuf),
    /// Others could reach it.
    #[error(
        "{0} is not a loopback address; hookbox serves only this machine: use 127.0.0.1 or [::1]"
    )]
    NotLoopback(SocketAddr),
    /// The address is taken.
    #[error("{address} cannot be listened on: {error}; give another port with --listen")]
    Taken {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// The token file is not fit to be one.
    #[error("the token file {} cannot be used: {why}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The machine cannot run the sandbox, or has no place for compiled code.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The system gives no threads, no signals or no randomness.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
}
