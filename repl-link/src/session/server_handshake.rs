//! The server's side of a session, from the client's first hello to the end of the session. A *hello* is the
//! first packet of a handshake. By the *welcome*, the server accepts the client. The welcome contains the
//! *token*, a number that only the two sides of the connection know.
//!
//! *Invariant:* the server ignores packets with a checksum of another session (R25), and packets of state
//! that come before the welcome (R21).

use std::time::Duration;

use repl_core::{BitReader, ReadError};

use super::agreement::{Agreement, Finding};
use crate::frame::packet::{self, Keys, LastSeed, Opened};
use crate::frame::sequence::Sequence;
use crate::queue::send_queue::SendQueue;
use crate::rate::jitter;
use crate::session::closing::Closing;
use crate::session::connection_id::ConnectionId;
use crate::session::control::{Control, HELLO_BYTES, Hello, Welcome, answer_probe};
use crate::session::disconnect::DisconnectReason;
use crate::session::inquiry::{Inquiry, Part, Progress};
use crate::session::limits::{ClientLimits, LimitMismatch, step_time, timeout_ms};
use crate::session::login::max_login_bytes;
use crate::session::secret::Secret;
use crate::session::server_outcome::ServerOutcome;
use crate::session::terms::ServerTerms;
use crate::session::trust::Trust;

/// The mean time between two welcomes, until the client has shown that it received one.
const WELCOME_INTERVAL: Duration = Duration::from_millis(100);
/// The shortest time between two welcomes.
const LEAST_WELCOME_INTERVAL: Duration = Duration::from_millis(50);

/// The server's terms and agreement, which are the same for all clients.
#[derive(Clone, Copy)]
pub(crate) struct ServerContext<'a> {
    /// The limits and times of this side.
    pub terms: ServerTerms,
    /// The classes and channels of this side.
    pub agreement: &'a Agreement,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The server does not know the client's classes yet.
    Handshake,
    /// The application has not decided about the client's login yet.
    Login,
    /// The client was welcomed, but has not proved yet that it receives the packets sent to its address. The
    /// server stores only this handshake for the client, and sends it no state.
    Welcomed,
    Connected,
    Ended(Box<DisconnectReason>),
}

/// The session and the limits from a client's hello, and the client's token.
#[derive(Clone, Copy, Debug)]
struct ClientHello {
    session: u64,
    /// The client's limits.
    limits: ClientLimits,
    /// The token that the client's packets after the welcome include in their checksums, in addition to the
    /// session (R26).
    token: u64,
}

/// The server's side of one session: the handshake with one client, and the end of the session.
#[derive(Debug)]
pub struct ServerHandshake {
    connection: ConnectionId,
    secret: Secret,
    trust: Trust,
    stage: Stage,
    /// The current client. The field is `None` before the first hello.
    client: Option<ClientHello>,
    /// The seed of the checksums of the client's packets of state.
    seed: LastSeed,
    /// A client that was welcomed and then replaced by a client of another session. Of the two clients, the
    /// first one that proves its address keeps the connection.
    displaced: Option<ClientHello>,
    /// Whether a packet with a checksum that includes the token has arrived. Only a client that received the
    /// welcome knows the token.
    has_token: bool,
    /// When the last packet of the client arrived.
    last_received: Duration,
    /// When the connection was made, or when the handshake last made progress: the client answered a
    /// question, or its login was reported or answered.
    since: Duration,
    /// The login of the client, until it is reported.
    login: Vec<u8>,
    /// The application's answer to the login, until the client has shown that it has received the welcome.
    answer: Vec<u8>,
    /// When the last welcome was sent to the client. `None` before the first welcome.
    last_welcome: Option<Duration>,
    /// The current question about the client's classes, and the parts of the answer that have arrived.
    inquiry: Box<Inquiry>,
}

impl ServerHandshake {
    /// Creates a session that begins with the first hello.
    pub(crate) fn new(connection: ConnectionId, secret: Secret, trust: Trust, now: Duration) -> Self {
        Self {
            connection,
            secret,
            trust,
            stage: Stage::Handshake,
            client: None,
            seed: LastSeed::default(),
            displaced: None,
            has_token: false,
            last_received: now,
            since: now,
            login: Vec::new(),
            answer: Vec::new(),
            last_welcome: None,
            inquiry: Box::default(),
        }
    }

