//! The client's side in a browser: connects to the server, sends the packets of each session over a
//! WebTransport session of its own, and tells the client when that ends.
//!
//! *Invariant:* at most one WebTransport session belongs to a session of the client, and this is the current
//! session.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use repl_link::parts::{Visit, from_sealed, to_sealed};
use repl_link::{DisconnectReason, Guest};

use super::address;
use super::ends::{Attempts, End, OPENING};
use super::session::{WebSession, check_support};
use super::trust::Trust;
use crate::closing::{FAREWELL, OVER};
use crate::hash::CertificateHash;
use crate::telemetry::event;

/// The connection of a client to a server, over the WebTransport of a browser.
///
/// In each tick, call [`receive`](Self::receive), then the tick of the client, and then
/// [`transmit`](Self::transmit). Continue for about a second after the client has disconnected: otherwise the
/// server notices the end only after its timeout. A `QuicClient` connects when the client begins a session,
/// and again for each later session. An error ends the session, and the client's events report it.
///
/// If the browser cannot connect within 4.5 seconds, the session ends with [`DisconnectReason::Timeout`], and
/// the client tries again. A browser does not tell a page why it could not connect. So a client that has
/// never connected gives up with the first attempt that fails after three seconds: the reason is then
/// [`DisconnectReason::Transport`], with a text that says what to check. A client that has connected before
/// never gives up for this reason.
///
/// Use it only on the thread that made it: elsewhere it panics, because the objects of a browser belong to
/// one thread.
pub struct QuicClient {
    hashes: Vec<CertificateHash>,
    attempts: Attempts,
    /// The connection of the current session.
    current: Option<Current>,
    /// A buffer for the packet that is being received.
    opened: Vec<u8>,
    /// A buffer for the packet that is being sent.
    sealed: Vec<u8>,
}

/// The connection of the current session.
struct Current {
    web: WebSession,
    session: u64,
    begun_at: Duration,
    is_open: bool,
    has_ended: bool,
    packet_bytes: usize,
    /// The newest packet of the session. It waits until the WebTransport session is open.
    first: Option<Vec<u8>>,
    /// The time at which the WebTransport session is closed, if its session has ended.
    closes_at: Option<Duration>,
}

/// Engines store it where they require these traits.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<QuicClient>();
};

impl QuicClient {
    /// Returns a connection to the server at this address. It begins to connect after the first tick of a
    /// client. With [`Trust::platform`], the browser resolves the name, and only the port of the address
    /// counts.
    ///
    /// # Errors
    /// Returns an error that says what to do if the page cannot use WebTransport, because the browser is too
    /// old or the page is not secure. Returns an error if no server is trusted.
    pub fn new(server: SocketAddr, trust: &Trust) -> io::Result<Self> {
        check_support().map_err(|why| io::Error::new(io::ErrorKind::Unsupported, why))?;
        let is_pinned = trust.name.is_none();
        if is_pinned && trust.hashes.is_empty() {
            let why = "no certificate is trusted: pass at least one hash to `Trust::pinned`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let url = address::url(server, trust.name.as_deref());
        Ok(Self {
            hashes: trust.hashes.clone(),
            attempts: Attempts::new(url, is_pinned),
            current: None,
            opened: Vec::new(),
            sealed: Vec::new(),
        })
    }

    /// Always returns an error, because a page does not know its local address.
    ///
    /// # Errors
    /// Returns an error of the kind [`Unsupported`](io::ErrorKind::Unsupported).
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a page does not know its local address"))
    }

    /// Passes the packets that have arrived to the client. `now` is the time since a fixed start, the same as
    /// for the client's tick.
    ///
    /// # Errors
    /// Never returns an error in a browser.
    pub fn receive(&mut self, client: &mut impl Guest, now: Duration) -> io::Result<()> {
        client.visit_mut().seal();
        self.notice_open(client);
        self.pass_on(client, now);
        self.notice_end(client, now);
        Ok(())
    }

