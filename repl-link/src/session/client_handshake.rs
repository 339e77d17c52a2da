//! The client's side of a session: the hello (first packet), the answers to the server's questions, the
//! welcome (the server accepts), and the disconnect. The welcome contains the *token*, a number that only the
//! two sides of the connection know.
//!
//! *Invariant:* the client ignores packets with a checksum of another session (R25), and packets of state
//! that come before the welcome (R21).

use std::time::Duration;

use repl_core::BitReader;

use super::agreement::Agreement;
use crate::frame::packet::{self, Keys, LEAST_PACKET_BYTES, LastSeed, MTU_BYTES, Opened};
use crate::frame::sequence::Sequence;
use crate::queue::send_queue::SendQueue;
use crate::rate::jitter;
use crate::rate::keep_alive;
use crate::session::control::{Control, HELLO_BYTES, Hello, Proof, Welcome, answer_probe};
use crate::session::disconnect::DisconnectReason;
use crate::session::inquiry::{Question, parts_of};
use crate::session::limits::ClientLimits;
use crate::session::terms::ClientTerms;

/// The time between two hellos of a client that the server has not answered.
const HELLO_INTERVAL: Duration = Duration::from_millis(100);

/// The first hellos have the full size. If they are not answered, the path may carry only smaller packets.
/// Then, of every three hellos, one has the full size, one has the smallest size that every path usually
/// carries (508 bytes), and one has the smallest possible size.
const FULL_HELLOS: u32 = 3;

/// The time between two hellos of a client while its login waits for an answer.
const WAIT_INTERVAL: Duration = Duration::from_millis(250);
/// The time between two hellos of a connected client that receives nothing.
const SILENCE_INTERVAL: Duration = Duration::from_millis(250);
/// After this time without a packet from the server, the client repeats its hello. Its address may have
/// changed, and then the server sends its packets to the old address.
const SILENCE: Duration = Duration::from_secs(1);

/// How many packets with the token a client sends after a welcome. The token comes from the welcome, and the
/// server repeats the welcome until one such packet arrives. Even over a link that loses most packets, one of
/// these packets is likely to arrive.
const TOKEN_PACKETS: u32 = 4;
const TOKEN_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time for which a client sends nothing, however long the timeouts are. Until a packet with the
/// token arrives, the server sends the client little or nothing. The client cannot know whether such a packet
/// has arrived, so it continues to send.
const LONGEST_SILENCE: Duration = Duration::from_millis(250);

/// The client's limits, times, classes and channels, which its handshake uses.
#[derive(Clone, Copy)]
pub struct ClientContext<'a> {
    /// The limits and times of this side.
    pub terms: ClientTerms<'a>,
    /// The classes and channels of this side.
    pub agreement: &'a Agreement,
}

/// The result of a packet from the server.
#[derive(Debug)]
pub(crate) enum ClientOutcome<'a> {
    /// The packet does not belong to this session.
    Damaged,
    /// The handshake used the packet. The caller has nothing to do.
    Nothing,
    /// The packet contains state: its sequence number, and a reader for the rest of the packet.
    State(Sequence, BitReader<'a>),
    /// The server has welcomed (accepted) this client for the first time. From now on, the client may send
    /// packets of state.
    Connected,
    /// The server has repeated its welcome.
    Welcome,
    /// The server has received the probe with this number.
    ProbeArrived(u16),
    /// The session is over.
    Ended(DisconnectReason),
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The client has not ticked yet.
    Idle,
    /// The client has sent its hello. If the server has asked about the classes, the client sends the answer
    /// instead of another hello.
    Handshake {
        /// The last question of the server.
        asked: Option<Question>,
    },
    Connected,
    Ended {
        /// The disconnect packet of this side. `None` if the server ended the session.
        closing: Option<Control>,
    },
}

