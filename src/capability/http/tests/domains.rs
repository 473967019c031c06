//! The allowlist of AI Harness.

use super::super::{Domains, HttpLimits, Target};
use super::server::{Server, ok};
use super::{Door, everything_here, get, grant, local, no_secrets, not_granted, send};

fn is_allowed(domains: &[&str], url: &str) -> bool {
    let target = Target::parse(url).unwrap();
    Domains::new(domains).check(&target).is_ok()
}

#[test]
fn the_list_matches_as_the_harness_does() {
    let table: &[(&[&str], &str, bool)] = &[
        (&["example.com"], "https://example.com/", true),
        (&["example.com"], "https://a.b.example.com:8443/", true),
        (&["example.com"], "https://notexample.com/", false),
        (&["example.com"], "https://example.com.evil.test/", false),
        (&["*.example.com"], "https://a.example.com/", true),
        (&["*.example.com"], "https://example.com/", false),
        (&["*"], "https://anything.test/", true),
        (&["*"], "https://1.2.3.4/", true),
        (&["  EXAMPLE.com. "], "https://Example.COM./", true),
        (&["", "   "], "https://example.com/", false),
        (&[], "https://example.com/", false),
        (&["1.2.3.4"], "https://1.2.3.4/", false),
        (&["bücher.example"], "https://xn--bcher-kva.example/", true),
    ];
    for (domains, url, expected) in table {
        assert_eq!(is_allowed(domains, url), *expected, "{domains:?} {url}");
    }
}

#[test]
fn refusals_hide_the_query() {
    let domains = Domains::new(["example.com"]);
    let text = |url| {
        domains
            .check(&Target::parse(url).unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        text("https://gist.github.com/x?token=secret"),
        "network sandbox: host \"gist.github.com\" is not in the allowlist \
         (url=https://gist.github.com/x?…)"
    );
    assert_eq!(
        text("https://10.0.0.1/"),
        "network sandbox: IP literal \"10.0.0.1\" is not in the allowlist"
    );
}

#[test]
fn the_list_narrows_a_grant_and_never_widens_it() {
    let server = Server::fixed(ok("hello"));
    let rule = format!("GET http://a.test:{}/*", server.port);
    let build = |domains: &[&str]| {
        let limits = HttpLimits::default();
        let domains = Some(Domains::new(domains));
        Door::new(
            grant(vec![local(&rule)]),
            domains,
            everything_here(),
            no_secrets(),
            limits,
        )
    };
    assert_eq!(
        send(&build(&["a.test"]), get(&server.url("a.test", "/")))
            .unwrap()
            .status,
        200
    );
    let text = not_granted(send(&build(&["b.test"]), get(&server.url("a.test", "/"))));
    assert!(text.starts_with("network sandbox: "), "{text}");
    let text = not_granted(send(&build(&[]), get(&server.url("a.test", "/"))));
    assert!(text.starts_with("network sandbox: "), "{text}");
    let text = not_granted(send(&build(&["*"]), get(&server.url("b.test", "/"))));
    assert!(text.contains("no rule of `grant: http:` covers"), "{text}");
}
