//! The QUIC connections of one socket. The engine passes received datagrams to them, handles their timeouts,
//! and returns the datagrams that they send.
//!
//! *Invariant:* the engine visits only connections that have work to do.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::replace;
use std::net::SocketAddr;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, ConnectError, ConnectionEvent, ConnectionHandle, DatagramEvent, Endpoint, EndpointEvent,
    Incoming, ServerConfig, Transmit,
};

use crate::closing::LATE;
use crate::native::carrier::Carrier;
use crate::native::settings::{self, Streams};
use crate::native::wire::Received;

/// The greatest number of packets of a connection that may be unacknowledged. Without a limit, a peer that
/// sends data but no acks could fill the memory. The rate control of `repl` has at most a few hundred packets
/// in flight.
const MOST_UNACKNOWLEDGED: u64 = 4_096;

/// The greatest number of connections that are stored after they were closed, to answer late packets. There
/// is a limit, because a peer can make a connection wait for a long time.
const MOST_CLOSED: usize = 1_024;

/// The least size in bytes of a datagram after which a connection may move to a new address without further
/// limits. The connection then sends at most 1,200 bytes to this address, plus a datagram that tests the
/// greatest size. With this least size, these are not more than three times the received bytes.
const PAYS_FOR_A_MOVE: usize = 900;

/// The greatest number of connections that may move in a second after smaller datagrams. Anyone can forge a
/// datagram that lets a connection move.
const MOST_SMALL_MOVES: u32 = 100;

/// The QUIC connections of one socket.
pub(crate) struct Engine {
    endpoint: Endpoint,
    connections: BTreeMap<ConnectionHandle, Carrier>,
    /// The connections with events that the engine's user has not handled yet.
    stirred: BTreeSet<ConnectionHandle>,
    /// The connections that may have something to send.
    sending: BTreeSet<ConnectionHandle>,
    /// The connection that has sent last. The next connection after it sends next, so that none waits for
    /// ever.
    last: ConnectionHandle,
    /// The connection that was the first to send in the last round.
    first: ConnectionHandle,
    timers: BTreeSet<(Instant, ConnectionHandle)>,
    /// The closed connections that wait for late packets, in the order in which they were closed.
    closed: VecDeque<ConnectionHandle>,
    /// A time, and the number of connections that have moved after small datagrams since then.
    small_moves: (Instant, u32),
    /// The settings with which new connections are accepted, and which streams these may open. `None` on a
    /// client.
    accepts: Option<(ServerConfig, Streams)>,
    /// The system time that corresponds to the time zero of the game's clock.
    start: Instant,
}

/// What [`Engine::take`] has done with a datagram.
pub(crate) enum Arrival {
    /// The datagram was for a connection, or was ignored.
    Taken,
    /// The first datagram of a connection that is not accepted yet.
    Newcomer(Box<Incoming>),
    /// The datagram belongs to no connection, and this answer must be sent.
    Answer(Transmit),
}

