//! Connections that are kept.

use super::server::{Server, ok};
use super::{body, door, everything_here, get, local, send};

#[test]
fn a_connection_is_used_again() {
    let server = Server::fixed(ok("hello"));
    let door = door(
        vec![local(&format!("GET http://a.test:{}/*", server.port))],
        everything_here(),
    );
    for _ in 0..5 {
        assert_eq!(
            body(&send(&door, get(&server.url("a.test", "/"))).unwrap()),
            "hello"
        );
    }
    assert_eq!(server.seen().len(), 5);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_connection_is_not_used_for_another_name() {
    let server = Server::fixed(ok("hello"));
    let door = door(
        vec![local(&format!("GET http://*:{}/*", server.port))],
        everything_here(),
    );
    send(&door, get(&server.url("a.test", "/"))).unwrap();
    send(&door, get(&server.url("b.test", "/"))).unwrap();
    assert_eq!(server.accepted(), 2);
}

#[test]
fn a_connection_that_the_server_closed_is_replaced() {
    let server =
        Server::fixed("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi");
    let door = door(
        vec![local(&format!("GET http://a.test:{}/*", server.port))],
        everything_here(),
    );
    for _ in 0..2 {
        assert_eq!(
            body(&send(&door, get(&server.url("a.test", "/"))).unwrap()),
            "hi"
        );
    }
    assert_eq!(server.accepted(), 2);
}

#[test]
fn a_door_serves_several_threads() {
    let server = Server::fixed(ok("hello"));
    let door = door(
        vec![local(&format!("GET http://a.test:{}/*", server.port))],
        everything_here(),
    );
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| send(&door, get(&server.url("a.test", "/"))).unwrap());
        }
    });
    assert_eq!(server.seen().len(), 4);
}
