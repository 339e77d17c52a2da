//! Players in browsers: the server's side of WebTransport over HTTP/3 (RFC 9114, RFC 9220 and RFC 9297), in
//! the same QUIC connections as those of other players. Needs the feature `web`.
//!
//! *Invariant:* streams only begin and end the session of a page. Its packets are datagrams.

#[cfg(not(feature = "web"))]
mod absent;
mod origins;
#[cfg(feature = "web")]
mod session;

#[cfg(not(feature = "web"))]
pub(crate) use absent::WebSession;
pub use origins::WebOrigins;
#[cfg(feature = "web")]
pub(crate) use session::WebSession;

/// What a browser says with its streams.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "web"), expect(dead_code, reason = "there are no browsers"))]
pub(crate) enum Heard {
    /// A page of this origin asks for the session.
    Asked(Option<String>),
    /// The browser has ended the session, or does not speak WebTransport. The connection must be closed with
    /// this code of HTTP/3 and this reason.
    Left(u32, &'static str),
}
