//! A Redis server of a test's own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// A server on a free port of this machine, which ends with the test.
pub(crate) struct Server {
    child: Child,
    port: u16,
    password: Option<&'static str>,
    dir: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with_password(None)
    }

    pub(crate) fn with_password(password: Option<&'static str>) -> Self {
        loop {
            let port = free_port();
            let dir = tempfile::tempdir().unwrap();
            let mut child = spawn(port, password, &dir);
            // Another test may have taken the port in the meantime.
            if answers(&mut child, port) {
                return Self {
                    child,
                    port,
                    password,
                    dir,
                };
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        let login = self
            .password
            .map_or_else(String::new, |password| format!(":{password}@"));
        format!("redis://{login}127.0.0.1:{}", self.port)
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn start_again(&mut self) {
        loop {
            self.child = spawn(self.port, self.password, &self.dir);
            if answers(&mut self.child, self.port) {
                return;
            }
        }
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port that nobody uses at the moment.
pub(crate) fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

fn spawn(port: u16, password: Option<&str>, dir: &TempDir) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--save", "", "--appendonly", "no"]);
    if let Some(password) = password {
        command.args(["--requirepass", password]);
    }
    command
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.spawn().unwrap_or_else(|error| {
        panic!("redis-server cannot be started ({error}); install Debian's package redis-server")
    })
}

/// Waits until the server accepts connections, or has ended.
fn answers(child: &mut Child, port: u16) -> bool {
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return child.try_wait().unwrap().is_none();
        }
        thread::sleep(Duration::from_millis(5));
    }
}
