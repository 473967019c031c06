//! The binary that is measured, a server of it, and whose turn it is.

#![allow(dead_code, reason = "each example uses its part of it")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

pub type Any<T> = Result<T, Box<dyn std::error::Error>>;

/// Returns the binary that the first argument names, or the one that was built beside this
/// example.
pub fn binary() -> Any<PathBuf> {
    let binary = match std::env::args_os().nth(1) {
        Some(given) => std::path::absolute(given)?,
        None => {
            let example = std::env::current_exe()?;
            let folder = example.parent().and_then(Path::parent).ok_or("no folder")?;
            folder.join("hookbox")
        }
    };
    if !binary.is_file() {
        return Err(format!("there is no {}: build it first", binary.display()).into());
    }
    Ok(binary)
}

/// Says whose turn it is. Each round has another order, because who comes behind a large
/// process finds the caches of the processor full of that, and who comes right behind another
/// question finds nothing made ready.
pub fn whose(round: usize, turn: usize, count: usize) -> usize {
    let coprime =
        |step: &usize| (2..=*step).all(|by| !count.is_multiple_of(by) || !step.is_multiple_of(by));
    let steps: Vec<usize> = (1..count).filter(coprime).collect();
    (round / steps.len() + turn * steps[round % steps.len()]) % count
}

/// A server, for as long as this is kept.
pub struct Serving {
    child: Child,
    pub socket: PathBuf,
    pub port: u16,
    pub token: String,
}

impl Serving {
    pub fn start(hookbox: &Path, scratch: &Path, project: &Path) -> Any<Self> {
        let socket = scratch.join("serve.sock");
        let mut child = Command::new(hookbox)
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--socket"])
            .arg(&socket)
            .arg("--project")
            .arg(project)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no pipe")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line)?;
        let listen = told["listen"].as_str().ok_or("no port")?;
        let token = std::fs::read_to_string(socket.with_extension("token"))?;
        Ok(Self {
            port: listen.rsplit(':').next().ok_or("no port")?.parse()?,
            token: token.trim().to_owned(),
            child,
            socket,
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
