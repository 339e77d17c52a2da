//! The client's side of a session: hello, the answers to the server's questions, the welcome, the disconnect.
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

/// The first hellos have the full size. If they are not answered, the path may carry only smaller packets, so
/// of three later hellos one has the full size, one the least size that a connection usually has, and one the
/// least size of all.
const FULL_HELLOS: u32 = 3;

/// The time between two hellos of a client while its login waits for an answer.
const WAIT_INTERVAL: Duration = Duration::from_millis(250);
/// The time between two hellos of a connected client that receives nothing.
const SILENCE_INTERVAL: Duration = Duration::from_millis(250);
/// After this time without a packet from the server, the client repeats its hello. Its address may have
/// changed, and then the server sends its packets to the old address.
const SILENCE: Duration = Duration::from_secs(1);

/// How many packets with the token a client sends after a welcome. The server repeats the welcome until one
/// such packet arrives. One of four packets is likely to arrive even over a link that loses most packets.
const TOKEN_PACKETS: u32 = 4;
const TOKEN_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time that a client stays silent, however long the timeouts are. The client cannot know whether
/// the server received a packet with the token, and without one the server sends it no more packets.
const LONGEST_SILENCE: Duration = Duration::from_millis(250);

/// The client's terms and agreement.
#[derive(Clone, Copy)]
pub struct ClientContext<'a> {
    /// The limits and times of this side.
    pub terms: ClientTerms<'a>,
    /// What this side agrees to.
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
    /// The server has welcomed this client for the first time. Now the client may send packets of state.
    Connected,
    /// The server has repeated its welcome.
    Welcome,
    /// The server has received the probe with this number.
    ProbeArrived(u16),
    /// The session is over.
    Ended(DisconnectReason),
}

/// The stage of a session.
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

/// The client's side of one session.
#[derive(Debug)]
pub(crate) struct ClientHandshake {
    session: u64,
    /// The seed of the checksums of the server's packets of state.
    seed: LastSeed,
    stage: Stage,
    /// The token from the server's welcome (R26). The token is zero before the welcome.
    token: u64,
    /// Whether packets of state are sealed with the token, from the welcome.
    seals_state: bool,
    /// The cookie that the server has sent last.
    cookie: Option<u64>,
    /// The server's number from its welcome. `None` before the welcome.
    pub instance: Option<u64>,
    /// The answer to the login, from the first welcome.
    pub login_answer: Vec<u8>,
    /// The greatest size of a packet that this side may send now.
    pub packet_bytes: usize,
    /// The largest packet that the server receives. `MAX` before the server has told it.
    server_packet_bytes: usize,
    /// Whether the transport seals the packets, and carries this session alone.
    pub is_sealed: bool,
    /// How many hellos the client has sent.
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
    /// When the client may answer the next cookie at once.
    next_answer: Duration,
    /// How long the server waits before it closes a silent connection. This time is `MAX` before the welcome.
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

    /// Returns whether there was no tick yet.
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

    /// Returns the number of the session.
    pub(crate) fn session(&self) -> u64 {
        self.session
    }

    /// Returns whether this side has ended the session, and not the server.
    pub(crate) fn has_ended_itself(&self) -> bool {
        matches!(self.stage, Stage::Ended { closing: Some(_) })
    }

    /// Returns what binds the client's packets of state: the session, and after the welcome also the token,
    /// unless the transport knows who sends (R25, R26).
    pub(crate) fn binding(&self) -> u64 {
        self.keys().state()
    }

    /// Returns the largest packet that the server receives. `MAX` before the server has told it.
    pub(crate) fn server_packet_bytes(&self) -> usize {
        self.server_packet_bytes
    }

    /// Returns what binds control packets that show that their sender knows the token.
    pub(crate) fn closing_key(&self) -> u64 {
        self.keys().closing()
    }

    /// Returns what binds the client's packets.
    fn keys(&self) -> Keys {
        let of_state = if self.seals_state { self.token } else { 0 };
        Keys { session: self.session, token: self.token, of_state, is_sealed: self.is_sealed }
    }

