//! The server's side of a session, from the client's first hello to the end of the session.
//!
//! *Invariant:* the server ignores packets whose checksum belongs to another session (R25), and packets of
//! state that come before the welcome (R21).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

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
    /// The client has proved its address with this packet of state, and packets of state may be sent to it
    /// from now on: the packet's sequence number, and a reader for the rest of the packet.
    Proved(Sequence, BitReader<'a>),
    /// The client is accepted: its limits and classes agree with the server's. Packets of state may be sent
    /// to it from now on.
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
    /// The token that the client's packets of state include in their checksums, besides the session (R26). It
    /// is zero if the transport validates addresses.
    token: u64,
}

/// The server's side of one session.
#[derive(Debug)]
pub(crate) struct ServerHandshake {
    connection: ConnectionId,
    stage: Stage,
    /// The current client. It is `None` before the first hello.
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

    /// Handles a packet of state. Its checksum includes the token, and only the welcome contains the token.
    /// So the client receives the packets that are sent to its address.
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
mod tests {
    use super::*;
    use crate::session::client_handshake::ClientHandshake;
    use crate::session::mismatch::{Difference, LayoutMismatch, Side};
    use crate::session::pair::{Pair, Reported, SESSION, STEP, class, drain, state};

    /// Returns what both sides report at the end of a handshake that begins with `pair`, for links with
    /// different losses.
    fn verdicts(pair: fn() -> Pair) -> Vec<(Vec<Reported>, Vec<Reported>)> {
        let mut verdicts: Vec<(Vec<Reported>, Vec<Reported>)> = Vec::new();
        for seed in 0..600 {
            let mut pair = pair();
            pair.run(seed, 120);
            let ends = |reports: &[Reported]| -> Vec<Reported> {
                let is_state = |report: &&Reported| matches!(report, Reported::State(_) | Reported::Welcome);
                reports.iter().filter(|report| !is_state(report)).cloned().collect()
            };
            for reports in [&pair.server_reports, &pair.client_reports] {
                let state = reports.iter().position(|report| matches!(report, Reported::State(_)));
                let connected = reports.iter().position(|report| *report == Reported::Connected);
                assert!(state.is_none_or(|state| connected.is_some_and(|connected| connected < state)));
            }
            let verdict = (ends(&pair.server_reports), ends(&pair.client_reports));
            if !verdicts.contains(&verdict) {
                verdicts.push(verdict);
            }
        }
        verdicts
    }

    fn refused(difference: Difference) -> Vec<(Vec<Reported>, Vec<Reported>)> {
        let reason = DisconnectReason::Layouts(LayoutMismatch { class: "()".to_owned(), difference });
        vec![(vec![Reported::Ended(reason.clone())], vec![Reported::Ended(reason)])]
    }

    #[test]
    fn r21_whatever_is_lost_repeated_or_overtaken_who_agrees_is_connected_once() {
        assert_eq!(verdicts(Pair::alike), [(vec![Reported::Connected], vec![Reported::Connected])]);
    }

    #[test]
    fn r21_whatever_is_lost_repeated_or_overtaken_the_first_difference_is_told_once() {
        let value = Difference::Value { property: "7".to_owned(), archetype: 0 };
        assert_eq!(verdicts(|| Pair::new(class(1), class(2))), refused(value.clone()));
        let in_parts = || {
            let mut pair = Pair::new(class(1), class(2));
            (pair.client_config.mtu_bytes, pair.server_config.mtu_bytes) = (128, 128);
            pair
        };
        assert_eq!(verdicts(in_parts), refused(value));
        let missing = Difference::NoClass { missing_on: Side::Client };
        assert_eq!(verdicts(|| Pair::new(class(1), ClassList::default())), refused(missing));
    }

