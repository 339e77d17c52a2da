//! The server's side of a session, from the client's first hello to the end of the session.
//!
//! *Invariant:* the server ignores packets whose checksum belongs to another session (R25), and packets of
//! state that come before the welcome (R21).

use std::time::Duration;

use repl_core::BitReader;

use super::classes::{ClassList, Finding};
use super::config::ServerConfig;
use super::connection_id::ConnectionId;
use super::control::{Control, HELLO_BYTES};
use super::disconnect::DisconnectReason;
use super::inquiry::{Inquiry, Part, Progress};
use super::limits::{ClientLimits, timeout_ms};
use super::token::token;
use crate::transport::packet::{self, Opened};
use crate::transport::send_queue::SendQueue;
use crate::transport::sequence::Sequence;

/// The time between two welcomes, until the client has shown that it received one.
const WELCOME_INTERVAL: Duration = Duration::from_millis(100);

/// The server's configuration and classes, which are the same for all clients.
#[derive(Clone, Copy)]
pub(crate) struct HandshakeContext<'a> {
    pub(crate) config: &'a ServerConfig,
    pub(crate) classes: &'a ClassList,
}

/// The result of a packet from a client.
#[derive(Debug)]
pub(crate) enum HandshakeOutcome<'a> {
    /// The handshake used or ignored the packet. The caller has nothing to do.
    Nothing,
    /// The packet contains state: its sequence number, and a reader for the rest of the packet.
    State(Sequence, BitReader<'a>),
    /// The client has proved its address with this packet of state. Packets of state may be sent to the
    /// client from now on. The variant contains the packet's sequence number, and a reader for the rest of
    /// the packet.
    Proved(Sequence, BitReader<'a>),
    /// The client is accepted: its limits and classes agree with the server's. Packets of state may be sent
    /// to the client from now on.
    Connected,
    /// The session is over.
    Ended(DisconnectReason),
}

/// The stage of a session.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The server does not know the client's classes yet.
    Handshake,
    /// The client was welcomed, but has not proved yet that it receives the packets sent to its address. The
    /// server keeps only this handshake for the client, and sends it no state (R26).
    Welcomed,
    Connected,
    Ended(DisconnectReason),
}

/// The content of a client's hello, and the client's token.
#[derive(Clone, Copy, Debug)]
struct ClientHello {
    session: u64,
    /// The client's limits.
    limits: ClientLimits,
    /// The token that the client's packets of state include in their checksums, besides the session (R26).
    /// The token is zero if the transport validates addresses.
    token: u64,
}

/// The server's side of one session.
#[derive(Debug)]
pub(crate) struct ServerHandshake {
    connection: ConnectionId,
    stage: Stage,
    /// The current client. The field is `None` before the first hello.
    client: Option<ClientHello>,
    /// A client that was welcomed and then replaced by a client of another session. Of the two, the client
    /// that first proves its address keeps the connection.
    displaced: Option<ClientHello>,
    /// Whether a packet has arrived whose checksum includes the token. Only a client that received the
    /// welcome knows the token.
    has_token: bool,
    /// When the last packet of the client arrived.
    last_received: Duration,
    /// When the last welcome was sent to the client.
    last_welcome: Duration,
    /// The current question about the client's classes, and its answer so far.
    inquiry: Inquiry,
}

impl ServerHandshake {
    /// Creates a session that begins with the first hello.
    pub(crate) fn new(connection: ConnectionId, now: Duration) -> Self {
        Self {
            connection,
            stage: Stage::Handshake,
            client: None,
            displaced: None,
            has_token: false,
            last_received: now,
            last_welcome: now,
            inquiry: Inquiry::default(),
        }
    }

    /// Returns whether state may be sent: the client was welcomed, it has proved its address if the server
    /// validates addresses, and neither side has ended the session.
    pub(crate) fn is_connected(&self) -> bool {
        self.stage == Stage::Connected
    }

    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// Returns the number that the checksums of the server's packets of state include (R25).
    pub(crate) fn binding(&self) -> u64 {
        self.client.map_or(0, |client| client.session)
    }

    /// Returns the shorter of both sides' timeouts.
    pub(crate) fn shorter_timeout(&self, timeout: Duration) -> Duration {
        self.client.map_or(timeout, |client| client.limits.timeout().min(timeout))
    }

    /// When the last packet of the client arrived.
    pub(crate) fn last_received(&self) -> Duration {
        self.last_received
    }

