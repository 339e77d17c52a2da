//! The endpoint: a server's clients by their addresses.
//!
//! *Invariant:* a packet from an address that has not proved itself is answered by at most one packet, which
//! is shorter (R26). It stores nothing except this answer, until the answer is polled; at most
//! [`MAX_ANSWERS`] answers wait. A packet has no effect on a session that it does not name (R25).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod config;
mod cookies;
mod directory;

use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;
use std::net::SocketAddr;
use std::time::Duration;

use crate::server::Server;
use crate::session::closing::Closing;
use crate::session::connection_id::ConnectionId;
use crate::session::control::{Control, HELLO_BYTES, Hello};
use crate::session::disconnect::DisconnectReason;
use crate::session::secret::Secret;
use crate::transport::packet;
use cookies::{Cookies, LIFETIME};
use directory::Directory;

pub use config::EndpointConfig;

/// The most answers that wait to be polled and belong to no connection. Further ones are dropped; the clients
/// repeat their hellos.
const MAX_ANSWERS: usize = 1_024;

/// The clients of a [`Server`] by their addresses.
///
/// An endpoint makes a connection for each client that has shown that it receives packets at its address. It
/// finds the connection of each packet, follows clients when their addresses change, and limits the number of
/// connections. A server that uses an endpoint does not need to call [`Server::connect`] or
/// [`Server::receive`]. Use each endpoint with one server. A server may have several endpoints, for example
/// one for each transport. It may also have connections that belong to no endpoint.
///
/// A client notices that its address has changed when it has received nothing for about a second. The
/// endpoint follows the client about one second and two round trips after the change. Until then, packets are
/// lost in both directions: reliable messages and calls arrive later, others are lost. No event reports this.
///
/// `A` is the address: whatever the transport uses to say where a packet comes from.
///
/// ```
/// # use repl_net as repl;
/// use repl::{Client, ClientConfig, Endpoint, EndpointConfig, Server, ServerConfig, Session};
/// use std::time::Duration;
///
/// let mut server = Server::new(ServerConfig::default());
/// let secret = 0x0123_4567_89ab_cdef_0011_2233_4455_6677; // from the random numbers of the system
/// let mut endpoint = Endpoint::<u16>::new(EndpointConfig::default(), secret);
/// let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
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
    cookies: Cookies,
    directory: Directory<A>,
    /// The connections with unfinished handshakes. The handshake of a listed connection may have finished
    /// since the endpoint last checked it. Older connections have lower ids.
    half_open: BTreeSet<ConnectionId>,
    /// Packets that belong to no connection.
    answers: VecDeque<(A, Vec<u8>)>,
    /// The answer that was last returned.
    last_packet: Vec<u8>,
}

impl<A: Copy + Ord + Hash> Endpoint<A> {
    /// Returns an endpoint without connections. `secret` protects the cookies by which clients prove their
    /// addresses, and the tokens of its connections: take 128 random bits of the operating system that are
    /// new in each run of the server. [`ServerConfig::secret`](crate::ServerConfig::secret) is not used for
    /// these connections.
    ///
    /// # Panics
    /// Panics if a limit of `config` is zero.
    #[must_use]
    #[track_caller]
    pub fn new(config: EndpointConfig, secret: u128) -> Self {
        config.assert_valid();
        Self {
            config,
            cookies: Cookies { secret: Secret::from(secret) },
            directory: Directory::new(),
            half_open: BTreeSet::new(),
            answers: VecDeque::new(),
            last_packet: Vec::new(),
        }
    }

    /// Takes a packet that came from an address. Bytes that belong to no session are ignored. Poll the
    /// answers after each batch of packets: at most 1,024 answers to clients without a connection wait.
    /// O(bytes + log connections).
    ///
    /// # Panics
    /// As [`Server::receive`].
    #[track_caller]
    pub fn receive(&mut self, server: &mut Server, now: Duration, from: A, bytes: &[u8]) {
        self.forget_removed(server);
        if let Some(mut reader) = packet::open_hello(bytes) {
            // A hello that is longer than any client's hello is not one.
            if bytes.len() <= HELLO_BYTES
                && let Ok(Control::Hello(hello)) = Control::read(&mut reader)
            {
                self.receive_hello(server, now, from, &hello, bytes);
            }
            return;
        }
        let residents = self.directory.residents(from);
        for id in residents.settled.into_iter().chain(residents.newcomer) {
            server.receive(id, now, bytes);
        }
        if let Some(newcomer) = residents.newcomer
            && server.handshake(newcomer).is_some_and(|handshake| handshake.is_connected())
            && let Some(replaced) = self.directory.settle_newcomer(from)
        {
            server.close(replaced, DisconnectReason::Replaced);
        }
    }

