//! Addresses, and their origins: the host or the network that an address belongs to.
//!
//! *Invariant:* however many ports a host uses, its addresses have one origin.

use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::session::secret;

/// The host or the network that an address belongs to. All addresses of one origin may together have only a
/// part of the connections of an [`Endpoint`](crate::Endpoint), so one host cannot keep others out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(u64);

impl Origin {
    /// Returns the origin of all addresses for which `host` is the same, for example the host without the
    /// port.
    pub fn of(host: &impl Hash) -> Self {
        Self(secret::unkeyed(host))
    }
}

/// An address from which a transport receives packets. Implement this trait for your own type of addresses:
///
/// ```
/// # use repl_link as repl;
/// use repl::{Address, Origin};
///
/// #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// struct Relayed {
///     relay: u16,
///     player: u32,
/// }
///
/// impl Address for Relayed {
///     fn origin(&self) -> Origin {
///         Origin::of(&self.relay) // all players of a relay share one part of the places
///     }
/// }
/// ```
pub trait Address: Copy + Ord + Hash {
    /// Returns the origin of the address. By default, each address is a separate origin. Use this default
    /// only if a client cannot choose many addresses. Hosts behind one proxy, NAT or NAT64 have one address
    /// for the server, so they are one origin.
    fn origin(&self) -> Origin {
        Origin::of(self)
    }
}

impl Address for SocketAddr {
    /// Returns the origin of the IPv4 address, or of the IPv6 network of 64 bits, because a host can choose
    /// the other 64 bits.
    fn origin(&self) -> Origin {
        self.ip().origin()
    }
}

impl Address for IpAddr {
    /// Returns the same as the origin of a [`SocketAddr`].
    fn origin(&self) -> Origin {
        match self.to_canonical() {
            Self::V4(host) => host.origin(),
            Self::V6(host) => host.origin(),
        }
    }
}

impl Address for Ipv4Addr {}

impl Address for Ipv6Addr {
    /// Returns the origin of the network of 64 bits.
    fn origin(&self) -> Origin {
        Origin::of(&(self.to_bits() >> 64))
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Address for $number {})*
    };
}

numbers!(u8 u16 u32 u64 u128 usize);

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(address: &str) -> Origin {
        address.parse::<SocketAddr>().expect("an address").origin()
    }

    #[test]
    fn an_ipv4_address_is_one_origin_with_all_its_ports() {
        assert_eq!(origin("192.0.2.1:1"), origin("192.0.2.1:65535"));
        assert_ne!(origin("192.0.2.1:1"), origin("192.0.2.2:1"));
        assert_eq!(origin("[::ffff:192.0.2.1]:9"), origin("192.0.2.1:1"), "a socket for both families");
        assert_ne!(origin("[::ffff:192.0.2.1]:9"), origin("[::ffff:192.0.2.2]:9"));
    }

    #[test]
    fn an_ipv6_network_of_64_bits_is_one_origin() {
        assert_eq!(origin("[2001:db8:0:1::1]:1"), origin("[2001:db8:0:1:ffff:ffff:ffff:ffff]:2"));
        assert_ne!(origin("[2001:db8:0:1::1]:1"), origin("[2001:db8:0:2::1]:1"));
    }

    #[test]
    fn other_addresses_are_origins_of_their_own() {
        assert_ne!(1_u16.origin(), 2_u16.origin());
    }
}