#[derive(Debug)]
pub(crate) struct ClientHandshake {
    session: u64,
    /// The seed of the checksums of the server's packets of state.
    seed: LastSeed,
    stage: Stage,
    /// The token from the server's welcome (R26). The token is zero before the welcome.
    token: u64,
    /// Whether the checksums of packets of state include the token. The welcome contains this flag.
    seals_state: bool,
    /// The last cookie from the server.
    cookie: Option<u64>,
    /// The server's instance number, from its welcome. `None` before the welcome.
    pub instance: Option<u64>,
    /// The answer to the login, from the first welcome.
    pub login_answer: Vec<u8>,
    /// The greatest size of a packet that this side may send now.
    pub packet_bytes: usize,
    /// The largest packet that the server receives. `MAX` while the client does not know it.
    server_packet_bytes: usize,
    /// Whether the transport encrypts and authenticates the packets, and has a connection for this session.
    pub is_sealed: bool,
    hellos: u32,
    /// How many packets with the token the client must still send, even if it has nothing else to send.
    token_packets_left: u32,
    /// When the client sends its next hello, answer or packet with the token.
    next: Duration,
    /// When a connected client that receives nothing sends its next hello.
    next_search: Duration,
    /// When the last packet from the server arrived. Before the first packet, this is the time of the first
    /// tick.
    last_received: Duration,
    /// Whether a packet of state has arrived.
    has_state: bool,
    /// The time from which on the client may answer a new cookie at once.
    next_answer: Duration,
    /// How long the server waits before it closes a silent connection. `MAX` before the welcome.
    server_timeout: Duration,
}

