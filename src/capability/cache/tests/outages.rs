//! Redis servers that are lost, silent, slow, locked or strange.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::super::{CacheError, Namespace, Redis, Store};
use super::server::Server;
use super::{at, hurried, is_unavailable};

const SECRET: &str = "hunter2";

/// Serves each connection on a thread of its own.
fn listen(serve: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    address
}

fn open(address: SocketAddr) -> Redis {
    Redis::open(&format!("redis://:{SECRET}@{address}")).unwrap()
}

/// Makes every call, and asserts that each is refused without the password.
fn nothing_works(redis: &Redis) {
    let own = Namespace::of_hook("own");
    let one = json!(1);
    let errors = [
        redis.get(&hurried(&own), "k").unwrap_err(),
        redis.set(&hurried(&own), "k", &one, None).unwrap_err(),
        redis.delete(&hurried(&own), "k").unwrap_err(),
        redis.increment(&hurried(&own), "k", 1, None).unwrap_err(),
        redis
            .compare_and_set(&hurried(&own), "k", None, &one, None)
            .unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, CacheError::Unavailable(_)), "{error}");
        assert!(!error.to_string().contains(SECRET), "{error}");
    }
}

#[test]
fn a_server_that_is_killed_and_comes_back_is_used_again() {
    let mut server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    // Several connections are kept, and all of them break.
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| redis.increment(&at(&own), "n", 1, None).unwrap());
        }
    });
    server.kill();
    nothing_works(&redis);
    server.start_again();
    for n in 1..20 {
        assert_eq!(redis.increment(&at(&own), "n", 1, None), Ok(n));
    }
}

#[test]
fn a_restart_between_two_calls_is_not_noticed() {
    let mut server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    assert_eq!(redis.increment(&at(&own), "n", 1, None), Ok(1));
    server.kill();
    server.start_again();
    assert_eq!(redis.increment(&at(&own), "n", 1, None), Ok(1));
}

#[test]
fn a_server_that_is_stopped_does_not_hang_a_call() {
    let server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    redis.set(&at(&own), "k", &json!(1), None).unwrap();
    server.signal("STOP");
    // The first has a connection, the second needs one.
    assert!(is_unavailable(&redis.get(&hurried(&own), "k")));
    assert!(is_unavailable(&redis.get(&hurried(&own), "k")));
    server.signal("CONT");
    assert_eq!(redis.get(&at(&own), "k"), Ok(Some(json!(1))));
}

#[test]
fn a_server_that_nobody_runs_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    nothing_works(&open(address));
}

#[test]
fn a_server_that_never_answers_does_not_hang_a_call() {
    nothing_works(&open(listen(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    })));
}

#[test]
fn a_server_that_sends_a_byte_now_and_then_does_not_hang_a_call() {
    nothing_works(&open(listen(|mut stream| {
        let mut sent = stream.write_all(b"$1000000\r\n");
        while sent.is_ok() {
            thread::sleep(Duration::from_millis(20));
            sent = stream.write_all(b"x");
        }
    })));
}

#[test]
fn a_server_that_hangs_up_is_unavailable() {
    nothing_works(&open(listen(drop)));
}

#[test]
fn a_server_that_is_no_redis_is_unavailable() {
    nothing_works(&open(listen(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    })));
    let answers_all_with_ok = listen(|mut stream| {
        while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
            let _ = stream.write_all(b"+OK\r\n");
        }
    });
    nothing_works(&open(answers_all_with_ok));
}

#[test]
fn a_server_that_repeats_the_password_does_not_get_it_into_an_error() {
    nothing_works(&open(listen(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"-ERR unknown command 'AUTH', with args: 'hunter2'\r\n");
    })));
}

#[test]
fn a_name_without_an_address_is_unavailable() {
    let redis = Redis::open(&format!("redis://:{SECRET}@no-such-host.invalid")).unwrap();
    nothing_works(&redis);
}

#[test]
fn the_name_of_a_server_is_looked_up() {
    let server = Server::start();
    let redis = Redis::open(&server.url().replace("127.0.0.1", "localhost")).unwrap();
    assert_eq!(
        redis.increment(&at(&Namespace::of_hook("own")), "n", 1, None),
        Ok(1)
    );
}

#[test]
fn the_password_is_needed_and_never_shown() {
    let server = Server::with_password(Some(SECRET));
    let own = Namespace::of_hook("own");
    let redis = Redis::open(&server.url()).unwrap();
    assert_eq!(redis.increment(&at(&own), "n", 1, None), Ok(1));
    assert!(!format!("{redis:?}").contains(SECRET));
    for login in ["", ":wrong@", "nobody:hunter2@"] {
        let url = server.url().replace(":hunter2@", login);
        nothing_works(&Redis::open(&url).unwrap());
    }
}

