//! A thousand remote calls and a thousand messages in a tick, from a client to the server, each compared with
//! the same bytes in a hand-written format: length, channel, bytes.
//!
//! *Invariant:* every candidate sends the same parameters in packets of the same size, and adds them up on
//! the other side, so no call is lost or skipped.

#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use repl::MessageOptions;
use repl::prelude::*;

use ratios::Side;

const CALLS: u64 = 1_000;
const PACKET_BYTES: usize = 1_200;
/// The options of [`Add`]. A client may send as many of these messages in a second as it may make calls of
/// [`Target::add`].
const MANY: MessageOptions = MessageOptions { max_bytes: 65_536, weight: 16, per_second: 10_000 };

/// The object with the functions that are called.
#[derive(Replicated, Default)]
struct Target {
    #[replicated(push)]
    health: u16,
    /// The sum of all parameters of the calls that arrived.
    sum: u64,
}

#[rpcs]
impl Target {
    #[rpc(server, reliable, per_second = 10_000)]
    fn add(&mut self, value: u64) {
        self.sum = self.sum.wrapping_add(value);
    }
}

#[derive(NetSerialize, Clone)]
struct Add(u64);

/// A way to send a thousand numbers to the other side.
trait Candidate {
    fn new() -> Self;
    /// Queues a thousand numbers, beginning with `first`, and makes packets.
    fn send(&mut self, first: u64);
    /// Receives the packets and adds up the numbers.
    fn receive(&mut self);
    /// Acknowledges everything. Not measured.
    fn acknowledge(&mut self);
    fn sum(&self) -> u64;
}

/// A client and a server without a network.
struct Link {
    server: Server,
    client: Client,
    id: ConnectionId,
    target: ObjectRef<Target>,
    packets: Vec<Vec<u8>>,
    now: Duration,
    sum: u64,
}

impl Link {
    fn connected() -> Self {
        let config =
            ServerConfig { congestion_control: repl::CongestionControl::Off, ..ServerConfig::default() };
        let mut server = Server::new(config);
        server.register_calls::<Target>().register_message_with::<Add>(Channel::Ordered, MANY);
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
        client.register_calls::<Target>().register_message_with::<Add>(Channel::Ordered, MANY);
        let target = server.spawn(Target::default());
        let id = server.connect(Duration::ZERO);
        let mut link = Self { server, client, id, target, packets: Vec::new(), now: Duration::ZERO, sum: 0 };
        for _ in 0..20 {
            link.server.object(target).set_owner(Some(id));
            link.client_packets();
            link.server_receives();
            link.acknowledge();
        }
        assert!(link.client.object_info(target).is_owner(), "the client can call");
        link
    }

    fn client_packets(&mut self) {
        self.client.tick(self.now);
        while let Some(packet) = self.client.poll_transmit() {
            self.packets.push(packet.to_vec());
        }
    }

    fn server_receives(&mut self) {
        for packet in self.packets.drain(..) {
            self.server.receive(self.id, self.now, &packet);
        }
        self.server.tick(self.now);
    }

    fn acknowledge(&mut self) {
        while let Some(packet) = self.server.poll_transmit(self.id) {
            self.client.receive(self.now, packet).expect("a packet of the server");
        }
        self.now += Duration::from_millis(200);
    }
}

/// Remote calls.
struct Calls(Link);

impl Candidate for Calls {
    fn new() -> Self {
        Self(Link::connected())
    }

    fn send(&mut self, first: u64) {
        let target = self.0.target;
        for value in first..first + CALLS {
            self.0.client.call(target).add(value).expect("room");
        }
        self.0.client_packets();
    }

    fn receive(&mut self) {
        self.0.server_receives();
    }

    fn acknowledge(&mut self) {
        self.0.acknowledge();
    }

    fn sum(&self) -> u64 {
        self.0.server[self.0.target].sum
    }
}

/// Messages.
struct Messages(Link);

impl Candidate for Messages {
    fn new() -> Self {
        Self(Link::connected())
    }

    fn send(&mut self, first: u64) {
        for value in first..first + CALLS {
            self.0.client.send(&Add(value)).expect("room");
        }
        self.0.client_packets();
    }

