//! A fuzzer of a server with an endpoint: the input is a list of packets from several addresses. Clients log
//! in, send messages of all channels, call functions of their heroes, change their addresses and leave.
//!
//! Secrets are not part of an input: when a client has learned a cookie or a token, [`Venue`] puts it into
//! the client's packets. So a fuzzer does not need to guess secrets, and a packet never contains a secret
//! that its client has not received.
//!
//! *Invariant:* an address that is not proved is sent fewer bytes than came from it, and changes nothing. No
//! message of a refused packet is delivered. Heroes change only through calls that may run. The number of
//! connections and their memory stay within their limits.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl::CongestionControl;
use repl::prelude::*;

use super::forge::seal;
use super::packets::SESSION;
use super::talk::{self, Heard, Hero};

/// The size of the largest packet, in both directions.
pub const MTU_BYTES: usize = 256;

/// The greatest number of packets that are read, so that each input takes little time.
const MAX_PACKETS: usize = 256;

const LIMITS: EndpointConfig =
    EndpointConfig { max_connections: 3, max_per_origin: 3, max_half_open: 2, max_ended: 2 };
const MAX_CONNECTION_BYTES: usize = 65_536;

/// The bytes that a connection may hold besides unacknowledged data: messages that are being received, and
/// the first packets beyond the limit.
const BESIDE_BYTES: usize = 320 << 10;

/// For how long a cookie may be right.
const COOKIE_LIFETIME: Duration = Duration::from_secs(20);

/// The positions of the session, the cookie and the token in the content of a hello, in bits.
const SESSION_AT: usize = 4;
const COOKIE_AT: usize = 245;
const TOKEN_AT: usize = COOKIE_AT + 64;

/// The position of the token in the content of a welcome, in bits.
const WELCOME_TOKEN_AT: usize = 36;

/// The byte before the length of each packet: who sends the packet, and how long it takes until the next
/// packet.
#[derive(Clone, Copy)]
pub struct Head(pub u8);

impl Head {
    /// Which of the four sessions the packet belongs to. Hellos contain their sessions.
    pub fn session(self) -> usize {
        usize::from(self.0 & 3)
    }

    /// Which of the eight addresses the packet comes from.
    pub fn address(self) -> u8 {
        self.0 >> 2 & 7
    }

    /// After which time the server ticks. `None` if another packet follows at the same time.
    pub fn wait(self) -> Option<Duration> {
        let ms = [0, 16, 100, 2_500][usize::from(self.0 >> 5 & 3)];
        (ms > 0).then(|| Duration::from_millis(ms))
    }

    /// Whether the client puts its token into a hello.
    pub fn has_token(self) -> bool {
        self.0 >> 7 == 1
    }
}

/// Returns the packets of an input: each has a head, its length in two bytes, and its content without the
/// checksum.
pub fn split(mut data: &[u8]) -> Vec<(Head, &[u8])> {
    let mut packets = Vec::new();
    while let Some(([head, len @ ..], rest)) = data.split_first_chunk::<3>() {
        let (content, rest) = rest.split_at(usize::from(u16::from_le_bytes(*len)).min(rest.len()));
        packets.push((Head(*head), content));
        data = rest;
        if packets.len() == MAX_PACKETS {
            break;
        }
    }
    packets
}

/// Returns the input that contains these packets.
pub fn join(packets: &[(Head, Vec<u8>)]) -> Vec<u8> {
    let mut data = Vec::new();
    for (head, content) in packets {
        data.push(head.0);
        data.extend((content.len() as u16).to_le_bytes());
        data.extend(content);
    }
    data
}

/// Returns the 64 bits of a packet's content at a position. Missing bits are zeros.
fn number_at(content: &[u8], at: usize) -> u64 {
    (0..64).filter(|bit| bit_at(content, at + bit)).fold(0, |number, bit| number | 1 << bit)
}

