//! A QUIC connection that carries the packets of one session of `repl`: directly as datagrams, or, if the
//! other side is a browser, as datagrams of WebTransport.
//!
//! *Invariant:* who sends and receives packets does not need to know which of the two it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quinn_proto::crypto::rustls::HandshakeData;
use quinn_proto::{Connection, ConnectionError, Event, SendDatagramError, Transmit};
use repl_link::parts::to_sealed;

use crate::closing::FAREWELL;
use crate::native::flight::Flight;
use crate::native::settings::HTTP_3;
use crate::native::web::{Heard, WebSession};

/// After this time a connection may move again, even if its datagram is smaller.
const REST_BETWEEN_MOVES: Duration = Duration::from_secs(1);

/// A connection, with what the engine knows about it.
pub(crate) struct Carrier {
    pub(crate) connection: Connection,
    flight: Arc<Flight>,
    /// The session of WebTransport, if the other side is a browser.
    web: Option<WebSession>,
    /// The time of the connection's next timeout, if there is one.
    pub(crate) wakes_at: Option<Instant>,
    /// The time when the connection moved last after a small datagram.
    pub(crate) moved_at: Option<Instant>,
    /// Whether the connection is closed, and only waits for late packets.
    pub(crate) is_closed: bool,
    /// When the connection is closed, and with which code and reason, if its session of WebTransport has
    /// ended.
    closing: Option<(Instant, u32, &'static str)>,
}

/// What has happened to a connection.
#[derive(Debug)]
pub(crate) enum Change {
    /// The TLS handshake is finished.
    Established,
    /// A page of this origin asks for a session of WebTransport.
    Asked(Option<String>),
    /// The browser has ended the session of WebTransport, or its streams are not those of WebTransport. The
    /// connection must be closed with this code and reason.
    Left(u32, &'static str),
    /// The connection was lost.
    Lost(ConnectionError),
}

impl Carrier {
    pub(crate) fn new(connection: Connection, flight: Arc<Flight>) -> Self {
        Self {
            connection,
            flight,
            web: None,
            wakes_at: None,
            moved_at: None,
            is_closed: false,
            closing: None,
        }
    }

    /// Returns the number of packets of QUIC that are not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.flight.packets()
    }

    /// Returns the next change of the connection.
    pub(crate) fn poll(&mut self) -> Option<Change> {
        while let Some(event) = self.connection.poll() {
            let heard = match event {
                Event::Connected => return Some(Change::Established),
                Event::ConnectionLost { reason } => return Some(Change::Lost(reason)),
                Event::HandshakeDataReady => {
                    self.greet();
                    continue;
                }
                Event::Stream(event) => {
                    self.web.as_mut().and_then(|web| web.hear(&mut self.connection, &event))
                }
                Event::DatagramReceived | Event::DatagramsUnblocked => continue,
            };
            match heard {
                Some(Heard::Asked(origin)) => return Some(Change::Asked(origin)),
                Some(Heard::Left(code, why)) => return Some(Change::Left(code, why)),
                None => {}
            }
        }
        None
    }

    /// Begins HTTP/3, if the other side is a browser.
    fn greet(&mut self) {
        let data = self.connection.crypto_session().handshake_data();
        let protocol = data.and_then(|data| data.downcast::<HandshakeData>().ok()?.protocol);
        if self.connection.side().is_server() && protocol.as_deref() == Some(HTTP_3) {
            self.web = WebSession::begin(&mut self.connection);
        }
    }

    /// Accepts the session of WebTransport for which a page has asked.
    pub(crate) fn accept_page(&mut self) {
        if let Some(web) = &mut self.web {
            web.accept(&mut self.connection);
        }
    }

    /// Returns a packet as the content of a datagram.
    pub(crate) fn sealed(&self, packet: &[u8]) -> Bytes {
        let mut sealed = Vec::with_capacity(packet.len().saturating_add(WebSession::PREFIX.len()));
        sealed.extend_from_slice(self.prefix());
        to_sealed(packet, &mut sealed);
        sealed.into()
    }