    fn receive(&mut self) {
        self.0.server_receives();
        while let Some((_, Add(value))) = self.0.server.poll_message() {
            self.0.sum = self.0.sum.wrapping_add(value);
        }
    }

    fn acknowledge(&mut self) {
        self.0.acknowledge();
    }

    fn sum(&self) -> u64 {
        self.0.sum
    }
}

/// Hand-written messages: two bytes of length, one byte of channel, then the bytes of the message. They are
/// stored until they are acknowledged, like the messages of a reliable channel.
#[derive(Default)]
struct Hand {
    stored: Vec<Vec<u8>>,
    packets: Vec<Vec<u8>>,
    sum: u64,
}

impl Candidate for Hand {
    fn new() -> Self {
        Self::default()
    }

    fn send(&mut self, first: u64) {
        for value in first..first + CALLS {
            self.stored.push(value.to_le_bytes().to_vec());
        }
        let mut packet = Vec::with_capacity(PACKET_BYTES);
        for message in &self.stored {
            if packet.len() + 3 + message.len() > PACKET_BYTES {
                self.packets.push(std::mem::replace(&mut packet, Vec::with_capacity(PACKET_BYTES)));
            }
            packet.extend_from_slice(&(message.len() as u16).to_le_bytes());
            packet.push(1);
            packet.extend_from_slice(message);
        }
        self.packets.push(packet);
    }

    fn receive(&mut self) {
        for packet in self.packets.drain(..) {
            let mut rest = packet.as_slice();
            while let [low, high, channel, tail @ ..] = rest {
                assert_eq!(*channel, 1, "the only channel");
                let (content, tail) = tail.split_at(usize::from(u16::from_le_bytes([*low, *high])));
                let value = u64::from_le_bytes(content.try_into().expect("eight bytes"));
                self.sum = self.sum.wrapping_add(value);
                rest = tail;
            }
        }
    }

    fn acknowledge(&mut self) {
        self.stored.clear();
    }

    fn sum(&self) -> u64 {
        self.sum
    }
}

/// The part of a tick that is measured.
#[derive(Clone, Copy)]
enum Part {
    Send,
    Receive,
}

/// Returns a function that runs ticks, and returns the total time of one part of them.
fn time<C: Candidate>(part: Part) -> impl FnMut(u64) -> Duration {
    let (mut candidate, mut next, mut expected) = (C::new(), 0_u64, 0_u64);
    move |ticks| {
        let mut spent = Duration::ZERO;
        for _ in 0..ticks {
            let start = Instant::now();
            candidate.send(next);
            let sent = Instant::now();
            candidate.receive();
            let end = Instant::now();
            spent += match part {
                Part::Send => sent - start,
                Part::Receive => end - sent,
            };
            candidate.acknowledge();
            expected = (next..next + CALLS).fold(expected, u64::wrapping_add);
            next += CALLS;
            assert_eq!(black_box(candidate.sum()), expected, "every number arrived once");
        }
        spent
    }
}

fn bench(criterion: &mut Criterion) {
    for (part, name) in [(Part::Send, "send"), (Part::Receive, "receive")] {
        let mut group = criterion.benchmark_group(format!("calls/{name} 1000"));
        group.throughput(criterion::Throughput::Elements(CALLS));
        group.bench_function("calls", |bencher| bencher.iter_custom(time::<Calls>(part)));
        group.bench_function("messages", |bencher| bencher.iter_custom(time::<Messages>(part)));
        group.bench_function("by hand", |bencher| bencher.iter_custom(time::<Hand>(part)));
        group.finish();
        if !ratios::are_wanted() {
            continue;
        }
        let (mut calls, mut messages) = (time::<Calls>(part), time::<Messages>(part));
        let mut hand = time::<Hand>(part);
        ratios::report(
            &format!("{name} 1000 calls"),
            &mut [
                Side::new("calls", None, &mut calls),
                Side::new("messages", None, &mut messages),
                Side::new("by hand", None, &mut hand),
            ],
        );
    }
}

criterion::criterion_group!(benches, bench);
criterion::criterion_main!(benches);