impl ClientHandshake {
    /// Creates a session that begins with the first tick. Its packets have at most `packet_bytes` bytes.
    pub(crate) fn new(session: u64, packet_bytes: usize) -> Self {
        Self {
            session,
            seed: LastSeed::default(),
            stage: Stage::Idle,
            token: 0,
            seals_state: true,
            cookie: None,
            instance: None,
            login_answer: Vec::new(),
            packet_bytes,
            server_packet_bytes: usize::MAX,
            is_sealed: false,
            hellos: 0,
            token_packets_left: 0,
            next: Duration::ZERO,
            next_search: Duration::ZERO,
            last_received: Duration::ZERO,
            has_state: false,
            next_answer: Duration::ZERO,
            server_timeout: Duration::MAX,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// Returns whether the server has welcomed this client and the session has not ended.
    pub(crate) fn is_connected(&self) -> bool {
        self.stage == Stage::Connected
    }

    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. })
    }

    pub(crate) fn session(&self) -> u64 {
        self.session
    }

    pub(crate) fn has_ended_itself(&self) -> bool {
        matches!(self.stage, Stage::Ended { closing: Some(_) })
    }

    /// Returns the key that the checksums of the client's packets of state include: the session, and after
    /// the welcome also the token. If the transport authenticates the sender, the key does not include the
    /// token (R25, R26).
    pub(crate) fn binding(&self) -> u64 {
        self.keys().state()
    }

    /// Returns the largest packet that the server receives. Returns `MAX` while the client does not know it.
    pub(crate) fn server_packet_bytes(&self) -> usize {
        self.server_packet_bytes
    }

    /// Returns the key of control packets that only a side that knows the token can send.
    pub(crate) fn closing_key(&self) -> u64 {
        self.keys().closing()
    }

    /// Returns the keys that the checksums of the client's packets include.
    fn keys(&self) -> Keys {
        let of_state = if self.seals_state { self.token } else { 0 };
        Keys { session: self.session, token: self.token, of_state, is_sealed: self.is_sealed }
    }

    /// Returns the keys that the checksums of the server's packets include. They are the keys of the client's
    /// packets. In addition, the checksums of packets of state include the instance number of the server.
    fn keys_of_server(&self) -> Keys {
        let keys = self.keys();
        Keys { of_state: keys.of_state ^ self.instance.unwrap_or(0), ..keys }
    }

    pub(crate) fn note_packet(&mut self, now: Duration) {
        (self.last_received, self.has_state) = (now, true);
    }

    /// Handles a packet from the server. `newest` is the newest packet of state that has arrived: the 16-bit
    /// numbers of other packets are extended relative to it. Replies go into the queue.
    pub(crate) fn receive<'a>(
        &mut self,
        bytes: &'a [u8],
        newest: Sequence,
        now: Duration,
        context: ClientContext<'_>,
        queue: &mut SendQueue,
    ) -> ClientOutcome<'a> {
        if bytes.len() > context.terms.capacity.mtu_bytes {
            return ClientOutcome::Damaged;
        }
        if self.instance.is_none() && packet::is_state(bytes) {
            // A packet of state that arrives before the welcome counts as lost. It cannot be checked, because
            // its checksum includes the instance number of the server. With this number, packets from before
            // a restart of the server count as damaged (R25).
            return ClientOutcome::Nothing;
        }
        match packet::open(bytes, self.keys_of_server(), newest, &mut self.seed) {
            None => ClientOutcome::Damaged,
            Some(Opened::Control(mut reader)) => match Control::read(&mut reader) {
                Ok(control) => self.control(control, now, context, queue),
                // After the welcome, a sender that does not know the token cannot end the session.
                Err(_) if self.is_connected() => ClientOutcome::Damaged,
                Err(error) => self.end(DisconnectReason::Protocol(error.to_string()), queue),
            },
            Some(Opened::Sealed(mut reader)) => match Control::read(&mut reader) {
                Ok(Control::Closing(closing)) => self.ended(closing.into_reason()),
                Ok(Control::Probe(number)) => {
                    if self.is_connected() {
                        answer_probe(number, self.closing_key(), queue);
                    }
                    ClientOutcome::Nothing
                }
                Ok(Control::ProbeArrived(number)) => ClientOutcome::ProbeArrived(number),
                Ok(_) => ClientOutcome::Nothing,
                Err(error) => self.end(DisconnectReason::Protocol(error.to_string()), queue),
            },
            Some(Opened::State(sequence, reader)) if self.is_connected() => {
                ClientOutcome::State(sequence, reader)
            }
            Some(Opened::State(..)) => ClientOutcome::Nothing,
        }
    }

    fn control(
        &mut self,
        control: Control,
        now: Duration,
        context: ClientContext<'_>,
        queue: &mut SendQueue,
    ) -> ClientOutcome<'static> {
        match (control, &mut self.stage) {
            (Control::Welcome(welcome), Stage::Handshake { .. }) => self.welcomed(welcome, now),
            // A late welcome from before a restart of the server is ignored. A welcome with another token is
            // ignored too: otherwise anyone who knows the session could make the server ignore this client.
            (Control::Welcome(welcome), Stage::Connected)
                if (self.instance, self.token, self.seals_state)
                    == (Some(welcome.instance), welcome.token, welcome.seals_state) =>
            {
                self.welcomed(welcome, now)
            }
            (Control::Differs(packet_bytes, question), Stage::Handshake { asked })
                if asked.as_ref() != Some(&question) =>
            {
                self.server_packet_bytes = packet_bytes;
                (*asked, self.next, self.last_received) = (Some(question), now, now);
                ClientOutcome::Nothing
            }
            (Control::Refused(mut mismatch), Stage::Handshake { .. }) => {
                context.agreement.complete(&mut mismatch);
                self.ended(DisconnectReason::Layouts(mismatch))
            }
            (Control::TooSmall(mismatch), Stage::Handshake { .. }) => {
                self.ended(DisconnectReason::Limits(mismatch))
            }
            // After the welcome, only a packet whose checksum includes the token ends the session.
            (Control::Closing(closing), Stage::Handshake { .. }) => self.ended(closing.into_reason()),
            (Control::Retry(cookie), Stage::Handshake { .. } | Stage::Connected) => {
                self.retry(cookie, now, context, queue);
                ClientOutcome::Nothing
            }
            (Control::Wait, Stage::Handshake { asked }) => {
                *asked = None;
                (self.last_received, self.next) = (now, self.after(WAIT_INTERVAL, now));
                ClientOutcome::Nothing
            }
            // The packet is a late copy of a packet that was already handled.
            _ => ClientOutcome::Nothing,
        }
    }

    fn welcomed(&mut self, welcome: Welcome, now: Duration) -> ClientOutcome<'static> {
        (self.token, self.seals_state) = (welcome.token, welcome.seals_state);
        self.instance = Some(welcome.instance);
        self.server_packet_bytes = welcome.packet_bytes;
        (self.token_packets_left, self.next) = (TOKEN_PACKETS, now);
        self.server_timeout = Duration::from_millis(welcome.timeout_ms.into());
        // All welcomes of a session are the same packet, so an attacker can send a copy. Therefore, after the
        // first packet of state, only packets of state show that the server still sends to this address.
        if !self.has_state {
            self.last_received = now;
        }
        if self.is_connected() {
            return ClientOutcome::Welcome;
        }
        self.login_answer = welcome.answer;
        self.stage = Stage::Connected;
        ClientOutcome::Connected
    }

    /// Stores a cookie from the server, and repeats the hello with this cookie. If the client answered
    /// another cookie just before, it waits until the next hello is due. A connected client ignores the
    /// cookie if it still receives packets.
    fn retry(&mut self, cookie: u64, now: Duration, context: ClientContext<'_>, queue: &mut SendQueue) {
        let is_needed = !self.is_connected() || self.is_without_packets(now, context.terms.timeout);
        if is_needed && self.cookie != Some(cookie) {
            if self.cookie.is_none() {
                self.last_received = now; // the handshake has made progress
            }
            self.cookie = Some(cookie);
            if now >= self.next_answer {
                self.next_answer = now.saturating_add(HELLO_INTERVAL);
                self.say_hello(context, queue);
            }
        }
    }

    /// Returns whether the client has received nothing for a long time. Then its address may have changed.
    fn is_without_packets(&self, now: Duration, timeout: Duration) -> bool {
        let timeout = timeout.min(self.server_timeout);
        let quarter = timeout.checked_div(4).unwrap_or_default();
        // The server sends at least 40 packets in a timeout.
        let keep_alives = timeout.checked_div(10).unwrap_or_default();
        now.saturating_sub(self.last_received) >= SILENCE.max(keep_alives).min(quarter)
    }

    /// Returns the size to which the next hello is padded.
    fn hello_bytes(&self) -> usize {
        let full = self.packet_bytes.min(HELLO_BYTES);
        match self.hellos {
            // The transport has already proved the address.
            _ if self.is_sealed => 0,
            _ if self.is_connected() => full,
            ..FULL_HELLOS => full,
            hellos if hellos.is_multiple_of(3) => full,
            hellos if hellos % 3 == 1 => full.min(LEAST_PACKET_BYTES),
            _ => full.min(*MTU_BYTES.start()),
        }
    }

    fn say_hello(&mut self, context: ClientContext<'_>, queue: &mut SendQueue) {
        let login = if self.is_connected() { Vec::new() } else { context.terms.login.to_vec() };
        // A connected client sends its token, even if it never received a cookie. A transport that seals has
        // already proved the address, so its server asks for no cookie, and the login saves a round trip.
        let cookie = self.cookie.or((self.is_connected() || self.is_sealed).then_some(0));
        let proof = cookie.map(|cookie| Proof { cookie, token: self.token, login });
        let (checksum, limits) = (context.agreement.checksum(), ClientLimits::of(&context.terms));
        let hello = Hello { session: self.session, checksum, limits, proof };
        queue.push(&Control::Hello(hello).to_padded_packet(self.session, self.hello_bytes()));
        self.hellos = self.hellos.saturating_add(1);
    }

    /// Returns the time at which to repeat a packet that is sent now. `interval` is the mean time between two
    /// repetitions.
    fn after(&self, interval: Duration, now: Duration) -> Duration {
        // The time is used as the number of the repetition, because no two repetitions happen at the same
        // time.
        now.saturating_add(jitter::around(interval, self.session, now.as_nanos() as u64))
    }

    /// Begins the session at the first tick. Later ticks send a hello, or the answer to the server's
    /// question, at regular intervals. Returns the reason if the session ended because the server was silent
    /// for too long.
    pub(crate) fn tick(
        &mut self,
        now: Duration,
        context: ClientContext<'_>,
        queue: &mut SendQueue,
    ) -> Option<DisconnectReason> {
        if self.is_idle() {
            self.stage = Stage::Handshake { asked: None };
            (self.last_received, self.next) = (now, now);
        }
        if !self.is_ended() && now.saturating_sub(self.last_received) >= context.terms.timeout {
            self.end(DisconnectReason::Timeout, queue);
            return Some(DisconnectReason::Timeout);
        }
        match &self.stage {
            Stage::Handshake { asked } if now >= self.next => {
                let next = self.after(HELLO_INTERVAL, now);
                match asked {
                    Some(question) => {
                        let answer = context.agreement.answer(question);
                        let packet_bytes = self.packet_bytes.min(self.server_packet_bytes);
                        for part in parts_of(question, answer, packet_bytes) {
                            queue.push(&Control::Classes(part).to_packet(self.session));
                        }
                    }
                    None => self.say_hello(context, queue),
                }
                self.next = next;
            }
            Stage::Connected
                if now >= self.next_search && self.is_without_packets(now, context.terms.timeout) =>
            {
                self.next_search = self.after(SILENCE_INTERVAL, now);
                self.say_hello(context, queue);
            }
            _ => {}
        }
        None
    }

    /// Returns the shorter timeout of the two sides. The result is limited, so that the keep-alive packets
    /// that depend on it are never further apart than [`LONGEST_SILENCE`].
    pub(crate) fn shorter_timeout(&self, timeout: Duration) -> Duration {
        let longest = LONGEST_SILENCE.saturating_mul(keep_alive::LEAST_IN_TIMEOUT);
        timeout.min(self.server_timeout).min(longest)
    }

    /// Returns whether this tick must send a packet of state to show the server that the client knows the
    /// token. The packet is then sent even if it has no other content.
    pub(crate) fn must_send_token(&mut self, now: Duration) -> bool {
        let owes = self.token_packets_left > 0 && now >= self.next;
        if owes {
            self.token_packets_left = self.token_packets_left.saturating_sub(1);
            self.next = self.after(TOKEN_INTERVAL, now);
        }
        owes
    }

    /// Ends the session if it has not ended, and sends a disconnect packet.
    pub(crate) fn end(&mut self, reason: DisconnectReason, queue: &mut SendQueue) -> ClientOutcome<'static> {
        if self.is_ended() {
            return ClientOutcome::Nothing;
        }
        let closing = Control::closing(&reason, self.packet_bytes.min(self.server_packet_bytes));
        queue.push(&closing.to_packet(self.keys().closing()));
        self.stage = Stage::Ended { closing: Some(closing) };
        ClientOutcome::Ended(reason)
    }

    /// Handles the end of the session by the server or the transport. Such an end needs no answer.
    pub(crate) fn ended(&mut self, reason: DisconnectReason) -> ClientOutcome<'static> {
        self.stage = Stage::Ended { closing: None };
        ClientOutcome::Ended(reason)
    }

    /// Handles a packet that arrives after the end of the session. A welcome or a packet of state shows that
    /// the server has not received the disconnect packet, so the disconnect packet is sent again. If the
    /// client never received a welcome, it cannot check a packet of state.
    pub(crate) fn receive_after_end(&self, bytes: &[u8], newest: Sequence, queue: &mut SendQueue) {
        let Stage::Ended { closing: Some(closing) } = &self.stage else { return };
        let shows_no_end = match packet::open(bytes, self.keys_of_server(), newest, &mut LastSeed::default())
        {
            Some(Opened::State(..)) => true,
            Some(Opened::Control(mut reader)) => {
                matches!(Control::read(&mut reader), Ok(Control::Welcome(_)))
            }
            Some(Opened::Sealed(_)) => false,
            None => self.instance.is_none() && packet::is_state(bytes),
        };
        if shows_no_end && queue.is_empty() {
            queue.push(&closing.to_packet(self.keys().closing()));
        }
    }
}

#[cfg(test)]
mod tests;