    /// Sends the packets of the client's tick.
    ///
    /// # Errors
    /// Never returns an error in a browser.
    pub fn transmit(&mut self, client: &mut impl Guest, now: Duration) -> io::Result<()> {
        let session = client.visit().number();
        if self.current.as_ref().is_none_or(|current| current.session != session) {
            self.connect(client, now, session);
        }
        while let Some(packet) = client.visit_mut().poll_transmit() {
            self.sealed.clear();
            to_sealed(packet, &mut self.sealed);
            if let Some(current) = &mut self.current {
                current.send(&self.sealed);
            }
        }
        self.close_if_over(client, now);
        Ok(())
    }

    /// Begins a WebTransport session for a session, unless the client has already ended the session.
    fn connect(&mut self, client: &mut impl Guest, now: Duration, session: u64) {
        if let Some(last) = self.current.take() {
            last.web.close(OVER, "the client begins another connection");
        }
        if client.visit().is_over() {
            return;
        }
        client.visit_mut().seal();
        match WebSession::open(self.attempts.url(), &self.hashes) {
            Ok(web) => {
                self.current = Some(Current {
                    web,
                    session,
                    begun_at: now,
                    is_open: false,
                    has_ended: false,
                    packet_bytes: 0,
                    first: None,
                    closes_at: None,
                });
            }
            Err(why) => {
                let why =
                    format!("the browser does not even try to connect to {}: {why}", self.attempts.url());
                client.lose_session(DisconnectReason::Transport(why));
            }
        }
    }

    /// Handles that the WebTransport session is open, and that its greatest datagrams have changed.
    fn notice_open(&mut self, client: &mut impl Guest) {
        let Some(current) = self.current.as_mut().filter(|current| current.web.is_open()) else { return };
        if !current.is_open {
            current.is_open = true;
            self.attempts.succeeded();
            event!(INFO, server = self.attempts.url(), "the connection to the server is encrypted");
            if let Some(packet) = current.first.take() {
                current.web.send(&packet);
            }
        }
        let bytes = current.web.max_bytes();
        if bytes != current.packet_bytes {
            current.packet_bytes = bytes;
            client.visit_mut().set_packet_bytes(bytes);
        }
    }

    /// Passes the packets that have arrived to the client.
    fn pass_on(&mut self, client: &mut impl Guest, now: Duration) {
        while let Some(packet) = self.current.as_ref().and_then(|current| current.web.receive()) {
            from_sealed(&packet, &mut self.opened);
            client.receive(now, &self.opened);
        }
    }

    /// Handles the end of the WebTransport session.
    fn notice_end(&mut self, client: &mut impl Guest, now: Duration) {
        let Some(current) = self.current.as_mut().filter(|current| !current.has_ended) else { return };
        let Some(end) = current.web.take_end().or_else(|| current.silence(now)) else { return };
        current.has_ended = true;
        let reason = self.attempts.reason_of(end, current.begun_at, now);
        if client.visit().number() == current.session {
            event!(INFO, %reason, "the connection to the server was lost");
            client.lose_session(reason);
        }
    }

    /// Closes the WebTransport session of a session that has ended, after a time in which the server can
    /// learn the reason.
    fn close_if_over(&mut self, client: &impl Guest, now: Duration) {
        let Some(current) = self.current.as_mut().filter(|_| client.visit().is_over()) else { return };
        let closes_at = *current.closes_at.get_or_insert(now.saturating_add(FAREWELL));
        if closes_at <= now && !current.has_ended {
            current.has_ended = true;
            current.web.close(OVER, "the session has ended");
        }
    }
}

impl Current {
    /// Sends a packet, or keeps it until the WebTransport session is open.
    fn send(&mut self, packet: &[u8]) {
        if self.is_open {
            self.web.send(packet);
        } else {
            self.first = Some(packet.to_vec());
        }
    }

    /// Returns [`End::Silent`] and closes the WebTransport session if it has not opened in time.
    fn silence(&self, now: Duration) -> Option<End> {
        if self.is_open || now < self.begun_at.saturating_add(OPENING) {
            return None;
        }
        self.web.close(OVER, "the server did not answer in time");
        Some(End::Silent)
    }
}
