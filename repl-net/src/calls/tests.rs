//! Tests with a client that breaks the rules: it sends calls that the methods of [`Client`] refuse to make.

use std::time::Duration;

use repl_core::{BitWriter, Guid, ObjectRef};
use repl_derive::{Replicated, rpcs};
use repl_link::ConnectionId;

use super::{channels, inbox};
use crate::{Client, ClientConfig, DisconnectReason, Server, ServerConfig, ServerEvent, Session};

/// The module paths that generated code uses.
mod library {
    pub(super) mod __private {
        pub(crate) use crate::__private::*;
        pub(crate) use repl_core::__private::*;
    }
}

#[derive(Replicated, Default)]
#[replicated(crate = "self::library")]
struct Door {
    #[replicated]
    is_open: bool,
    /// The number of calls that ran.
    ran: u32,
}

#[rpcs(crate = "self::library")]
impl Door {
    #[rpc(server, reliable, validate = is_there)]
    fn open(&mut self, code: u16) {
        self.is_open = code > 0;
        self.ran += 1;
    }

    fn is_there(&self, _: ConnectionId, _: &u16) -> bool {
        true
    }

    #[rpc(server, unreliable)]
    fn knock(&mut self, times: u8) {
        self.ran += u32::from(times);
    }

    #[rpc(server, reliable)]
    fn paint(colour: u8);

    #[rpc(client, reliable)]
    fn creak(&mut self) {
        self.ran += 1;
    }

    #[rpc(client, reliable)]
    fn tint(&mut self, colour: u16) {
        self.is_open = colour > 0;
        self.ran += 1;
    }

    #[rpc(multicast, reliable)]
    fn slam(&mut self) {
        self.ran += 1;
    }
}

/// An object of a class without calls.
#[derive(Replicated, Default)]
#[replicated(crate = "self::library")]
struct Wall {
    #[replicated]
    height: u8,
}

const TICK: Duration = Duration::from_millis(16);

struct Pair {
    server: Server,
    client: Client,
    id: ConnectionId,
    now: Duration,
}

impl Pair {
    fn new(furnish: impl FnOnce(&mut Server)) -> Self {
        let mut server = Server::new(ServerConfig::default());
        server.register::<Wall>().register_calls::<Door>();
        furnish(&mut server);
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(7));
        client.register::<Wall>().register_calls::<Door>();
        let id = server.connect(Duration::ZERO);
        let mut pair = Self { server, client, id, now: Duration::ZERO };
        pair.steps(20);
        pair
    }

    fn steps(&mut self, steps: u32) {
        for _ in 0..steps {
            self.client.tick(self.now);
            while let Some(packet) = self.client.poll_transmit() {
                self.server.receive(self.id, self.now, packet);
            }
            self.server.tick(self.now);
            while let Some(packet) = self.server.poll_transmit(self.id) {
                drop(self.client.receive(self.now, packet));
            }
            self.now += TICK;
        }
    }

    /// Sends a call without the checks that a correct client makes.
    fn forge(&mut self, object: ObjectRef<Door>, call: &DoorCall) {
        let is_reliable = !matches!(call, DoorCall::Knock { .. });
        let channel =
            self.client.session.mailbox.channel(channels::key::<Door>(is_reliable)).expect("registered");
        let max_bits = self.client.session.link.outbox.capacity();
        let writer =
            self.client.session.mailbox.write_bits(|writer| inbox::write(object, call, writer)).unwrap();
        self.client.session.link.exchange.outgoing.add(channel, writer, max_bits).expect("room");
    }

    fn ended(&mut self) -> Option<DisconnectReason> {
        std::iter::from_fn(|| self.server.poll_event()).find_map(|event| match event {
            ServerEvent::Disconnected(_, reason) => Some(reason),
            _ => None,
        })
    }
}

fn reference(guid: Guid) -> ObjectRef<Door> {
    ObjectRef::new(guid)
}