    /// Returns whether state may be sent: the client was welcomed, it has proved its address if the server
    /// validates addresses, and neither side has ended the session.
    pub fn is_connected(&self) -> bool {
        self.stage == Stage::Connected
    }

    /// Returns whether either side has ended the session.
    pub fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// Returns whether an endpoint or a transport has made the connection. The server then reports the end of
    /// the connection to this endpoint or transport.
    pub fn is_of_endpoint(&self) -> bool {
        matches!(self.trust, Trust::Cookie { .. } | Trust::Sealed)
    }

    /// Returns whether the connection begins only when the client has also shown the token from the welcome
    /// to its endpoint.
    pub fn waits(&self) -> bool {
        self.trust == Trust::Cookie { waits: true }
    }

    /// Returns whether the client has shown that it has received the welcome.
    pub fn has_token(&self) -> bool {
        self.has_token
    }

    /// Returns whether the client has shown that it has received the welcome, or the session is over.
    pub fn is_through(&self) -> bool {
        self.has_token || self.is_ended()
    }

    /// Returns whether `token` is the token of the client, which only a client that has received the welcome
    /// knows.
    pub fn is_token(&self, token: u64) -> bool {
        self.client.is_some_and(|client| client.token ^ token == 0)
    }

    /// Returns whether a hello with this token, which came from the address of the client, may come from the
    /// client itself. Before the client has shown that it knows the token, every token is accepted.
    fn may_have(&self, token: u64) -> bool {
        !self.has_token || self.is_token(token)
    }

    /// Returns the reason if the session must end now, because the client was silent for too long, or because
    /// the handshake or the answer to the login takes too long.
    pub fn overdue(&self, terms: &ServerTerms, now: Duration) -> Option<DisconnectReason> {
        let (silent, waiting) = (now.saturating_sub(self.last_received), now.saturating_sub(self.since));
        let is_half_open = self.is_of_endpoint() && !self.has_token;
        match self.stage {
            Stage::Ended(_) => None,
            Stage::Login if waiting >= terms.login_timeout => Some(DisconnectReason::LoginTimeout),
            _ if silent >= terms.timeout => Some(DisconnectReason::Timeout),
            Stage::Handshake | Stage::Welcomed | Stage::Connected
                if is_half_open && waiting >= step_time(terms.timeout) =>
            {
                Some(DisconnectReason::Timeout)
            }
            _ => None,
        }
    }

    /// Returns when the session ends if no packet of the client arrives. Returns `None` if the handshake
    /// needs ticks before that time.
    pub fn rests_until(&self, timeout: Duration) -> Option<Duration> {
        (self.is_connected() && self.has_token).then(|| self.last_received.saturating_add(timeout))
    }

    /// Returns the packet that tells a client why its session ended, as the answer to a hello with this
    /// token. If the client knows the token, it ignores packets whose checksum does not include the token.
    /// Returns `None` if the session has not ended.
    pub fn closing(&self, token: u64, mtu_bytes: usize) -> Option<Vec<u8>> {
        let (Stage::Ended(reason), Some(client)) = (&self.stage, self.client) else { return None };
        let keys = self.keys(client);
        let key = if token == client.token { keys.closing() } else { keys.session };
        Some(Control::closing(reason, self.packet_bytes(mtu_bytes)).to_packet(key))
    }

    /// Returns the size of the largest packet that both sides receive. The server receives packets of up to
    /// `own` bytes.
    pub fn packet_bytes(&self, own: usize) -> usize {
        self.client.map_or(own, |client| client.limits.mtu_bytes().min(own))
    }

    /// Returns the key of control packets that only a side that knows the token can send.
    pub(crate) fn closing_key(&self) -> u64 {
        self.client.map_or(0, |client| self.keys(client).closing())
    }

    /// Returns the keys that the checksums of the client's packets include.
    fn keys(&self, client: ClientHello) -> Keys {
        let ClientHello { session, token, .. } = client;
        let of_state = if self.seals_state() { token } else { 0 };
        Keys { session, token, of_state, is_sealed: self.trust == Trust::Sealed }
    }

    /// Returns whether the checksums of packets of state include the token. A transport that has validated an
    /// address also authenticates the sender, so the token is not needed.
    fn seals_state(&self) -> bool {
        !matches!(self.trust, Trust::Validated | Trust::Sealed)
    }

