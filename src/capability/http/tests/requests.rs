//! What a guest puts into a request.

use std::time::{Duration, Instant};

use super::server::{Server, ok};
use super::{
    Door, Request, door, everything_here, failed, get, invalid, local, not_granted, post, send,
    timeout, too_large,
};

fn any_door() -> (Server, Door) {
    let server = Server::fixed(ok("hello"));
    let door = door(
        vec![local(&format!("* http://a.test:{}/*", server.port))],
        everything_here(),
    );
    (server, door)
}

fn with_header(url: &str, name: &str, value: &str) -> Request {
    Request {
        headers: vec![(name.to_owned(), value.to_owned())],
        ..get(url)
    }
}

#[test]
fn a_request_arrives_as_it_was_asked_for() {
    let (server, door) = any_door();
    let mut request = post(&server.url("a.test", "/x/y?q=1&r=2#fragment"), "payload");
    request.headers = vec![
        ("X-One".to_owned(), "1".to_owned()),
        ("x-one".to_owned(), "2".to_owned()),
    ];
    let response = send(&door, request).unwrap();
    assert_eq!(response.url, server.url("a.test", "/x/y?q=1&r=2"));
    assert_eq!(
        response.headers,
        [("content-length".to_owned(), "5".to_owned())]
    );
    let seen = server.seen().remove(0).to_ascii_lowercase();
    assert!(seen.starts_with("post /x/y?q=1&r=2 http/1.1\r\n"), "{seen}");
    assert!(
        seen.contains(&format!("\r\nhost: a.test:{}\r\n", server.port)),
        "{seen}"
    );
    assert!(
        seen.contains("\r\nx-one: 1\r\n") && seen.contains("\r\nx-one: 2\r\n"),
        "{seen}"
    );
    assert!(seen.contains("\r\ncontent-length: 7\r\n"), "{seen}");
    assert!(seen.contains(&format!(
        "\r\nuser-agent: hookbox/{}\r\n",
        env!("CARGO_PKG_VERSION")
    )));
    assert!(seen.ends_with("\r\n\r\npayload"), "{seen}");
}

#[test]
fn methods_have_a_body_or_a_length_where_servers_expect_one() {
    let (server, door) = any_door();
    let table = [
        ("POST", "", true),
        ("PUT", "x", true),
        ("DELETE", "x", true),
        ("DELETE", "", false),
        ("GET", "", false),
        ("PROPFIND", "x", true),
    ];
    for (method, body, has_length) in table {
        let mut request = post(&server.url("a.test", "/"), body);
        request.method = method.to_owned();
        assert_eq!(send(&door, request).unwrap().status, 200, "{method}");
        let seen = server.seen().pop().unwrap().to_ascii_lowercase();
        assert_eq!(seen.contains("content-length:"), has_length, "{seen}");
    }
}

#[test]
fn a_body_on_get_or_head_is_refused() {
    let (server, door) = any_door();
    for method in ["GET", "HEAD"] {
        let mut request = post(&server.url("a.test", "/"), "x");
        request.method = method.to_owned();
        assert!(invalid(send(&door, request)).contains("cannot have a body"));
    }
}

#[test]
fn line_breaks_in_a_header_name_are_refused() {
    let (server, door) = any_door();
    for name in ["x\r\ny", "x\n", "x: y\r\nz", "x\0", "", "x y"] {
        let request = with_header(&server.url("a.test", "/"), name, "v");
        assert!(
            invalid(send(&door, request)).contains("is not the name of a header"),
            "{name:?}"
        );
    }
    assert_eq!(server.accepted(), 0);
}

#[test]
fn line_breaks_in_a_header_value_are_refused() {
    let (server, door) = any_door();
    for value in ["a\r\nx: y", "a\nb", "a\rb", "a\0b", "\u{7f}", "ü"] {
        let request = with_header(&server.url("a.test", "/"), "x", value);
        assert!(
            invalid(send(&door, request)).contains("value of the header `x`"),
            "{value:?}"
        );
    }
    assert_eq!(server.accepted(), 0);
}

#[test]
fn line_breaks_in_the_method_are_refused() {
    let (server, door) = any_door();
    for method in [
        "GET /x HTTP/1.1\r\nhost: evil\r\n\r\nGET",
        "GET\r\n",
        "get",
        "",
        "G ET",
        "GET\0",
    ] {
        let mut request = get(&server.url("a.test", "/"));
        request.method = method.to_owned();
        assert!(
            invalid(send(&door, request)).contains("is not a method"),
            "{method:?}"
        );
    }
    assert_eq!(server.accepted(), 0);
}

#[test]
fn tunnels_and_traces_are_refused_even_when_any_method_is_granted() {
    let (server, door) = any_door();
    for method in ["CONNECT", "TRACE", "TRACK"] {
        let mut request = get(&server.url("a.test", "/"));
        request.method = method.to_owned();
        assert!(invalid(send(&door, request)).contains("can never be granted"));
    }
}

#[test]
fn headers_that_frame_the_message_are_refused() {
    let (server, door) = any_door();
    let framing = [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Upgrade",
        "TE",
        "Trailer",
        "Proxy-Authorization",
        "Keep-Alive",
        "Expect",
    ];
    for name in framing {
        let request = with_header(&server.url("a.test", "/"), name, "0");
        assert!(
            invalid(send(&door, request)).contains("cannot be set"),
            "{name}"
        );
    }
    assert_eq!(server.accepted(), 0);
}

#[test]
fn too_many_or_too_large_headers_and_bodies_are_refused() {
    let (server, door) = any_door();
    let url = server.url("a.test", "/");
    let mut request = get(&url);
    request.headers = vec![("x".to_owned(), "y".to_owned()); 101];
    assert!(too_large(send(&door, request)).contains("more than 100 headers"));
    let mut request = get(&url);
    request.headers = vec![("x".to_owned(), "y".repeat(8000)); 5];
    assert!(too_large(send(&door, request)).contains("32768 bytes"));
    invalid(send(
        &door,
        with_header(&url, "x", &"y".repeat(8 * 1024 + 1)),
    ));
    let body = "x".repeat(1024 * 1024 + 1);
    assert!(too_large(send(&door, post(&url, &body))).contains("1048576 bytes"));
    assert_eq!(server.accepted(), 0);
}

#[test]
fn a_request_that_is_not_granted_learns_nothing_else() {
    let (server, door) = any_door();
    let request = with_header(&server.url("b.test", "/"), "host", "x\r\n");
    assert!(not_granted(send(&door, request)).contains("the host differs"));
}

#[test]
fn the_deadline_of_the_call_ends_a_request_that_asked_for_more() {
    let server = Server::new(|_, _| std::thread::park());
    let mut entry = local(&format!("GET http://127.0.0.1:{}/*", server.port));
    let silent = door(vec![entry.clone()], everything_here());
    let mut request = get(&server.url("127.0.0.1", "/"));
    request.timeout = Some(Duration::from_secs(3600));
    let until = Instant::now() + Duration::from_millis(300);
    timeout(silent.send(request.clone(), until));
    timeout(silent.send(request.clone(), Instant::now()));
    request.timeout = Some(Duration::MAX);
    entry.timeout = Some(Duration::from_millis(300));
    let text = timeout(send(&door(vec![entry], everything_here()), request));
    assert!(text.ends_with("took longer than 300.0ms"), "{text}");
}

#[test]
fn a_server_that_is_not_there_is_a_failure() {
    let door = door(vec![local("GET http://127.0.0.1:1/*")], everything_here());
    failed(send(&door, get("http://127.0.0.1:1/")));
}
