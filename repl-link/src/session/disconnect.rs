//! The reasons why connections end.
//!
//! *Invariant:* a connection ends only one time, and for one reason.

use std::time::Duration;

use crate::session::limits::LimitMismatch;
use crate::session::mismatch::LayoutMismatch;

/// Why a connection ended.
///
/// Both sides report a reason. The side that ends the connection sends its reason in a closing packet. For
/// one timeout, it answers every later packet of the session with the closing packet. So the reason arrives
/// in spite of losses, as long as both sides run, tick and poll. If it does not arrive, the other side
/// reports [`Timeout`](Self::Timeout).
///
/// | what happens | the server reports | the client reports |
/// |---|---|---|
/// | `disconnect` of the server or the client | `Closed` | `Closed` |
/// | `disconnect_with` of the server or the client | `ClosedWith` | `ClosedWith` |
/// | one side receives nothing for its timeout | `Timeout` | `Timeout` |
/// | the server never polls its packets | `NeverPolled` | `Timeout` |
/// | the client never polls its packets | nothing, there is no session | `NeverPolled` |
/// | the server's time has another unit | `TicksTooFarApart` | `Timeout` |
/// | the client's time has another unit | `Timeout` | `TicksTooFarApart` |
/// | with an endpoint: the handshake takes longer than 5 s | `Timeout` | `Timeout` |
/// | the path carries packets, but none of 508 bytes | `PathTooNarrow` | `PathTooNarrow` |
/// | the client does not acknowledge enough | `Unacknowledged` | `Unacknowledged` |
/// | the classes differ | `Layouts` | `Layouts` |
/// | a limit of the client is too small | `Limits` | `Limits` |
/// | a message is begun and not finished | `Stalled` | `Stalled` |
/// | the server does not poll messages or calls | `Unread` | `UnreadByOther` |
/// | the client does not poll its messages | `UnreadByOther` | `Unread` |
/// | the client sends more in a second than it may | `TooFast` | `TooFast` |
/// | the validator of a call rejects its parameters | `Rejected` | `Rejected` |
/// | one side sends what the protocol forbids | `Protocol` | `Protocol` |
/// | the application refuses the login | `Refused` | `Refused` |
/// | the application does not answer the login | `LoginTimeout` | `LoginTimeout` |
/// | the endpoint has no room for one more connection | nothing, there is no connection | `Full` |
/// | too many handshakes are unfinished, and this one makes room | `Full` | `Full` |
/// | a new session of the same address takes the place of this one | `Replaced` | `Replaced` |
/// | the server was restarted, or has forgotten the session | nothing, or an earlier reason | `Forgotten` |
/// | another client has the same session number | nothing, that client stays | `Taken` |
/// | the client's address changes before the server has welcomed it | `Timeout` or `LoginTimeout` | `Taken` |
/// | without an endpoint: the connection has another session | nothing, that session stays | `Taken` |
/// | the transport gives the connection up | `Transport` | `Transport` |
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// One side closed the connection on purpose, with `disconnect`. This is not an error.
    #[error("closed")]
    Closed,
    /// One side closed the connection on purpose, with `disconnect_with` and a text. Show the text to the
    /// player. It has at most 255 bytes.
    #[error("closed: {0}")]
    ClosedWith(String),
    /// The server's application did not accept the login of the client. The text has at most 255 bytes. Show
    /// it to the player, and connect again with another login.
    #[error("the login was refused: {0}")]
    Refused(String),
    /// The server's application did not answer the login within `ServerConfig::login_timeout`. Answer each
    /// event `Login` with `accept` or `refuse`, or allow more time.
    #[error("the login was not answered in time")]
    LoginTimeout,
    /// The server has as many connections or unfinished handshakes as its
    /// [`EndpointConfig`](crate::EndpointConfig) allows. Try again later.
    #[error("the server is full")]
    Full,
    /// A newer session of the same address has replaced this one. Usually the client was started again. Then
    /// you need not do anything.
    #[error("a newer session of the same address has replaced this one")]
    Replaced,
    /// The server does not know the session of the client any more, because the server was restarted or has
    /// closed the session. The client begins a new session by itself, unless its configuration forbids this.
    #[error("the server does not know the session any more")]
    Forgotten,
    /// One side received nothing from the other for longer than its timeout (`ServerConfig::timeout`,
    /// `ClientConfig::timeout`): the other side has stopped, is not ticked, or the link is down. Before a
    /// client is connected, there are more causes: no server receives packets at this address, a firewall
    /// drops the packets, a server of another version ignores them, or the handshake was not finished in
    /// time. By default, the client connects again by itself, and reports each failure
    /// (`ClientConfig::reconnects`). Show the player that the client reconnects. The client's objects keep
    /// their last state until it has reconnected.
    #[error(
        "timed out: nothing has arrived for too long. After a session has begun: the link is down, or the other side has crashed, stood \
         still, or passes times in another unit to `tick`. Before: check that the server runs, the address, the firewall, and that both \
         programs have the same version. In both cases the other side must call `tick` and send what it polls, and `receive` must get each \
         packet"
    )]
    Timeout,
    /// A [`Timeout`](Self::Timeout), because this side never polled its packets and so has sent nothing. The
    /// other side reports `Timeout`. Call `poll_transmit` in every frame until it returns `None`, and send
    /// each packet.
    #[error(
        "timed out, because `poll_transmit` was never called: call it in every frame until it returns `None`, and send each packet"
    )]
    NeverPolled,
    /// A [`Timeout`](Self::Timeout), because all ticks of this side were at least this long apart. This is a
    /// quarter of its timeout or more. Either the times are in the wrong unit, or ticks are rare. Call `tick`
    /// in each frame, and pass the time since a fixed start, such as `start.elapsed()`. The other side
    /// reports `Timeout`.
    #[error(
        "timed out, because `tick` gets times that are at least {0:?} apart: call it in every frame, with the time since a fixed \
         start (`start.elapsed()`). If it is called, the time has another unit, for example milliseconds that were passed to \
         `Duration::from_secs`"
    )]
    TicksTooFarApart(Duration),
    /// The path between the sides carries small packets, but no packets of 508 bytes. If one side receives
    /// only smaller packets, the path does not even carry packets of that smaller size. Let a tunnel or relay
    /// on the path carry larger packets. The client does not connect again by itself.
    #[error("the path does not carry packets of 508 bytes")]
    PathTooNarrow,
    /// The client was alive, but did not acknowledge packets for too long. There are three causes. First, the
    /// memory that the server uses for the client exceeded `ServerConfig::max_connection_bytes` for a whole
    /// `timeout`. Second, the client did not acknowledge that an object was removed, for four timeouts, or
    /// for eight round trips if these are longer. Third, too many reliable multicast calls waited for the
    /// client. The client may connect again. If the client's link is too slow for the world's changes, hide
    /// objects from the client or raise the limit.
    #[error("too much was not acknowledged for too long")]
    Unacknowledged,
    /// The client sent more than 2,000 packets a second, or more messages of a type than
    /// [`MessageOptions::per_second`](crate::MessageOptions::per_second). A burst is allowed if it can
    /// consist of packets that were delayed by an outage of up to a whole timeout. Clients of this library
    /// obey these limits by themselves. The text names the packets or messages that exceeded the limit.
    #[error("too many a second: {0}")]
    TooFast(String),
    /// The other side began a reliable message and did not finish it. No part of this message, and no earlier
    /// message that it waits for, arrived for the longest of 30 s, three timeouts and 40 round trips.
    #[error("a message was not finished for too long")]
    Stalled,
    /// This side does not poll the messages or the calls that arrived, so too many of them wait: see
    /// `Server::poll_message`. The text names the type. Poll these messages or calls in every frame.
    #[error(
        "too much waits to be polled by this side ({0}): call `poll_message` or `poll_call` for it in every frame"
    )]
    Unread(String),
    /// The other side does not poll the messages that this side has sent, so it has closed the connection.
    /// The text names the type. The other side reports [`Unread`](Self::Unread), and must poll these messages
    /// in every frame.
    #[error(
        "too much waits to be polled by the other side ({0}), which must call `poll_message` or `poll_call` for it in every frame"
    )]
    UnreadByOther(String),
    /// The classes, messages or calls of the two sides differ. [`LayoutMismatch`] contains the first
    /// difference. Build both sides from the same source code, and register the same types on both sides.
    #[error("layouts differ: {0}")]
    Layouts(LayoutMismatch),
    /// A limit of the client is below the server's limit, so the server could send more than the client can
    /// store. [`LimitMismatch`] names the limit: raise it on the client, or lower it on the server. The
    /// packet sizes of the two sides may differ. A packet size is too small only if it is below 508 bytes, or
    /// if the answer to the login does not fit.
    #[error("limits differ: {0}")]
    Limits(LimitMismatch),
    /// Only clients report this reason. With an [`Endpoint`](crate::Endpoint), another client has the same
    /// session number: make each client with new random bits
    /// ([`Session::from_random`](crate::Session::from_random)), and never with saved bits. Without an
    /// endpoint, the server's connection for this address belongs to another session, usually an earlier
    /// session of the same address. The server frees this connection after its `timeout`. Then a new client
    /// can connect from this address. From another address, a new client can connect immediately.
    #[error(
        "another client has the same session number: make each client with new random bits (`Session::from_random`). If they \
         are new, an earlier session of this address has not timed out yet: try again later with a new client, or from another \
         address"
    )]
    Taken,
    /// The validator of the call with this name rejected the parameters that the client sent. The client is
    /// broken or forged, or the validator is too strict.
    #[error("the call `{0}` was rejected")]
    Rejected(String),
    /// The other side sent a packet that the protocol forbids. The packet is forged, or a hand-written
    /// serialiser does not read the same bits that it writes. The text describes the error.
    #[error("protocol error: {0}")]
    Protocol(String),
    /// The transport closed its connection to the other side for good, for example because the certificate of
    /// the server is not trusted. The text says what to do.
    #[error("the transport gave up: {0}")]
    Transport(String),
}
