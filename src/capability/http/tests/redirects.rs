//! Redirects: each hop is a request of its own.

use std::io::Write;
use std::sync::Arc;

use super::super::{HeaderName, HttpLimits, Template};
use super::server::{Server, ok, redirect};
use super::{
    Door, Entry, Request, body, door, entry, everything_here, following, get, grant, invalid,
    local, names, not_granted, post, send,
};

/// A server that redirects `/go` and answers everything else with `there`.
fn going(status: u16, location: &str) -> Server {
    let answer = redirect(status, location);
    Server::new(move |request, stream| {
        let is_go = request.split(' ').nth(1) == Some("/go");
        let answer = if is_go { answer.clone() } else { ok("there") };
        stream.write_all(answer.as_bytes()).unwrap();
    })
}

fn any(server: &Server, redirects: u8) -> Door {
    let rule = format!("* http://a.test:{}/*", server.port);
    door(vec![following(&rule, redirects)], everything_here())
}

#[test]
fn a_redirect_comes_back_as_it_is_unless_it_is_granted() {
    let server = going(302, "/there");
    let response = send(&any(&server, 0), get(&server.url("a.test", "/go"))).unwrap();
    assert_eq!(response.status, 302);
    assert!(
        response
            .headers
            .contains(&("location".to_owned(), "/there".to_owned()))
    );
    assert_eq!(response.url, server.url("a.test", "/go"));
}

#[test]
fn a_granted_redirect_is_followed_and_the_last_url_reported() {
    let server = going(302, "/there?x=1");
    let response = send(&any(&server, 1), get(&server.url("a.test", "/go"))).unwrap();
    assert_eq!(body(&response), "there");
    assert_eq!(response.url, server.url("a.test", "/there?x=1"));
}

