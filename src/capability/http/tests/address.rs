//! The classes of addresses, range by range, with the borders of each.

use std::net::IpAddr;

use super::super::address::class;
use super::super::{Class, Network};
use super::entry;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn assert_classes(expected: Class, addresses: &[&str]) {
    for address in addresses {
        assert_eq!(class(ip(address)), expected, "{address}");
    }
}

#[test]
fn ipv4_ranges_and_their_borders() {
    use Class::*;
    assert_classes(Unspecified, &["0.0.0.0", "0.255.255.255"]);
    assert_classes(Loopback, &["127.0.0.0", "127.0.0.1", "127.255.255.255"]);
    assert_classes(
        Private,
        &[
            "10.0.0.0",
            "10.255.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.168.0.0",
            "192.168.255.255",
            "100.64.0.0",
            "100.127.255.255",
        ],
    );
    assert_classes(
        LinkLocal,
        &["169.254.0.0", "169.254.255.255", "169.254.169.252"],
    );
    assert_classes(
        Metadata,
        &[
            "169.254.169.254",
            "169.254.169.253",
            "169.254.170.2",
            "169.254.170.23",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
        ],
    );
    assert_classes(Multicast, &["224.0.0.0", "239.255.255.255"]);
    assert_classes(Broadcast, &["255.255.255.255"]);
    assert_classes(
        Reserved,
        &[
            "240.0.0.0",
            "255.255.255.254",
            "192.0.0.0",
            "192.0.0.255",
            "192.0.2.0",
            "192.0.2.255",
            "192.88.99.0",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.0",
            "198.51.100.255",
            "203.0.113.0",
            "203.0.113.255",
        ],
    );
    assert_classes(
        Public,
        &[
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "168.63.129.15",
            "8.8.8.8",
        ],
    );
}

