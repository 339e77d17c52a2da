//! The endpoint: finds the connection of each packet by its address, and answers clients that have no
//! connection yet.
//!
//! A client begins with a *hello*. The server answers with a *cookie*, which the client sends back to prove
//! its address. Then the server makes a connection and sends a *welcome* with a *token*. The connection is
//! *half-open* until the client has sent the token back.
//!
//! *Invariant:* a packet from an unproved address causes at most one answer, which is shorter than the packet
//! (R26). The endpoint stores only this answer, until it is polled. A packet affects only the session that it
//! belongs to (R25).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod answers;
mod config;
mod cookies;
mod directory;
mod ended;
mod origin;
mod places;

use std::net::SocketAddr;
use std::time::Duration;

use crate::frame::packet;
use crate::server::Maker;
use crate::server::host::{Host, Roster};
use crate::session::closing::Closing;
use crate::session::connection_id::ConnectionId;
use crate::session::control::{Control, HELLO_BYTES, Hello};
use crate::session::disconnect::DisconnectReason;
use crate::session::limits::step_time;
use crate::session::poll_watch::PollWatch;
use crate::session::secret::Secret;
use answers::Answers;
use cookies::Cookies;
use directory::Directory;
use ended::Ended;
use places::Places;

pub use config::EndpointConfig;
pub use origin::{Address, Origin};

/// The greatest number of newcomers that wait at one address. An honest address has one. More come from late
/// packets, or from a client that was restarted several times.
const MAX_NEWCOMERS: usize = 4;

/// One origin (a host or network) may take 1/`SHARE` of the places for half-open connections. If there are
/// few places, it may take [`LEAST_SHARE`] places, but at most half of all places.
const SHARE: usize = 32;
const LEAST_SHARE: usize = 4;

/// The clients of a server by their addresses. Packets are neither encrypted nor authenticated: whoever can
/// read them can forge them. The server is a [`Host`].
///
/// An endpoint makes a connection for each client that has proved its address. It finds the connection of
/// each packet, follows clients when their addresses change, and limits the number of connections. A server
/// that uses an endpoint needs no other way to connect clients or to receive packets. Use each endpoint with
/// one server. A server may have several endpoints, for example one for each transport. A server may also
/// have connections without an endpoint.
///
/// A client notices that its address has changed when it has received nothing for about a second. The
/// endpoint follows the client about one second and two round trips after the change. Until then, packets are
/// lost in both directions: reliable messages arrive later, and other messages are lost. No event reports
/// this.
///
/// `A` is the type of the transport's addresses. Addresses of one [origin](Address::origin), such as all
/// ports of a host, may together have only a part of the connections.
///
/// ```
/// use repl_link::plain::{MessageClient, MessageServer};
/// use repl_link::{ClientTerms, Endpoint, EndpointConfig, ServerSettings, Session};
/// use std::time::Duration;
///
/// let mut server = MessageServer::new(ServerSettings::default());
/// let secret = 0x0123_4567_89ab_cdef_0011_2233_4455_6677; // from the random numbers of the system
/// let mut endpoint = Endpoint::<u16>::new(EndpointConfig::default(), secret);
/// let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(1));
/// for tick in 0..10 {
///     let now = Duration::from_millis(16 * tick);
///     client.tick(now);
///     while let Some(packet) = client.poll_transmit() {
///         endpoint.receive(&mut server, now, 5_000, packet); // the client has the address 5,000
///     }
///     server.tick(now);
///     while let Some((to, packet)) = endpoint.poll_transmit(&mut server) {
///         assert_eq!(to, 5_000);
///         client.receive(now, packet).expect("nothing is damaged on the way");
///     }
/// }
/// assert!(client.is_connected());
/// ```
#[derive(Debug)]
pub struct Endpoint<A = SocketAddr> {
    config: EndpointConfig,
    secret: Secret,
    directory: Directory<A>,
    /// The connections that take places. Some of them may have ended, because ended connections are removed
    /// from this list later.
    connections: Places,
    /// The connections whose handshakes have not finished. Some handshakes may have finished, because their
    /// connections are removed from this list later.
    half_open: Places,
    ended: Ended,
    /// How many half-open connections ended to make room for others.
    evictions: u64,
    answers: Answers<A>,
    /// The answer that was last returned. The caller of `poll_transmit` borrows its bytes.
    last_packet: Vec<u8>,
    polls: PollWatch,
}

