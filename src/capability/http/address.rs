//! What kind of network an address belongs to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of network an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The public internet.
    Public,
    /// This very machine.
    Loopback,
    /// A private or shared network.
    Private,
    /// The link the machine is attached to.
    LinkLocal,
    /// A service that hands out the machine's credentials.
    Metadata,
    /// A group of machines.
    Multicast,
    /// No address at all, which many systems take for this machine.
    Unspecified,
    /// Every machine on the link.
    Broadcast,
    /// Set aside for documentation, tests or the future.
    Reserved,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Metadata => "a cloud metadata service",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Broadcast => "broadcast",
            Self::Reserved => "reserved",
        })
    }
}

/// Returns the class of an address; IPv4 inside IPv6 is classed by what is inside.
pub fn class(ip: IpAddr) -> Class {
    parts(ip)
        .into_iter()
        .map(plain_class)
        .find(|class| *class != Class::Public)
        .unwrap_or(Class::Public)
}

/// Returns every address that a connection to `ip` may end at.
///
/// That is `ip` itself, or the IPv4 addresses that a tunnel or a translator
/// takes out of it. An ISATAP address is both: a host on its own link and a
/// tunnel end.
pub(super) fn parts(ip: IpAddr) -> Vec<IpAddr> {
    let IpAddr::V6(v6) = ip else { return vec![ip] };
    let inner = embedded(v6);
    let is_wrapper = !inner.is_empty() && !is_isatap(v6);
    let outer = (!is_wrapper).then_some(ip);
    outer
        .into_iter()
        .chain(inner.into_iter().map(IpAddr::V4))
        .collect()
}

fn embedded(ip: Ipv6Addr) -> Vec<Ipv4Addr> {
    let o = ip.octets();
    let last = Ipv4Addr::new(o[12], o[13], o[14], o[15]);
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => vec![],
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _] => vec![last],
        // The stateless translation of RFC 2765, which some stacks still accept.
        [0, 0, 0, 0, 0xffff, 0, _, _] => vec![last],
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => vec![last],
        [0x64, 0xff9b, 1, 0, 0, 0, _, _] => vec![last],
        // RFC 6052 puts the address around octet 8 when the prefix is a /48.
        [0x64, 0xff9b, 1, ..] => vec![Ipv4Addr::new(o[6], o[7], o[9], o[10]), last],
        [0x2002, ..] => vec![Ipv4Addr::new(o[2], o[3], o[4], o[5])],
        [0x2001, 0, ..] => vec![
            Ipv4Addr::new(o[4], o[5], o[6], o[7]),
            Ipv4Addr::from(!u32::from(last)),
        ],
        _ if is_isatap(ip) => vec![last],
        _ => vec![],
    }
}

fn is_isatap(ip: Ipv6Addr) -> bool {
    matches!(ip.segments(), [.., 0 | 0x200, 0x5efe, _, _])
        && !matches!(ip.segments(), [0x2001, 0, ..] | [0x2002 | 0x64, ..])
}

fn plain_class(ip: IpAddr) -> Class {
    if is_metadata(ip) {
        return Class::Metadata;
    }
    match ip {
        IpAddr::V4(ip) => class_v4(ip),
        IpAddr::V6(ip) => class_v6(ip),
    }
}

/// The services of the large clouds that answer with credentials or settings.
fn is_metadata(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => matches!(
            ip.octets(),
            [169, 254, 169, 253 | 254]
                | [169, 254, 170, 2 | 23]
                | [169, 254, 0, 23]
                | [169, 254, 42, 42]
                | [168, 63, 129, 16]
                | [100, 100, 100, 200]
                | [192, 0, 0, 192]
        ),
        IpAddr::V6(ip) => matches!(
            ip.segments(),
            [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x23 | 0x253 | 0x254]
                | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254]
                | [0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x42]
        ),
    }
}

fn class_v4(ip: Ipv4Addr) -> Class {
    match ip.octets() {
        [0, ..] => Class::Unspecified,
        [127, ..] => Class::Loopback,
        [10, ..] | [192, 168, ..] => Class::Private,
        [172, 16..=31, ..] => Class::Private,
        [100, 64..=127, ..] => Class::Private,
        [169, 254, ..] => Class::LinkLocal,
        [255, 255, 255, 255] => Class::Broadcast,
        [224..=239, ..] => Class::Multicast,
        [240..=255, ..] => Class::Reserved,
        [192, 0, 0 | 2, _] | [192, 88, 99, _] => Class::Reserved,
        [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => Class::Reserved,
        _ => Class::Public,
    }
}

/// Only 2000::/3 has been handed out as global; everything unknown is reserved.
fn class_v6(ip: Ipv6Addr) -> Class {
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Class::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Class::Loopback,
        [0xfc00..=0xfdff, ..] => Class::Private,
        [0xfe80..=0xfebf, ..] => Class::LinkLocal,
        [0xff00..=0xffff, ..] => Class::Multicast,
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] => Class::Reserved,
        [0x3fff, 0..=0xfff, ..] => Class::Reserved,
        [0x2000..=0x3fff, ..] => Class::Public,
        _ => Class::Reserved,
    }
}
