//! The networks beside the public internet that an owner grants.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::address::{Class, class, parts};

/// A network must leave at most this many host bits to reach a metadata service.
const METADATA_HOST_BITS: u8 = 8;

/// A granted network: a word for a class of addresses, or a CIDR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// This machine.
    Loopback,
    /// Private and shared networks.
    Private,
    /// The link, without the metadata services on it.
    LinkLocal,
    /// Exactly these addresses.
    Cidr(IpNet),
}

/// Says why a text is not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// It is neither a known word nor a CIDR.
    #[error(
        "{0:?} is not a network; write `loopback`, `private`, `link-local` \
         or a CIDR such as `10.1.0.0/16`"
    )]
    Unknown(String),
    /// Bits are set to the right of the prefix.
    #[error("{0:?} has bits set behind its prefix; write `{1}`")]
    HostBits(String, IpNet),
}

impl Network {
    /// Parses a word or a CIDR.
    pub fn parse(text: &str) -> Result<Self, NetworkError> {
        match text {
            "loopback" => return Ok(Self::Loopback),
            "private" => return Ok(Self::Private),
            "link-local" => return Ok(Self::LinkLocal),
            _ => {}
        }
        let net: IpNet = text
            .parse()
            .map_err(|_| NetworkError::Unknown(text.to_owned()))?;
        if net.trunc() != net {
            return Err(NetworkError::HostBits(text.to_owned(), net.trunc()));
        }
        Ok(Self::Cidr(net))
    }

    /// Returns whether this network grants `ip`, which is not inside another address.
    fn grants(&self, ip: IpAddr) -> bool {
        let class = class(ip);
        match self {
            Self::Loopback => class == Class::Loopback,
            Self::Private => class == Class::Private,
            Self::LinkLocal => class == Class::LinkLocal,
            Self::Cidr(net) => net.contains(&ip) && may_grant(net, class),
        }
    }
}

fn may_grant(net: &IpNet, class: Class) -> bool {
    match class {
        Class::Multicast | Class::Unspecified | Class::Broadcast => false,
        Class::Metadata => net.max_prefix_len() - net.prefix_len() <= METADATA_HOST_BITS,
        _ => true,
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("loopback"),
            Self::Private => f.write_str("private"),
            Self::LinkLocal => f.write_str("link-local"),
            Self::Cidr(net) => write!(f, "{net}"),
        }
    }
}

/// The addresses that one entry of a grant may connect to.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    /// The address that the rule itself names.
    pub(super) literal: Option<IpAddr>,
    /// The networks granted beside the public internet.
    pub(super) networks: Vec<Network>,
}

impl Reach {
    /// Returns whether a connection to `ip` is allowed.
    ///
    /// Every address that `ip` stands for has to be public or granted by
    /// itself: a network that holds only the outer form of a tunnel address
    /// does not grant what is at the other end of the tunnel.
    pub(super) fn allows(&self, ip: IpAddr) -> bool {
        self.literal == Some(ip) || parts(ip).into_iter().all(|part| self.allows_part(part))
    }

    fn allows_part(&self, ip: IpAddr) -> bool {
        class(ip) == Class::Public || self.networks.iter().any(|net| net.grants(ip))
    }
}

/// Says why `ip` is refused and what an owner who means it has to write.
pub(super) fn refusal(host: &str, ip: IpAddr, rule: &str) -> String {
    let class = class(ip);
    let help = match class {
        Class::Loopback | Class::Private | Class::LinkLocal => {
            format!("add `networks: [{class}]` to the grant \"{rule}\" if that is meant")
        }
        Class::Metadata => format!(
            "no word in `networks:` lets it through; only a rule that names the address, or \
             a network of at most 256 addresses in the grant \"{rule}\", does"
        ),
        Class::Public | Class::Reserved => {
            format!("add its CIDR to `networks:` of the grant \"{rule}\" if that is meant")
        }
        Class::Multicast | Class::Unspecified | Class::Broadcast => {
            format!("such an address can never be granted, not by \"{rule}\" either")
        }
    };
    format!("{host} resolves to {ip}, which is {class}; {help}")
}
