//! The levels of trust of a server in the address of a client.
//!
//! *Invariant:* the maker of a connection decides the trust. The bytes of a client never decide it.

/// What is known about the address of a client when its connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nothing is known. The client proves its address with the token from the welcome packet.
    Unproved,
    /// The transport has validated the address.
    Validated,
    /// The client has proved its address to an endpoint with a cookie. If `waits` is set, the connection
    /// begins only when the client has also shown the token from the welcome packet, because another
    /// connection has this address.
    Cookie { waits: bool },
    /// The transport encrypts and authenticates packets, and has a connection only for this session.
    Sealed,
}
