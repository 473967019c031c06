//! The rule language.

use super::super::{Difference, Method, Rule, RuleError, Target};

fn difference(rule: &str, method: &str, url: &str) -> Option<Difference> {
    let rule = Rule::parse(rule).unwrap();
    rule.difference(
        &Method::parse(method).unwrap(),
        &Target::parse(url).unwrap(),
    )
}

#[test]
fn rules_cover_what_they_say_and_nothing_else() {
    use Difference::{Host, Method, Path, Port, Scheme};
    let table = [
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example/v1/x/y?q=1#f",
            None,
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example/v1/",
            None,
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example/v1",
            Some(Path),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example/v1/../v2/x",
            Some(Path),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example/v1/%2e%2e/v2",
            Some(Path),
        ),
        (
            "GET https://a.example/v1/*",
            "POST",
            "https://a.example/v1/x",
            Some(Method),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "http://a.example/v1/x",
            Some(Scheme),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example:444/v1/x",
            Some(Port),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example:443/v1/x",
            None,
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://b.example/v1/x",
            Some(Host),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://a.example.b.example/v1/x",
            Some(Host),
        ),
        (
            "GET https://a.example/v1/*",
            "GET",
            "https://x.a.example/v1/x",
            Some(Host),
        ),
        (
            "GET|POST https://a.example/*",
            "POST",
            "https://a.example/",
            None,
        ),
        (
            "* https://a.example/*",
            "PROPFIND",
            "https://a.example/",
            None,
        ),
        (
            "GET https://*.example/*",
            "GET",
            "https://a.b.example/",
            None,
        ),
        (
            "GET https://*.a.example/*",
            "GET",
            "https://a.example/",
            Some(Host),
        ),
        (
            "GET https://*.a.example/*",
            "GET",
            "https://xa.example/",
            Some(Host),
        ),
        ("GET https://*/*", "GET", "https://anything.example/", None),
        ("GET https://*/*", "GET", "https://1.1.1.1/", Some(Host)),
        (
            "GET https://*/*",
            "GET",
            "https://[2606:4700::1]/",
            Some(Host),
        ),
        (
            "GET http://127.0.0.1:8080/*",
            "GET",
            "http://127.0.0.1:8080/x",
            None,
        ),
        (
            "GET http://127.0.0.1/*",
            "GET",
            "http://127.0.0.2/x",
            Some(Host),
        ),
        (
            "GET http://[::1]:*/*",
            "GET",
            "http://[0:0:0:0:0:0:0:1]:9/x",
            None,
        ),
        (
            "GET http://127.0.0.1/*",
            "GET",
            "http://[::ffff:127.0.0.1]/",
            Some(Host),
        ),
        (
            "GET https://a.example:8443/*",
            "GET",
            "https://a.example:8443/",
            None,
        ),
        (
            "GET https://a.example:8443/*",
            "GET",
            "https://a.example/",
            Some(Port),
        ),
        (
            "GET https://a.example:*/*",
            "GET",
            "https://a.example:1/",
            None,
        ),
        (
            "GET https://a.example/x",
            "GET",
            "https://a.example/x?y",
            None,
        ),
        (
            "GET https://a.example/x",
            "GET",
            "https://a.example/x/",
            Some(Path),
        ),
        (
            "GET https://a.example/a*c",
            "GET",
            "https://a.example/abbc",
            None,
        ),
        (
            "GET https://a.example/a*c",
            "GET",
            "https://a.example/abcd",
            Some(Path),
        ),
        (
            "GET https://a.example/aa*a",
            "GET",
            "https://a.example/aa",
            Some(Path),
        ),
        (
            "GET https://a.example/r/*/i/*/x",
            "GET",
            "https://a.example/r/1/2/i/3/x",
            None,
        ),
        (
            "GET https://a.example/r/*/i/*/x",
            "GET",
            "https://a.example/r/1/x",
            Some(Path),
        ),
        (
            "GET https://A.Example./*",
            "GET",
            "https://a.example/",
            None,
        ),
        (
            "GET https://bücher.example/*",
            "GET",
            "https://xn--bcher-kva.example/",
            None,
        ),
        (
            "GET https://a.example/ü/*",
            "GET",
            "https://a.example/%C3%BC/x",
            None,
        ),
    ];
    for (rule, method, url, expected) in table {
        assert_eq!(
            difference(rule, method, url),
            expected,
            "{rule} on {method} {url}"
        );
    }
}