    #[test]
    fn r21_whatever_is_lost_repeated_or_overtaken_a_limit_that_is_too_small_is_told_once() {
        let too_small = || {
            let mut pair = Pair::alike();
            pair.client_config.max_objects = 10;
            pair
        };
        let verdicts = verdicts(too_small);
        let [(server, client)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        assert_eq!(server, client);
        assert!(matches!(server.as_slice(), [Reported::Ended(DisconnectReason::Limits(_))]), "{server:?}");
    }

    #[test]
    fn r21_a_welcome_is_said_again_until_its_token_is_echoed() {
        let mut pair = Pair::alike();
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        let mut welcomes = 0;
        for _ in 0..50 {
            welcomes += pair.server_sends().iter().filter(|packet| is_control(packet)).count();
            pair.server_receives(&hello);
            let said_again = drain(&mut pair.to_client);
            assert_eq!(said_again.len(), 1, "a hello that comes again is answered at once");
            pair.now += STEP;
        }
        assert_eq!(welcomes, 1, "hellos were answered all the time");
        let mut silent = 0;
        for _ in 0..50 {
            silent += pair.server_sends().iter().filter(|packet| is_control(packet)).count();
            pair.now += STEP;
        }
        assert_eq!(silent, 10, "ten times a second");
        let token = token(77, ConnectionId(3), SESSION);
        pair.server_receives(&state(SESSION ^ token, 0));
        for _ in 0..50 {
            assert_eq!(pair.server_sends().iter().filter(|packet| is_control(packet)).count(), 0);
            pair.now += STEP;
        }
    }

    fn is_control(packet: &[u8]) -> bool {
        packet[4] & 1 == 1
    }

    #[test]
    fn r25_packets_of_another_session_are_answered_with_taken_or_nothing() {
        let mut other = Pair::new(class(1), class(2));
        other.client = ClientHandshake::new(SESSION + 1);
        let mut recorded = Vec::new();
        for _ in 0..60 {
            for packet in other.client_sends() {
                other.server_receives(&packet);
                recorded.push(packet);
            }
            other.server_sends().iter().for_each(|packet| other.client_receives(packet));
            other.now += STEP;
        }
        assert!(recorded.len() > 4, "{} packets", recorded.len());
        recorded.push(Control::Disconnect.to_packet(SESSION + 1));
        for steps in [1, 40] {
            let mut pair = Pair::alike();
            (0..steps).for_each(|_| pair.step());
            let (reports, received) = (pair.server_reports.clone(), pair.server.last_received());
            pair.now += STEP;
            for packet in &recorded {
                pair.server_receives(packet);
                for answer in drain(&mut pair.to_client) {
                    other.client = ClientHandshake::new(SESSION + 1);
                    other.client_sends();
                    other.client_reports.clear();
                    other.client_receives(&answer);
                    assert_eq!(other.client_reports, [Reported::Ended(DisconnectReason::Taken)]);
                }
            }
            assert_eq!((reports, received), (pair.server_reports.clone(), pair.server.last_received()));
            (0..2).for_each(|_| pair.step());
            assert!(pair.server.is_connected());
            assert_eq!(pair.server.binding(), SESSION);
        }
    }

    #[test]
    fn r26_a_wrong_token_neither_is_heard_nor_lifts_the_limit() {
        let mut pair = Pair::alike();
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        pair.server_reports.clear();
        let right = token(77, ConnectionId(3), SESSION);
        let of_others = [token(78, ConnectionId(3), SESSION), token(77, ConnectionId(4), SESSION), 0, !right];
        for wrong in of_others.into_iter().chain((0..64).map(|bit| right ^ 1 << bit)) {
            pair.server_receives(&state(SESSION ^ wrong, 0));
            assert!(pair.to_client.allowance.left().is_some());
        }
        assert_eq!(pair.server_reports, []);
        pair.server_receives(&state(SESSION ^ right, 0));
        assert_eq!(pair.server_reports, [Reported::Connected, Reported::State(Sequence::new(0))]);
        assert_eq!(pair.to_client.allowance.left(), None);
    }

    #[test]
    fn r26_no_row_of_hellos_and_answers_brings_more_than_three_times_its_bytes() {
        for value in [1, 2] {
            for mtu_bytes in [128, 1_200] {
                let mut pair = Pair::new(class(1), class(value));
                (pair.client_config.mtu_bytes, pair.server_config.mtu_bytes) = (mtu_bytes, mtu_bytes);
                let mut recorded = Vec::new();
                for _ in 0..30 {
                    recorded.extend(pair.client_sends());
                    for packet in recorded.clone() {
                        pair.server_receives(&packet);
                        // `server_sends` asserts the limit. Whoever sends these packets receives none of the
                        // server's packets.
                        let sent = pair.server_sends();
                        sent.iter().filter(|packet| is_control(packet)).for_each(|packet| {
                            if pair.server.stage == Stage::Handshake {
                                pair.client_receives(packet);
                            }
                        });
                    }
                    pair.now += STEP;
                }
                assert!(pair.to_client.allowance.left().is_some());
            }
        }
    }

    #[test]
    fn r25_whoever_proves_its_address_first_has_the_connection_whatever_hellos_came_before() {
        let late = {
            let mut other = Pair::alike();
            other.client = ClientHandshake::new(SESSION + 1);
            other.client_sends().remove(0)
        };
        // The hello of the other session arrives before the client's own hello, after it, or after the
        // client's welcome.
        for place in 0..3 {
            let mut pair = Pair::alike();
            if place == 0 {
                pair.server_receives(&late);
            }
            for packet in pair.client_sends() {
                pair.server_receives(&packet);
            }
            if place == 1 {
                pair.server_receives(&late);
            }
            for packet in pair.server_sends() {
                pair.client_receives(&packet);
            }
            if place == 2 {
                pair.server_receives(&late);
            }
            (0..20).for_each(|_| pair.step());
            assert_eq!(pair.server_reports.first(), Some(&Reported::Connected), "place {place}");
            assert!(pair.client_reports.contains(&Reported::Connected), "place {place}");
            assert!(
                !pair.client_reports.iter().any(|report| matches!(report, Reported::Ended(_))),
                "place {place}"
            );
            assert!(pair.server.is_connected() && pair.server.binding() == SESSION);
            pair.server_receives(&late);
            assert_eq!(drain(&mut pair.to_client).len(), 1, "taken");
            assert!(pair.server.is_connected() && pair.server.binding() == SESSION);
        }
    }

    #[test]
    fn r21_a_session_that_replaces_another_is_asked_from_the_beginning() {
        let questions = |steps_of_another: u32| {
            let mut pair = Pair::new(class(1), class(2));
            let own = std::mem::replace(&mut pair.client, ClientHandshake::new(SESSION + 1));
            (0..steps_of_another).for_each(|_| pair.step());
            assert!(!pair.server.is_ended(), "after {steps_of_another} steps");
            pair.client = own;
            pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
            pair.server_sends()
        };
        let first = questions(0);
        assert_eq!(first.len(), 1);
        assert_eq!(questions(1), first);
        assert_eq!(questions(2), first);
    }

    #[test]
    fn r26_before_its_address_is_proved_a_client_is_sent_no_state() {
        let mut pair = Pair::alike();
        let hello = pair.client_sends().remove(0);
        for _ in 0..50 {
            pair.server_receives(&hello);
            assert!(pair.server_sends().iter().all(|packet| is_control(packet)));
            pair.now += STEP;
        }
        assert!(pair.server_reports.is_empty() && !pair.server.is_connected());
    }

    #[test]
    fn r25_a_malformed_hello_ends_a_connection_without_a_session_and_no_other() {
        let mut pair = Pair::alike();
        let hello = pair.client_sends().remove(0);
        // The packet begins like a hello, but ends behind its kind.
        let mut malformed = Vec::new();
        let mut writer = repl_core::BitWriter::new();
        packet::begin(packet::PacketKind::Control, &mut writer);
        writer.write_bits(0, 3);
        packet::seal(&mut writer, packet::Salt::HELLO, &mut malformed);
        pair.server_receives(&hello);
        pair.server_receives(&malformed);
        assert_eq!(pair.server_reports, []);
        (0..10).for_each(|_| pair.step());
        assert_eq!(pair.server_reports.first(), Some(&Reported::Connected));
        let mut pair = Pair::alike();
        pair.server_receives(&malformed);
        assert!(matches!(pair.server_reports.as_slice(), [Reported::Ended(DisconnectReason::Protocol(_))]));
        assert!(pair.server_sends().is_empty(), "nobody could open a closing packet");
    }

    #[test]
    fn a_session_ends_once_and_a_hello_that_comes_late_is_told_so() {
        let mut pair = Pair::alike();
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        let end = |pair: &mut Pair| pair.server.end(DisconnectReason::Timeout, &mut pair.to_client);
        assert!(matches!(end(&mut pair), HandshakeOutcome::Ended(DisconnectReason::Timeout)));
        assert!(matches!(end(&mut pair), HandshakeOutcome::Nothing));
        pair.server_sends();
        pair.server_receives(&hello);
        let closing = pair.server_sends();
        assert_eq!(closing, [Control::Disconnect.to_packet(SESSION)]);
        pair.client_receives(&closing[0]);
        assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Closed)]);
    }
}