#[test]
fn s214_no_pair_of_object_and_call_that_a_client_may_not_use_has_an_effect() {
    let (mut doors, mut gone, mut walls) = (Vec::new(), Vec::new(), Vec::new());
    let mut pair = Pair::new(|server| {
        doors.extend((0..160).map(|_| server.spawn(Door::default())));
        gone.extend((0..20).map(|_| server.spawn(Door::default())));
        walls.extend((0..20).map(|_| server.spawn(Wall::default())));
    });
    let other = pair.server.connect(pair.now);
    for (at, &door) in doors.iter().enumerate() {
        pair.server.object(door).set_owner((at % 2 == 0).then_some(other));
        pair.server.object(door).set_visible(pair.id, at % 3 > 0);
    }
    gone.iter().for_each(|&door| pair.server.despawn(door));
    pair.steps(10);
    let guid = |object: ObjectRef<()>| object.guid().expect("an object");
    let never = (0..20).map(|at| Guid::new(60_000 + at, guid(doors[0].erase()).generation()));
    let objects =
        doors.iter().chain(&gone).map(|door| door.erase()).chain(walls.iter().map(|wall| wall.erase()));
    let objects: Vec<_> = objects.map(guid).chain(never).collect();
    let mut made = 0;
    for &object in &objects {
        for call in [DoorCall::Open { code: 1 }, DoorCall::Knock { times: 3 }, DoorCall::Paint { colour: 1 }]
        {
            pair.forge(reference(object), &call);
            made += 1;
        }
        pair.steps(1);
    }
    pair.steps(20);
    assert_eq!((objects.len(), made), (220, 660));
    assert!(pair.server.poll_call::<Door>().is_none());
    assert!(doors.iter().all(|&door| pair.server[door].ran == 0 && !pair.server[door].is_open));
    assert_eq!(pair.server.connection_info(pair.id).stats().map(|stats| stats.ignored_calls), Some(made));
    assert_eq!(pair.ended(), None, "all have the same answer: none");
}

#[test]
fn s214_a_client_that_makes_calls_of_the_server_is_disconnected() {
    for call in [DoorCall::Creak {}, DoorCall::Slam {}] {
        let mut doors = Vec::new();
        let mut pair = Pair::new(|server| doors.push(server.spawn(Door::default())));
        pair.server.object(doors[0]).set_owner(Some(pair.id));
        pair.forge(doors[0], &call);
        pair.steps(3);
        assert!(matches!(pair.ended(), Some(DisconnectReason::Protocol(_))));
        assert_eq!(pair.server[doors[0]].ran, 0);
    }
}

/// Writes a call with `surplus` additional bits. If `surplus` is negative, omits this many bits at the end
/// instead.
fn write_with(surplus: isize, door: ObjectRef<Door>, call: &DoorCall, writer: &mut BitWriter) {
    let mut whole = BitWriter::new();
    inbox::write(door, call, &mut whole).expect("a call");
    let kept = whole.bit_len().saturating_add_signed(surplus.min(0));
    writer.append(repl_core::BitSlice::new(&whole.into_bytes(), 0, kept).expect("as many bits"));
    writer.write_bits(0, u32::try_from(surplus.max(0)).expect("few bits"));
}

#[test]
fn s222_a_call_with_missing_or_surplus_bits_ends_the_connection() {
    for bits in [-3, 5] {
        let mut doors = Vec::new();
        let mut pair = Pair::new(|server| doors.push(server.spawn(Door::default())));
        pair.server.object(doors[0]).set_owner(Some(pair.id));
        let channel = pair.client.session.mailbox.channel(channels::key::<Door>(true)).expect("registered");
        let max_bits = pair.client.session.link.outbox.capacity();
        let mut writer = BitWriter::new();
        write_with(bits, doors[0], &DoorCall::Open { code: 9 }, &mut writer);
        pair.client.session.link.exchange.outgoing.add(channel, &mut writer, max_bits).expect("room");
        pair.steps(3);
        assert!(matches!(pair.ended(), Some(DisconnectReason::Protocol(_))), "{bits}");
        assert_eq!(pair.server[doors[0]].ran, 0);
    }
}

