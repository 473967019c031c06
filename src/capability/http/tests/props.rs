//! Properties that hold for every input.

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;

use super::super::{Class, Host, Method, Rule, Target, class};
use super::entry;

fn rule_text() -> impl Strategy<Value = String> {
    let methods = prop_oneof![
        Just("GET"),
        Just("GET|POST"),
        Just("*"),
        Just("TRACE"),
        Just("get")
    ];
    let scheme = prop_oneof![Just("http"), Just("https"), Just("ftp")];
    let host = prop_oneof![
        "[a-z*.-]{0,12}",
        "[a-zA-Z0-9]{1,5}\\.example",
        "\\*\\.[a-z]{1,5}\\.example",
        "[0-9.]{1,15}",
        "\\[[0-9a-f:.]{0,20}\\]",
        "\\PC{0,6}",
    ];
    let port = prop_oneof![Just(String::new()), "(:[0-9]{1,6})", Just(":*".to_owned())];
    let path = prop_oneof!["(/[a-z*]{0,4}){0,4}", "/\\PC{0,10}"];
    (methods, scheme, host, port, path).prop_map(|(methods, scheme, host, port, path)| {
        format!("{methods} {scheme}://{host}{port}{path}")
    })
}

proptest! {
    #[test]
    fn parsing_a_rule_never_panics_and_showing_it_gives_it_back(text in prop_oneof![rule_text(), any::<String>()]) {
        if let Ok(rule) = Rule::parse(&text) {
            prop_assert_eq!(rule.to_string(), text.as_str());
            prop_assert_eq!(Rule::parse(&rule.to_string()), Ok(rule));
        }
    }

    #[test]
    fn parsing_a_url_never_panics_and_normalising_it_twice_changes_nothing(text in prop_oneof![any::<String>(), "https?://\\PC{0,30}"]) {
        if let Ok(target) = Target::parse(&text) {
            let again = Target::parse(target.as_str()).unwrap();
            prop_assert_eq!(again.as_str(), target.as_str());
            prop_assert_eq!(again, target);
        }
    }

    #[test]
    fn the_http_library_reads_the_same_host_and_port(text in "https?://[a-zA-Z0-9.:@/?#\\[\\]%_~|^{}\"<> -]{1,30}") {
        if let Ok(target) = Target::parse(&text)
            && let Ok(uri) = target.as_str().parse::<ureq::http::Uri>() {
            let host = target.host().to_string();
            prop_assert_eq!(uri.host(), Some(host.as_str()));
            prop_assert_eq!(uri.port_u16().unwrap_or(target.scheme().default_port()), target.port());
        }
    }
}

/// One of the many ways to write an IPv4 address in a URL.
fn spelled(ip: Ipv4Addr, how: usize) -> String {
    let [a, b, c, d] = ip.octets();
    let number = u32::from(ip);
    let low = number & 0xff_ffff;
    match how {
        0 => format!("{ip}"),
        1 => format!("{ip}."),
        2 => format!("{number}"),
        3 => format!("{number:#x}"),
        4 => format!("0{number:o}"),
        5 => format!("{a}.{low}"),
        6 => format!("{a:#x}.{low:#o}").replace("0o", "0"),
        7 => format!("0{a:o}.0x{b:X}.{c}.{d}"),
        8 => format!("{a}.{b}.{}", u32::from(c) * 256 + u32::from(d)),
        9 => format!("{a}%2E{b}%2e{c}.{d}"),
        10 => format!("{a}。{b}．{c}｡{d}"),
        11 => ip.to_string().replace('1', "１").replace('2', "２"),
        12 => format!("[::ffff:{ip}]"),
        13 => format!("[::{ip}]"),
        14 => format!("[64:ff9b::{ip}]"),
        15 => format!("[2002:{:x}:{:x}::]", number >> 16, number & 0xffff),
        16 => format!("[::ffff:{:x}:{:x}]", number >> 16, number & 0xffff),
        _ => format!(
            "[2001:0:{:x}:{:x}::f7f7:f7f7]",
            number >> 16,
            number & 0xffff
        ),
    }
}

/// An address that no grant of names may ever reach.
fn forbidden() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        any::<[u8; 3]>().prop_map(|[b, c, d]| Ipv4Addr::new(127, b, c, d)),
        any::<[u8; 3]>().prop_map(|[b, c, d]| Ipv4Addr::new(10, b, c, d)),
        any::<[u8; 2]>().prop_map(|[c, d]| Ipv4Addr::new(192, 168, c, d)),
        any::<[u8; 2]>().prop_map(|[c, d]| Ipv4Addr::new(169, 254, c, d)),
        any::<[u8; 3]>().prop_map(|[b, c, d]| Ipv4Addr::new(0, b, c, d)),
    ]
}

/// Whether a grant of any name would let this URL connect to `answer` of the resolver.
fn would_connect(url: &str, answer: IpAddr) -> bool {
    let Ok(target) = Target::parse(url) else {
        return false;
    };
    let method = Method::parse("GET").unwrap();
    let rules = ["GET http://*:*/*", "GET https://*:*/*"];
    let entries = rules.map(entry);
    let covering = entries
        .iter()
        .find(|entry| entry.rule.covers(&method, &target));
    let address = match target.host() {
        Host::Ip(ip) => *ip,
        Host::Name(_) => answer,
    };
    covering.is_some_and(|entry| entry.reach().allows(address))
}

proptest! {
    #[test]
    fn no_spelling_of_an_inner_address_connects(ip in forbidden(), how in 0..18usize, rest in "(:[0-9]{1,5})?/[a-z]{0,3}") {
        let url = format!("http://{}{rest}", spelled(ip, how));
        // A resolver that answers everything with a public address would let a name through.
        prop_assert!(!would_connect(&url, IpAddr::from([8, 8, 8, 8])), "{}", url);
        if let Ok(target) = Target::parse(&url) {
            prop_assert!(matches!(target.host(), Host::Ip(inner) if class(*inner) != Class::Public), "{}", url);
        }
    }

    #[test]
    fn no_url_whatsoever_connects_to_an_inner_address(text in "https?:[/\\\\]{0,3}\\PC{0,30}", ip in forbidden(), wrap in any::<bool>()) {
        let answer = if wrap { IpAddr::V6(ip.to_ipv6_mapped()) } else { IpAddr::V4(ip) };
        prop_assert!(!would_connect(&text, answer));
    }

    #[test]
    fn a_public_name_does_connect(name in "[a-z][a-z0-9]{0,10}\\.(com|test|example)") {
        let url = format!("http://{name}/");
        prop_assert!(would_connect(&url, IpAddr::from([8, 8, 8, 8])), "{}", url);
    }
}