fn bit_at(content: &[u8], at: usize) -> bool {
    content.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Replaces 64 bits of a packet's content.
fn set_number(content: &mut [u8], at: usize, number: u64) {
    for bit in 0..64 {
        if let Some(byte) = content.get_mut((at + bit) / 8) {
            let mask = 1 << ((at + bit) % 8);
            *byte = if number >> bit & 1 == 1 { *byte | mask } else { *byte & !mask };
        }
    }
}

/// Whether the content of a packet begins like a control packet of this type.
fn is_control(content: &[u8], kind: u8) -> bool {
    content.first().is_some_and(|first| first & 15 == kind << 1 | 1)
}

/// Returns a packet of a client as part of an input: without its checksum, and without its secrets.
pub fn without_secrets(packet: &[u8]) -> Vec<u8> {
    let mut content = packet.get(4..).unwrap_or_default().to_vec();
    if is_control(&content, 0) && bit_at(&content, COOKIE_AT - 1) {
        set_number(&mut content, COOKIE_AT, 0);
        set_number(&mut content, TOKEN_AT, 0);
    }
    content
}

/// Whether a packet of a client is a hello with a token.
pub fn has_token(packet: &[u8]) -> bool {
    let content = packet.get(4..).unwrap_or_default();
    is_control(content, 0) && bit_at(content, COOKIE_AT - 1) && number_at(content, TOKEN_AT) != 0
}

/// The state of one client address.
#[derive(Clone, Default)]
struct Address {
    received_bytes: usize,
    sent_bytes: usize,
    /// Whether a hello with a right cookie came from this address.
    is_proved: bool,
    /// The cookies that were sent to this address, by session, each with its time.
    cookies: BTreeMap<u64, (u64, Duration)>,
}

/// A server with an endpoint, and the packets that were sent to each address.
pub struct Venue {
    server: Server,
    endpoint: Endpoint<u8>,
    heroes: Vec<ObjectRef<Hero>>,
    now: Duration,
    ticks: usize,
    addresses: [Address; 8],
    /// The tokens of the four sessions. Zero before the client has received its token.
    tokens: [u64; 4],
    /// All connections that ever were.
    known: BTreeSet<ConnectionId>,
    /// The connections whose clients were accepted and have not left.
    live: BTreeSet<ConnectionId>,
    /// What clients sent.
    pub heard: Heard,
    /// How many clients were accepted.
    pub accepted: usize,
    /// Why connections ended, in this order.
    pub ended: Vec<DisconnectReason>,
}

impl Default for Venue {
    fn default() -> Self {
        let mut server = Server::new(ServerConfig {
            mtu_bytes: MTU_BYTES,
            max_objects: 16,
            max_object_bytes: 8_192,
            max_connection_bytes: MAX_CONNECTION_BYTES,
            congestion_control: CongestionControl::Paced,
            login: Login::Ask,
            ..ServerConfig::default()
        });
        talk::register(&mut server);
        let heroes = (0..4).map(|_| server.spawn(Hero { name: "Ada".into(), ..Hero::default() })).collect();
        Self {
            server,
            endpoint: Endpoint::new(LIMITS, 0x1234_5678_9abc_def0_0fed_cba9_8765_4321),
            heroes,
            now: Duration::from_secs(100),
            ticks: 0,
            addresses: Default::default(),
            tokens: [0; 4],
            known: BTreeSet::new(),
            live: BTreeSet::new(),
            heard: Heard::default(),
            accepted: 0,
            ended: Vec::new(),
        }
    }
}

impl Venue {
    /// Passes a packet with this content to the endpoint, and lets the time pass. Returns the packets that
    /// were sent, with their addresses.
    pub fn step(&mut self, head: Head, content: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut sent = if content.is_empty() { Vec::new() } else { self.receive(head, content) };
        if let Some(wait) = head.wait() {
            self.now += wait;
            sent.extend(self.tick());
        }
        for address in &self.addresses {
            assert!(
                address.is_proved || address.sent_bytes <= address.received_bytes,
                "{} bytes were sent to somebody who sent {}",
                address.sent_bytes,
                address.received_bytes
            );
        }
        self.assert_limits();
        sent
    }

    pub fn now(&self) -> Duration {
        self.now
    }

    /// How many calls have run on the server.
    pub fn runs(&self) -> u32 {
        talk::heroes(&self.server).iter().map(|(_, hero)| hero.runs).sum()
    }

    /// Puts the secrets that the client has received into its packet, and the checksum before the packet.
    /// Returns the packet and, if it is a hello, its session.
    fn complete(&mut self, head: Head, content: &[u8]) -> (Vec<u8>, Option<u64>) {
        let session = SESSION + head.session() as u64;
        let token = self.tokens[head.session()];
        if !is_control(content, 0) {
            let has_token = content.first().is_none_or(|first| first & 1 == 0) || is_control(content, 5);
            return (seal(content, if has_token { session ^ token } else { session }), None);
        }
        let mut content = content.to_vec();
        let session = number_at(&content, SESSION_AT);
        let address = &mut self.addresses[usize::from(head.address())];
        if bit_at(&content, COOKIE_AT - 1)
            && let Some(&(cookie, at)) = address.cookies.get(&session)
        {
            set_number(&mut content, COOKIE_AT, cookie);
            address.is_proved |= self.now - at <= COOKIE_LIFETIME;
            if head.has_token() {
                set_number(&mut content, TOKEN_AT, token);
            }
        }
        (seal(&content, session), Some(session))
    }

    fn receive(&mut self, head: Head, content: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let (packet, hello) = self.complete(head, content);
        let from = head.address();
        self.addresses[usize::from(from)].received_bytes += packet.len();
        let connections: Vec<_> = self.server.connections().collect();
        let heroes = talk::heroes(&self.server);
        self.endpoint.receive(&mut self.server, self.now, from, &packet);
        assert_eq!(talk::heroes(&self.server), heroes, "a call ran before the tick");
        let senders = self.heard.poll_server(&mut self.server);
        for sender in &senders {
            assert!(self.live.contains(sender), "a message of somebody who was not accepted or has left");
        }
        let refused = self.note_events();
        assert!(!senders.iter().any(|sender| refused.contains(sender)), "a refused packet brought a message");
        let sent = self.transmit(hello);
        if !self.addresses[usize::from(from)].is_proved {
            let is_short = |(to, answer): &(u8, Vec<u8>)| *to == from && answer.len() < packet.len();
            assert!(sent.len() <= 1 && sent.iter().all(is_short), "an answer to somebody unknown");
            assert!(self.server.connections().eq(connections), "somebody unknown changed the connections");
        }
        sent
    }

    fn tick(&mut self) -> Vec<(u8, Vec<u8>)> {
        for connection in &self.live {
            talk::say_to_client(&mut self.server, *connection, &self.heroes, self.ticks);
        }
        match self.ticks % 20 {
            7 => self.heroes.push(self.server.spawn(Hero { spot: 3, ..Hero::default() })),
            17 => self.heroes.pop().into_iter().for_each(|hero| self.server.despawn(hero)),
            _ => {}
        }
        self.ticks += 1;
        let before = talk::heroes(&self.server);
        self.server.tick(self.now);
        talk::assert_changed_by_calls(&before, &self.server);
        while let Some(call) = self.server.poll_call::<Hero>() {
            assert_eq!(self.server.object_info(call.object).owner(), call.caller, "only the owner calls");
            self.heard.polled += 1;
        }
        self.note_events();
        self.transmit(None)
    }

    /// Answers logins, and records which clients joined and left. Returns the connections whose packet was
    /// refused.
    fn note_events(&mut self) -> Vec<ConnectionId> {
        let mut refused = Vec::new();
        self.known.extend(self.server.connections());
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Login(id, login) => self.decide(id, &login),
                ServerEvent::Connected(id) => {
                    assert!(self.live.insert(id), "it begins once");
                    self.accepted += 1;
                }
                ServerEvent::Disconnected(id, reason) => {
                    self.live.remove(&id);
                    if matches!(reason, DisconnectReason::Protocol(_)) {
                        refused.push(id);
                    }
                    self.ended.push(reason);
                }
                ServerEvent::ValueRefused { error, path, .. } => panic!("{path}: {error}"),
                _ => {}
            }
        }
        refused
    }

    /// Decides about a login by its first byte. An accepted client owns one of the heroes.
    fn decide(&mut self, id: ConnectionId, login: &[u8]) {
        match login {
            [b'n', ..] => drop(self.server.connection(id).refuse("no")),
            [b'w', ..] => {}
            _ => {
                let hero = usize::from(login.first().copied().unwrap_or_default()) % self.heroes.len();
                self.server.object(self.heroes[hero]).set_owner(Some(id));
                assert!(self.server.connection(id).accept(&login[..login.len().min(40)]));
            }
        }
    }

    /// Returns the packets that the endpoint sends, and records the secrets in them. `hello` is the session
    /// of the hello that these packets may answer.
    fn transmit(&mut self, hello: Option<u64>) -> Vec<(u8, Vec<u8>)> {
        let mut sent = Vec::new();
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            sent.push((to, packet.to_vec()));
        }
        for (to, packet) in &sent {
            assert!(packet.len() <= MTU_BYTES);
            let address = &mut self.addresses[usize::from(*to)];
            address.sent_bytes += packet.len();
            let content = &packet[4..];
            if let Some(session) = hello
                && is_control(content, 7)
                && bit_at(content, 4)
            {
                address.cookies.insert(session, (number_at(content, 5), self.now));
            }
            if is_control(content, 1) {
                let session = (0..4).find(|&at| seal(content, SESSION + at) == *packet);
                session
                    .into_iter()
                    .for_each(|at| self.tokens[at as usize] = number_at(content, WELCOME_TOKEN_AT));
            }
        }
        sent
    }

    fn assert_limits(&self) {
        let open = self.server.connections().count();
        assert!(open <= LIMITS.max_connections + 1, "{open} connections");
        let kept: Vec<_> =
            self.known.iter().filter_map(|&id| self.server.connection_info(id).stats()).collect();
        let most = LIMITS.max_connections + LIMITS.max_half_open + LIMITS.max_ended;
        assert!(kept.len() <= most, "{} connections are stored", kept.len());
        for stats in kept {
            let most = MAX_CONNECTION_BYTES + BESIDE_BYTES;
            assert!(stats.memory_bytes <= most, "{} bytes for a connection", stats.memory_bytes);
        }
    }
}

/// Runs an input. Returns the server.
pub fn run(data: &[u8]) -> Venue {
    let mut venue = Venue::default();
    for (head, content) in split(data) {
        venue.step(head, content);
    }
    venue
}