    /// Returns the next packet with the address to which the caller sends it immediately. Returns `None` if
    /// there are no more packets until the next [`Server::tick`] or [`receive`](Self::receive). The
    /// connections take turns, as in [`Server::poll_any_transmit`]. The cost is the same, too.
    pub fn poll_transmit<'a>(&'a mut self, server: &'a mut Server) -> Option<(A, &'a [u8])> {
        self.forget_removed(server);
        if let Some((to, bytes)) = self.answers.pop_front() {
            self.last_packet = bytes;
            return Some((to, &self.last_packet));
        }
        loop {
            let id = server.next_transmitting(|id| self.directory.contains(id))?;
            if let Some(to) = self.directory.address_of(id) {
                return server.poll_transmit(id).map(|bytes| (to, bytes));
            }
            // Nobody knows where the client is.
            server.poll_transmit(id);
        }
    }

    /// Returns the address of a connection. `None` if the connection was removed or does not belong to this
    /// endpoint, or if its client has left the address and has not told its new one yet.
    #[must_use]
    pub fn address(&self, connection: ConnectionId) -> Option<A> {
        self.directory.address_of(connection)
    }

    fn receive_hello(&mut self, server: &mut Server, now: Duration, from: A, hello: &Hello, bytes: &[u8]) {
        let session = hello.session;
        let known = self.directory.connection_of(session);
        if let Some(id) = known
            && self.directory.address_of(id) == Some(from)
        {
            server.receive(id, now, bytes);
            return;
        }
        // A cookie from before the last move of the client proves nothing any more: the hello may be late.
        let place = (from, self.directory.moves(session));
        let has_cookie =
            hello.proof.as_ref().is_some_and(|proof| self.cookies.check(proof.cookie, &place, session, now));
        if !has_cookie {
            let retry = Control::Retry(self.cookies.make(&place, session, now));
            return self.answer(from, retry.to_packet(session), bytes.len());
        }
        match known {
            Some(id) => self.receive_from_elsewhere(server, now, from, id, hello, bytes),
            // Only a client that was welcomed has a token, so the server has forgotten its session.
            None if hello.proof.as_ref().is_some_and(|proof| proof.token != 0) => {
                let forgotten = Control::Closing(Closing::Forgotten).to_packet(session);
                self.answer(from, forgotten, bytes.len());
            }
            None => self.admit(server, now, from, session, bytes),
        }
    }

    /// Handles the hello of a session that was at another address before.
    fn receive_from_elsewhere(
        &mut self,
        server: &mut Server,
        now: Duration,
        from: A,
        id: ConnectionId,
        hello: &Hello,
        bytes: &[u8],
    ) {
        if let Some(closing) = server.closing(id) {
            return self.answer(from, closing, bytes.len());
        }
        let token = hello.proof.as_ref().map_or(0, |proof| proof.token);
        if !server.handshake(id).is_some_and(|handshake| handshake.knows(token)) {
            // Somebody else chose the same number of the session.
            let taken = Control::Closing(Closing::Taken).to_packet(hello.session);
            return self.answer(from, taken, bytes.len());
        }
        self.directory.relocate(id, from);
        server.moved(id);
        server.receive(id, now, bytes);
    }

    /// Makes a connection for the session of a client that has proved its address.
    fn admit(&mut self, server: &mut Server, now: Duration, from: A, session: u64, bytes: &[u8]) {
        let residents = self.directory.residents(from);
        let is_open = |id| server.handshake(id).is_some_and(|handshake| !handshake.is_ended());
        let is_taken = residents.settled.is_some_and(is_open);
        if let Some(newcomer) = residents.newcomer {
            server.close(newcomer, DisconnectReason::Replaced);
        }
        if server.open() >= self.config.max_connections.saturating_add(usize::from(is_taken)) {
            let full = Control::Closing(Closing::Full).to_packet(session);
            return self.answer(from, full, bytes.len());
        }
        self.half_open.retain(|&id| server.handshake(id).is_some_and(|handshake| !handshake.is_through()));
        while self.half_open.len() >= self.config.max_half_open
            && let Some(oldest) = self.half_open.pop_first()
        {
            server.close(oldest, DisconnectReason::Full);
        }
        let id = server.connect_from_endpoint(now, self.cookies.secret, is_taken, LIFETIME);
        self.directory.insert(id, session, from, is_taken);
        self.half_open.insert(id);
        server.limit_ended(self.config.max_ended);
        server.receive(id, now, bytes);
    }

    /// Queues a packet that belongs to no connection, if it is shorter than the packet that it answers.
    fn answer(&mut self, to: A, packet: Vec<u8>, received_bytes: usize) {
        if packet.len() < received_bytes && self.answers.len() < MAX_ANSWERS {
            self.answers.push_back((to, packet));
        }
    }

    /// Forgets the connections that the server has removed.
    fn forget_removed(&mut self, server: &mut Server) {
        server.take_removed().into_iter().for_each(|id| self.directory.remove(id));
    }
}
