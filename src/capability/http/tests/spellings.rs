//! URLs that try to look like something they are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::{Door, Host, Resolve, Target};
use super::{door, entry, everything_here, get, invalid, not_granted, send};

/// A door that grants any name on any port, and the number of lookups it makes.
fn wide_door() -> (Door, Arc<AtomicUsize>) {
    let lookups = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lookups);
    let resolve: Resolve = Arc::new(move |name| {
        counter.fetch_add(1, Ordering::SeqCst);
        everything_here()(name)
    });
    let entries = vec![entry("* http://*:*/*"), entry("* https://*:*/*")];
    (door(entries, resolve), lookups)
}

/// Asserts that a wide grant of names does not cover an address, however it is spelled.
fn assert_is_an_address(url: &str, address: &str) {
    let (door, lookups) = wide_door();
    let text = not_granted(send(&door, get(url)));
    assert!(text.contains("the host differs"), "{url}: {text}");
    assert!(
        text.contains(&format!("GET http://{address}")),
        "{url}: {text}"
    );
    assert_eq!(lookups.load(Ordering::SeqCst), 0, "{url} was looked up");
}

#[test]
fn a_shortened_address_is_the_address() {
    assert_is_an_address("http://127.1/", "127.0.0.1/");
}

#[test]
fn a_hexadecimal_address_is_the_address() {
    assert_is_an_address("http://0x7f.1/", "127.0.0.1/");
    assert_is_an_address("http://0x7f000001/", "127.0.0.1/");
}

#[test]
fn a_decimal_address_is_the_address() {
    assert_is_an_address("http://2130706433/", "127.0.0.1/");
}

#[test]
fn an_octal_address_is_the_address() {
    assert_is_an_address("http://0177.0.0.1/", "127.0.0.1/");
}

#[test]
fn an_encoded_or_full_width_address_is_the_address() {
    assert_is_an_address("http://127%2e0.0.1/", "127.0.0.1/");
    assert_is_an_address("http://１２７.０.０.１/", "127.0.0.1/");
    assert_is_an_address("http://127。0。0。1/", "127.0.0.1/");
}

#[test]
fn an_address_with_a_trailing_dot_is_the_address() {
    assert_is_an_address("http://127.0.0.1./", "127.0.0.1/");
}

#[test]
fn ipv6_spellings_of_loopback_are_addresses() {
    assert_is_an_address("http://[::1]/", "[::1]/");
    assert_is_an_address("http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]/");
    assert_is_an_address("http://[64:ff9b::7f00:1]/", "[64:ff9b::7f00:1]/");
    assert_is_an_address("http://[0:0::0:1]:8080/x", "[::1]:8080/x");
}

#[test]
fn the_unspecified_address_is_an_address() {
    assert_is_an_address("http://0.0.0.0/", "0.0.0.0/");
    assert_is_an_address("http://0/", "0.0.0.0/");
    assert_is_an_address("http://[::]/", "[::]/");
}

#[test]
fn a_name_that_resolves_to_loopback_is_refused_with_the_help_an_owner_needs() {
    let (door, lookups) = wide_door();
    let text = not_granted(send(&door, get("http://sneaky.test/")));
    assert_eq!(
        text,
        "sneaky.test resolves to 127.0.0.1, which is loopback; \
         add `networks: [loopback]` to the grant \"* http://*:*/*\" if that is meant"
    );
    assert_eq!(lookups.load(Ordering::SeqCst), 1);
}

#[test]
fn a_trailing_dot_and_mixed_case_are_the_same_name() {
    let target = Target::parse("HTTP://API.Example.COM./x").unwrap();
    assert_eq!(target.host(), &Host::Name("api.example.com".to_owned()));
    assert_eq!(target.to_string(), "http://api.example.com/x");
}

#[test]
fn userinfo_before_the_host_is_refused() {
    let (door, _) = wide_door();
    for url in [
        "http://api.example@evil.test/",
        "http://a:b@evil.test/",
        "http://:b@evil.test/",
    ] {
        let text = invalid(send(&door, get(url)));
        assert!(text.contains("user name or a password"), "{text}");
    }
}

