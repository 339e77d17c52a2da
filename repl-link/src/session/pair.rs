//! A test fixture: the handshakes of a client and a server, without the rest of a client and a server. The
//! test itself passes each packet from one side to the other.
//!
//! *Invariant:* until the client has shown that it knows the token, the server sends at most three times as
//! many bytes as it has received (R26).

use std::time::Duration;

use repl_core::{BitWriter, Form, Layout, PropertyIndex};

use super::agreement::{Agreement, ClassForms, ClassTerms};
use super::client_handshake::{ClientContext, ClientHandshake, ClientOutcome};
use super::server_handshake::{ServerContext, ServerHandshake};
use super::server_outcome::ServerOutcome;
use super::terms::{Capacity, ClientTerms, ServerTerms};
use super::trust::Trust;
use crate::frame::packet::{self, PacketKind, Salt};
use crate::frame::sequence::Sequence;
use crate::queue::send_queue::SendQueue;
use crate::rate::allowance::Allowance;
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::session::secret::Secret;

/// The time between two steps.
pub(super) const STEP: Duration = Duration::from_millis(20);

/// The number of the session, which the pair's client has chosen.
pub(super) const SESSION: u64 = 0x0123_4567_89AB_CDEF;

/// The limits of both sides.
const CAPACITY: Capacity = Capacity { mtu_bytes: 1_200, max_objects: 65_536, max_object_bytes: 256 << 10 };

/// The result of a handshake for a packet. The result "nothing" is not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reported {
    Connected,
    Welcome,
    State(Sequence),
    Login(Vec<u8>),
    Ended(DisconnectReason),
    Damaged,
}

pub(super) struct HandshakePair {
    pub(super) server: ServerHandshake,
    pub(super) client: ClientHandshake,
    pub(super) server_terms: ServerTerms,
    pub(super) client_terms: ClientTerms<'static>,
    pub(super) server_agreement: Agreement,
    pub(super) client_agreement: Agreement,
    pub(super) to_client: SendQueue,
    pub(super) to_server: SendQueue,
    pub(super) now: Duration,
    /// The number of bytes that the server has received, and the number of bytes that it has sent.
    received_bytes: usize,
    sent_bytes: usize,
    /// The number of packets of state that each side has sent.
    server_sent: u64,
    client_sent: u64,
    /// The results of each side's handshake so far.
    pub(super) server_reports: Vec<Reported>,
    pub(super) client_reports: Vec<Reported>,
}

/// Returns an agreement with one class, which has eight properties. The initial value of the last property is
/// `value`. The class is a tuple, because a tuple needs no derive.
pub(super) fn class(value: u64) -> Agreement {
    const LAYOUT: &Layout = &Layout::of::<(u8, u16, u32, u64, i8, i16, i32, i64)>();
    let begins = vec![vec![0, 0, 0, 0, 0, 0, 0, value]];
    let class = ClassTerms::new(LAYOUT.name(), LAYOUT.checksum(), Box::new(FormsOf(LAYOUT)), begins);
    Agreement::new(vec![class], Vec::new())
}