#[test]
fn one_redirect_too_many_is_refused() {
    let server = going(302, "/go");
    let text = not_granted(send(&any(&server, 3), get(&server.url("a.test", "/go"))));
    assert!(text.contains("allows only 3 redirects"), "{text}");
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn a_redirect_to_the_metadata_service_is_refused() {
    let server = going(302, "http://169.254.169.254/latest/meta-data/");
    let wide = format!("GET http://*:{}/*", server.port);
    let entries = vec![following(&wide, 5), following("GET http://*/*", 5)];
    let door = door(entries, everything_here());
    let text = not_granted(send(&door, get(&server.url("a.test", "/go"))));
    assert!(text.starts_with("redirect from http://a.test:"), "{text}");
    assert!(
        text.contains("covers GET http://169.254.169.254/latest/meta-data/"),
        "{text}"
    );
}

#[test]
fn a_redirect_to_a_name_of_the_metadata_service_is_refused() {
    let server = going(302, "http://metadata.test/");
    let first = following(&format!("GET http://a.test:{}/*", server.port), 5);
    let resolve = names(&[
        ("a.test", &["127.0.0.1"]),
        ("metadata.test", &["169.254.169.254"]),
    ]);
    let door = door(vec![first, entry("GET http://*/*")], resolve);
    let text = not_granted(send(&door, get(&server.url("a.test", "/go"))));
    assert!(
        text.contains("metadata.test resolves to 169.254.169.254"),
        "{text}"
    );
}

#[test]
fn a_redirect_to_loopback_is_refused() {
    let inner = Server::fixed(ok("inner"));
    for host in ["127.0.0.1", "[::1]", "localhost", "127.1"] {
        let server = going(302, &inner.url(host, "/"));
        let first = following(&format!("GET http://a.test:{}/*", server.port), 5);
        let entries = vec![first, entry("GET http://*:*/*")];
        not_granted(send(
            &door(entries, everything_here()),
            get(&server.url("a.test", "/go")),
        ));
    }
    assert_eq!(inner.accepted(), 0);
}

#[test]
fn a_redirect_to_a_host_that_is_not_granted_is_refused() {
    let other = Server::fixed(ok("other"));
    let server = going(307, &other.url("b.test", "/"));
    let text = not_granted(send(&any(&server, 5), get(&server.url("a.test", "/go"))));
    assert!(text.contains("the host differs"), "{text}");
    assert_eq!(other.accepted(), 0);
}

#[test]
fn a_redirect_to_another_scheme_or_with_userinfo_is_refused() {
    for location in [
        "file:///etc/passwd",
        "gopher://a.test/",
        "http://u:p@a.test/",
        "//u@a.test/",
        "http://a.test\\x/",
    ] {
        let server = going(302, location);
        let text = invalid(send(&any(&server, 5), get(&server.url("a.test", "/go"))));
        assert!(text.starts_with("redirect from http://a.test:"), "{text}");
    }
}

#[test]
fn two_locations_are_no_location() {
    let server = Server::fixed(
        "HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n",
    );
    assert_eq!(
        send(&any(&server, 5), get(&server.url("a.test", "/go")))
            .unwrap()
            .status,
        302
    );
}

#[test]
fn the_method_and_the_body_change_as_the_status_says() {
    let table = [
        (301, "POST", "GET", ""),
        (302, "POST", "GET", ""),
        (303, "POST", "GET", ""),
        (303, "PUT", "GET", ""),
        (302, "PUT", "PUT", "payload"),
        (307, "POST", "POST", "payload"),
        (308, "POST", "POST", "payload"),
    ];
    for (status, before, after, kept) in table {
        let server = going(status, "/there");
        let mut request = post(&server.url("a.test", "/go"), "payload");
        request.method = before.to_owned();
        request.headers = vec![("content-type".to_owned(), "text/plain".to_owned())];
        send(&any(&server, 1), request).unwrap();
        let seen = server.seen().pop().unwrap();
        assert!(
            seen.starts_with(&format!("{after} /there ")),
            "{status} {before}: {seen}"
        );
        assert!(
            seen.ends_with(&format!("\r\n\r\n{kept}")),
            "{status} {before}: {seen}"
        );
        assert_eq!(seen.contains("content-type"), !kept.is_empty(), "{seen}");
    }
}

#[test]
fn a_rule_for_post_does_not_cover_the_get_that_a_redirect_makes_of_it() {
    let server = going(303, "/there");
    let rule = format!("POST http://a.test:{}/*", server.port);
    let door = door(vec![following(&rule, 5)], everything_here());
    let text = not_granted(send(&door, post(&server.url("a.test", "/go"), "x")));
    assert!(text.contains("the method differs"), "{text}");
}

fn with_credentials(url: &str) -> Request {
    let pair = |name: &str| (name.to_owned(), "guest-value".to_owned());
    Request {
        headers: vec![pair("Authorization"), pair("Cookie"), pair("X-Kept")],
        ..get(url)
    }
}

#[test]
fn credentials_of_the_guest_stay_at_their_origin() {
    let other = Server::fixed(ok("other"));
    let server = going(302, &other.url("b.test", "/"));
    let entries = vec![
        following(&format!("GET http://a.test:{}/*", server.port), 5),
        local(&format!("GET http://b.test:{}/*", other.port)),
    ];
    send(
        &door(entries, everything_here()),
        with_credentials(&server.url("a.test", "/go")),
    )
    .unwrap();
    let seen = other.seen().remove(0).to_ascii_lowercase();
    assert!(
        !seen.contains("authorization:") && !seen.contains("cookie:"),
        "{seen}"
    );
    assert!(seen.contains("x-kept: guest-value"), "{seen}");
    assert!(server.seen()[0].contains("guest-value"));
}

#[test]
fn credentials_of_the_guest_are_kept_within_their_origin() {
    let server = going(302, "/there");
    send(
        &any(&server, 5),
        with_credentials(&server.url("a.test", "/go")),
    )
    .unwrap();
    assert!(
        server.seen()[1]
            .to_ascii_lowercase()
            .contains("authorization: guest-value")
    );
}

#[test]
fn a_secret_is_sent_only_to_hops_whose_own_entry_has_it() {
    let other = Server::fixed(ok("other"));
    let server = going(302, &other.url("b.test", "/"));
    let token = (
        HeaderName::parse("x-token").unwrap(),
        Template::parse("{secret:TOKEN}").unwrap(),
    );
    let first = Entry {
        headers: vec![token],
        ..following(&format!("GET http://a.test:{}/*", server.port), 5)
    };
    let second = local(&format!("GET http://b.test:{}/*", other.port));
    let secrets = Arc::new(|_: &str| Some("very-secret-token".to_owned()));
    let limits = HttpLimits::default();
    let door = Door::new(
        grant(vec![first, second]),
        None,
        everything_here(),
        secrets,
        limits,
    );
    send(&door, get(&server.url("a.test", "/go"))).unwrap();
    assert!(server.seen()[0].contains("very-secret-token"));
    assert!(!other.seen()[0].contains("very-secret-token"));
}

#[test]
fn leaving_https_for_http_is_refused() {
    use super::super::exchange::Answer;
    use super::super::redirect::Ask;
    use super::super::{Method, Target};
    let ask = Ask {
        method: Method::parse("GET").unwrap(),
        target: Target::parse("https://a.test/").unwrap(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    let answer = Answer {
        status: 302,
        headers: Vec::new(),
        body: Vec::new(),
    };
    let error = ask.clone().follow(&answer, "http://a.test/").unwrap_err();
    assert!(
        error.to_string().contains("leaves https for http"),
        "{error}"
    );
    assert!(ask.follow(&answer, "https://b.test/").is_ok());
}