#[test]
fn a_database_of_the_server_is_kept_apart() {
    let server = Server::start();
    let own = Namespace::of_hook("own");
    let (first, second) = (server.url(), server.url() + "/1");
    for url in [&first, &second] {
        let redis = Redis::open(url).unwrap();
        assert_eq!(redis.increment(&at(&own), "n", 1, None), Ok(1));
    }
    nothing_works(&Redis::open(&(first + "/99999")).unwrap());
}

#[test]
fn a_url_that_cannot_be_used_is_refused_without_its_password() {
    let urls = [
        "redis://:hunter2@",
        "redis://:hunter2@host:port",
        "redis://:hunter2@host/not-a-number",
        "redis://:hunter2@host/?protocol=hunter2",
        "rediss://:hunter2@",
        "valkeys://:hunter2@host:port",
        "redis+unix:///hunter2",
        "http://:hunter2@host",
        "hunter2",
        "",
    ];
    for url in urls {
        let error = Redis::open(url).unwrap_err();
        assert!(matches!(error, CacheError::Unavailable(_)), "{url}");
        assert!(!error.to_string().contains(SECRET), "{url}: {error}");
    }
}

#[test]
fn what_others_write_there_is_an_error_and_no_value() {
    let server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    send(
        &server,
        &["HSET", "hookbox:{hook/own}:values", "k", "not json"],
    );
    assert!(is_unavailable(&redis.get(&at(&own), "k")));
    assert!(is_unavailable(&redis.compare_and_set(
        &at(&own),
        "k",
        Some(&json!(1)),
        &json!(2),
        None
    )));
    assert_eq!(redis.delete(&at(&own), "k"), Ok(true));
    send(&server, &["SET", "hookbox:{hook/own}:values", "no hash"]);
    assert!(is_unavailable(&redis.get(&at(&own), "k")));
    assert!(is_unavailable(&redis.increment(&at(&own), "k", 1, None)));
}

#[test]
fn a_total_that_the_server_lost_is_no_way_around_the_quota() {
    let server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    let half = json!("x".repeat(600_000));
    redis.set(&at(&own), "a", &half, None).unwrap();
    send(&server, &["DEL", "hookbox:{hook/own}:bytes"]);
    assert!(matches!(
        redis.set(&at(&own), "b", &half, None),
        Err(CacheError::Quota(_))
    ));
    assert_eq!(redis.delete(&at(&own), "a"), Ok(true));
    redis.set(&at(&own), "b", &half, None).unwrap();
}

#[test]
fn an_empty_namespace_leaves_nothing_on_the_server() {
    let server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    let hour = Some(Duration::from_secs(3600));
    redis.set(&at(&own), "a", &json!(1), hour).unwrap();
    redis.increment(&at(&own), "b", 1, hour).unwrap();
    assert_eq!(send(&server, &["DBSIZE"]), ":3\r\n");
    redis.delete(&at(&own), "a").unwrap();
    redis
        .set(&at(&own), "b", &json!(1), Some(Duration::ZERO))
        .unwrap();
    assert_eq!(redis.get(&at(&own), "b"), Ok(None));
    assert_eq!(send(&server, &["DBSIZE"]), ":0\r\n");
}

#[test]
fn a_server_without_memory_refuses_values_and_gives_back_what_it_has() {
    let server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    redis.set(&at(&own), "k", &json!(1), None).unwrap();
    send(&server, &["CONFIG", "SET", "maxmemory", "1"]);
    assert!(is_unavailable(&redis.set(&at(&own), "k", &json!(2), None)));
    assert!(is_unavailable(&redis.increment(&at(&own), "k", 1, None)));
    assert_eq!(redis.get(&at(&own), "k"), Ok(Some(json!(1))));
    assert_eq!(redis.delete(&at(&own), "k"), Ok(true));
    assert_eq!(send(&server, &["DBSIZE"]), ":0\r\n");
}

#[test]
fn no_more_than_sixteen_connections_are_kept() {
    let server = Server::start();
    let redis = Redis::open(&server.url()).unwrap();
    let own = Namespace::of_hook("own");
    // No call ends while the server is stopped, so each needs a connection.
    server.signal("STOP");
    thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| redis.increment(&at(&own), "n", 1, None).unwrap());
        }
        thread::sleep(Duration::from_millis(500));
        server.signal("CONT");
    });
    // The test asks on one more.
    while count(&server, "clients", "connected_clients:") > 17 {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(count(&server, "stats", "total_connections_received:") > 17);
    assert_eq!(redis.increment(&at(&own), "n", 1, None), Ok(41));
}

/// Returns a number that the server tells about itself.
fn count(server: &Server, section: &str, name: &str) -> usize {
    let answer = send(server, &["INFO", section]);
    let line = answer.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().parse().unwrap()
}

/// Sends a command as any program may, and returns the start of the answer.
fn send(server: &Server, command: &[&str]) -> String {
    let address = server.url().replace("redis://", "");
    let mut stream = TcpStream::connect(address).unwrap();
    let mut words = ::redis::cmd(command[0]);
    stream
        .write_all(&words.arg(&command[1..]).get_packed_command())
        .unwrap();
    let mut answer = [0; 16_384];
    let read = stream.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}
