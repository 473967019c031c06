//! Servers that want to hurt.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::HttpLimits;
use super::server::{Server, ok_with};
use super::{
    Door, HttpError, Request, Response, body, door, everything_here, failed, get, grant, impatient,
    local, no_secrets, post, send, small_door, timeout, too_large,
};

fn rule(server: &Server) -> String {
    format!("* http://a.test:{}/*", server.port)
}

fn ask(server: &Server, request: impl Fn(&str) -> Request) -> Result<Response, HttpError> {
    let door = small_door(vec![local(&rule(server))]);
    send(&door, request(&server.url("a.test", "/")))
}

/// Writes `piece` until the other side closes.
fn flood(stream: &mut TcpStream, piece: &[u8]) {
    while stream.write_all(piece).is_ok() {}
}

/// A server that sends `head` and then `piece` for ever, and tells when it was cut off.
fn flooding(head: &'static str, piece: Vec<u8>) -> (Server, mpsc::Receiver<()>) {
    let (sender, closed) = mpsc::channel();
    let sender = Mutex::new(sender);
    let server = Server::new(move |_, stream| {
        stream.write_all(head.as_bytes()).unwrap();
        flood(stream, &piece);
        sender.lock().unwrap().send(()).unwrap();
    });
    (server, closed)
}

/// A server that sends `head` and then a byte now and then.
fn dripping(head: &'static str, drop: Vec<u8>) -> Server {
    Server::new(move |_, stream| {
        stream.write_all(head.as_bytes()).unwrap();
        while stream.write_all(&drop).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_endless_body_is_cut_off_and_the_connection_closed() {
    let (server, closed) = flooding("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 65536]);
    assert!(too_large(ask(&server, get)).contains("larger than 262144 bytes"));
    closed.recv().unwrap();
}

#[test]
fn an_endless_chunked_body_is_cut_off_and_the_connection_closed() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let (server, closed) = flooding(head, b"5\r\nhello\r\n".repeat(1000));
    too_large(ask(&server, get));
    closed.recv().unwrap();
}

#[test]
fn a_body_that_announces_ten_gigabytes_is_cut_off() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n";
    let (server, closed) = flooding(head, vec![0; 65536]);
    too_large(ask(&server, get));
    closed.recv().unwrap();
}

#[test]
fn endless_trailers_are_cut_off() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n";
    let (server, closed) = flooding(head, b"x: y\r\n".repeat(1000));
    let result = ask(&server, get);
    assert!(result.is_err(), "{result:?}");
    closed.recv().unwrap();
}

#[test]
fn a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not() {
    let server = Server::fixed(ok_with("", &"x".repeat(256 * 1024)));
    assert_eq!(ask(&server, get).unwrap().body.len(), 256 * 1024);
    let server = Server::fixed(ok_with("", &"x".repeat(256 * 1024 + 1)));
    too_large(ask(&server, get));
}

#[test]
fn gzip_is_undone() {
    let bytes = gzip(b"hello");
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        bytes.len()
    );
    let server = Server::fixed([head.as_bytes(), &bytes].concat());
    assert_eq!(body(&ask(&server, get).unwrap()), "hello");
}

#[test]
fn a_gzip_bomb_is_cut_off_by_what_it_becomes() {
    let bytes = gzip(&vec![0; 32 * 1024 * 1024]);
    assert!(bytes.len() < 256 * 1024, "it has to be small on the wire");
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        bytes.len()
    );
    let server = Server::fixed([head.as_bytes(), &bytes].concat());
    assert!(too_large(ask(&server, get)).contains("larger than 262144 bytes"));
}

#[test]
fn endless_empty_gzip_members_are_cut_off_by_what_they_are() {
    let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n";
    let (server, closed) = flooding(head, gzip(b"").repeat(1000));
    assert!(too_large(ask(&server, get)).contains("on the wire"));
    closed.recv().unwrap();
}

#[test]
fn broken_gzip_is_a_failure() {
    let server = Server::fixed(ok_with("content-encoding: gzip\r\n", "this is not gzip"));
    failed(ask(&server, get));
}

#[test]
fn a_head_response_with_gzip_and_a_length_has_no_body() {
    let server =
        Server::fixed("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n");
    let head = |url: &str| Request {
        method: "HEAD".to_owned(),
        ..get(url)
    };
    assert_eq!(ask(&server, head).unwrap().body, b"");
}

#[test]
fn a_server_that_never_answers_times_out() {
    let server = Server::new(|_, _| thread::park());
    timeout(ask(&server, impatient));
}

