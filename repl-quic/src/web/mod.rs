//! Players in browsers: the server's side of WebTransport over HTTP/3 (RFC 9114, RFC 9220 and RFC 9297), in
//! the same QUIC connections as those of other players.
//!
//! *Invariant:* streams only begin and end the session of a page. Its packets are datagrams.

mod origins;
mod session;

pub use origins::WebOrigins;
pub(crate) use session::{Heard, WebSession};