    /// Returns the key that the checksums of the server's packets of state include: the key of the client's
    /// packets of state, and the instance number of the server.
    pub fn binding(&self) -> u64 {
        self.client.map_or(0, |client| self.keys(client).state() ^ self.secret.instance())
    }

    /// Returns the shorter timeout of the two sides.
    pub fn shorter_timeout(&self, timeout: Duration) -> Duration {
        self.client.map_or(timeout, |client| client.limits.timeout().min(timeout))
    }

    #[cfg(test)]
    /// Returns the time at which the last packet of the client arrived.
    pub fn last_received(&self) -> Duration {
        self.last_received
    }

    /// Records that a packet of the client has arrived.
    pub fn note_packet(&mut self, now: Duration) {
        self.last_received = now;
    }

    /// Handles a packet of the client. `newest` is the newest packet of state that has arrived: the 16-bit
    /// numbers of other packets are extended relative to it. Replies go into the queue. The bytes of hellos
    /// and control packets raise the number of bytes that the server may send to the client's address. A
    /// packet of state removes this limit.
    pub(crate) fn receive<'a>(
        &mut self,
        bytes: &'a [u8],
        newest: Sequence,
        now: Duration,
        context: ServerContext<'_>,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'a> {
        // A client does not know at first which packet sizes the server receives. So the server accepts
        // packets up to the size that the client has stated in its hello, even if they are larger than the
        // packets that the server itself sends.
        let largest_bytes = self.client.map_or(HELLO_BYTES, |client| client.limits.mtu_bytes());
        if bytes.len() > largest_bytes.max(context.terms.capacity.mtu_bytes) {
            return ServerOutcome::Nothing;
        }
        if let Some(mut reader) = packet::open_hello(bytes) {
            queue.allowance.earn(bytes.len());
            return self.hello(&mut reader, now, context, queue);
        }
        // A client that has not sent a hello has no session yet, so no packet can belong to its session.
        let Some(client) = self.client else { return ServerOutcome::Damaged };
        match packet::open(bytes, self.keys(client), newest, &mut self.seed) {
            None => self.receive_displaced(bytes, newest, &context.terms, queue),
            Some(Opened::Control(mut reader)) => {
                queue.allowance.earn(bytes.len());
                match Control::read(&mut reader) {
                    Ok(control) => self.control(control, now, context, queue),
                    // After the welcome, a client sends state. This packet may come from somebody who knows
                    // only the session.
                    Err(_) if self.last_welcome.is_some() => ServerOutcome::Nothing,
                    Err(error) => self.malformed(&error, &context.terms, queue),
                }
            }
            Some(Opened::Sealed(mut reader)) => {
                self.learn_token(queue);
                match Control::read(&mut reader) {
                    Ok(Control::Probe(number)) => {
                        if self.is_connected() {
                            answer_probe(number, self.closing_key(), queue);
                        }
                        ServerOutcome::Nothing
                    }
                    Ok(Control::ProbeArrived(number)) => ServerOutcome::ProbeArrived(number),
                    Ok(control) => self.closed_by_client(control, &context.terms, queue),
                    Err(error) => self.malformed(&error, &context.terms, queue),
                }
            }
            Some(Opened::State(sequence, reader)) => self.prove(sequence, reader, &context.terms, queue),
        }
    }

    /// Records that the client knows the token. Only the welcome contains the token. So the client has
    /// received the welcome, and thus receives the packets that are sent to its address.
    fn learn_token(&mut self, queue: &mut SendQueue) {
        self.has_token = true;
        self.answer = Vec::new();
        queue.allowance.lift();
    }

    /// Handles a packet of state, which shows that the client knows the token.
    fn prove<'a>(
        &mut self,
        sequence: Sequence,
        reader: BitReader<'a>,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'a> {
        // Before the welcome, a packet of state can come only through a transport that encrypts. Its sender
        // does not know the token yet.
        if self.last_welcome.is_some() {
            self.learn_token(queue);
        }
        match self.stage {
            Stage::Connected => ServerOutcome::State(sequence, reader),
            Stage::Welcomed => {
                self.stage = Stage::Connected;
                self.displaced = None;
                ServerOutcome::Proved(sequence, reader)
            }
            Stage::Handshake | Stage::Login => ServerOutcome::Nothing,
            Stage::Ended(_) => {
                // The client has not received the disconnect packet.
                if queue.is_empty() {
                    self.send_closing(terms, queue);
                }
                ServerOutcome::Nothing
            }
        }
    }

