//! A plain HTTP server on a loopback thread.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server that answers every request with the same function.
pub(super) struct Server {
    pub(super) port: u16,
    accepted: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server; `answer` gets the request as text and writes the response.
    pub(super) fn new(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1:0", answer)
    }

    /// Starts a server on a given address.
    pub(super) fn on(
        address: &str,
        answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            accepted: Arc::default(),
            seen: Arc::default(),
        };
        let (accepted, seen) = (Arc::clone(&server.accepted), Arc::clone(&server.seen));
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        server
    }

    /// Starts a server that answers with fixed bytes.
    pub(super) fn fixed(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |_, stream| stream.write_all(&answer).unwrap_or(()))
    }

    /// Returns a URL on this server.
    pub(super) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// Returns how many connections were made.
    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Returns the requests so far.
    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>, answer: &dyn Fn(&str, &mut TcpStream)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader) {
        seen.lock().unwrap().push(request.clone());
        answer(&request, &mut stream);
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    let mut length = 0;
    loop {
        let before = text.len();
        if reader.read_line(&mut text).ok()? == 0 {
            return None;
        }
        let line = text[before..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}

/// A complete response with this body.
pub(super) fn ok(body: &str) -> String {
    ok_with("", body)
}

/// A complete response with these header lines and this body.
pub(super) fn ok_with(headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// A redirect without a body.
pub(super) fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}