    /// Notes that a packet of the client has arrived.
    pub(crate) fn note_packet(&mut self, now: Duration) {
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
        context: HandshakeContext<'_>,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'a> {
        // A client does not know how large the server's packets may be. So the server accepts packets of the
        // size that the client has named in its hello, even if they are larger than the server's own.
        let largest_bytes = self.client.map_or(HELLO_BYTES, |client| client.limits.mtu_bytes());
        if bytes.len() > largest_bytes.max(context.config.mtu_bytes) {
            return HandshakeOutcome::Nothing;
        }
        if let Some(mut reader) = packet::open_hello(bytes) {
            queue.allowance.earn(bytes.len());
            return self.hello(&mut reader, now, context, queue);
        }
        // A client that has not sent a hello has no session yet, so no packet can belong to its session.
        let Some(client) = self.client else { return HandshakeOutcome::Nothing };
        match packet::open(bytes, client.session, client.token, newest) {
            None => self.receive_displaced(bytes, newest, queue),
            Some(Opened::Control(mut reader)) => {
                queue.allowance.earn(bytes.len());
                match Control::read(&mut reader) {
                    Ok(control) => self.control(control, now, context, queue),
                    Err(error) => self.end(DisconnectReason::Protocol(error.to_string()), queue),
                }
            }
            Some(Opened::State(sequence, reader)) => self.prove(sequence, reader, queue),
        }
    }

    /// Handles a packet of state. The checksum of the packet includes the token, and only the welcome
    /// contains the token. So the client receives the packets that are sent to its address.
    fn prove<'a>(
        &mut self,
        sequence: Sequence,
        reader: BitReader<'a>,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'a> {
        self.has_token = true;
        queue.allowance.lift();
        match self.stage {
            Stage::Connected => HandshakeOutcome::State(sequence, reader),
            Stage::Welcomed => {
                self.stage = Stage::Connected;
                self.displaced = None;
                HandshakeOutcome::Proved(sequence, reader)
            }
            Stage::Handshake | Stage::Ended(_) => HandshakeOutcome::Nothing,
        }
    }

    /// Handles a packet that does not belong to the current client. If the packet proves the address of the
    /// client that was replaced, that client becomes the current one again.
    fn receive_displaced<'a>(
        &mut self,
        bytes: &'a [u8],
        newest: Sequence,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'a> {
        let Some(client) = self.displaced else { return HandshakeOutcome::Nothing };
        match packet::open(bytes, client.session, client.token, newest) {
            Some(Opened::State(sequence, reader)) if !self.is_ended() => {
                self.client = Some(client);
                self.stage = Stage::Welcomed;
                self.prove(sequence, reader, queue)
            }
            _ => HandshakeOutcome::Nothing,
        }
    }

    /// Returns whether a hello of another session replaces the current client. A client can be replaced until
    /// it has proved its address, because its hello may be a late packet of an older session. A client whose
    /// classes agree with the server's is not replaced by a client that the server would refuse.
    fn may_be_replaced(&self, checksum: u64, limits: ClientLimits, context: HandshakeContext<'_>) -> bool {
        let agrees = checksum == context.classes.checksum();
        limits.first_mismatch(context.config).is_none()
            && match self.stage {
                Stage::Handshake => true,
                Stage::Welcomed => agrees,
                Stage::Connected | Stage::Ended(_) => false,
            }
    }