#[test]
fn a_body_that_drips_for_ever_times_out() {
    timeout(ask(
        &dripping("HTTP/1.1 200 OK\r\n\r\n", b"x".to_vec()),
        impatient,
    ));
}

#[test]
fn empty_gzip_members_that_drip_for_ever_time_out() {
    let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n";
    timeout(ask(&dripping(head, gzip(b"")), impatient));
}

#[test]
fn headers_that_drip_for_ever_time_out() {
    timeout(ask(
        &dripping("HTTP/1.1 200 OK\r\n", b"x".to_vec()),
        impatient,
    ));
}

#[test]
fn a_server_that_does_not_read_the_body_times_out() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let limits = HttpLimits {
        request_bytes: 64 * 1024 * 1024,
        ..HttpLimits::default()
    };
    let entry = local(&format!("POST http://a.test:{port}/*"));
    let door = Door::new(
        grant(vec![entry]),
        None,
        everything_here(),
        no_secrets(),
        limits,
    );
    let mut request = post(
        &format!("http://a.test:{port}/"),
        &"x".repeat(64 * 1024 * 1024),
    );
    request.timeout = Some(Duration::from_millis(300));
    timeout(send(&door, request));
    drop(listener);
}

#[test]
fn endless_headers_are_cut_off() {
    let (server, closed) = flooding("HTTP/1.1 200 OK\r\n", b"x-filler: y\r\n".to_vec());
    too_large(ask(&server, get));
    closed.recv().unwrap();
}

#[test]
fn one_endless_header_is_cut_off() {
    let (server, closed) = flooding("HTTP/1.1 200 OK\r\nx: ", vec![b'y'; 1000]);
    assert!(too_large(ask(&server, get)).contains("8192 bytes"));
    closed.recv().unwrap();
}

#[test]
fn too_many_headers_are_an_error() {
    for count in [20, 200] {
        let server = Server::fixed(ok_with(&"x: y\r\n".repeat(count), "hi"));
        assert!(
            too_large(ask(&server, get)).contains("more than 20 headers"),
            "{count}"
        );
    }
    let server = Server::fixed(ok_with(&"x: y\r\n".repeat(19), "hi"));
    assert_eq!(ask(&server, get).unwrap().headers.len(), 20);
}

#[test]
fn a_flood_of_interim_responses_is_cut_off() {
    for interim in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n",
    ] {
        let (server, closed) = flooding("", interim.as_bytes().repeat(500));
        assert!(too_large(ask(&server, get)).contains("on the wire"));
        closed.recv().unwrap();
    }
}

#[test]
fn an_interim_response_before_the_real_one_is_skipped() {
    let text = format!(
        "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n{}",
        ok_with("", "hello")
    );
    assert_eq!(body(&ask(&Server::fixed(text), get).unwrap()), "hello");
}

#[test]
fn a_large_body_right_behind_an_interim_response_is_not_taken_for_a_head() {
    let large = "x".repeat(200 * 1024);
    let text = format!("HTTP/1.1 103 Early Hints\r\n\r\n{}", ok_with("", &large));
    assert_eq!(body(&ask(&Server::fixed(text), get).unwrap()), large);
}

#[test]
fn a_switch_of_protocols_is_a_failure() {
    let server = Server::fixed("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n");
    failed(ask(&server, get));
}

#[test]
fn a_body_shorter_than_its_length_is_a_failure() {
    let server = Server::new(|_, stream| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort")
            .unwrap();
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    });
    failed(ask(&server, get));
}

#[test]
fn bytes_behind_the_length_are_dropped_and_the_connection_not_used_again() {
    let smuggled =
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\nsmuggled";
    let server = Server::fixed(smuggled);
    let door = door(vec![local(&rule(&server))], everything_here());
    for _ in 0..2 {
        assert_eq!(
            body(&send(&door, get(&server.url("a.test", "/"))).unwrap()),
            "hello"
        );
    }
    assert_eq!(server.accepted(), 2);
}

#[test]
fn two_lengths_that_differ_are_a_failure() {
    let server =
        Server::fixed("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!");
    failed(ask(&server, get));
}

#[test]
fn what_is_not_http_is_a_failure() {
    for bytes in [
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
    ] {
        failed(ask(&Server::fixed(bytes), get));
    }
}

#[test]
fn a_connection_that_closes_without_an_answer_is_a_failure() {
    let server = Server::new(|_, stream| stream.shutdown(std::net::Shutdown::Both).unwrap());
    failed(ask(&server, get));
}
