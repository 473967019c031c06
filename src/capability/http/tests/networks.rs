//! Which addresses a granted name may lead to.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::super::{Network, Resolve};
use super::server::{Server, ok};
use super::{
    body, door, entry, everything_here, get, impatient, local, names, not_granted, send, timeout,
};

#[test]
fn a_name_with_one_private_answer_among_public_ones_is_refused() {
    let resolve = names(&[("mixed.test", &["8.8.8.8", "10.0.0.7", "1.1.1.1"])]);
    let door = door(vec![entry("GET http://mixed.test/*")], resolve);
    let text = not_granted(send(&door, get("http://mixed.test/")));
    assert!(
        text.starts_with(
            "mixed.test resolves to 10.0.0.7, which is private; add `networks: [private]`"
        ),
        "{text}"
    );
}

#[test]
fn the_seventeenth_address_is_checked_too() {
    let mut addresses = vec!["8.8.8.8"; 16];
    addresses.push("127.0.0.1");
    let door = door(
        vec![entry("GET http://many.test/*")],
        names(&[("many.test", &addresses)]),
    );
    assert!(not_granted(send(&door, get("http://many.test/"))).contains("127.0.0.1"));
}

#[test]
fn a_metadata_service_is_not_reached_by_the_word_link_local() {
    let mut entry = entry("GET http://meta.test/*");
    entry.networks = vec![Network::LinkLocal, Network::Private];
    let door = door(vec![entry], names(&[("meta.test", &["169.254.169.254"])]));
    let text = not_granted(send(&door, get("http://meta.test/")));
    assert!(
        text.contains("which is a cloud metadata service; no word in `networks:`"),
        "{text}"
    );
}

#[test]
fn a_name_that_changes_between_check_and_connect_is_looked_up_once() {
    let checked = Server::fixed(ok("checked"));
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let resolve: Resolve = Arc::new(move |_| {
        let last = match counter.fetch_add(1, Ordering::SeqCst) {
            0 => 1,
            _ => 2,
        };
        Ok(vec![IpAddr::from([127, 0, 0, last])])
    });
    // Where the whole of 127/8 is this machine, somebody waits at the second answer.
    let address = format!("127.0.0.2:{}", checked.port);
    let is_linux = cfg!(target_os = "linux");
    let rebound = is_linux.then(|| Server::on(&address, |_, _| {}));
    let door = door(
        vec![local(&format!("GET http://rebind.test:{}/*", checked.port))],
        resolve,
    );
    let response = send(&door, get(&checked.url("rebind.test", "/"))).unwrap();
    assert_eq!(body(&response), "checked");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(checked.accepted(), 1);
    assert!(rebound.is_none_or(|server| server.accepted() == 0));
}

#[test]
fn loopback_needs_a_network_a_literal_or_the_word_localhost() {
    let server = Server::fixed(ok("hello"));
    let port = server.port;
    let status = |entry, url: &str| send(&door(vec![entry], everything_here()), get(url));
    let named = format!("GET http://here.test:{port}/*");
    not_granted(status(entry(&named), &server.url("here.test", "/")));
    assert_eq!(server.accepted(), 0);
    let granted = [
        (local(&named), "here.test"),
        (
            entry(&format!("GET http://127.0.0.1:{port}/*")),
            "127.0.0.1",
        ),
        (
            entry(&format!("GET http://localhost:{port}/*")),
            "localhost",
        ),
        (
            entry(&format!("GET http://localhost:{port}/*")),
            "LOCALHOST.",
        ),
    ];
    for (entry, host) in granted {
        assert_eq!(
            status(entry, &server.url(host, "/")).unwrap().status,
            200,
            "{host}"
        );
    }
}

#[test]
fn two_entries_of_one_origin_do_not_lend_each_other_a_connection() {
    let server = Server::fixed(ok("hello"));
    let open = local(&format!("GET http://a.test:{}/open", server.port));
    let closed = entry(&format!("GET http://a.test:{}/closed", server.port));
    let door = door(vec![open, closed], everything_here());
    assert_eq!(
        send(&door, get(&server.url("a.test", "/open")))
            .unwrap()
            .status,
        200
    );
    let text = not_granted(send(&door, get(&server.url("a.test", "/closed"))));
    assert!(text.contains("which is loopback"), "{text}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_pooled_connection_does_not_hide_that_a_name_has_moved() {
    let server = Server::fixed(ok("hello"));
    let calls = AtomicUsize::new(0);
    let resolve: Resolve = Arc::new(move |_| {
        let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        let ip = if first { [127, 0, 0, 1] } else { [10, 0, 0, 1] };
        Ok(vec![IpAddr::from(ip)])
    });
    let door = door(
        vec![local(&format!("GET http://a.test:{}/*", server.port))],
        resolve,
    );
    assert_eq!(
        send(&door, get(&server.url("a.test", "/"))).unwrap().status,
        200
    );
    assert!(not_granted(send(&door, get(&server.url("a.test", "/")))).contains("10.0.0.1"));
}

#[test]
fn a_lookup_that_hangs_ends_with_the_time_of_the_request() {
    let (_keep, hang) = mpsc::channel::<()>();
    let hang = std::sync::Mutex::new(hang);
    let resolve: Resolve = Arc::new(move |_| {
        let _ = hang.lock().unwrap().recv();
        Ok(vec![])
    });
    let door = door(vec![entry("GET http://slow.test/*")], resolve);
    assert!(
        timeout(send(&door, impatient("http://slow.test/"))).contains("was not resolved within")
    );
}

#[test]
fn an_address_literal_is_not_looked_up() {
    let server = Server::fixed(ok("hello"));
    let resolve: Resolve = Arc::new(|name| panic!("{name} was looked up"));
    let door = door(
        vec![entry(&format!("GET http://127.0.0.1:{}/*", server.port))],
        resolve,
    );
    assert_eq!(
        send(&door, get(&server.url("127.0.0.1", "/")))
            .unwrap()
            .status,
        200
    );
}
