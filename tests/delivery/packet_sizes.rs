//! The size of packets belongs to each connection: it is the lower of the limits of the two sides, which may
//! change.
//!
//! *Invariant:* a link loses each packet above its size, so every packet that arrives was small enough for
//! the link.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{CongestionControl, DisconnectReason, MessageProgress};

use crate::support::TICK;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Chart {
    #[replicated]
    number: u32,
    #[replicated(max_len = 60_000)]
    ink: Vec<u8>,
    #[replicated]
    marks: FastArray<Mark>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Mark {
    #[replicated]
    place: u32,
    #[replicated]
    text: String,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Letter(#[replicated(max_len = 60_000)] Vec<u8>);

const LARGE: MessageOptions = MessageOptions { max_bytes: 400_000, ..MessageOptions::DEFAULT };

/// An ordered message of more than 64 KiB.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Atlas(#[replicated(max_len = 400_000)] Vec<u8>);

/// An unordered message of more than 64 KiB.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Cargo(#[replicated(max_len = 400_000)] Vec<u8>);

fn register(side: &mut impl Register) {
    side.register::<Chart>().register_message::<Letter>(Channel::Ordered);
    side.register_message_with::<Atlas>(Channel::Ordered, LARGE);
    side.register_message_with::<Cargo>(Channel::Unordered, LARGE);
}

/// Returns `len` bytes without short repetitions. The seed decides which bytes.
fn bytes(len: usize, seed: u32) -> Vec<u8> {
    (0..len as u32).map(|at| (at.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as u8).collect()
}

/// A client, the greatest size of packets on its link, and its events.
struct Guest {
    client: Client,
    id: ConnectionId,
    link_bytes: usize,
    largest_down: usize,
    largest_up: usize,
    events: Vec<ClientEvent>,
}

/// A server with clients. Each link loses all packets above its size, and other packets at random.
struct Harbour {
    server: Server,
    guests: Vec<Guest>,
    now: Duration,
    rng: Rng,
    loss: f64,
    events: Vec<ServerEvent>,
}

impl Harbour {
    fn new(mtu_bytes: usize) -> Self {
        Self::with(ServerConfig { mtu_bytes, ..ServerConfig::default() })
    }

    fn with(config: ServerConfig) -> Self {
        let mut server = Server::new(ServerConfig { congestion_control: CongestionControl::Off, ..config });
        register(&mut server);
        let (guests, events) = (Vec::new(), Vec::new());
        Self { server, guests, now: TICK, rng: Rng::new(7), loss: 0.0, events }
    }

    fn enter(&mut self, mtu_bytes: usize, link_bytes: usize) -> usize {
        self.enter_with(ClientConfig { mtu_bytes, ..ClientConfig::default() }, link_bytes)
    }

    fn enter_with(&mut self, config: ClientConfig, link_bytes: usize) -> usize {
        let mut client = Client::new(config, Session::for_tests(1 + self.guests.len() as u64));
        register(&mut client);
        let id = self.server.connect(self.now);
        let (largest_down, largest_up, events) = (0, 0, Vec::new());
        self.guests.push(Guest { client, id, link_bytes, largest_down, largest_up, events });
        self.guests.len() - 1
    }

    fn step(&mut self) {
        for guest in &mut self.guests {
            guest.client.tick(self.now);
            let is_connected = guest.client.is_connected();
            while let Some(packet) = guest.client.poll_transmit() {
                if is_connected {
                    guest.largest_up = guest.largest_up.max(packet.len());
                }
                if packet.len() <= guest.link_bytes && !self.rng.chance(self.loss) {
                    self.server.receive(guest.id, self.now, packet);
                }
            }
        }
        self.server.tick(self.now);
        for guest in &mut self.guests {
            while let Some(packet) = self.server.poll_transmit(guest.id) {
                guest.largest_down = guest.largest_down.max(packet.len());
                if packet.len() <= guest.link_bytes && !self.rng.chance(self.loss) {
                    // A client whose session has ended returns an error.
                    _ = guest.client.receive(self.now, packet);
                }
            }
            guest.events.extend(std::iter::from_fn(|| guest.client.poll_event()));
        }
        self.events.extend(std::iter::from_fn(|| self.server.poll_event()));
        self.now += TICK;
    }

    fn steps(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.step());
    }

    /// Runs steps until `holds` returns true, for at most 20 s. Returns whether it did.
    fn reaches(&mut self, mut holds: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..1_250 {
            if holds(self) {
                return true;
            }
            self.step();
        }
        false
    }

    fn has(&self, guest: usize, chart: ObjectRef<Chart>) -> bool {
        // On the client the marks may be in another order.
        let sorted = |chart: &Chart| {
            let mut marks: Vec<(u32, String)> =
                chart.marks.iter().map(|mark| (mark.place, mark.text.clone())).collect();
            marks.sort_unstable();
            (chart.number, chart.ink.clone(), marks)
        };
        self.guests[guest].client.get(chart).map(sorted) == Some(sorted(&self.server[chart]))
    }

    /// Returns the reasons for which the sessions of a client have ended.
    fn reasons(&self, guest: usize) -> Vec<DisconnectReason> {
        let reason = |event: &ClientEvent| match event {
            ClientEvent::Disconnected(reason) => Some(reason.clone()),
            _ => None,
        };
        self.guests[guest].events.iter().filter_map(reason).collect()
    }

    /// Sends a letter in both directions.
    fn write(&mut self, guest: usize, letter: &Letter) {
        let Guest { client, id, .. } = &mut self.guests[guest];
        client.send(letter).expect("room");
        self.server.connection(*id).send(letter).expect("room");
    }

    /// Returns the letters that have arrived at the server and at the client.
    fn letters(&mut self, guest: usize) -> (Vec<Letter>, Vec<Letter>) {
        let at_server = std::iter::from_fn(|| self.server.poll_message::<Letter>()).map(|(_, letter)| letter);
        let at_server = at_server.collect();
        let client = &mut self.guests[guest].client;
        (at_server, std::iter::from_fn(|| client.poll_message::<Letter>()).collect())
    }
}

fn chart() -> Chart {
    let mut marks = FastArray::new();
    (0..60).for_each(|place| _ = marks.push(Mark { place, text: "x".repeat(place as usize) }));
    Chart { number: 3, ink: bytes(9_000, 1), marks }
}

#[test]
fn all_pairs_of_sizes_work_and_the_lower_counts_in_both_directions() {
    const SIZES: [usize; 7] = [508, 576, 1_000, 1_162, 1_200, 1_400, 9_000];
    for (server, client) in SIZES.iter().flat_map(|&server| SIZES.map(|client| (server, client))) {
        for link in [server.min(client), server.max(client)] {
            let mut harbour = Harbour::new(server);
            let guest = harbour.enter(client, link);
            let object = harbour.server.spawn(chart());
            let letter = Letter(bytes(5_000, 2));
            assert!(harbour.reaches(|harbour| harbour.has(guest, object)), "{server}, {client}, {link}");
            harbour.write(guest, &letter);
            let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
            harbour.reaches(|harbour| {
                let (one, other) = harbour.letters(guest);
                at_server.extend(one);
                at_client.extend(other);
                !at_server.is_empty() && !at_client.is_empty()
            });
            assert_eq!(
                (&at_server, &at_client),
                (&vec![letter.clone()], &vec![letter]),
                "{server}, {client}"
            );
            let Guest { largest_down, largest_up, .. } = harbour.guests[guest];
            let lower = server.min(client);
            let used = largest_down.min(largest_up);
            assert!(used > lower * 3 / 4 || lower > 5_000, "{used} bytes of {lower}");
            assert!(largest_down.max(largest_up) <= lower, "{largest_down}, {largest_up} bytes of {lower}");
            assert_eq!(harbour.reasons(guest), []);
        }
    }
}

#[test]
fn a_client_with_packets_of_less_than_508_bytes_needs_a_server_with_such_packets() {
    for (server, client, works) in
        [(128, 1_200, true), (128, 128, true), (300, 400, true), (1_200, 507, false)]
    {
        let mut harbour = Harbour::new(server);
        let guest = harbour.enter(client, 1_200);
        let object = harbour.server.spawn(chart());
        assert_eq!(harbour.reaches(|harbour| harbour.has(guest, object)), works, "{server}, {client}");
        match harbour.reasons(guest)[..] {
            [] => assert!(works),
            [DisconnectReason::Limits(ref mismatch), ..] => {
                assert_eq!((mismatch.client, mismatch.server, works), (507, 508, false));
            }
            ref others => panic!("{others:?}"),
        }
    }
}

#[test]
fn an_answer_to_a_login_that_does_not_fit_ends_the_session_with_the_limit() {
    for (answer, works) in [(444, true), (445, false)] {
        let mut harbour = Harbour::with(ServerConfig { login: Login::Ask, ..ServerConfig::default() });
        let guest = harbour.enter(508, 508);
        harbour.steps(30);
        let id = harbour.guests[guest].id;
        assert!(harbour.server.connection(id).accept(&bytes(answer, 1)));
        harbour.steps(30);
        assert_eq!(harbour.guests[guest].client.is_connected(), works);
        let ends = |event: &ServerEvent| {
            matches!(event, ServerEvent::Disconnected(_, DisconnectReason::Limits(limit))
                if (limit.client, limit.server) == (508, 509))
        };
        assert_eq!(harbour.events.iter().any(ends), !works);
        assert_eq!(harbour.reasons(guest).len(), usize::from(!works));
    }
}

#[test]
fn sizes_change_in_the_middle_of_large_objects_and_messages_and_nothing_is_lost() {
    for seed in 0..40 {
        let mut harbour = Harbour::new(2_000);
        (harbour.rng, harbour.loss) = (Rng::new(seed), 0.2);
        let guest = harbour.enter(1_414, 1_414);
        let id = harbour.guests[guest].id;
        harbour.server.connection(id).set_packet_bytes(1_162);
        harbour.guests[guest].client.set_packet_bytes(1_162);
        let object = harbour.server.spawn(chart());
        assert!(harbour.reaches(|harbour| harbour.guests[guest].client.is_connected()));
        let (mut sent_up, mut sent_down) = (Vec::new(), Vec::new());
        let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
        for round in 0..60_u32 {
            let letter = Letter(bytes([20, 900, 1_100, 5_000][round as usize % 4], round));
            sent_up.extend(harbour.guests[guest].client.send(&letter).is_ok().then(|| letter.clone()));
            sent_down.extend(harbour.server.connection(id).send(&letter).is_ok().then_some(letter));
            if round % 3 == 0 {
                harbour.server[object].ink = bytes(6_000 + round as usize * 10, round);
                harbour.server[object].marks.clear();
                (0..round).for_each(|at| {
                    let text = "y".repeat(900);
                    _ = harbour.server[object].marks.push(Mark { place: at, text });
                });
            }
            let size =
                harbour.rng.pick(&[508, 600, 800, 1_000, 1_162, 1_300, 1_414]).copied().expect("a size");
            harbour.server.connection(id).set_packet_bytes(size);
            let size = harbour.rng.pick(&[508, 700, 1_100, 1_414]).copied().expect("a size");
            harbour.guests[guest].client.set_packet_bytes(size);
            let steps = harbour.rng.range(1..12) as usize;
            harbour.guests[guest].largest_down = 0;
            harbour.steps(steps);
            let (one, other) = harbour.letters(guest);
            at_server.extend(one);
            at_client.extend(other);
        }
        harbour.loss = 0.0;
        let (up, down) = (sent_up.len(), sent_down.len());
        assert!(up > 20 && down > 20, "seed {seed}: {up} and {down} letters");
        let all = harbour.reaches(|harbour| {
            let (one, other) = harbour.letters(guest);
            at_server.extend(one);
            at_client.extend(other);
            harbour.has(guest, object) && at_server.len() == up && at_client.len() == down
        });
        assert!(all, "seed {seed}: {} of {up} and {} of {down}", at_server.len(), at_client.len());
        assert!(at_server == sent_up && at_client == sent_down, "seed {seed}: in their order");
        assert_eq!(harbour.reasons(guest).len(), 0);
    }
}

#[test]
fn w14_sizes_change_in_the_middle_of_messages_above_64_kib_and_they_arrive_whole() {
    let mut cuts = 0;
    for seed in 0..12 {
        let mut harbour = Harbour::with(ServerConfig {
            mtu_bytes: 9_000,
            max_bytes_per_tick: 25_000,
            ..ServerConfig::default()
        });
        (harbour.rng, harbour.loss) = (Rng::new(seed), 0.1);
        // The second client has another packet size. Its parts are cut from the same copy of the message.
        let guests = [harbour.enter(9_000, 9_000), harbour.enter(1_200, 1_200)];
        assert!(harbour.reaches(|harbour| harbour.guests.iter().all(|guest| guest.client.is_connected())));
        harbour.steps(5);
        let (atlas, cargo) = (Atlas(bytes(300_000, seed as u32)), Cargo(bytes(300_000, 1 + seed as u32)));
        harbour.server.send_to_all(&atlas).expect("room");
        harbour.server.send_to_all(&cargo).expect("room");
        harbour.guests[0].client.send(&atlas).expect("room");
        harbour.guests[0].client.send(&cargo).expect("room");
        let mut acked = 0;
        for at in 0..20 {
            let id = harbour.guests[0].id;
            let progress = harbour.server.connection_info(id).message_progress::<Atlas>().sending;
            let done = progress.map_or(acked, |progress| progress.done_bytes);
            cuts += usize::from(done < acked);
            acked = done;
            let size = [9_000, 5_000, 9_000, 1_500, 9_000, 508, 700][at % 7];
            harbour.server.connection(id).set_packet_bytes(size);
            harbour.guests[0].client.set_packet_bytes(size);
            harbour.guests[0].link_bytes = size;
            let steps = harbour.rng.range(1..6) as usize;
            harbour.steps(steps);
        }
        let mut arrived = Vec::new();
        let all = harbour.reaches(|harbour| {
            for at in guests {
                let Guest { client, .. } = &mut harbour.guests[at];
                arrived.extend(std::iter::from_fn(|| client.poll_message::<Atlas>()).map(|Atlas(ink)| ink));
                arrived.extend(std::iter::from_fn(|| client.poll_message::<Cargo>()).map(|Cargo(ink)| ink));
            }
            let Harbour { server, .. } = harbour;
            arrived.extend(std::iter::from_fn(|| server.poll_message::<Atlas>()).map(|(_, Atlas(ink))| ink));
            arrived.extend(std::iter::from_fn(|| server.poll_message::<Cargo>()).map(|(_, Cargo(ink))| ink));
            arrived.len() == 6
        });
        assert!(all, "seed {seed}: {} of 6", arrived.len());
        let count = |ink: &Vec<u8>| arrived.iter().filter(|other| *other == ink).count();
        assert_eq!((count(&atlas.0), count(&cargo.0)), (3, 3), "seed {seed}");
        harbour.steps(30);
        let id = harbour.guests[0].id;
        assert_eq!(
            harbour.server.connection_info(id).message_progress::<Atlas>(),
            MessageProgress::default()
        );
        assert!(guests.iter().all(|&guest| harbour.reasons(guest).is_empty()));
    }
    assert!(cuts > 6, "{cuts} times");
}

#[test]
fn packets_have_the_size_that_was_set_last_and_never_more_than_both_sides_receive() {
    let mut harbour = Harbour::new(1_400);
    let guest = harbour.enter(1_300, 1_400);
    let id = harbour.guests[guest].id;
    harbour.server.connection(id).set_packet_bytes(700);
    let object = harbour.server.spawn(chart());
    assert!(harbour.reaches(|harbour| harbour.has(guest, object)));
    for (set, most) in [(700, 700), (1_000, 1_000), (65_507, 1_300), (0, 508), (508, 508), (1_250, 1_250)] {
        harbour.server.connection(id).set_packet_bytes(set);
        harbour.guests[guest].largest_down = 0;
        harbour.server[object].ink = bytes(20_000, set as u32);
        assert!(harbour.reaches(|harbour| harbour.has(guest, object)), "{set}");
        let largest = harbour.guests[guest].largest_down;
        assert!((most * 3 / 4..=most).contains(&largest), "{largest} bytes of {most}");
        assert_eq!(harbour.server.connection_info(id).stats().expect("a connection").packet_bytes, most);
    }
}

#[test]
fn many_clients_with_mixed_sizes_see_the_same_with_losses() {
    for seed in 0..6 {
        let mut harbour = Harbour::new(1_400);
        (harbour.rng, harbour.loss) = (Rng::new(seed), 0.2);
        for size in [508, 600, 900, 1_099, 1_100, 1_162, 1_200, 1_400, 1_400] {
            harbour.enter(size, size);
        }
        let charts: Vec<_> = (0..12).map(|_| harbour.server.spawn(chart())).collect();
        for tick in 0..300_u32 {
            for (at, &chart) in charts.iter().enumerate() {
                let chart = &mut harbour.server[chart];
                chart.number = tick;
                // Changes of all sizes: they fit all clients, are too large for some, or are too large for
                // all.
                if tick % 7 == at as u32 % 7 {
                    chart.ink = bytes([30, 550, 950, 1_080, 1_150, 4_000][at % 6], tick);
                }
                if tick % 20 == 0 {
                    let text = "z".repeat(tick as usize * 3);
                    _ = chart.marks.push(Mark { place: tick, text });
                }
            }
            harbour.step();
        }
        harbour.loss = 0.0;
        let guests = 0..harbour.guests.len();
        let all = harbour.reaches(|harbour| {
            guests.clone().all(|guest| charts.iter().all(|&chart| harbour.has(guest, chart)))
        });
        assert!(all, "seed {seed}");
        for guest in &harbour.guests {
            assert!(guest.largest_down <= guest.link_bytes, "seed {seed}");
        }
    }
}

#[test]
fn s88_a_client_with_small_packets_does_not_make_those_of_the_others_small() {
    let bytes_with = |others: &[usize]| {
        let mut harbour = Harbour::new(1_200);
        let guest = harbour.enter(1_200, 1_200);
        others.iter().for_each(|&size| _ = harbour.enter(size, size));
        let charts: Vec<_> = (0..200).map(|_| harbour.server.spawn(Chart::default())).collect();
        assert!(harbour.reaches(|harbour| harbour.has(guest, charts[199])));
        harbour.steps(20);
        let id = harbour.guests[guest].id;
        let stats = |harbour: &Harbour| harbour.server.connection_info(id).stats().expect("a connection");
        let before = stats(&harbour);
        for tick in 0..50 {
            for &chart in &charts {
                harbour.server[chart].number = tick * 0x0101_0101;
                harbour.server[chart].ink = bytes(100, tick);
            }
            harbour.step();
        }
        (stats(&harbour).bytes_sent - before.bytes_sent, stats(&harbour).packets_sent - before.packets_sent)
    };
    let (bytes, packets) = bytes_with(&[]);
    for others in [&[1_100][..], &[508], &[508, 600, 700]] {
        let (more_bytes, more_packets) = bytes_with(others);
        assert!(more_bytes <= bytes + bytes / 50, "{more_bytes} for {bytes} bytes with {others:?}");
        assert!(more_packets <= packets + packets / 6, "{more_packets} for {packets} with {others:?}");
    }
}