    /// Returns the bytes with which each datagram begins.
    fn prefix(&self) -> &'static [u8] {
        self.web.as_ref().map_or(&[], |_| WebSession::PREFIX)
    }

    /// Sends a datagram with a sealed packet. If there is no room for it, the error contains the datagram.
    pub(crate) fn send(&mut self, sealed: Bytes) -> Result<(), SendDatagramError> {
        self.connection.datagrams().send(sealed, false)
    }

    /// Returns the next sealed packet that has arrived.
    pub(crate) fn receive(&mut self) -> Option<Bytes> {
        loop {
            let mut datagram = self.connection.datagrams().recv()?;
            let Some(web) = &self.web else { return Some(datagram) };
            if web.is_open() && datagram.starts_with(WebSession::PREFIX) {
                return Some(datagram.split_off(WebSession::PREFIX.len()));
            }
        }
    }

    /// Returns the greatest size in bytes of a sealed packet that fits into a datagram now. `None` if the
    /// other side takes no datagrams.
    pub(crate) fn packet_bytes(&mut self) -> Option<usize> {
        let bytes = self.connection.datagrams().max_size()?;
        Some(bytes.saturating_sub(self.prefix().len()))
    }

    /// Returns whether this side or the other has ended the connection or its session of WebTransport.
    pub(crate) fn is_over(&self) -> bool {
        self.connection.is_closed() || self.closing.is_some()
    }

    /// Closes the connection. A page is first told the reason.
    pub(crate) fn close(&mut self, now: Instant, code: u32, why: &'static str) {
        if self.closing.is_some() {
            return;
        }
        let web = self.web.as_mut().filter(|_| !self.connection.is_closed());
        if web.is_some_and(|web| web.end(&mut self.connection, code, why)) {
            self.closing = now.checked_add(FAREWELL).map(|at| (at, code, why));
        } else {
            self.close_at_once(now, code, why);
        }
    }

    pub(crate) fn close_at_once(&mut self, now: Instant, code: u32, why: &'static str) {
        self.connection.close(now, code.into(), Bytes::from_static(why.as_bytes()));
    }

    /// Returns the time of the next timeout.
    pub(crate) fn next_timeout(&mut self) -> Option<Instant> {
        let closes_at = self.closing.filter(|_| !self.connection.is_closed()).map(|(at, ..)| at);
        self.connection.poll_timeout().into_iter().chain(closes_at).min()
    }

    /// Handles the timeout of the connection.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.wakes_at = None;
        if let Some((_, code, why)) = self.closing.filter(|(at, ..)| *at <= now) {
            self.close_at_once(now, code, why);
        }
        let before = self.connection.remote_address();
        self.connection.handle_timeout(now);
        if self.connection.remote_address() != before {
            // The timeout has moved the connection back to its earlier address. `quinn-proto` does not allow
            // another timeout before the connection has sent something there, so make it send a datagram. The
            // datagram counts as lost, like all datagrams to the new address.
            self.connection.ping();
            self.poll_transmit(now, 1, &mut Vec::new());
        }
    }

    /// Returns whether the connection has moved after a small datagram so recently that it may not move again
    /// after another one.
    pub(crate) fn has_just_moved(&self, now: Instant) -> bool {
        self.moved_at.is_some_and(|at| now.saturating_duration_since(at) < REST_BETWEEN_MOVES)
    }

    /// Writes the next datagrams to `buffer`, and returns their address and sizes.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        most: usize,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        loop {
            buffer.clear();
            let transmit = self.connection.poll_transmit(now, most, buffer)?;
            // Drop datagrams to other addresses. They answer a path probe that may be forged, or they test
            // whether the client has moved.
            if transmit.destination == self.connection.remote_address() {
                return Some(transmit);
            }
        }
    }
}
