//! Secrets: they go out, and they do not come back.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};

use super::super::{HeaderName, HttpLimits, Secrets, Template};
use super::server::{Server, ok, ok_with, redirect};
use super::{Door, Entry, Request, Response, body, everything_here, following, get, grant};
use super::{not_granted, send, too_large};

const SECRET: &str = "s3cr3t/+ \"tok%41en\"?>>>~";

fn fixed_secret(value: &'static str) -> Secrets {
    Arc::new(move |name| (name == "TOKEN").then(|| value.to_owned()))
}

fn door_with(server: &Server, value: &str, secrets: Secrets) -> Door {
    let entry = Entry {
        headers: vec![(
            HeaderName::parse("Authorization").unwrap(),
            Template::parse(value).unwrap(),
        )],
        ..following(&format!("GET http://a.test:{}/*", server.port), 3)
    };
    let limits = HttpLimits::default();
    Door::new(grant(vec![entry]), None, everything_here(), secrets, limits)
}

/// The value of the authorization header of a request.
fn authorization(request: &str) -> String {
    let is_it = |line: &&str| line.to_ascii_lowercase().starts_with("authorization: ");
    let line = request.lines().find(is_it).unwrap();
    line["authorization: ".len()..].to_owned()
}

/// Sends a request with the secret to a server that answers with what `echo` makes of it.
fn echoed(echo: impl Fn(&str) -> String + Send + Sync + 'static) -> Response {
    let server = Server::new(move |request, stream| {
        let answer = echo(&authorization(request));
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let door = door_with(&server, "Bearer {secret:TOKEN}", fixed_secret(SECRET));
    let response = send(&door, get(&server.url("a.test", "/"))).unwrap();
    assert!(
        server.seen()[0].contains(&format!("Bearer {SECRET}")),
        "it was not sent"
    );
    response
}

#[test]
fn a_secret_echoed_in_the_body_is_replaced() {
    let response = echoed(|value| ok(&format!("you sent {value}, {value}!")));
    assert_eq!(
        body(&response),
        "you sent Bearer [secret:TOKEN], Bearer [secret:TOKEN]!"
    );
}

#[test]
fn a_secret_echoed_in_a_header_is_replaced() {
    let response = echoed(|value| ok_with(&format!("x-echo: <{value}>\r\n"), "hi"));
    let expected = ("x-echo".to_owned(), "<Bearer [secret:TOKEN]>".to_owned());
    assert!(response.headers.contains(&expected), "{response:?}");
}

#[test]
fn a_secret_echoed_in_base64_is_replaced() {
    for prefix in ["", "a", "ab", "Bearer ", "user:"] {
        let encode = move |value: &str| {
            let text = format!("{prefix}{}", value.strip_prefix("Bearer ").unwrap());
            format!("[{}] [{}]", STANDARD.encode(&text), URL_SAFE.encode(&text))
        };
        let response = echoed(move |value| ok(&encode(value)));
        let text = body(&response);
        assert_eq!(
            text.matches("[secret:TOKEN]").count(),
            2,
            "{prefix}: {text}"
        );
        let whole = STANDARD_NO_PAD.encode(SECRET);
        assert!(!text.contains(&whole[4..16]), "{prefix}: {text}");
    }
}

#[test]
fn a_secret_echoed_in_percent_encoding_is_replaced() {
    let all = |value: &str| {
        value
            .bytes()
            .map(|b| format!("%{b:02X}"))
            .collect::<String>()
    };
    let lower = |value: &str| {
        value
            .bytes()
            .map(|b| format!("%{b:02x}"))
            .collect::<String>()
    };
    let form =
        |value: &str| url::form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>();
    let spell = move |value: &str| {
        let secret = value.strip_prefix("Bearer ").unwrap();
        ok(&format!(
            "{} {} {}",
            all(secret),
            lower(secret),
            form(secret)
        ))
    };
    assert_eq!(
        body(&echoed(spell)),
        "[secret:TOKEN] [secret:TOKEN] [secret:TOKEN]"
    );
}

#[test]
fn a_secret_echoed_in_json_is_replaced() {
    let spell = |value: &str| {
        let secret = value.strip_prefix("Bearer ").unwrap();
        let escaped = secret.replace('"', "\\\"").replace('/', "\\/");
        ok(&format!(
            "{{\"a\":\"{escaped}\",\"b\":\"{}\"}}",
            secret.replace('"', "\\u0022")
        ))
    };
    assert_eq!(
        body(&echoed(spell)),
        r#"{"a":"[secret:TOKEN]","b":"[secret:TOKEN]"}"#
    );
}

#[test]
fn a_secret_echoed_in_hexadecimal_is_replaced() {
    let spell = |value: &str| {
        let secret = value.strip_prefix("Bearer ").unwrap();
        let hex: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
        ok(&format!("{hex} {}", hex.to_ascii_uppercase()))
    };
    assert_eq!(body(&echoed(spell)), "[secret:TOKEN] [secret:TOKEN]");
}

#[test]
fn a_secret_echoed_in_a_redirect_is_replaced_in_the_last_url() {
    let server = Server::new(|request, stream: &mut TcpStream| {
        let value = authorization(request);
        let secret = value.strip_prefix("Bearer ").unwrap();
        let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        let answer = match request.starts_with("GET /go ") {
            true => redirect(302, &format!("/there?token={encoded}")),
            false => ok("there"),
        };
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let door = door_with(&server, "Bearer {secret:TOKEN}", fixed_secret(SECRET));
    let response = send(&door, get(&server.url("a.test", "/go"))).unwrap();
    assert_eq!(
        response.url,
        server.url("a.test", "/there?token=[secret:TOKEN]")
    );
}

#[test]
fn a_secret_echoed_in_a_refused_redirect_is_replaced_in_the_error() {
    let server = Server::new(|request, stream: &mut TcpStream| {
        let value = authorization(request);
        stream
            .write_all(redirect(302, &format!("/{value}/../x//y:{value}")).as_bytes())
            .unwrap();
    });
    let secrets = fixed_secret("plain-secret-token");
    let door = door_with(&server, "{secret:TOKEN}", secrets);
    let text = not_granted(send(&door, get(&server.url("a.test", "/go"))));
    assert!(
        !text.contains("plain-secret-token") && text.contains("[secret:TOKEN]"),
        "{text}"
    );
}

#[test]
fn a_secret_echoed_in_another_case_is_replaced() {
    let response = echoed(|value| ok(&value.to_ascii_uppercase()));
    assert_eq!(body(&response), "BEARER [secret:TOKEN]");
}

#[test]
fn a_secret_echoed_as_the_host_of_a_refused_redirect_is_replaced_in_the_error() {
    let server = Server::new(|request, stream: &mut TcpStream| {
        let location = format!("http://{}.test/", authorization(request));
        stream
            .write_all(redirect(302, &location).as_bytes())
            .unwrap();
    });
    let door = door_with(
        &server,
        "{secret:TOKEN}",
        fixed_secret("Plain-Secret-Token"),
    );
    let text = not_granted(send(&door, get(&server.url("a.test", "/go"))));
    assert!(
        !text.contains("plain-secret") && text.contains("[secret:TOKEN].test"),
        "{text}"
    );
}

#[test]
fn half_a_secret_does_not_show_at_the_end_of_a_long_url() {
    for padding in 150..250 {
        let target = format!("http://a.test/{}plain-secret-token", "x".repeat(padding));
        let shown = super::super::Target::parse(&target).unwrap().to_string();
        assert!(shown.ends_with("plain-secret-token"), "{shown}");
    }
}

#[test]
fn a_body_that_grows_beyond_the_limit_by_the_replacement_is_refused() {
    let most = HttpLimits::default().response_bytes;
    let server = Server::fixed(ok(&"12345678".repeat(most / 8)));
    let door = door_with(&server, "{secret:TOKEN}", fixed_secret("12345678"));
    too_large(send(&door, get(&server.url("a.test", "/"))));
}

#[test]
fn the_header_of_the_grant_replaces_that_of_the_guest() {
    let server = Server::fixed(ok("hi"));
    let door = door_with(
        &server,
        "Bearer {secret:TOKEN}",
        fixed_secret("plain-secret-token"),
    );
    let mine = |name: &str| (name.to_owned(), "mine".to_owned());
    let request = Request {
        headers: vec![mine("authorization"), mine("AUTHORIZATION")],
        ..get(&server.url("a.test", "/"))
    };
    send(&door, request).unwrap();
    let seen = server.seen().remove(0);
    assert!(
        !seen.contains("mine") && seen.contains("Bearer plain-secret-token"),
        "{seen}"
    );
}

#[test]
fn a_secret_that_is_missing_short_or_illegal_is_refused_by_name_only() {
    let table: [(Option<&'static str>, &str); 4] = [
        (None, "is not set"),
        (Some("sixty4"), "is shorter than 8 characters"),
        (
            Some("line\r\nbreak: x"),
            "has characters other than visible ascii",
        ),
        (
            Some("newline-at-the-end\n"),
            "has characters other than visible ascii",
        ),
    ];
    for (value, expected) in table {
        let server = Server::fixed(ok("hi"));
        let secrets: Secrets = Arc::new(move |_| value.map(str::to_owned));
        let door = door_with(&server, "Bearer {secret:TOKEN}", secrets);
        let text = not_granted(send(&door, get(&server.url("a.test", "/"))));
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("HOOKBOX_SECRET_TOKEN"), "{text}");
        assert!(value.is_none_or(|value| !text.contains(value)), "{text}");
        assert_eq!(server.accepted(), 0);
    }
}

#[test]
fn debug_output_does_not_show_a_secret() {
    use super::super::secret::Filled;
    let server = Server::fixed(ok("hi"));
    let door = door_with(
        &server,
        "Bearer {secret:TOKEN}",
        fixed_secret("plain-secret-token"),
    );
    send(&door, get(&server.url("a.test", "/"))).unwrap();
    assert!(!format!("{door:?}").contains("plain-secret-token"));
    let filled = Filled {
        name: "TOKEN".to_owned(),
        value: "plain-secret-token".to_owned().into(),
    };
    assert_eq!(format!("{filled:?}"), "Filled(TOKEN: …)");
}