    /// Handles a hello. Anyone can send a hello, so a hello of the current session changes nothing after the
    /// session has begun. After the current client has proved its address, a hello of another session is
    /// answered with `Taken` (R25).
    fn hello(
        &mut self,
        reader: &mut BitReader<'_>,
        now: Duration,
        context: HandshakeContext<'_>,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'static> {
        if queue.is_held_back() {
            return HandshakeOutcome::Nothing;
        }
        let (session, checksum, limits) = match Control::read(reader) {
            Ok(Control::Hello { session, checksum, limits }) => (session, checksum, limits),
            Err(error) if self.client.is_none() => {
                return self.end(DisconnectReason::Protocol(error.to_string()), queue);
            }
            _ => return HandshakeOutcome::Nothing,
        };
        if self.client.is_some_and(|client| client.session != session) {
            if !self.may_be_replaced(checksum, limits, context) {
                queue.push(Control::Taken.to_packet(session));
                return HandshakeOutcome::Nothing;
            }
            if self.stage == Stage::Welcomed {
                self.displaced = self.client;
            }
            self.stage = Stage::Handshake;
            self.inquiry = Inquiry::default();
        }
        match &self.stage {
            Stage::Ended(reason) => {
                queue.push(closing_packet(reason).to_packet(session));
                HandshakeOutcome::Nothing
            }
            Stage::Welcomed | Stage::Connected => {
                self.send_welcome(context.config.timeout, now, queue);
                HandshakeOutcome::Nothing
            }
            Stage::Handshake => {
                self.last_received = now;
                let token = if context.config.validate_addresses {
                    token(context.config.secret, self.connection, session)
                } else {
                    0
                };
                self.client = Some(ClientHello { session, limits, token });
                if let Some(mismatch) = limits.first_mismatch(context.config) {
                    self.end(DisconnectReason::Limits(mismatch), queue)
                } else if checksum == context.classes.checksum() {
                    self.welcome(now, context, queue)
                } else {
                    self.ask(queue);
                    HandshakeOutcome::Nothing
                }
            }
        }
    }

    fn control(
        &mut self,
        control: Control,
        now: Duration,
        context: HandshakeContext<'_>,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'static> {
        match (control, &self.stage) {
            (Control::Classes(part), Stage::Handshake) => {
                self.last_received = now;
                self.receive_answer(part, now, context, queue)
            }
            (Control::Classes(_), Stage::Ended(reason @ DisconnectReason::Layouts(_))) => {
                let refusal = closing_packet(reason);
                self.send_control(&refusal, queue);
                HandshakeOutcome::Nothing
            }
            (Control::Disconnect, _) => self.end(DisconnectReason::Closed, queue),
            _ => HandshakeOutcome::Nothing,
        }
    }

    /// Handles a part of a client's answer about its classes. When the answer is complete, the server asks
    /// the next question, refuses the client or welcomes it.
    fn receive_answer(
        &mut self,
        part: Part,
        now: Duration,
        context: HandshakeContext<'_>,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'static> {
        let is_first = part.part == 0;
        let entries = match self.inquiry.take(part) {
            Ok(Progress::Answered(entries)) => entries,
            Ok(Progress::Outdated) if is_first => {
                self.ask(queue);
                return HandshakeOutcome::Nothing;
            }
            Ok(Progress::Incomplete | Progress::Outdated) => return HandshakeOutcome::Nothing,
            Err(error) => return self.end(DisconnectReason::Protocol(error.to_string()), queue),
        };
        match context.classes.examine(self.inquiry.question(), &entries) {
            Finding::Same => self.welcome(now, context, queue),
            Finding::Differs(mismatch) => self.end(DisconnectReason::Layouts(mismatch), queue),
            Finding::Ask(question) => {
                self.inquiry = Inquiry::asking(question);
                self.ask(queue);
                HandshakeOutcome::Nothing
            }
        }
    }

    /// Sends the current question of the inquiry.
    fn ask(&self, queue: &mut SendQueue) {
        self.send_control(&Control::Differs(self.inquiry.question().clone()), queue);
    }

    fn welcome(
        &mut self,
        now: Duration,
        context: HandshakeContext<'_>,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'static> {
        self.send_welcome(context.config.timeout, now, queue);
        if context.config.validate_addresses {
            self.stage = Stage::Welcomed;
            return HandshakeOutcome::Nothing;
        }
        self.stage = Stage::Connected;
        HandshakeOutcome::Connected
    }

    fn send_welcome(&mut self, timeout: Duration, now: Duration, queue: &mut SendQueue) {
        self.last_welcome = now;
        let token = self.client.map_or(0, |client| client.token);
        self.send_control(&Control::Welcome { timeout_ms: timeout_ms(timeout), token }, queue);
    }

    /// Repeats the welcome if it is time. The server ignores the client's packets of state until the client
    /// knows the token.
    pub(crate) fn repeat_welcome(&mut self, timeout: Duration, now: Duration, queue: &mut SendQueue) {
        if !self.has_token
            && matches!(self.stage, Stage::Welcomed | Stage::Connected)
            && !queue.is_held_back()
            && now.saturating_sub(self.last_welcome) >= WELCOME_INTERVAL
        {
            self.send_welcome(timeout, now, queue);
        }
    }

    /// Ends the session if it has not ended, and sends a closing packet.
    pub(crate) fn end(
        &mut self,
        reason: DisconnectReason,
        queue: &mut SendQueue,
    ) -> HandshakeOutcome<'static> {
        if self.is_ended() {
            return HandshakeOutcome::Nothing;
        }
        self.send_control(&closing_packet(&reason), queue);
        self.stage = Stage::Ended(reason.clone());
        HandshakeOutcome::Ended(reason)
    }

    /// Queues a control packet of the session. Before the hello there is no session, and nobody could read
    /// the packet, so nothing is queued.
    fn send_control(&self, control: &Control, queue: &mut SendQueue) {
        if let Some(client) = self.client {
            queue.push(control.to_packet(client.session));
        }
    }
}

/// Returns the packet that tells a client why the session ended.
fn closing_packet(reason: &DisconnectReason) -> Control {
    match reason {
        DisconnectReason::Layouts(mismatch) => Control::Refused(mismatch.clone()),
        DisconnectReason::Limits(mismatch) => Control::TooSmall(*mismatch),
        _ => Control::Disconnect,
    }
}

#[cfg(test)]
mod tests;