struct FormsOf(&'static Layout);

impl ClassForms for FormsOf {
    fn forms(&self) -> Vec<Form> {
        self.0.forms()
    }

    fn property(&self, number: usize) -> &str {
        self.0.property_name(PropertyIndex::new(number))
    }
}

impl HandshakePair {
    /// Creates a server side and a client side with these classes.
    pub(super) fn new(server_agreement: Agreement, client_agreement: Agreement) -> Self {
        let (capacity, timeout) = (CAPACITY, Duration::from_secs(10));
        let now = Duration::from_secs(5);
        let to_client = SendQueue { allowance: Allowance::nothing(), ..SendQueue::default() };
        Self {
            server: ServerHandshake::new(ConnectionId(3), Secret::from(77_u64), Trust::Unproved, now),
            client: ClientHandshake::new(SESSION, CAPACITY.mtu_bytes),
            server_terms: ServerTerms { capacity, timeout, asks_login: false, login_timeout: timeout },
            client_terms: ClientTerms { capacity, timeout, login: &[], reconnects: true, first_sequence: 0 },
            server_agreement,
            client_agreement,
            to_client,
            to_server: SendQueue::default(),
            now,
            received_bytes: 0,
            sent_bytes: 0,
            server_sent: 0,
            client_sent: 0,
            server_reports: Vec::new(),
            client_reports: Vec::new(),
        }
    }

    pub(super) fn alike() -> Self {
        Self::new(class(1), class(1))
    }

    pub(super) fn server_receives(&mut self, bytes: &[u8]) {
        self.received_bytes += bytes.len();
        let context = ServerContext { terms: self.server_terms, agreement: &self.server_agreement };
        let reported =
            match self.server.receive(bytes, Sequence::new(0), self.now, context, &mut self.to_client) {
                ServerOutcome::Nothing | ServerOutcome::Damaged | ServerOutcome::ProbeArrived(_) => return,
                ServerOutcome::State(sequence, _) => Reported::State(sequence),
                ServerOutcome::Proved(sequence, _) => {
                    self.server_reports.push(Reported::Connected);
                    Reported::State(sequence)
                }
                ServerOutcome::Connected => Reported::Connected,
                ServerOutcome::Login(login) => Reported::Login(login),
                ServerOutcome::Ended(reason) => Reported::Ended(reason),
            };
        self.server_reports.push(reported);
    }

    pub(super) fn client_receives(&mut self, bytes: &[u8]) {
        let context = ClientContext { terms: self.client_terms, agreement: &self.client_agreement };
        let reported =
            match self.client.receive(bytes, Sequence::new(0), self.now, context, &mut self.to_server) {
                ClientOutcome::Damaged => Reported::Damaged,
                ClientOutcome::Nothing | ClientOutcome::ProbeArrived(_) => return,
                ClientOutcome::State(sequence, _) => Reported::State(sequence),
                ClientOutcome::Connected => Reported::Connected,
                ClientOutcome::Welcome => Reported::Welcome,
                ClientOutcome::Ended(reason) => Reported::Ended(reason),
            };
        self.client_reports.push(reported);
    }

    /// Returns the packets that the server sends in a step. The result includes a packet of state after the
    /// client was accepted.
    pub(super) fn server_sends(&mut self) -> Vec<Vec<u8>> {
        if self.server.is_connected() {
            let packet = state(self.server.binding(), self.server_sent);
            if self.to_client.takes_state(packet.len()) {
                self.server_sent += 1;
                self.to_client.push(&packet);
            }
        }
        self.server.repeat_welcome(&self.server_terms, self.now, &mut self.to_client);
        let packets = drain(&mut self.to_client);
        self.sent_bytes += packets.iter().map(Vec::len).sum::<usize>();
        if self.to_client.allowance.left().is_some() {
            assert!(
                self.sent_bytes <= 3 * self.received_bytes,
                "{} for {}",
                self.sent_bytes,
                self.received_bytes
            );
        }
        packets
    }

    /// Returns the packets that the client sends in a step. The result includes a packet of state if the
    /// client must show that it knows the token.
    pub(super) fn client_sends(&mut self) -> Vec<Vec<u8>> {
        let context = ClientContext { terms: self.client_terms, agreement: &self.client_agreement };
        self.client.packet_bytes = self.client_terms.capacity.mtu_bytes;
        let ended = self.client.tick(self.now, context, &mut self.to_server);
        self.client_reports.extend(ended.map(Reported::Ended));
        if self.client.is_connected() && self.client.must_send_token(self.now) {
            self.to_server.push(&state(self.client.binding(), self.client_sent));
            self.client_sent += 1;
        }
        drain(&mut self.to_server)
    }

    /// Runs one step in which every packet arrives.
    pub(super) fn step(&mut self) {
        for packet in self.client_sends() {
            self.server_receives(&packet);
        }
        for packet in self.server_sends() {
            self.client_receives(&packet);
        }
        self.now += STEP;
    }

    /// Runs `steps` steps over a link that loses, repeats and delays packets at random. In the second half of
    /// the steps every packet arrives.
    pub(super) fn run(&mut self, seed: u64, steps: u32) {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut under_way: Vec<(u32, bool, Vec<u8>)> = Vec::new();
        for step in 0..steps {
            let sent = self.client_sends().into_iter().map(|packet| (true, packet));
            let sent: Vec<_> =
                sent.chain(self.server_sends().into_iter().map(|packet| (false, packet))).collect();
            for (is_of_client, packet) in sent {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let fate = if step > steps / 2 { 3 } else { random >> 61 };
                let copies: &[u32] = match fate {
                    0 | 1 => &[],
                    2 => &[0, 0, 9],
                    3 | 4 => &[0],
                    5 => &[4],
                    _ => &[12, 1],
                };
                under_way.extend(copies.iter().map(|late| (step + late, is_of_client, packet.clone())));
            }
            let (due, rest) = under_way.into_iter().partition(|(due, ..)| *due <= step);
            under_way = rest;
            let due: Vec<(u32, bool, Vec<u8>)> = due;
            for (_, is_of_client, packet) in due {
                if is_of_client { self.server_receives(&packet) } else { self.client_receives(&packet) }
            }
            self.now += STEP;
        }
    }
}

/// Returns a packet of state with this sequence number.
pub(super) fn state(binding: u64, number: u64) -> Vec<u8> {
    let mut writer = BitWriter::new();
    packet::begin(PacketKind::State, &mut writer);
    let sequence = Sequence::new(number);
    writer.write_bits(sequence.to_wire().into(), 16);
    writer.write_bits(0, 64);
    packet::seal(writer, Salt::state(binding, sequence))
}

pub(super) fn drain(queue: &mut SendQueue) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| queue.pop().map(<[u8]>::to_vec)).collect()
}
