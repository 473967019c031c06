//! `hookbox serve`: the same as `hookbox hook`, over HTTP and without a start each time.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::{progress, style};
use crate::serve::{self, Address, Options, Server};

/// Answer agents and programs over HTTP, from hooks that stay loaded
///
/// Listens on a Unix socket of your own, which `hookbox hook` uses while it is there, and
/// on loopback if an agent or a program needs that. Every request needs the token. See
/// docs/serve.md.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Listen on a loopback address as well, for example 127.0.0.1:4711
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    listen: Option<SocketAddr>,
    /// The Unix socket; `run/serve.sock` in the cache directory if left out
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Load a project before anybody asks
    #[arg(long, short, value_name = "DIR")]
    project: Vec<PathBuf>,
    /// Take the token from a file, or put a new one there; a new one at each start if left out
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// End when nobody asked for so long
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle: Option<u64>,
    /// End the server that listens, and start none: what runs may finish
    #[arg(long, conflicts_with_all = ["listen", "project", "token_file", "idle", "json"])]
    stop: bool,
    /// Say where it listens as one line of JSON, on standard output
    #[arg(long)]
    json: bool,
}

fn address(text: &str) -> std::result::Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:");
    let numeric = local.map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    numeric
        .parse()
        .map_err(|_| "write an address and a port, for example 127.0.0.1:4711".to_owned())
}

impl ServeArgs {
    pub(super) fn run(self) -> Result<i32> {
        if self.stop {
            return end(self.socket);
        }
        let options = Options {
            socket: self.socket,
            listen: self.listen,
            token_file: self.token_file,
            projects: self.project,
            idle: self.idle.map(Duration::from_secs),
        };
        let server = Server::open(&options, Arc::new(progress::show))?;
        let mut stderr = anstream::stderr();
        for (project, error) in server.problems() {
            let project = project.display().to_string();
            let told = "its events are refused until it loads";
            let _ = writeln!(
                stderr,
                "{} {}: {}; {told}",
                style::bad("error:"),
                style::plain(&project),
                style::plain(error)
            );
        }
        if self.json {
            let line = serde_json::to_string(server.address())?;
            writeln!(anstream::stdout(), "{line}")?;
        } else {
            let _ = writeln!(stderr, "{}", announcement(server.address()));
        }
        server.run()?;
        Ok(0)
    }
}

/// How long nobody wonders what is going on.
const SILENCE: Duration = Duration::from_secs(1);

fn end(socket: Option<PathBuf>) -> Result<i32> {
    let mut stderr = anstream::stderr();
    let (sender, ended) = mpsc::channel();
    // Nobody listens any more if this thread was ended.
    std::thread::spawn(move || sender.send(serve::stop(socket.as_deref())));
    let socket = match ended.recv_timeout(SILENCE) {
        Ok(socket) => socket?,
        Err(_) => {
            let told = "waiting for the server to end; what runs may finish …";
            let _ = writeln!(stderr, "{}", style::faint(told));
            ended.recv()??
        }
    };
    let shown = socket.display().to_string();
    let _ = writeln!(stderr, "the server on {} has ended", style::plain(&shown));
    Ok(0)
}

fn announcement(address: &Address) -> String {
    let port = address
        .listen
        .map(|port| format!(" and http://{port}"))
        .unwrap_or_default();
    format!(
        "listening on {}{port}; the token is in {}",
        address.socket.display(),
        address.token_file.display()
    )
}
