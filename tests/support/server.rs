//! A real HTTP server on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// The first line and the headers.
    pub head: String,
    pub body: String,
}

/// Answers requests until the test ends.
pub struct Server {
    pub port: u16,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Server {
    /// Starts a server that writes what `answer` returns, as it is, and closes.
    pub fn answering(answer: impl Fn(&Arrived) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::serving(move |arrived, stream| {
            let _ = stream.write_all(&answer(arrived));
        })
    }

    /// Starts a server that does with the connection whatever it likes.
    pub fn serving(serve: impl Fn(&Arrived, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&arrived);
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (serve, seen) = (Arc::clone(&serve), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let Ok(mut stream) = stream else { return };
                    let Some(request) = read(&stream) else { return };
                    seen.lock().unwrap().push(request.clone());
                    serve(&request, &mut stream);
                });
            }
        });
        Self { port, arrived }
    }

    /// Starts a server that answers every request with this text.
    pub fn saying(text: &'static str) -> Self {
        Self::answering(move |_| ok(text))
    }

    /// The requests that arrived so far.
    pub fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// A whole answer with status 200.
pub fn ok(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nX-Kind: test\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A redirect.
pub fn redirect(to: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .into_bytes()
}

fn read(stream: &TcpStream) -> Option<Arrived> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Some(Arrived { head, body })
}