#[test]
fn a_homograph_does_not_match_the_ascii_rule() {
    let door = door(vec![entry("GET http://example.com/*")], everything_here());
    // The first letter is Cyrillic.
    let text = not_granted(send(&door, get("http://еxample.com/")));
    assert!(text.contains("GET http://xn--"), "{text}");
    assert!(text.contains("the host differs"), "{text}");
}

#[test]
fn a_full_width_host_is_the_ascii_host_it_normalises_to() {
    let target = Target::parse("http://ｅｘａｍｐｌｅ.com/").unwrap();
    assert_eq!(target.host(), &Host::Name("example.com".to_owned()));
}

#[test]
fn tabs_newlines_and_other_control_characters_in_a_url_are_refused() {
    let (door, _) = wide_door();
    for url in [
        "http://ex\tample.test/",
        "http://a.test/\r\nx: y",
        "\nhttp://a.test/",
        "http://a\0.test/",
    ] {
        assert!(
            invalid(send(&door, get(url))).contains("control character"),
            "{url:?}"
        );
    }
}

#[test]
fn a_backslash_is_never_a_slash() {
    let (door, _) = wide_door();
    for url in [
        "http://good.test\\@evil.test/",
        "http:\\\\evil.test/",
        "http://a.test/a\\..\\b",
    ] {
        assert!(
            invalid(send(&door, get(url))).contains("backslash"),
            "{url}"
        );
    }
}

#[test]
fn other_schemes_are_refused() {
    let (door, _) = wide_door();
    for url in [
        "ftp://a.test/",
        "file:///etc/passwd",
        "gopher://a.test/",
        "data:text/plain,x",
        "ws://a.test/",
    ] {
        let text = invalid(send(&door, get(url)));
        assert!(
            text.contains("is not permitted (only http/https)"),
            "{url}: {text}"
        );
    }
}

#[test]
fn urls_without_a_usable_host_are_refused() {
    let (door, _) = wide_door();
    for url in [
        "http://",
        "http:///",
        "/relative",
        "http://a..b/",
        "http://exa*mple.test/",
        "http://a.test:0/",
    ] {
        invalid(send(&door, get(url)));
    }
}

#[test]
fn an_overlong_url_is_refused() {
    let (door, _) = wide_door();
    let url = format!("http://a.test/{}", "x".repeat(8 * 1024));
    assert!(invalid(send(&door, get(&url))).contains("longer than"));
}

#[test]
fn another_port_method_or_scheme_is_refused_and_the_text_names_it() {
    let door = door(vec![entry("GET https://a.test/v1/*")], everything_here());
    let table = [
        ("GET", "https://a.test:8443/v1/x", "the port differs"),
        ("DELETE", "https://a.test/v1/x", "the method differs"),
        ("GET", "http://a.test/v1/x", "the scheme differs"),
        ("GET", "https://a.test/v2/x", "the path differs"),
    ];
    for (method, url, expected) in table {
        let mut request = get(url);
        request.method = method.to_owned();
        let text = not_granted(send(&door, request));
        let start = format!("no rule of `grant: http:` covers {method} {url}: the nearest is ");
        assert!(
            text.starts_with(&start) && text.ends_with(expected),
            "{text}"
        );
    }
}

#[test]
fn an_empty_grant_grants_nothing() {
    let door = door(vec![], everything_here());
    let text = not_granted(send(&door, get("https://a.test/")));
    assert!(text.ends_with("it grants nothing"), "{text}");
}

#[test]
fn the_nearest_rule_is_the_one_that_differs_last() {
    let rules = [
        "GET https://b.test/*",
        "POST https://a.test/x",
        "GET https://a.test/y",
    ];
    let door = door(rules.map(entry).to_vec(), everything_here());
    let text = not_granted(send(&door, get("https://a.test/x")));
    assert!(
        text.ends_with("the nearest is \"POST https://a.test/x\", and the method differs"),
        "{text}"
    );
}