#[test]
fn s222_r20_a_call_of_the_server_with_missing_or_surplus_bits_ends_the_connection() {
    for bits in [-3, 5] {
        let mut door = ObjectRef::NULL;
        let mut pair = Pair::new(|server| door = server.spawn(Door::default()));
        let channel = pair.client.session.mailbox.channel(channels::key::<Door>(true)).expect("registered");
        let max_bits = pair.client.session.link.outbox.capacity();
        let mut writer = BitWriter::new();
        write_with(bits, door, &DoorCall::Tint { colour: 9 }, &mut writer);
        pair.server.outgoing_of(pair.id).add(channel, &mut writer, max_bits).expect("room");
        pair.steps(3);
        assert!(!pair.client.is_connected(), "{bits}");
        assert!(matches!(pair.ended(), Some(DisconnectReason::Protocol(_))), "{bits}");
        assert_eq!(pair.client[door].ran, 0);
    }
}

#[test]
fn a_client_that_exceeds_the_limit_of_a_function_a_hundredfold_is_stopped_within_a_second() {
    let mut doors = Vec::new();
    let mut pair = Pair::new(|server| doors.push(server.spawn(Door::default())));
    pair.server.object(doors[0]).set_owner(Some(pair.id));
    let start = pair.now;
    let ended = loop {
        // This makes 100 calls in each tick, with 60 ticks per second. 60 calls per second are allowed.
        (0..100).for_each(|_| pair.forge(doors[0], &DoorCall::Knock { times: 1 }));
        pair.steps(1);
        if let Some(reason) = pair.ended() {
            break reason;
        }
    };
    assert_eq!(ended, DisconnectReason::TooFast("unreliable calls of Door".to_owned()));
    assert!(pair.now - start < Duration::from_secs(1), "{:?}", pair.now - start);
    // A correct client can make at most this many calls. It does so after an outage of a whole timeout in
    // which its calls waited.
    assert!(pair.server[doors[0]].ran < 60 * 11 + 1_100, "{}", pair.server[doors[0]].ran);
}

/// Runs 64 clients for twelve seconds. Their links lose a fifth of their packets, and for five seconds they
/// lose all packets. Each client calls a function of its own door every 160 ms. If `attack` is true, the last
/// client makes a hundred times as many calls as it may. Returns the delays in ticks of the calls of the
/// other clients, and the clients that the server disconnected, each with the reason and the time.
fn crowd(attack: bool) -> (Vec<u64>, Vec<(ConnectionId, DisconnectReason, Duration)>) {
    use repl_sim::{LinkConditions, Loss, Network, PeerId};
    const CLIENTS: u32 = 64;
    let home = PeerId(1_000);
    let mut network = Network::new(5);
    let mut server = Server::new(ServerConfig::default());
    server.register::<Wall>().register_calls::<Door>();
    let link = LinkConditions { loss: Loss::Independent(0.2), ..LinkConditions::mobile() };
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(number.into()));
        client.register::<Wall>().register_calls::<Door>();
        let (down, up) = network.connect(home, PeerId(number), link);
        let id = server.connect(Duration::ZERO);
        let door = server.spawn(Door::default());
        server.object(door).set_owner(Some(id));
        clients.push((client, id, door, [down, up]));
    }
    let (mut latencies, mut ended) = (Vec::new(), Vec::new());
    let mut made = vec![Vec::new(); CLIENTS as usize];
    for tick in 0..750_u64 {
        let now = TICK * u32::try_from(tick).expect("a small number");
        if tick == 250 {
            let ends = now + Duration::from_secs(5);
            let links = clients.iter().take(63).flat_map(|(.., links)| *links);
            links.for_each(|link| network.blackout(link, ends));
        }
        for (number, (client, _, door, _)) in clients.iter_mut().enumerate() {
            let honest = !attack || number < 63;
            if honest && tick > 100 && tick % 10 == 0 && client.object_info(*door).is_owner() {
                made[number].push(tick);
                client.call(*door).open(1).expect("room");
            } else if !honest && tick >= 125 && client.object_info(*door).is_owner() {
                let channel =
                    client.session.mailbox.channel(channels::key::<Door>(false)).expect("registered");
                for _ in 0..100 {
                    let call = DoorCall::Knock { times: 1 };
                    let writer =
                        client.session.mailbox.write_bits(|writer| inbox::write(*door, &call, writer));
                    client.session.link.exchange.outgoing.add(channel, writer.unwrap(), 8_000).ok();
                }
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, PeerId(number as u32), home, packet);
            }
        }
        while let Some(delivery) = network.deliver(now) {
            let peer = if delivery.to == home { delivery.from } else { delivery.to };
            let (client, id, ..) = &mut clients[peer.0 as usize];
            if delivery.to == home {
                server.receive(*id, now, delivery.bytes);
            } else {
                client.receive(now, delivery.bytes).ok();
            }
        }
        let before: Vec<u32> = clients.iter().map(|(_, _, door, _)| server[*door].ran).collect();
        server.tick(now);
        for (number, (_, _, door, _)) in clients.iter().enumerate().take(63) {
            for at in before[number]..server[*door].ran {
                latencies.push(tick - made[number][at as usize]);
            }
        }
        for (number, (_, id, ..)) in clients.iter().enumerate() {
            while let Some(packet) = server.poll_transmit(*id) {
                network.send(now, home, PeerId(number as u32), packet);
            }
        }
        ended.extend(std::iter::from_fn(|| server.poll_event()).filter_map(|event| match event {
            ServerEvent::Disconnected(id, reason) => Some((id, reason, now)),
            _ => None,
        }));
    }
    latencies.sort_unstable();
    (latencies, ended)
}