#[test]
fn ipv6_ranges_and_their_borders() {
    use Class::*;
    assert_classes(Unspecified, &["::"]);
    assert_classes(Loopback, &["::1"]);
    assert_classes(
        Private,
        &["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    );
    assert_classes(LinkLocal, &["fe80::", "febf:ffff::"]);
    assert_classes(Metadata, &["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"]);
    assert_classes(Multicast, &["ff00::", "ff02::1", "ffff::"]);
    assert_classes(
        Reserved,
        &[
            "100::",
            "100::1",
            "2001:2::",
            "2001:10::",
            "2001:20::",
            "2001:1ff::",
            "2001:db8::",
            "2001:db8:ffff::",
            "3fff::",
            "3fff:fff::",
            "4000::",
            "5f00::",
            "fbff::",
            "fe00::",
            "fe7f::",
            "fec0::",
            "feff::",
            "1fff::",
            "64:ff9c::1",
            "65::1",
        ],
    );
    assert_classes(
        Public,
        &[
            "2000::",
            "2001:200::",
            "2001:db7::",
            "2001:db9::",
            "2606:4700::1",
            "3ffe::",
            "3fff:1000::",
        ],
    );
}

#[test]
fn ipv4_inside_ipv6_is_classed_by_what_is_inside() {
    use Class::*;
    let wrap = [
        ("::ffff:127.0.0.1", Loopback),
        ("::ffff:10.0.0.1", Private),
        ("::ffff:169.254.169.254", Metadata),
        ("::ffff:0.0.0.0", Unspecified),
        ("::ffff:255.255.255.255", Broadcast),
        ("::ffff:224.0.0.1", Multicast),
        ("::ffff:8.8.8.8", Public),
        ("::127.0.0.1", Loopback),
        ("::10.0.0.1", Private),
        ("::2", Unspecified),
        ("::ffff:0:127.0.0.1", Loopback),
        ("64:ff9b::7f00:1", Loopback),
        ("64:ff9b::a9fe:a9fe", Metadata),
        ("64:ff9b::808:808", Public),
        ("64:ff9b:1::7f00:1", Loopback),
        ("64:ff9b:1::808:808", Public),
        ("64:ff9b:1:7f00:0:100::", Loopback),
        ("2002:7f00:1::", Loopback),
        ("2002:c0a8:101::1", Private),
        ("2002:808:808::1", Public),
        // Teredo: the server in the middle, the client inverted at the end.
        ("2001:0:7f00:1::f7f7:f7f7", Loopback),
        ("2001:0:808:808::80ff:fffe", Loopback),
        ("2001:0:808:808::f7f7:f7f7", Public),
        // ISATAP: the address behind 0:5efe or 200:5efe.
        ("2606:4700::5efe:7f00:1", Loopback),
        ("2606:4700::200:5efe:a00:1", Private),
        ("2606:4700::5efe:808:808", Public),
        ("fe80::5efe:808:808", LinkLocal),
    ];
    for (address, expected) in wrap {
        assert_eq!(class(ip(address)), expected, "{address}");
    }
}

fn allows(networks: &[&str], address: &str) -> bool {
    let mut entry = entry("GET http://a.example/*");
    entry.networks = networks
        .iter()
        .map(|n| Network::parse(n).unwrap())
        .collect();
    entry.reach().allows(ip(address))
}

#[test]
fn a_network_grants_its_own_class_only() {
    let table: &[(&[&str], &str, bool)] = &[
        (&[], "8.8.8.8", true),
        (&[], "127.0.0.1", false),
        (&[], "203.0.113.1", false),
        (&["loopback"], "127.0.0.1", true),
        (&["loopback"], "::1", true),
        (&["loopback"], "::ffff:127.0.0.1", true),
        (&["loopback"], "10.0.0.1", false),
        (&["private"], "10.0.0.1", true),
        (&["private"], "fd00::1", true),
        (&["private"], "127.0.0.1", false),
        (&["private"], "169.254.1.1", false),
        (&["private"], "100.100.100.200", false),
        (&["private"], "fd00:ec2::254", false),
        (&["link-local"], "169.254.1.1", true),
        (&["link-local"], "fe80::1", true),
        (&["link-local"], "169.254.169.254", false),
        (&["link-local"], "::ffff:169.254.169.254", false),
        (&["private"], "64:ff9b::a00:1", true),
        (&["10.1.0.0/16"], "10.1.2.3", true),
        (&["10.1.0.0/16"], "10.2.0.1", false),
        (&["10.1.0.0/16"], "::ffff:10.1.2.3", true),
        (&["169.254.0.0/16"], "169.254.169.254", false),
        (&["169.254.169.0/24"], "169.254.169.254", true),
        (&["0.0.0.0/0"], "169.254.169.254", false),
        (&["0.0.0.0/0"], "203.0.113.1", true),
        (&["fd00:ec2::/64"], "fd00:ec2::254", false),
        (&["fd00:ec2::200/120"], "fd00:ec2::254", true),
        // A network that holds only the outer form does not open the tunnel.
        (&["64:ff9b::/96"], "64:ff9b::7f00:1", false),
        (&["::/0"], "::ffff:127.0.0.1", false),
        (&["2002::/16"], "2002:7f00:1::", false),
        // Both ends of a Teredo address and both readings of ISATAP count.
        (&["loopback"], "2001:0:7f00:1::f5ff:fffe", false),
        (&["loopback", "private"], "2001:0:7f00:1::f5ff:fffe", true),
        (&["link-local"], "fe80::5efe:7f00:1", false),
        // Never.
        (&["0.0.0.0/0", "::/0"], "0.0.0.0", false),
        (&["0.0.0.0/0", "::/0"], "::", false),
        (&["224.0.0.0/24"], "224.0.0.1", false),
        (&["255.255.255.255/32"], "255.255.255.255", false),
        (&["ff02::/120"], "ff02::1", false),
    ];
    for (networks, address, expected) in table {
        assert_eq!(
            allows(networks, address),
            *expected,
            "{networks:?} {address}"
        );
    }
}

#[test]
fn a_rule_with_an_address_grants_that_very_address() {
    let reach = entry("GET http://169.254.169.254/latest/*").reach();
    assert!(reach.allows(ip("169.254.169.254")));
    assert!(!reach.allows(ip("169.254.169.253")));
    assert!(!reach.allows(ip("127.0.0.1")));
}

#[test]
fn the_rule_localhost_grants_loopback_and_no_other_rule_does() {
    assert!(entry("GET http://localhost/*").reach().allows(ip("::1")));
    assert!(
        !entry("GET http://localhost/*")
            .reach()
            .allows(ip("10.0.0.1"))
    );
    assert!(
        !entry("GET http://*.localhost/*")
            .reach()
            .allows(ip("127.0.0.1"))
    );
    assert!(!entry("GET http://*/*").reach().allows(ip("127.0.0.1")));
}
