//! Encrypts the packets of [`repl`](https://docs.rs/repl) and sends them as datagrams (RFC 9221) over QUIC
//! (RFC 9000), on one UDP port. The game's loop polls the connections: there is no thread, no executor and no
//! `async` code.
//!
//! A server has a [`QuicServer`], and a client a [`QuicClient`]:
//!
//! ```no_run
//! use repl_link::plain::{MessageClient, MessageServer};
//! use repl_link::{ClientTerms, ServerSettings, Session};
//! use repl_quic::{Identity, QuicClient, QuicServer, QuicConfig, Trust};
//! use std::time::{Duration, Instant};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // In the process of the server:
//! let identity = Identity::development("target/certificate")?; // or `Identity::from_pem` with a real one
//! let mut quic = QuicServer::bind("0.0.0.0:7777".parse()?, &identity, QuicConfig::default())?;
//! let mut server = MessageServer::new(ServerSettings::default());
//! let start = Instant::now();
//! # let is_running = || false;
//! while is_running() {
//!     let now = start.elapsed();
//!     quic.receive(&mut server, now)?;
//!     server.tick(now);
//!     quic.transmit(&mut server, now)?;
//! }
//!
//! // In the process of a client:
//! let trust = Trust::development("target/certificate")?; // or `Trust::platform("play.example.com")`
//! let mut quic = QuicClient::new("127.0.0.1:7777".parse()?, &trust)?;
//! let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(1));
//! # let start = Instant::now();
//! # let is_running = || false;
//! while is_running() {
//!     let now = start.elapsed();
//!     quic.receive(&mut client, now)?;
//!     client.tick(now);
//!     quic.transmit(&mut client, now)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # In a browser
//!
//! Compiled for `wasm32-unknown-unknown`, this crate has the same [`QuicClient`] with the same functions, so
//! the program of a client stays the same. It connects with the browser's WebTransport, which also uses QUIC
//! datagrams. The crate has no server there, and [`Trust::development`] returns an error, because a page
//! cannot read files: pass the hash of the server's certificate to [`Trust::pinned`].
//!
//! Call the client from a timer (`setInterval`), not only from `requestAnimationFrame`, which stops while the
//! page is hidden. Browsers run the timers of hidden pages about once a second, which is enough to stay
//! connected. After some minutes, some browsers run them only once a minute. Then the session times out, and
//! the client connects again. In a worker, timers are not slowed down.
//!
//! # Guarantees
//!
//! - An attacker who can read or change the packets on the path learns at most their number, times and
//!   lengths.
//! - A client connects only to a server with a certificate that it [trusts](Trust).
//! - Each QUIC connection belongs to one session. A client that begins another session opens another
//!   connection.
//! - Only the rate control of `repl` limits how fast a side sends.
//! - Strangers (peers that have not finished the handshake) can make a server store only a limited number of
//!   unfinished handshakes, each for a limited time. The server sends to the address of a stranger at most
//!   three times the bytes that it has received from this address.
#![cfg_attr(
    target_family = "wasm",
    doc = "",
    doc = "[`QuicServer`]: https://docs.rs/repl-quic/latest/repl_quic/struct.QuicServer.html"
)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used))]

#[cfg(any(target_family = "wasm", test))]
mod browser;
mod closing;
mod hash;
#[cfg(not(target_family = "wasm"))]
mod native;
mod telemetry;

#[cfg(target_family = "wasm")]
pub use browser::{
    client::QuicClient,
    trust::{Trust, TrustError},
};
pub use hash::{CertificateHash, HashError};
#[cfg(not(target_family = "wasm"))]
pub use native::{
    certificate::IdentityError,
    client::QuicClient,
    identity::Identity,
    server::QuicServer,
    server::config::QuicConfig,
    server::counters::QuicCounters,
    trust::{Trust, TrustError},
    web::WebOrigins,
};

#[cfg(test)]
mod tests;