#[test]
fn an_attacker_is_stopped_and_delays_nobody_and_no_honest_client_is_disconnected() {
    let (quiet, ended) = crowd(false);
    assert_eq!(ended, []);
    let (attacked, ended) = crowd(true);
    let [(_, DisconnectReason::TooFast(what), when)] = ended.as_slice() else { panic!("{ended:?}") };
    assert_eq!(what, "unreliable calls of Door");
    assert!(*when < TICK * 125 + Duration::from_secs(1), "{when:?}");
    assert!(quiet.len() > 3_500 && attacked.len() > 3_500, "{} and {}", quiet.len(), attacked.len());
    let p99 = |latencies: &[u64]| latencies[latencies.len() * 99 / 100];
    assert!(p99(&attacked) * 10 <= p99(&quiet) * 11, "{} and {} ticks", p99(&attacked), p99(&quiet));
}

/// Sends an empty message (a mark) on a channel of the calls of doors.
fn send_mark(pair: &mut Pair, is_from_server: bool, is_reliable: bool) {
    let key = channels::key::<Door>(is_reliable);
    let channel = pair.client.session.mailbox.channel(key).expect("registered");
    let max_bits = pair.client.session.link.outbox.capacity();
    let outgoing = match is_from_server {
        true => pair.server.outgoing_of(pair.id),
        false => &mut pair.client.session.link.exchange.outgoing,
    };
    outgoing.add(channel, &mut BitWriter::new(), max_bits).expect("room");
}

#[test]
fn a_mark_of_the_server_is_no_call_and_its_place_is_taken() {
    let mut door = ObjectRef::NULL;
    let mut pair = Pair::new(|server| door = server.spawn(Door::default()));
    for _ in 0..3 {
        send_mark(&mut pair, true, true);
        pair.server.call(door).slam().unwrap();
    }
    pair.steps(3);
    assert_eq!((pair.client[door].ran, pair.ended()), (3, None));
}

#[test]
fn r20_a_mark_in_the_channel_of_the_unreliable_calls_ends_the_connection() {
    let mut pair = Pair::new(|_| {});
    send_mark(&mut pair, true, false);
    pair.steps(3);
    assert!(!pair.client.is_connected());
    assert!(matches!(pair.ended(), Some(DisconnectReason::Protocol(_))));
}

#[test]
fn r20_a_client_has_no_marks() {
    for is_reliable in [true, false] {
        let mut pair = Pair::new(|_| {});
        send_mark(&mut pair, false, is_reliable);
        pair.steps(3);
        assert!(matches!(pair.ended(), Some(DisconnectReason::Protocol(_))), "reliable: {is_reliable}");
    }
}