    /// Returns what binds the server's packets: the same, but state also includes the number of the server.
    fn keys_of_server(&self) -> Keys {
        let keys = self.keys();
        Keys { of_state: keys.of_state ^ self.instance.unwrap_or(0), ..keys }
    }

    /// Notes that a packet of state came from the server, which had not arrived before.
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
            // it is bound to the number of the server: a packet of a server before a restart must not be
            // taken for one of the next server (R25).
            return ClientOutcome::Nothing;
        }
        match packet::open(bytes, self.keys_of_server(), newest, &mut self.seed) {
            None => ClientOutcome::Damaged,
            Some(Opened::Control(mut reader)) => match Control::read(&mut reader) {
                Ok(control) => self.control(control, now, context, queue),
                // After the welcome, a sender that does not know the token ends nothing.
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
            // A late welcome of a server before a restart is ignored, and so is one with another token: who
            // knows the session could else make the server ignore this client.
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
            // After the welcome only a packet that is sealed with the token ends the session.
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
        // All welcomes of a session are the same packet, so anyone can send a copy. After the first packet of
        // state, only state shows that the server still sends to this address.
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

    /// Takes a cookie that the server has sent, and repeats the hello with it. If another cookie was answered
    /// just before, this happens only when the next hello is due. A connected client ignores the cookie if it
    /// still receives packets.
    fn retry(&mut self, cookie: u64, now: Duration, context: ClientContext<'_>, queue: &mut SendQueue) {
        let is_needed = !self.is_connected() || self.is_without_packets(now, context.terms.timeout);
        if is_needed && self.cookie != Some(cookie) {
            if self.cookie.is_none() {
                self.last_received = now; // a step of the handshake is done
            }
            self.cookie = Some(cookie);
            if now >= self.next_answer {
                self.next_answer = now.saturating_add(HELLO_INTERVAL);
                self.say_hello(context, queue);
            }
        }
    }

    /// Returns whether the client has received nothing for so long that its address may have changed.
    fn is_without_packets(&self, now: Duration, timeout: Duration) -> bool {
        let timeout = timeout.min(self.server_timeout);
        let quarter = timeout.checked_div(4).unwrap_or_default();
        // The server sends something at least every fortieth of the timeout.
        let keep_alives = timeout.checked_div(10).unwrap_or_default();
        now.saturating_sub(self.last_received) >= SILENCE.max(keep_alives).min(quarter)
    }

    /// Returns the size to which the next hello is padded.
    fn hello_bytes(&self) -> usize {
        let full = self.packet_bytes.min(HELLO_BYTES);
        match self.hellos {
            _ if self.is_connected() => full,
            ..FULL_HELLOS => full,
            hellos if hellos.is_multiple_of(3) => full,
            hellos if hellos % 3 == 1 => full.min(LEAST_PACKET_BYTES),
            _ => full.min(*MTU_BYTES.start()),
        }
    }

    fn say_hello(&mut self, context: ClientContext<'_>, queue: &mut SendQueue) {
        let login = if self.is_connected() { Vec::new() } else { context.terms.login.to_vec() };
        // A connected client shows its token, even if it has never got a cookie.
        let cookie = self.cookie.or(self.is_connected().then_some(0));
        let proof = cookie.map(|cookie| Proof { cookie, token: self.token, login });
        let (checksum, limits) = (context.agreement.checksum(), ClientLimits::of(&context.terms));
        let hello = Hello { session: self.session, checksum, limits, proof };
        queue.push(&Control::Hello(hello).to_padded_packet(self.session, self.hello_bytes()));
        self.hellos = self.hellos.saturating_add(1);
    }

    /// Returns the time at which to repeat something that was sent now and is repeated at this interval.
    fn after(&self, interval: Duration, now: Duration) -> Duration {
        // The time takes the place of a number: nothing is repeated twice at one time.
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

    /// Returns the shorter of both sides' timeouts, but at most the one after which the client need not be
    /// silent for less time.
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

    /// Handles the end of the session by the server or the transport, which needs no answer.
    pub(crate) fn ended(&mut self, reason: DisconnectReason) -> ClientOutcome<'static> {
        self.stage = Stage::Ended { closing: None };
        ClientOutcome::Ended(reason)
    }

    /// Handles a packet that comes after the end. A welcome or a packet of state shows that the server has
    /// not received the disconnect packet, so the packet is sent again. Without a welcome, a packet of state
    /// cannot be checked.
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
mod tests {
    use super::*;
    use crate::session::closing::Closing;
    use crate::session::control::HELLO_BYTES;
    use crate::session::limits::{Limit, LimitMismatch};
    use crate::session::pair::{HandshakePair, Reported, SESSION, STEP, class, drain, state};

    fn welcome(timeout_ms: u32) -> Control {
        Control::Welcome(Welcome {
            timeout_ms,
            token: 9,
            instance: 4,
            packet_bytes: 1_200,
            answer: Vec::new(),
            seals_state: true,
        })
    }

    #[test]
    fn r21_hello_is_said_about_ten_times_a_second_until_it_is_answered() {
        let mut pair = HandshakePair::alike();
        let mut hellos = Vec::new();
        for _ in 0..400 {
            hellos.extend(pair.client_sends());
            pair.now += STEP;
        }
        assert!((65..85).contains(&hellos.len()), "{} in 8 s, in ticks of 20 ms", hellos.len());
        assert!(hellos.iter().take(3).all(|hello| *hello == hellos[0]));
        let sizes: Vec<usize> = hellos.iter().skip(3).take(6).map(Vec::len).collect();
        assert_eq!(sizes, [1_200, 508, 128, 1_200, 508, 128], "the path may carry smaller packets only");
        pair.server_receives(&hellos[0]);
        pair.server_sends().iter().for_each(|packet| pair.client_receives(packet));
        assert_eq!(pair.client_reports[0], Reported::Connected);
    }

    #[test]
    fn r26_a_token_is_echoed_four_times_and_anew_with_each_welcome() {
        let mut pair = HandshakePair::alike();
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        let welcome = pair.server_sends().remove(0);
        for report in [Reported::Connected, Reported::Welcome, Reported::Welcome] {
            pair.client_reports.clear();
            pair.client_receives(&welcome);
            assert_eq!(pair.client_reports, [report]);
            let mut has_token = Vec::new();
            for _ in 0..50 {
                has_token.extend(pair.client_sends());
                pair.now += STEP;
            }
            assert_eq!(has_token.len(), 4);
            pair.server_reports.clear();
            has_token.iter().for_each(|echo| pair.server_receives(echo));
            pair.server_reports.retain(|report| *report != Reported::Connected);
            assert_eq!(
                pair.server_reports.len(),
                4,
                "the server takes each for state: {:?}",
                pair.server_reports
            );
        }
    }

    #[test]
    fn r26_a_client_is_silent_for_a_quarter_of_a_second_at_most_however_long_the_timeouts_are() {
        let timeout = Duration::from_secs(3_600);
        let mut pair = HandshakePair::alike();
        (pair.client_terms.timeout, pair.server_terms.timeout) = (timeout, timeout);
        (0..10).for_each(|_| pair.step());
        let shorter = pair.client.shorter_timeout(timeout);
        let silences = (0..1_000).map(|next| keep_alive::longest_silence(shorter, 5, next));
        assert!(silences.max().is_some_and(|longest| longest <= Duration::from_millis(250)));
    }

    #[test]
    fn r21_a_question_that_comes_again_is_not_answered_before_its_time() {
        let mut pair = HandshakePair::new(class(1), class(2));
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        let question = pair.server_sends().remove(0);
        pair.client_receives(&question);
        let answer = pair.client_sends();
        let asked = pair.now;
        let again = loop {
            pair.now += STEP;
            pair.client_receives(&question);
            let again = pair.client_sends();
            if !again.is_empty() {
                break again;
            }
        };
        let wait = pair.now - asked;
        assert!(wait >= HELLO_INTERVAL / 2 && wait <= HELLO_INTERVAL * 3 / 2 + STEP, "{wait:?}");
        assert_eq!(again, answer);
        assert_eq!(pair.client_reports, []);
    }

    #[test]
    fn r25_no_packet_of_another_session_is_one() {
        let sent = |session: u64| -> Vec<Vec<u8>> {
            let mismatch = LimitMismatch { limit: Limit::Objects, client: 1, server: 2 };
            let controls = [
                welcome(5),
                Control::Differs(1_200, Question::Classes),
                Control::TooSmall(mismatch),
                Control::Closing(Closing::Closed),
                Control::Closing(Closing::Taken),
                Control::Retry(9),
                Control::Wait,
            ];
            let mut packets: Vec<_> = controls.iter().map(|control| control.to_packet(session)).collect();
            packets.push(state(session, 0));
            packets
        };
        for steps in [1, 40] {
            for packet in sent(SESSION ^ 1) {
                let mut pair = HandshakePair::alike();
                (0..steps).for_each(|_| pair.step());
                let binding = pair.client.binding();
                pair.client_reports.clear();
                pair.client_receives(&packet);
                let is_ignored = pair.client.instance.is_none() && packet::is_state(&packet);
                assert_eq!(pair.client_reports, if is_ignored { vec![] } else { vec![Reported::Damaged] });
                assert_eq!(pair.client.binding(), binding);
            }
        }
        let mut pair = HandshakePair::alike();
        (0..40).for_each(|_| pair.step());
        pair.client_reports.clear();
        pair.client_receives(&state(pair.server.binding() ^ 1, 50));
        assert_eq!(pair.client_reports, [Reported::Damaged], "it is of another server");
        for packet in sent(SESSION) {
            let mut pair = HandshakePair::alike();
            pair.client_sends();
            pair.client_receives(&packet);
            assert!(!pair.client_reports.contains(&Reported::Damaged));
        }
    }

    #[test]
    fn an_end_before_the_welcome_is_told_again_when_the_server_sends_state() {
        let mut pair = HandshakePair::alike();
        pair.client_sends();
        pair.client.end(DisconnectReason::Closed, &mut pair.to_server);
        assert_eq!(drain(&mut pair.to_server).len(), 1);
        let wait = Control::Wait.to_packet(SESSION);
        let welcome = welcome(1).to_packet(SESSION);
        for (packet, answers) in [(wait, 0), (welcome, 1), (state(pair.server.binding(), 0), 1)] {
            pair.client.receive_after_end(&packet, Sequence::new(0), &mut pair.to_server);
            assert_eq!(drain(&mut pair.to_server).len(), answers);
        }
    }

    #[test]
    fn r25_nothing_but_a_farewell_with_the_token_is_heard_once_the_client_is_welcome() {
        let mut pair = HandshakePair::alike();
        (0..10).for_each(|_| pair.step());
        pair.client_reports.clear();
        let instance = pair.client.instance.expect("a welcome");
        let controls = [
            Control::Closing(Closing::Taken),
            Control::Closing(Closing::Closed),
            Control::Closing(Closing::Forgotten),
            Control::Wait,
            Control::Retry(3),
            Control::Differs(1_200, Question::Classes),
            Control::TooSmall(LimitMismatch { limit: Limit::Objects, client: 1, server: 2 }),
            Control::Welcome(Welcome {
                timeout_ms: 1,
                token: 9,
                instance,
                packet_bytes: 1_200,
                answer: Vec::new(),
                seals_state: true,
            }),
        ];
        let token = pair.client.token;
        for control in &controls {
            pair.client_receives(&control.to_packet(SESSION));
        }
        assert_eq!((&pair.client_reports[..], pair.client.token), (&[][..], token));
        for control in &controls {
            pair.client_receives(&control.to_packet(SESSION ^ instance));
        }
        let damaged = vec![Reported::Damaged; controls.len()];
        assert_eq!(pair.client_reports, damaged, "a fellow client knows the number of the server");
        pair.client_reports.clear();
        for control in controls.iter().filter(|control| !matches!(control, Control::Closing(_))) {
            pair.client_receives(&control.to_packet(pair.client.binding()));
        }
        assert_eq!(pair.client_reports, []);
        pair.client_receives(&Control::Closing(Closing::Closed).to_packet(pair.client.binding()));
        assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Closed)]);
        pair.client_receives(&welcome(1).to_packet(SESSION));
        assert_eq!(pair.client_reports.len(), 1);
    }

    #[test]
    fn a_silent_server_is_given_up_once_and_a_welcome_is_a_sign_of_life() {
        let mut pair = HandshakePair::alike();
        let hello = pair.client_sends().remove(0);
        pair.now += pair.client_terms.timeout - STEP;
        pair.client_sends();
        pair.server_receives(&hello);
        pair.server_sends().iter().take(1).for_each(|packet| pair.client_receives(packet));
        pair.now += pair.client_terms.timeout - STEP;
        pair.client_sends();
        assert_eq!(pair.client_reports, [Reported::Connected]);
        pair.now += STEP;
        pair.client_sends();
        pair.now += STEP;
        pair.client_sends();
        assert_eq!(pair.client_reports, [Reported::Connected, Reported::Ended(DisconnectReason::Timeout)]);
    }

    #[test]
    fn r25_a_repeated_welcome_keeps_no_session_with_state_alive() {
        let mut pair = HandshakePair::alike();
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        let welcome = pair.server_sends().remove(0);
        pair.client_receives(&welcome);
        pair.client.note_packet(pair.now);
        let (silent_since, mut hellos) = (pair.now, 0);
        while pair.now - silent_since < pair.client_terms.timeout {
            pair.client_receives(&welcome);
            hellos += pair.client_sends().iter().filter(|packet| packet.len() == HELLO_BYTES).count();
            pair.now += STEP;
        }
        assert!(hellos > 10, "{hellos} hellos: the address of the client may have changed");
        pair.client_sends();
        assert_eq!(pair.client_reports.last(), Some(&Reported::Ended(DisconnectReason::Timeout)));
    }

    #[test]
    fn r26_of_many_cookies_the_first_is_answered_at_once_and_the_last_with_the_next_hello() {
        let mut pair = HandshakePair::alike();
        pair.client_sends();
        for cookie in 0..1_000 {
            pair.client_receives(&Control::Retry(cookie).to_packet(SESSION));
        }
        let cookie_of = |packet: &[u8]| {
            let hello = packet::open_hello(packet).and_then(|mut reader| Control::read(&mut reader).ok());
            let Some(Control::Hello(hello)) = hello else { panic!("not a hello") };
            hello.proof.map(|proof| proof.cookie)
        };
        let at_once = drain(&mut pair.to_server);
        assert_eq!(at_once.iter().map(|hello| cookie_of(hello)).collect::<Vec<_>>(), [Some(0)]);
        pair.now += HELLO_INTERVAL * 2;
        let later = pair.client_sends();
        assert_eq!(later.iter().map(|hello| cookie_of(hello)).collect::<Vec<_>>(), [Some(999)]);
    }

    #[test]
    fn a_malformed_control_packet_ends_the_session_with_a_farewell() {
        let mut pair = HandshakePair::alike();
        (0..10).for_each(|_| pair.step());
        pair.client_reports.clear();
        let mut writer = repl_core::BitWriter::new();
        packet::begin(packet::PacketKind::Control, &mut writer);
        // A welcome without a timeout.
        writer.write_bits(1, 3);
        pair.client_receives(&packet::seal(writer.clone(), packet::Salt::control(SESSION)));
        assert_eq!(pair.client_reports, [Reported::Damaged], "whoever knows the session may have sent it");
        pair.client_reports.clear();
        let binding = pair.client.binding();
        pair.client_receives(&packet::seal(writer, packet::Salt::control(binding)));
        assert!(matches!(pair.client_reports.as_slice(), [Reported::Ended(DisconnectReason::Protocol(_))]));
        assert_eq!(drain(&mut pair.to_server), [Control::Closing(Closing::NotRead).to_packet(binding)]);
    }
}
