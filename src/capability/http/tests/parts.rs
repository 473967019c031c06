//! Templates, networks, header names and how a grant is shown.

use std::time::Duration;

use super::super::{Entry, GrantError, HeaderName, HttpGrant, Network, Template};
use super::entry;

#[test]
fn templates_take_holes_and_legal_text_only() {
    for good in [
        "Bearer {secret:API_TOKEN}",
        "{secret:A}:{secret:B_2}",
        "plain",
        "",
    ] {
        assert_eq!(Template::parse(good).unwrap().to_string(), good);
    }
    let template = Template::parse("{secret:A}:{secret:B_2}").unwrap();
    assert_eq!(template.secrets().collect::<Vec<_>>(), ["A", "B_2"]);
    let table = [
        ("{secret:}", "is not the name of a secret"),
        ("{secret:lower}", "is not the name of a secret"),
        ("{secret:A", "write a hole as `{secret:NAME}`"),
        ("{Secret:A}", "write a hole as `{secret:NAME}`"),
        ("a}b", "write a hole as `{secret:NAME}`"),
        ("{secret:A{secret:B}}", "is not the name of a secret"),
        ("a\r\nx: y", "visible ascii"),
        ("a\0", "visible ascii"),
        (" padded", "visible ascii"),
        ("ü", "visible ascii"),
    ];
    for (text, expected) in table {
        let error = Template::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn networks_are_words_or_networks() {
    for good in [
        "loopback",
        "private",
        "link-local",
        "10.0.0.0/8",
        "fd00::/8",
    ] {
        assert_eq!(Network::parse(good).unwrap().to_string(), good);
    }
    let table = [
        ("Private", "write `loopback`, `private`, `link-local`"),
        ("10.0.0.1", "or a CIDR such as"),
        ("10.0.0.0/33", "or a CIDR such as"),
        ("10.0.0.1/8", "write `10.0.0.0/8`"),
    ];
    for (text, expected) in table {
        let error = Network::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn headers_that_frame_the_message_cannot_be_named() {
    let framing = [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "connection",
        "upgrade",
        "TE",
        "trailer",
        "keep-alive",
        "expect",
        "proxy-authorization",
        "Proxy-Connection",
    ];
    for name in framing {
        let error = HeaderName::parse(name).unwrap_err().to_string();
        assert!(error.contains("cannot be set"), "{name}: {error}");
    }
    for name in ["", "a b", "a\r\nb", "a:b", "ü", "a\0"] {
        let error = HeaderName::parse(name).unwrap_err().to_string();
        assert!(
            error.contains("is not the name of a header"),
            "{name}: {error}"
        );
    }
    assert_eq!(
        HeaderName::parse("X-Api-Key").unwrap().as_str(),
        "x-api-key"
    );
}

#[test]
fn a_grant_is_shown_with_everything_it_allows() {
    let full = Entry {
        headers: vec![(
            HeaderName::parse("Authorization").unwrap(),
            Template::parse("Bearer {secret:T}").unwrap(),
        )],
        redirects: 3,
        networks: vec![Network::Private, Network::parse("127.0.0.0/8").unwrap()],
        timeout: Some(Duration::from_secs(5)),
        ..entry("GET https://a.example/*")
    };
    let grant = HttpGrant {
        entries: vec![full, entry("POST https://b.example/x")],
    };
    assert_eq!(
        grant.to_string(),
        "GET https://a.example/*, header authorization: Bearer {secret:T}, redirects: 3, \
         networks: [private, 127.0.0.0/8], timeout: 5s\nPOST https://b.example/x"
    );
}

#[test]
fn more_than_ten_redirects_cannot_be_granted() {
    let mut entry = entry("GET https://a.example/*");
    entry.redirects = 10;
    assert_eq!(entry.check(), Ok(()));
    entry.redirects = 11;
    assert_eq!(entry.check(), Err(GrantError::Redirects(11)));
    assert_eq!(entry.redirects(), 10);
}