    /// Handles a packet that does not belong to the current client. If the packet proves the address of the
    /// client that was replaced, that client becomes the current one again.
    fn receive_displaced<'a>(
        &mut self,
        bytes: &'a [u8],
        newest: Sequence,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'a> {
        let Some(client) = self.displaced else { return ServerOutcome::Damaged };
        match packet::open(bytes, self.keys(client), newest, &mut self.seed) {
            Some(Opened::State(sequence, reader)) if !self.is_ended() => {
                self.client = Some(client);
                self.stage = Stage::Welcomed;
                self.prove(sequence, reader, terms, queue)
            }
            None => ServerOutcome::Damaged,
            Some(_) => ServerOutcome::Nothing,
        }
    }

    /// Returns whether a hello of another session replaces the current client. A client can be replaced until
    /// it has proved its address, because its hello may be a late packet of an older session. A client with
    /// the same classes as the server is not replaced by a client that the server would refuse. If the
    /// application decides about logins, no client is replaced after its login was reported. A client that
    /// has proved its address with a cookie is never replaced: its endpoint does not forward hellos of other
    /// sessions to this connection.
    fn may_be_replaced(&self, checksum: u64, limits: ClientLimits, context: ServerContext<'_>) -> bool {
        let agrees = checksum == context.agreement.checksum() && !context.terms.asks_login;
        !self.is_of_endpoint()
            && limits.first_mismatch(context.terms.capacity).is_none()
            && match self.stage {
                Stage::Handshake => true,
                Stage::Welcomed => agrees,
                Stage::Login | Stage::Connected | Stage::Ended(_) => false,
            }
    }

    /// Handles a hello. Anyone can send a hello, so a hello of the current session changes nothing after the
    /// session has begun. After the current client has proved its address, a hello of another session is
    /// answered with `Taken` (R25).
    fn hello(
        &mut self,
        reader: &mut BitReader<'_>,
        now: Duration,
        context: ServerContext<'_>,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        if queue.is_held_back() {
            return ServerOutcome::Nothing;
        }
        let hello = match Control::read(reader) {
            Ok(Control::Hello(hello)) => hello,
            Err(error) if self.client.is_none() => {
                return self.malformed(&error, &context.terms, queue);
            }
            _ => return ServerOutcome::Nothing,
        };
        let session = hello.session;
        if self.client.is_some_and(|client| client.session != session) {
            if !self.may_be_replaced(hello.checksum, hello.limits, context) {
                queue.push(&Control::Closing(Closing::Taken).to_packet(session));
                return ServerOutcome::Nothing;
            }
            if self.stage == Stage::Welcomed {
                self.displaced = self.client;
            }
            self.stage = Stage::Handshake;
            *self.inquiry = Inquiry::default();
        }
        match &self.stage {
            Stage::Ended(reason) => {
                // The connection may have ended before the first hello.
                let mtu_bytes = context.terms.capacity.mtu_bytes;
                let first = || Control::closing(reason, mtu_bytes).to_packet(session);
                queue.push(&self.closing(hello.token(), mtu_bytes).unwrap_or_else(first));
                ServerOutcome::Nothing
            }
            Stage::Welcomed | Stage::Connected if self.may_have(hello.token()) => {
                // A welcome can be longer than a hello. So repeated hellos that arrive in quick succession
                // are not all answered.
                if self.is_welcome_due(now, LEAST_WELCOME_INTERVAL) {
                    self.send_welcome(&context.terms, now, queue);
                }
                ServerOutcome::Nothing
            }
            // The client has already received the welcome. So the hello is late, or comes from another client
            // with the same session number.
            Stage::Welcomed | Stage::Connected => {
                queue.push(&Control::Closing(Closing::Taken).to_packet(session));
                ServerOutcome::Nothing
            }
            Stage::Login => {
                self.last_received = now;
                self.send_control(&Control::Wait, queue);
                ServerOutcome::Nothing
            }
            Stage::Handshake => {
                self.last_received = now;
                self.begin(hello, now, context, queue)
            }
        }
    }

    /// Begins the session of a hello: welcomes the client, asks about its classes, or refuses it.
    fn begin(
        &mut self,
        hello: Hello,
        now: Duration,
        context: ServerContext<'_>,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        let Hello { session, checksum, limits, proof } = hello;
        let token = self.secret.token(self.connection, session);
        self.client = Some(ClientHello { session, limits, token });
        if let Some(mismatch) = limits.first_mismatch(context.terms.capacity) {
            return self.end(DisconnectReason::Limits(mismatch), &context.terms, queue);
        }
        if context.terms.asks_login {
            // Clients send their logins only together with a cookie, or over a transport that seals. An
            // endpoint has already compared the cookie.
            let cookie = self.secret.connection_cookie(self.connection, session);
            let has_cookie = |sent: u64| self.is_of_endpoint() || sent ^ cookie == 0;
            let Some(proof) = proof.filter(|proof| has_cookie(proof.cookie)) else {
                self.send_control(&Control::Retry(cookie), queue);
                return ServerOutcome::Nothing;
            };
            self.login = proof.login;
        }
        if checksum == context.agreement.checksum() {
            return self.agreed(now, context, queue);
        }
        self.ask(&context.terms, queue);
        ServerOutcome::Nothing
    }

    fn control(
        &mut self,
        control: Control,
        now: Duration,
        context: ServerContext<'_>,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        match (control, &self.stage) {
            (Control::Classes(part), Stage::Handshake) => {
                self.last_received = now;
                self.receive_answer(part, now, context, queue)
            }
            (Control::Classes(_), Stage::Login) => {
                self.last_received = now;
                self.send_control(&Control::Wait, queue);
                ServerOutcome::Nothing
            }
            (Control::Classes(_), Stage::Ended(_)) => {
                self.send_closing(&context.terms, queue);
                ServerOutcome::Nothing
            }
            // The client may end the session before it has received the welcome.
            (control, _) if !self.has_token => self.closed_by_client(control, &context.terms, queue),
            _ => ServerOutcome::Nothing,
        }
    }

    /// Ends the session if the client ended it.
    fn closed_by_client(
        &mut self,
        control: Control,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        match control {
            Control::Closing(closing) if closing.is_of_client() => {
                self.end(closing.into_reason(), terms, queue)
            }
            _ => ServerOutcome::Nothing,
        }
    }

    /// Ends the session because of a control packet that cannot be read.
    fn malformed(
        &mut self,
        error: &ReadError,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        self.end(DisconnectReason::Protocol(error.to_string()), terms, queue)
    }

    /// Handles a part of a client's answer about its classes. When the answer is complete, the server asks
    /// the next question, refuses the client or welcomes it.
    fn receive_answer(
        &mut self,
        part: Part,
        now: Duration,
        context: ServerContext<'_>,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        let is_first = part.part == 0;
        let entries = match self.inquiry.take(part) {
            Ok(Progress::Answered(entries)) => entries,
            Ok(Progress::Outdated) if is_first => {
                self.ask(&context.terms, queue);
                return ServerOutcome::Nothing;
            }
            Ok(Progress::Incomplete | Progress::Outdated) => return ServerOutcome::Nothing,
            Err(error) => return self.malformed(&error, &context.terms, queue),
        };
        match context.agreement.examine(self.inquiry.question(), &entries) {
            Finding::Same => self.agreed(now, context, queue),
            Finding::Differs(mismatch) => {
                self.end(DisconnectReason::Layouts(mismatch), &context.terms, queue)
            }
            Finding::Ask(question) => {
                self.since = now;
                *self.inquiry = Inquiry::asking(question);
                self.ask(&context.terms, queue);
                ServerOutcome::Nothing
            }
        }
    }

    fn ask(&self, terms: &ServerTerms, queue: &mut SendQueue) {
        let question = self.inquiry.question().clone();
        self.send_control(&Control::Differs(terms.capacity.mtu_bytes, question), queue);
    }

    /// Handles a client that agrees with the server: welcomes it, or asks the application about its login.
    fn agreed(
        &mut self,
        now: Duration,
        context: ServerContext<'_>,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        *self.inquiry = Inquiry::default();
        if !context.terms.asks_login {
            return self.welcome(now, &context.terms, queue);
        }
        self.stage = Stage::Login;
        self.since = now;
        self.send_control(&Control::Wait, queue);
        ServerOutcome::Login(std::mem::take(&mut self.login))
    }

    /// Accepts the login. Does nothing if no login waits for an answer. If the answer does not fit into a
    /// packet that the client receives, the session ends.
    pub fn accept(
        &mut self,
        answer: &[u8],
        now: Duration,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        if self.stage != Stage::Login {
            return ServerOutcome::Nothing;
        }
        let packet_bytes = self.packet_bytes(terms.capacity.mtu_bytes);
        if answer.len() > max_login_bytes(packet_bytes) {
            let mismatch = LimitMismatch::too_small_for_login(packet_bytes, answer.len());
            return self.end(DisconnectReason::Limits(mismatch), terms, queue);
        }
        self.answer = answer.to_vec();
        (self.since, self.last_received) = (now, now);
        self.welcome(now, terms, queue)
    }

    /// Returns whether a login waits for the answer of the application.
    pub fn awaits_login(&self) -> bool {
        self.stage == Stage::Login
    }

    fn welcome(
        &mut self,
        now: Duration,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        self.send_welcome(terms, now, queue);
        if matches!(self.trust, Trust::Unproved | Trust::Cookie { waits: true }) {
            self.stage = Stage::Welcomed;
            return ServerOutcome::Nothing;
        }
        self.stage = Stage::Connected;
        ServerOutcome::Connected
    }

    fn send_welcome(&mut self, terms: &ServerTerms, now: Duration, queue: &mut SendQueue) {
        self.last_welcome = Some(now);
        let token = self.client.map_or(0, |client| client.token);
        let (timeout_ms, packet_bytes) = (timeout_ms(terms.timeout), terms.capacity.mtu_bytes);
        let (instance, answer) = (self.secret.instance(), self.answer.clone());
        let seals_state = self.seals_state();
        let welcome = Welcome { timeout_ms, token, instance, packet_bytes, answer, seals_state };
        self.send_control(&Control::Welcome(welcome), queue);
    }

    /// Repeats the welcome if it is time. Until the client has received the welcome, it does not know the
    /// token, and the server ignores its packets of state.
    pub fn repeat_welcome(&mut self, terms: &ServerTerms, now: Duration, queue: &mut SendQueue) {
        if !self.has_token
            && matches!(self.stage, Stage::Welcomed | Stage::Connected)
            && !queue.is_held_back()
        {
            let last = self.last_welcome.unwrap_or_default();
            let interval = jitter::around(WELCOME_INTERVAL, self.binding(), last.as_nanos() as u64);
            if self.is_welcome_due(now, interval) {
                self.send_welcome(terms, now, queue);
            }
        }
    }

    fn is_welcome_due(&self, now: Duration, interval: Duration) -> bool {
        self.last_welcome.is_none_or(|last| now.saturating_sub(last) >= interval)
    }

    /// Ends the session if it has not ended, and sends a disconnect packet.
    pub fn end(
        &mut self,
        reason: DisconnectReason,
        terms: &ServerTerms,
        queue: &mut SendQueue,
    ) -> ServerOutcome<'static> {
        if self.is_ended() {
            return ServerOutcome::Nothing;
        }
        self.stage = Stage::Ended(Box::new(reason.clone()));
        *self.inquiry = Inquiry::default();
        self.send_closing(terms, queue);
        ServerOutcome::Ended(reason)
    }

    fn send_closing(&self, terms: &ServerTerms, queue: &mut SendQueue) {
        self.farewells(terms.capacity.mtu_bytes).for_each(|packet| queue.push(&packet));
    }

    /// Returns the packets that tell the client why the session ended, at most two. Until the client has
    /// shown that it knows the token, the server cannot know whether the client has received the welcome. So
    /// the server sends two packets: one with the token in its checksum, and one without.
    pub fn farewells(&self, mtu_bytes: usize) -> impl Iterator<Item = Vec<u8>> {
        let mtu_bytes = self.packet_bytes(mtu_bytes);
        let ended = match (&self.stage, self.client) {
            (Stage::Ended(reason), Some(client)) => Some((Control::closing(reason, mtu_bytes), client)),
            _ => None,
        };
        ended.into_iter().flat_map(|(closing, client)| {
            let of_session = (!self.has_token).then_some(client.session);
            let of_token = self.last_welcome.is_some().then(|| self.keys(client).closing());
            of_session.into_iter().chain(of_token).map(move |key| closing.to_packet(key))
        })
    }

    /// Queues a control packet of the session. Before the hello there is no session, and nobody could read
    /// the packet, so nothing is queued.
    fn send_control(&self, control: &Control, queue: &mut SendQueue) {
        if let Some(client) = self.client {
            queue.push(&control.to_packet(client.session));
        }
    }
}

#[cfg(test)]
mod tests;