impl Engine {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let start = Instant::now();
        Self {
            endpoint,
            connections: BTreeMap::new(),
            stirred: BTreeSet::new(),
            sending: BTreeSet::new(),
            last: ConnectionHandle(usize::MAX),
            first: ConnectionHandle(usize::MAX),
            timers: BTreeSet::new(),
            closed: VecDeque::new(),
            small_moves: (start, 0),
            accepts: None,
            start,
        }
    }

    /// Returns the endpoint, with which the caller accepts or refuses newcomers.
    pub(crate) fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// Sets how connections are accepted from now on.
    pub(crate) fn set_accepts(&mut self, config: ServerConfig, streams: Streams) {
        self.endpoint.set_server_config(Some(Arc::new(config.clone())));
        self.accepts = Some((config, streams));
    }

    fn instant(&self, now: Duration) -> Instant {
        self.start.checked_add(now).unwrap_or(self.start)
    }

    /// Passes a received datagram to its connection. If it must be answered directly, writes the answer to
    /// `answer`.
    pub(crate) fn take(&mut self, now: Duration, datagram: &Received<'_>, answer: &mut Vec<u8>) -> Arrival {
        let now = self.instant(now);
        let Received { from, to, ecn, bytes } = *datagram;
        match self.endpoint.handle(now, from, to, ecn, BytesMut::from(bytes), answer) {
            None => Arrival::Taken,
            Some(DatagramEvent::Response(transmit)) => Arrival::Answer(transmit),
            Some(DatagramEvent::NewConnection(incoming)) => Arrival::Newcomer(Box::new(incoming)),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let probe = self.deliver(now, datagram, handle, event, answer);
                probe.map_or(Arrival::Taken, Arrival::Answer)
            }
        }
    }

    /// Passes a datagram to its connection. If this moves the connection to a new address, returns the probe
    /// of this address, and writes its bytes to `answer`.
    fn deliver(
        &mut self,
        now: Instant,
        datagram: &Received<'_>,
        handle: ConnectionHandle,
        event: ConnectionEvent,
        answer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let is_small = datagram.bytes.len() < PAYS_FOR_A_MOVE;
        let rests = is_small && self.small_moves(now) >= MOST_SMALL_MOVES;
        let carrier = self.connections.get_mut(&handle)?;
        let before = carrier.connection.remote_address();
        if datagram.from != before && is_small && (rests || carrier.has_just_moved(now)) {
            return None;
        }
        carrier.connection.handle_event(event);
        let has_moved = carrier.connection.remote_address() != before;
        if has_moved && is_small {
            carrier.moved_at = Some(now);
            self.small_moves.1 = self.small_moves.1.saturating_add(1);
        }
        // The connection must probe its new address at once: `quinn-proto` does not allow a timeout of a
        // connection that has not sent this probe.
        let probe = has_moved.then(|| carrier.poll_transmit(now, 1, answer)).flatten();
        self.stir(handle);
        probe
    }

    /// Returns how many connections have moved after small datagrams in the current second.
    fn small_moves(&mut self, now: Instant) -> u32 {
        let (since, moves) = &mut self.small_moves;
        if now.saturating_duration_since(*since) >= Duration::from_secs(1) {
            (*since, *moves) = (now, 0);
        }
        *moves
    }

    /// Accepts a newcomer. If nothing arrives for the time `silence`, its connection ends. If the newcomer
    /// must be answered directly, writes the answer to `answer`.
    pub(crate) fn accept(
        &mut self,
        now: Duration,
        incoming: Incoming,
        silence: Duration,
        answer: &mut Vec<u8>,
    ) -> Result<ConnectionHandle, Option<Transmit>> {
        let flight = Arc::default();
        let config = self.accepts.clone().map(|(mut config, streams)| {
            config.transport_config(Arc::new(settings::transport(silence, &flight, streams)));
            Arc::new(config)
        });
        let accepted = self.endpoint.accept(incoming, self.instant(now), answer, config);
        let (handle, connection) = accepted.map_err(|error| error.response)?;
        self.add(handle, Carrier::new(connection, flight));
        Ok(handle)
    }

    /// Begins a connection to a server. If nothing arrives for the time `silence`, the connection ends.
    pub(crate) fn connect(
        &mut self,
        now: Duration,
        mut config: ClientConfig,
        silence: Duration,
        to: SocketAddr,
        name: &str,
    ) -> Result<ConnectionHandle, ConnectError> {
        let flight = Arc::default();
        config.transport_config(Arc::new(settings::transport(silence, &flight, Streams::None)));
        let (handle, connection) = self.endpoint.connect(self.instant(now), config, to, name)?;
        self.add(handle, Carrier::new(connection, flight));
        Ok(handle)
    }

    fn add(&mut self, handle: ConnectionHandle, carrier: Carrier) {
        self.connections.insert(handle, carrier);
        self.stir(handle);
    }

    fn stir(&mut self, handle: ConnectionHandle) {
        self.stirred.insert(handle);
        self.sending.insert(handle);
    }

    /// Returns the number of stored connections, including closed connections that still wait for late
    /// packets.
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Returns a connection, to change it or to send with it. `None` if the connection has already ended
    /// completely.
    pub(crate) fn get_mut(&mut self, handle: ConnectionHandle) -> Option<&mut Carrier> {
        let carrier = self.connections.get_mut(&handle)?;
        self.sending.insert(handle);
        Some(carrier)
    }

    /// Closes a connection. The next call of [`poll_transmit`](Self::poll_transmit) sends the close.
    pub(crate) fn close(&mut self, now: Duration, handle: ConnectionHandle, code: u32, why: &'static str) {
        let now = self.instant(now);
        if let Some(carrier) = self.get_mut(handle) {
            carrier.close(now, code, why);
        }
    }

    /// Handles all timeouts up to the time `now`.
    pub(crate) fn wake(&mut self, now: Duration) {
        let now = self.instant(now);
        while let Some(&(at, handle)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, handle));
            if let Some(carrier) = self.connections.get_mut(&handle) {
                carrier.wake(now);
                self.stir(handle);
            }
        }
    }

    /// Returns a connection with events that were not handled yet.
    pub(crate) fn next_stirred(&mut self) -> Option<ConnectionHandle> {
        self.stirred.pop_first()
    }

    /// Begins a round in which all connections send. Each round begins with another connection, because the
    /// first datagrams of a round find a full queue on the path least often.
    pub(crate) fn begin_round(&mut self) {
        self.last = self.first;
        self.first = self.next_sending().unwrap_or(self.first);
    }

    /// Writes the next datagrams of one connection (or of any connection, if none is given) to `buffer`: at
    /// most `most` datagrams of equal length. Returns their address and sizes. Returns `None` if there is
    /// nothing more to send now.
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
            let Some(carrier) = self.connections.get_mut(&handle) else {
                self.sending.remove(&handle);
                if only.is_some() {
                    return None;
                }
                continue;
            };
            self.last = handle;
            if let Some(transmit) = carrier.poll_transmit(instant, most, buffer) {
                return Some(transmit);
            }
            self.sending.remove(&handle);
            self.settle(instant, handle);
            if only.is_some() {
                return None;
            }
        }
    }

    /// Returns the next connection that may send, after the one that has sent last.
    fn next_sending(&self) -> Option<ConnectionHandle> {
        let after = (Bound::Excluded(self.last), Bound::Unbounded);
        self.sending.range(after).next().or(self.sending.first()).copied()
    }

    /// Passes events of a connection to the endpoint, and updates the time of its next timeout. Ends the
    /// connection if too many of its packets are unacknowledged.
    fn settle(&mut self, now: Instant, handle: ConnectionHandle) {
        let Some(carrier) = self.connections.get_mut(&handle) else { return };
        while let Some(event) = carrier.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                carrier.connection.handle_event(event);
                self.sending.insert(handle);
            }
        }
        if let Some(at) = carrier.wakes_at.take() {
            self.timers.remove(&(at, handle));
        }
        if carrier.connection.is_drained() {
            self.remove(handle);
            return;
        }
        if !carrier.connection.is_closed() && carrier.unacknowledged() > MOST_UNACKNOWLEDGED {
            carrier.close_at_once(now, LATE, "nothing is acknowledged");
            self.sending.insert(handle);
        }
        carrier.wakes_at = carrier.next_timeout();
        self.timers.extend(carrier.wakes_at.map(|at| (at, handle)));
        if carrier.connection.is_closed() && !replace(&mut carrier.is_closed, true) {
            self.closed.push_back(handle);
            self.bound_closed();
        }
    }

    /// If too many closed connections are stored, removes the one that was closed first.
    fn bound_closed(&mut self) {
        if self.closed.len() > MOST_CLOSED
            && let Some(oldest) = self.closed.pop_front()
        {
            self.endpoint.handle_event(oldest, EndpointEvent::drained());
            self.remove(oldest);
        }
    }

    /// Removes a connection that has ended completely.
    fn remove(&mut self, handle: ConnectionHandle) {
        let Some(carrier) = self.connections.remove(&handle) else { return };
        if let Some(at) = carrier.wakes_at {
            self.timers.remove(&(at, handle));
        }
        if carrier.is_closed {
            self.closed.retain(|closed| *closed != handle);
        }
        self.sending.remove(&handle);
        self.stirred.insert(handle);
    }
}