/// The text of the panic if packets are received but never polled.
const POLL_ENDPOINT: &str = "`Endpoint::poll_transmit` was never called: call it in every frame until it returns `None`, instead of \
                             `Server::poll_any_transmit`. It returns the packets of the server, and answers to clients that have no \
                             connection yet";

impl<A: Address> Endpoint<A> {
    /// Returns an endpoint without connections. `secret` protects the cookies by which clients prove their
    /// addresses, and the tokens of its connections: take 128 random bits from the operating system, and take
    /// new ones at each start of the server. These connections do not use the secret in the settings of the
    /// server.
    ///
    /// # Panics
    /// Panics if a limit of `config` is zero.
    #[must_use]
    #[track_caller]
    pub fn new(config: EndpointConfig, secret: u128) -> Self {
        config.assert_valid();
        Self {
            secret: Secret::from(secret),
            directory: Directory::new(),
            // The server itself limits the number of all connections.
            connections: Places::new(usize::MAX, config.max_per_origin),
            half_open: Places::new(config.max_half_open, share_of(&config)),
            ended: Ended::default(),
            evictions: 0,
            answers: Answers::new(),
            last_packet: Vec::new(),
            polls: PollWatch::default(),
            config,
        }
    }

    /// Handles a packet that came from an address. Bytes that belong to no session are ignored. Poll the
    /// answers after each batch of packets: at most 1,024 answers to clients without a connection wait, and
    /// at most 32 of them for one origin. O(bytes + log connections).
    ///
    /// # Panics
    /// In debug builds, panics if packets were received for half of the server's timeout without a tick of
    /// the server, or without a call of [`poll_transmit`](Self::poll_transmit).
    #[track_caller]
    pub fn receive(&mut self, server: &mut impl Host, now: Duration, from: A, bytes: &[u8]) {
        self.polls.received(now, server.roster().timeout(), POLL_ENDPOINT);
        self.note_ends(server);
        if let Some(mut reader) = packet::open_hello(bytes) {
            // No client sends a hello that is longer than `HELLO_BYTES`.
            if bytes.len() <= HELLO_BYTES
                && let Ok(Control::Hello(hello)) = Control::read(&mut reader)
            {
                self.receive_hello(server, now, from, &hello, bytes);
            }
            return;
        }
        let Some(residents) = self.directory.residents(from) else { return };
        for id in residents.all() {
            server.receive(id, now, bytes);
        }
        let is_connected = |&id: &ConnectionId| {
            server.roster().handshake(id).is_some_and(|handshake| handshake.is_connected())
        };
        if let Some(newcomer) = residents.newcomers.iter().copied().find(is_connected) {
            self.settle(server, from, newcomer);
        }
    }

