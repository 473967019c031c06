//! A server process, and requests to it as bytes.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Nothing of a test takes this long; a test that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server in a folder of its own, until the test ends.
pub struct Serving {
    pub child: Child,
    pub socket: PathBuf,
    pub token: String,
    pub port: u16,
    pub folder: TempDir,
}

/// A response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn kind(&self) -> String {
        let kind = self.json()["error"]["kind"].clone();
        format!("{} {}", self.status, kind.as_str().unwrap_or("none"))
    }
}

/// The command that starts a server with its socket in a folder.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command
        .arg("serve")
        .arg("--socket")
        .arg(folder.join("serve.sock"))
        .args(arguments)
        .stdin(Stdio::null());
    command
}

impl Serving {
    pub fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::start_in(folder, arguments)
    }

    pub fn start_in(folder: TempDir, arguments: &[&str]) -> Self {
        super::warm_up();
        let mut child = command(folder.path(), arguments)
            .args(["--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let listen = told["listen"].as_str().unwrap();
        let file = told["token_file"].as_str().unwrap();
        Self {
            socket: PathBuf::from(told["socket"].as_str().unwrap()),
            port: listen.rsplit_once(':').unwrap().1.parse().unwrap(),
            token: std::fs::read_to_string(file).unwrap().trim().to_owned(),
            child,
            folder,
        }
    }

    /// Connects to the socket.
    pub fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Connects to the port.
    pub fn connect_port(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The lines of a request that has everything it needs.
    pub fn request(&self, line: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "Host: localhost\r\nAuthorization: Bearer {}\r\n",
            self.token
        );
        request(line, &head, body)
    }

    pub fn post(&self, target: &str, body: impl AsRef<[u8]>) -> Answer {
        let request = self.request(&format!("POST {target}"), body.as_ref());
        send(&mut self.connect(), &request)
    }

    pub fn get(&self, target: &str) -> Answer {
        let request = self.request(&format!("GET {target}"), b"");
        send(&mut self.connect(), &request)
    }

    /// Runs `hookbox hook` with this server, or without.
    pub fn hook(&self, served: bool, arguments: &[&str], input: &[u8], folder: &Path) -> Left {
        let socket = self.socket.display().to_string();
        hook(
            if served { &socket } else { "off" },
            arguments,
            input,
            folder,
        )
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(done.success());
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `hookbox hook` left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

/// Runs `hookbox hook`, with `HOOKBOX_SERVE` set.
pub fn hook(serve: &str, arguments: &[&str], input: &[u8], folder: &Path) -> Left {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command
        .arg("hook")
        .args(arguments)
        .env("HOOKBOX_SERVE", serve)
        .current_dir(folder);
    left(command, input)
}

/// Runs a command with this input.
pub fn left(mut command: Command, input: &[u8]) -> Left {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Left {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// The lines of a request.
pub fn request(line: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes =
        format!("{line} HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Sends a request and reads the response to it.
pub fn send(stream: &mut (impl Read + Write), request: &[u8]) -> Answer {
    // A server that has seen enough closes before it has all of it.
    let _ = stream.write_all(request);
    read(stream).unwrap()
}

/// Reads one response; none if the other side closed first.
pub fn read(stream: &mut impl Read) -> Option<Answer> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap().to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1)?;
    let length = length.split("\r\n").next()?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        body: String::from_utf8(body).unwrap(),
        head,
    })
}
