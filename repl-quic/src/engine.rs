//! The QUIC connections of one socket: gives them what arrives, wakes them in time, and has them make what is
//! to be sent.
//!
//! *Invariant:* only connections with something to do are visited.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::ops::Bound;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, DatagramEvent, Endpoint, Incoming, Transmit,
};

use crate::wire::Received;

/// A connection with the time at which it wants to be woken.
struct Driven {
    connection: Connection,
    wakes_at: Option<Instant>,
}

/// The QUIC connections of one socket.
pub(crate) struct Engine {
    endpoint: Endpoint,
    connections: BTreeMap<ConnectionHandle, Driven>,
    /// The connections to which something has happened, until their user has looked at them.
    stirred: BTreeSet<ConnectionHandle>,
    /// The connections that may have something to send.
    sending: BTreeSet<ConnectionHandle>,
    /// The connection whose turn it was last. The next one begins, so that none waits for ever.
    last: ConnectionHandle,
    /// The connection that began the last round.
    first: ConnectionHandle,
    timers: BTreeSet<(Instant, ConnectionHandle)>,
    /// The moment that has the time zero.
    start: Instant,
}

/// What a datagram is.
pub(crate) enum Arrival {
    /// Something for a connection, or nothing that has a meaning.
    Taken,
    /// The first datagram of a connection that is not accepted yet.
    Newcomer(Box<Incoming>),
    /// It needs an answer, which belongs to no connection.
    Answer(Transmit),
}

impl Engine {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            connections: BTreeMap::new(),
            stirred: BTreeSet::new(),
            sending: BTreeSet::new(),
            last: ConnectionHandle(usize::MAX),
            first: ConnectionHandle(usize::MAX),
            timers: BTreeSet::new(),
            start: Instant::now(),
        }
    }

    /// Returns the endpoint, to decide about newcomers.
    pub(crate) fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    fn instant(&self, now: Duration) -> Instant {
        self.start.checked_add(now).unwrap_or(self.start)
    }

    /// Takes a datagram. An answer is written to `answer`.
    pub(crate) fn take(&mut self, now: Duration, datagram: &Received<'_>, answer: &mut Vec<u8>) -> Arrival {
        let now = self.instant(now);
        let Received { from, to, ecn, bytes } = *datagram;
        match self.endpoint.handle(now, from, to, ecn, BytesMut::from(bytes), answer) {
            None => Arrival::Taken,
            Some(DatagramEvent::Response(transmit)) => Arrival::Answer(transmit),
            Some(DatagramEvent::NewConnection(incoming)) => Arrival::Newcomer(Box::new(incoming)),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(driven) = self.connections.get_mut(&handle) {
                    driven.connection.handle_event(event);
                    self.stir(handle);
                }
                Arrival::Taken
            }
        }
    }

    /// Accepts a newcomer. An answer that belongs to no connection is written to `answer`.
    pub(crate) fn accept(
        &mut self,
        now: Duration,
        incoming: Incoming,
        answer: &mut Vec<u8>,
    ) -> Result<ConnectionHandle, Option<Transmit>> {
        let accepted = self.endpoint.accept(incoming, self.instant(now), answer, None);
        let (handle, connection) = accepted.map_err(|error| error.response)?;
        self.add(handle, connection);
        Ok(handle)
    }

    /// Begins a connection to a server.
    pub(crate) fn connect(
        &mut self,
        now: Duration,
        config: ClientConfig,
        to: SocketAddr,
        name: &str,
    ) -> Result<ConnectionHandle, ConnectError> {
        let (handle, connection) = self.endpoint.connect(self.instant(now), config, to, name)?;
        self.add(handle, connection);
        Ok(handle)
    }

    fn add(&mut self, handle: ConnectionHandle, connection: Connection) {
        self.connections.insert(handle, Driven { connection, wakes_at: None });
        self.stir(handle);
    }

    fn stir(&mut self, handle: ConnectionHandle) {
        self.stirred.insert(handle);
        self.sending.insert(handle);
    }

    /// Returns how many connections are stored, with those that are closed and not drained.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Returns a connection that is not drained, to change it or to send with it.
    pub(crate) fn get_mut(&mut self, handle: ConnectionHandle) -> Option<&mut Connection> {
        let driven = self.connections.get_mut(&handle)?;
        self.sending.insert(handle);
        Some(&mut driven.connection)
    }

    /// Closes a connection. What it has to say is sent in the next [`poll_transmit`](Self::poll_transmit).
    pub(crate) fn close(&mut self, now: Duration, handle: ConnectionHandle, code: u32, why: &'static str) {
        let now = self.instant(now);
        if let Some(connection) = self.get_mut(handle) {
            connection.close(now, code.into(), bytes::Bytes::from_static(why.as_bytes()));
        }
    }

    /// Wakes the connections whose time has come.
    pub(crate) fn wake(&mut self, now: Duration) {
        let now = self.instant(now);
        while let Some(&(at, handle)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, handle));
            if let Some(driven) = self.connections.get_mut(&handle) {
                driven.wakes_at = None;
                driven.connection.handle_timeout(now);
                self.stir(handle);
            }
        }
    }

    /// Returns a connection to which something has happened since the last call for it.
    pub(crate) fn next_stirred(&mut self) -> Option<ConnectionHandle> {
        self.stirred.pop_first()
    }

    /// Begins a round in which all connections send. Another one begins each time, because what is sent
    /// first is the last to find a queue on the way full.
    pub(crate) fn begin_round(&mut self) {
        self.last = self.first;
        self.first = self.next_sending().unwrap_or(self.first);
    }

    /// Writes the next datagrams of a connection, or of any one, to `buffer`, at most `most` of equal length.
    /// Returns what they are. `None` if nothing more is to be sent now.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Duration,
        only: Option<ConnectionHandle>,
        most: usize,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let instant = self.instant(now);
        loop {
            let handle = only.or_else(|| self.next_sending())?;
            let Some(driven) = self.connections.get_mut(&handle) else {
                self.sending.remove(&handle);
                if only.is_some() {
                    return None;
                }
                continue;
            };
            buffer.clear();
            self.last = handle;
            if let Some(transmit) = driven.connection.poll_transmit(instant, most, buffer) {
                return Some(transmit);
            }
            self.sending.remove(&handle);
            self.settle(handle);
            if only.is_some() {
                return None;
            }
        }
    }

    /// Returns the connection that sends next: the one after that whose turn it was last.
    fn next_sending(&self) -> Option<ConnectionHandle> {
        let after = (Bound::Excluded(self.last), Bound::Unbounded);
        self.sending.range(after).next().or(self.sending.first()).copied()
    }

    /// Passes on what a connection has to tell the endpoint, and notes when it wants to be woken.
    fn settle(&mut self, handle: ConnectionHandle) {
        let Some(driven) = self.connections.get_mut(&handle) else { return };
        while let Some(event) = driven.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                driven.connection.handle_event(event);
                self.sending.insert(handle);
            }
        }
        if let Some(at) = driven.wakes_at.take() {
            self.timers.remove(&(at, handle));
        }
        if driven.connection.is_drained() {
            self.connections.remove(&handle);
            self.stirred.insert(handle);
            return;
        }
        driven.wakes_at = driven.connection.poll_timeout();
        self.timers.extend(driven.wakes_at.map(|at| (at, handle)));
    }
}