    /// Returns the next packet and its address. Send the packet immediately. Returns `None` if there are no
    /// more packets until the next tick of the server or the next [`receive`](Self::receive). The connections
    /// take turns, and each turn is one packet.
    pub fn poll_transmit<'a>(&'a mut self, server: &'a mut impl Host) -> Option<(A, &'a [u8])> {
        self.polls.polled();
        self.note_ends(server);
        if let Some((to, bytes)) = self.answers.pop() {
            self.last_packet = bytes;
            return Some((to, &self.last_packet));
        }
        loop {
            let id = server.roster_mut().next_transmitting(|id| self.directory.contains(id))?;
            if let Some(to) = self.directory.address_of(id) {
                return server.roster_mut().poll_transmit(id).map(|bytes| (to, bytes));
            }
            // The address of the client is unknown, so the packet is dropped.
            server.roster_mut().poll_transmit(id);
        }
    }

    /// Returns the address of a connection. Returns `None` if the connection was removed, if it does not
    /// belong to this endpoint, or if its client has left its address and the new address is not known yet.
    #[must_use]
    pub fn address(&self, connection: ConnectionId) -> Option<A> {
        self.directory.address_of(connection)
    }

    fn receive_hello(&mut self, server: &mut impl Host, now: Duration, from: A, hello: &Hello, bytes: &[u8]) {
        let session = hello.session;
        let token = hello.token();
        let known = self.directory.connection_of(session);
        if let Some(id) = known
            && self.directory.address_of(id) == Some(from)
        {
            server.receive(id, now, bytes);
            return;
        }
        // A cookie from before the last move of the client is not valid any more. Otherwise a late hello
        // could move the client back.
        let place = (from, self.directory.moves(session));
        let cookies = self.cookies(server);
        let has_cookie =
            hello.proof.as_ref().is_some_and(|proof| cookies.check(proof.cookie, &place, session, now));
        if !has_cookie {
            let retry = Control::Retry(cookies.make(&place, session, now));
            return self.answers.push(from, retry.to_packet(session), bytes.len());
        }
        match known {
            Some(id) => self.receive_from_elsewhere(server, now, from, id, hello, bytes),
            // Only a client that received a welcome has a token, so the server had this session and has
            // forgotten it.
            None if token != 0 => {
                let forgotten = Control::Closing(Closing::Forgotten).to_packet(session ^ token);
                self.answers.push(from, forgotten, bytes.len());
            }
            None => self.admit(server, now, from, session, bytes),
        }
    }

    /// Handles the hello of a session that was at another address before.
    fn receive_from_elsewhere(
        &mut self,
        server: &mut impl Host,
        now: Duration,
        from: A,
        id: ConnectionId,
        hello: &Hello,
        bytes: &[u8],
    ) {
        let token = hello.token();
        if let Some(closing) = server.roster().closing(id, token) {
            return self.answers.push(from, closing, bytes.len());
        }
        if !server.roster().handshake(id).is_some_and(|handshake| handshake.is_token(token)) {
            // Another client chose the same session number, or the client moved before it received the
            // welcome. In both cases the client connects again with another number.
            let taken = Control::Closing(Closing::Taken).to_packet(hello.session);
            return self.answers.push(from, taken, bytes.len());
        }
        let is_newcomer = !server.roster().handshake(id).is_some_and(|handshake| handshake.is_connected());
        let newcomers = self.directory.residents(from).map_or(0, |residents| residents.newcomers.len());
        if is_newcomer && newcomers >= MAX_NEWCOMERS {
            return;
        }
        self.directory.relocate(id, from, is_newcomer);
        server.roster_mut().moved(id);
        server.receive(id, now, bytes);
    }

    /// Makes a connection for the session of a client that has proved its address.
    fn admit(&mut self, server: &mut impl Host, now: Duration, from: A, session: u64, bytes: &[u8]) {
        let is_open = |id| server.roster().handshake(id).is_some_and(|handshake| !handshake.is_ended());
        // Each packet of the address is tried on all its newcomers, so ended ones are removed first.
        self.directory.retain_newcomers(from, is_open);
        let settled = self.directory.residents(from).and_then(|residents| residents.settled);
        let is_taken = settled.is_some_and(is_open);
        let place = if is_taken { Some(true) } else { self.waits_for_place(server) };
        let Some(waits) = place.filter(|_| self.make_room(server, from)) else {
            let full = Control::Closing(Closing::Full).to_packet(session);
            return self.answers.push(from, full, bytes.len());
        };
        let lifetime = self.cookies(server).lifetime();
        let id = server.connect(now, Maker::Endpoint { secret: self.secret, waits, keep: lifetime });
        self.directory.insert(id, session, from, waits);
        self.connections.insert(id, from.origin());
        self.half_open.insert(id, from.origin());
        server.receive(id, now, bytes);
    }

    /// Returns whether a new connection waits for its place until its client has shown the token. Returns
    /// `None` if connections that are not half-open have all places.
    ///
    /// Half-open connections may have places, because most of their clients are honest and get state sooner
    /// in this way. But they occupy at most half of the free places, so that places remain for clients that
    /// have shown their tokens.
    fn waits_for_place(&self, server: &impl Host) -> Option<bool> {
        let most = self.config.max_connections;
        let fits = |held: usize, free: usize| held < free.div_euclid(2);
        // `half_open` contains all half-open connections, and may contain connections that are not half-open
        // any more. If even its length fits, the half-open connections need not be counted.
        if fits(self.half_open.taken(), most.saturating_sub(server.roster().open())) {
            return Some(false);
        }
        let held = self.half_open.ids().filter(|&id| holds_place(server, id)).count();
        let free = most.saturating_sub(server.roster().open().saturating_sub(held));
        (free > 0).then(|| !fits(held, free))
    }

    /// Ends half-open connections if there is no place for one more from this address. Returns whether there
    /// is a place.
    fn make_room(&mut self, server: &mut impl Host, from: A) -> bool {
        let origin = from.origin();
        let is_open = |id| server.roster().handshake(id).is_some_and(|handshake| !handshake.is_ended());
        if let Some(contenders) = self.connections.contenders(origin, is_open)
            && !self.evict_one(server, contenders)
        {
            return false;
        }
        let newcomers = self.directory.residents(from).map_or(&[][..], |residents| &residents.newcomers);
        let newcomers: Vec<_> = newcomers.iter().copied().filter(|&id| is_half_open(server, id)).collect();
        let contenders = match newcomers.len() {
            MAX_NEWCOMERS.. => Some(newcomers),
            _ => self.half_open.contenders(origin, |id| is_half_open(server, id)),
        };
        contenders.is_none_or(|contenders| self.evict_one(server, contenders))
    }

    /// Ends one of the half-open connections among `contenders`, and forgets it. The choice is unpredictable,
    /// so an attacker cannot time a flood to hit a certain client. A connection keeps its place while the
    /// application decides about its login. Returns whether a connection was ended.
    fn evict_one(&mut self, server: &mut impl Host, mut contenders: Vec<ConnectionId>) -> bool {
        let is_undecided =
            |id| server.roster().handshake(id).is_some_and(|handshake| handshake.awaits_login());
        contenders.retain(|&id| is_half_open(server, id) && !is_undecided(id));
        let choice = self.secret.choice(self.evictions, contenders.len());
        let Some(&evicted) = contenders.get(choice) else { return false };
        self.evictions = self.evictions.wrapping_add(1);
        let address = self.directory.address_of(evicted);
        server.close(evicted, DisconnectReason::Full);
        for packet in server.roster_mut().forget(evicted) {
            address.into_iter().for_each(|to| self.answers.push(to, packet.clone(), HELLO_BYTES));
        }
        self.forget(evicted);
        true
    }

    /// Handles a newcomer that has shown its token: it receives the address and a place. If no place is free,
    /// a half-open connection ends. If there is no half-open connection, the newcomer ends.
    fn settle(&mut self, server: &mut impl Host, from: A, newcomer: ConnectionId) {
        for replaced in self.directory.settle(from, newcomer) {
            server.close(replaced, DisconnectReason::Replaced);
        }
        if server.roster().open() <= self.config.max_connections {
            return;
        }
        let holders = self.half_open.ids().filter(|&id| holds_place(server, id)).collect();
        if !self.evict_one(server, holders) {
            server.close(newcomer, DisconnectReason::Full);
        }
    }

    /// Returns the cookies of a server. How long a cookie is valid depends on the timeout of the server.
    fn cookies(&self, server: &impl Host) -> Cookies {
        Cookies { secret: self.secret, period: step_time(server.roster().timeout()) }
    }

    /// Records which connections have ended. Forgets the connections that the server has removed, and removes
    /// the oldest ended connections if there are too many.
    fn note_ends(&mut self, server: &mut impl Host) {
        for id in server.roster_mut().take_ended(|id| self.directory.contains(id)) {
            let has_token = server.roster().handshake(id).is_some_and(|handshake| handshake.has_token());
            self.ended.push(id, !has_token);
        }
        for id in server.roster_mut().take_removed(|id| self.directory.contains(id)) {
            self.forget(id);
        }
        while let Some(id) = self.ended.pop_beyond(self.config.max_ended) {
            server.roster_mut().forget(id);
            self.forget(id);
        }
    }

    fn forget(&mut self, id: ConnectionId) {
        if let Some(origin) = self.directory.remove(id) {
            self.ended.remove(id);
            self.connections.remove(id, origin);
            self.half_open.remove(id, origin);
        }
    }
}

fn is_half_open(server: &impl Host, id: ConnectionId) -> bool {
    server.roster().handshake(id).is_some_and(|handshake| !handshake.is_through())
}

/// Returns whether a half-open connection has one of the server's places.
fn holds_place(server: &impl Host, id: ConnectionId) -> bool {
    server.roster().handshake(id).is_some_and(|handshake| !handshake.is_through() && !handshake.waits())
}

/// Returns how many half-open connections one origin may have: at most half of the limit, but at least one.
fn share_of(config: &EndpointConfig) -> usize {
    let most = config.max_half_open.min(config.max_connections);
    most.div_euclid(SHARE).max(LEAST_SHARE).min(most.div_euclid(2)).max(1)
}