#[test]
fn path_spellings_that_servers_disagree_about_are_refused_unless_every_path_is_granted() {
    let spellings = [
        "/v1/a%2fb",
        "/v1/a%2Fb",
        "/v1/..%2f..%2fadmin",
        "/v1/a%5cb",
        "/v1/a%5Cb",
        "/v1/a%00b",
        "/v1/..;/admin",
        "/v1/%2e%2e;x=y/admin",
        "/v1/%252e%252e/admin",
        "/v1/a%252fb",
        "/v1/.%252e/admin",
    ];
    for path in spellings {
        let url = format!("https://a.example{path}");
        let narrow = difference("GET https://a.example/v1/*", "GET", &url);
        assert_eq!(narrow, Some(Difference::PathSpelling), "{path}");
        assert_eq!(
            difference("GET https://a.example/*", "GET", &url),
            None,
            "{path}"
        );
    }
    for harmless in ["/v1/a.b", "/v1/...", "/v1/.hidden", "/v1/a%20b", "/v1/100%"] {
        let url = format!("https://a.example{harmless}");
        assert_eq!(difference("GET https://a.example/v1/*", "GET", &url), None);
    }
}

#[test]
fn wrong_rules_say_what_is_wrong_and_what_to_write() {
    let table = [
        ("", "is not methods, one space and a URL"),
        ("https://a.example/*", "is not methods, one space and a URL"),
        (
            "GET  https://a.example/*",
            "is not methods, one space and a URL",
        ),
        ("GET a.example/*", "is not methods, one space and a URL"),
        ("get https://a.example/*", "\"get\" is not a method"),
        ("GET| https://a.example/*", "\"\" is not a method"),
        (
            "CONNECT https://a.example/*",
            "CONNECT can never be granted",
        ),
        (
            "GET|TRACE https://a.example/*",
            "TRACE can never be granted",
        ),
        (
            "GET ftp://a.example/*",
            "\"ftp\" is neither `http` nor `https`",
        ),
        ("GET HTTPS://a.example/*", "\"HTTPS\" is neither"),
        ("GET *://a.example/*", "\"*\" is neither"),
        (
            "GET https://u:p@a.example/*",
            "drop everything up to the `@`",
        ),
        (
            "GET https://a.example",
            "end it with `/*` to allow every path",
        ),
        (
            "GET https://a.example?x=/*",
            "drop it, every query is allowed",
        ),
        (
            "GET https://a.example/x?y",
            "drop it, every query is allowed",
        ),
        (
            "GET https://a.example/x#y",
            "drop it, every query is allowed",
        ),
        ("GET https://a.*.example/*", "at a wrong place"),
        ("GET https://*a.example/*", "at a wrong place"),
        ("GET https://*.*.example/*", "at a wrong place"),
        ("GET https://*.10.0.0.1/*", "at a wrong place"),
        ("GET https:///*", "is not a host"),
        ("GET https://a..example/*", "is not a host"),
        ("GET https://a%2eexample/*", "is not a host"),
        ("GET https://::1/*", "is not a host"),
        ("GET https://[::1/*", "is not a host"),
        ("GET https://[::1]x/*", "is not a host"),
        ("GET http://127.1/*", "write `127.0.0.1`"),
        ("GET http://0x7f.1/*", "write `127.0.0.1`"),
        ("GET http://2130706433/*", "write `127.0.0.1`"),
        ("GET http://0.0.0.0/*", "can never be granted"),
        ("GET http://[::]/*", "can never be granted"),
        ("GET http://224.0.0.1/*", "can never be granted"),
        ("GET http://255.255.255.255/*", "can never be granted"),
        ("GET http://[::ffff:0.0.0.0]/*", "can never be granted"),
        ("GET https://a.example:0/*", "from 1 to 65535"),
        ("GET https://a.example:65536/*", "from 1 to 65535"),
        ("GET https://a.example:+80/*", "from 1 to 65535"),
        ("GET https://a.example:/*", "from 1 to 65535"),
        ("GET https://a.example/v1/../*", "dot segment"),
        ("GET https://a.example/v1/%2e%2e/*", "dot segment"),
        ("GET https://a.example/a%2fb", "encoded slash"),
        ("GET https://a.example/a b", "white space"),
        ("GET https://a.example/a\\b", "backslash"),
    ];
    for (rule, expected) in table {
        let error = Rule::parse(rule).unwrap_err().to_string();
        assert!(error.contains(expected), "{rule}: {error}");
    }
}

#[test]
fn a_rule_without_a_path_is_its_own_error() {
    let error = Rule::parse("GET https://a.example").unwrap_err();
    assert!(matches!(error, RuleError::NoPath(_)));
}

#[test]
fn a_rule_is_shown_as_it_was_written() {
    let text = "GET|POST https://*.Example.com:8443/v1/*/x";
    assert_eq!(Rule::parse(text).unwrap().to_string(), text);
}
