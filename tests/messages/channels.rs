//! Messages: values that belong to no object, in both directions.
//!
//! *Invariant:* the tests count each message, so they find lost, repeated and late messages.

use std::ops::Range;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Loss, Network, PeerId};
use repl::{Channel, DisconnectReason, MessageOptions, SendError};

use crate::support::{Packets, Room, TICK, size};

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chat(u32, #[replicated(max_len = 65536)] String);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Score(u32);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Input(u32);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Aim(ObjectRef<Player>);

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
}

const INPUTS: Channel = Channel::Sequenced { copies: 3 };
/// For messages that fill their channel.
const MANY: MessageOptions = MessageOptions { max_bytes: 65_536, weight: 16, per_second: 10_000 };

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Spark(u32, #[replicated(max_len = 65536)] Vec<u8>);

/// An input that can be large.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Drawing(u32, #[replicated(max_len = 65536)] Vec<u8>);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct File(u32, #[replicated(max_len = 8192)] Vec<u64>);

fn register(client: &mut Client) {
    client.register::<Player>();
    client.register_message::<Spark>(Channel::Unreliable).register_message::<Drawing>(INPUTS);
    client.register_message::<File>(Channel::Unordered);
    client
        .register_message::<Chat>(Channel::Ordered)
        .register_message_with::<Score>(Channel::Unordered, MANY);
    client.register_message::<Input>(INPUTS).register_message::<Aim>(Channel::Ordered);
}

fn register_on_server(server: &mut Server) {
    server.register::<Player>();
    server.register_message::<Spark>(Channel::Unreliable).register_message::<Drawing>(INPUTS);
    server.register_message::<File>(Channel::Unordered);
    // The order of registration differs from the order on the clients.
    server.register_message::<Aim>(Channel::Ordered).register_message::<Input>(INPUTS);
    server
        .register_message_with::<Score>(Channel::Unordered, MANY)
        .register_message::<Chat>(Channel::Ordered);
}

fn room(config: ServerConfig) -> Room {
    Room::furnished(config, register, 1, register_on_server).0
}

fn chat(number: u32) -> Chat {
    Chat(number, "x".repeat(number as usize % 40))
}

fn polled<T>(mut poll: impl FnMut() -> Option<T>) -> Vec<T> {
    std::iter::from_fn(&mut poll).collect()
}

#[test]
fn messages_go_both_ways_and_each_is_polled_once() {
    let mut room = room(ServerConfig::default());
    let id = room.guests[0].id;
    let client = &mut room.guests[0].client;
    client.send(&chat(7)).unwrap();
    client.send(&Score(1)).unwrap();
    client.send(&chat(8)).unwrap();
    room.server.connection(id).send(&chat(70)).unwrap();
    room.server.connection(id).send(&Score(10)).unwrap();
    room.step();
    let server = &mut room.server;
    assert_eq!(polled(|| server.poll_message::<Chat>()), [(id, chat(7)), (id, chat(8))]);
    assert_eq!(polled(|| server.poll_message::<Score>()), [(id, Score(1))]);
    assert_eq!(polled(|| server.poll_message::<Input>()), []);
    room.step();
    let client = &mut room.guests[0].client;
    assert_eq!(client.poll_message::<Chat>(), Some(chat(70)));
    assert_eq!(client.poll_message::<Score>(), Some(Score(10)));
    assert_eq!((client.poll_message::<Chat>(), client.poll_message::<Score>()), (None, None));
    // After everything is acknowledged, nothing more is sent.
    room.settle();
    assert_eq!(polled(|| room.server.poll_message::<Chat>()), []);
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.packets_in_flight), Some(0));
}

/// A server and a client with a network between them.
struct Session {
    network: Network,
    server: Server,
    client: Client,
    id: ConnectionId,
    now: Duration,
    peers: [PeerId; 2],
}

impl Session {
    fn new(seed: u64, conditions: LinkConditions) -> Self {
        let mut network = Network::new(seed);
        let peers = [PeerId(0), PeerId(1)];
        network.connect(peers[0], peers[1], conditions);
        let mut server = Server::new(ServerConfig::default());
        register_on_server(&mut server);
        let mut client = Client::new(ClientConfig::default(), repl::Session::for_tests(seed));
        register(&mut client);
        let id = server.connect(Duration::ZERO);
        let mut session = Self { network, server, client, id, now: Duration::ZERO, peers };
        while !session.client.is_connected() || session.server.connection(session.id).send(&Input(0)).is_err()
        {
            session.step();
            assert!(session.now < Duration::from_secs(20), "a connection");
        }
        session
    }

    fn step(&mut self) {
        let [home, away] = self.peers;
        while let Some(delivery) = self.network.deliver(self.now) {
            if delivery.to == home {
                self.server.receive(self.id, self.now, delivery.bytes);
            } else {
                self.client.receive(self.now, delivery.bytes).expect("a packet of the server");
            }
        }
        self.client.tick(self.now);
        while let Some(packet) = self.client.poll_transmit() {
            self.network.send(self.now, away, home, packet);
        }
        self.server.tick(self.now);
        while let Some(packet) = self.server.poll_transmit(self.id) {
            self.network.send(self.now, home, away, packet);
        }
        self.now += TICK;
    }
}

fn bad_link() -> LinkConditions {
    LinkConditions {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(60),
        loss: Loss::Independent(0.3),
        duplicate: 0.1,
        ..LinkConditions::default()
    }
}

#[test]
fn reliable_messages_arrive_once_whatever_the_link_does_and_ordered_ones_in_order() {
    for seed in 1..20 {
        let mut session = Session::new(seed, bad_link());
        let (mut chats, mut scores) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut sent = 0;
        while chats.iter().chain(&scores).any(|arrived| arrived.len() < 300) {
            if sent < 300 {
                session.client.send(&chat(sent)).unwrap();
                session.client.send(&Score(sent)).unwrap();
                session.server.connection(session.id).send(&chat(sent)).unwrap();
                session.server.connection(session.id).send(&Score(sent)).unwrap();
                sent += 1;
            }
            session.step();
            let Session { server, client, .. } = &mut session;
            chats[0].extend(polled(|| server.poll_message::<Chat>()).into_iter().map(|(_, chat)| chat.0));
            scores[0].extend(polled(|| server.poll_message::<Score>()).into_iter().map(|(_, score)| score.0));
            chats[1].extend(polled(|| client.poll_message::<Chat>()).into_iter().map(|chat| chat.0));
            scores[1].extend(polled(|| client.poll_message::<Score>()).into_iter().map(|score| score.0));
            assert!(session.now < Duration::from_secs(60), "seed {seed}: {chats:?} {scores:?}");
        }
        for arrived in &mut scores {
            assert!(!arrived.is_sorted(), "seed {seed}: unordered messages do not wait for each other");
            arrived.sort_unstable();
        }
        for arrived in chats.iter().chain(&scores) {
            assert!(arrived.iter().copied().eq(0..300), "seed {seed}: {arrived:?}");
        }
    }
}

#[test]
fn of_sequenced_messages_the_newest_wins_and_copies_replace_what_was_lost() {
    let mut arrived = [0; 2];
    for (copies, arrived) in [1_u8, 3].into_iter().zip(&mut arrived) {
        let mut session = Session::new(3, bad_link());
        let mut newest = 0;
        for number in 1..2_000_u32 {
            // The copies of a message are sent in neighbouring ticks.
            if copies == 3 || number % 3 == 0 {
                session.client.send(&Input(number)).unwrap();
            }
            session.step();
            for (_, Input(input)) in polled(|| session.server.poll_message::<Input>()) {
                assert!(input > newest, "{input} after {newest}");
                newest = input;
                *arrived += 1;
            }
        }
    }
    let (of_single, of_copied) = (f64::from(arrived[0]) * 3.0 / 2_000.0, f64::from(arrived[1]) / 2_000.0);
    assert!(of_copied > 0.9, "{of_copied}");
    assert!(of_copied > of_single, "{of_copied} and {of_single}");
}

#[test]
fn a_sequenced_message_that_is_acknowledged_is_not_repeated() {
    let mut room = room(ServerConfig::default());
    let mut packets = Vec::new();
    room.guests[0].client.send(&Input(1)).unwrap();
    for _ in 0..10 {
        packets.push(room.replies(0));
        room.hear(0, packets.last().expect("a tick"));
        let of_server = room.tick_one();
        room.deliver(0, &of_server);
    }
    let sizes: Vec<usize> = packets.iter().map(|packets| size(packets)).collect();
    let large: Vec<usize> = sizes.into_iter().filter(|bytes| *bytes > 8).collect();
    assert_eq!(large, [14], "the first copy was acknowledged");
    assert_eq!(polled(|| room.server.poll_message::<Input>()).len(), 1);
}

#[test]
fn all_inputs_of_a_tick_arrive_even_if_the_packets_of_the_first_two_ticks_are_lost() {
    let mut room = room(ServerConfig::default());
    (0..8).for_each(|number| room.guests[0].client.send(&Input(number)).unwrap());
    (0..2).for_each(|_| _ = room.replies(0));
    room.settle();
    let arrived = polled(|| room.server.poll_message::<Input>());
    assert!(arrived.iter().map(|(_, input)| input.0).eq(0..8), "{arrived:?}");
}

const TEXT: &str = "A text that is longer than all acks.";
/// The sizes in bytes of packets with [`TEXT`]. They are larger than packets of acks, and smaller than
/// hellos.
const MESSAGE_BYTES: Range<usize> = TEXT.len()..400;

/// Ticks the server or the client, and returns its packets.
fn packets_of(room: &mut Room, is_of_server: bool) -> Packets {
    if is_of_server { room.tick_one() } else { room.replies(0) }
}

/// Passes packets of the server to the client, or packets of the client to the server.
fn pass_on(room: &mut Room, are_of_server: bool, packets: &[Vec<u8>]) {
    if are_of_server { room.deliver(0, packets) } else { room.hear(0, packets) }
}

/// Returns in how many packets a reliable message is sent in the fourth to sixth second without acks. Before
/// that, each message of the same side was acknowledged after 600 ms.
fn tries_on_a_slow_link(is_of_server: bool) -> usize {
    let mut room = room(ServerConfig::default());
    let id = room.guests[0].id;
    let send = |room: &mut Room, number: u32| {
        let chat = Chat(number, TEXT.to_owned());
        let result = match is_of_server {
            true => room.server.connection(id).send(&chat),
            false => room.guests[0].client.send(&chat),
        };
        result.expect("there is room");
    };
    for number in 0..18 {
        send(&mut room, number);
        for _ in 0..2 {
            let packets = packets_of(&mut room, is_of_server);
            room.wait(Duration::from_millis(300));
            pass_on(&mut room, is_of_server, &packets);
            let acks = packets_of(&mut room, !is_of_server);
            room.wait(Duration::from_millis(300));
            pass_on(&mut room, !is_of_server, &acks);
        }
    }
    send(&mut room, 18);
    let mut sent = 0;
    for tick in 0..360 {
        let packets = if is_of_server { room.tick_one() } else { room.replies(0) };
        sent += packets.iter().filter(|packet| tick >= 180 && MESSAGE_BYTES.contains(&packet.len())).count();
        if !is_of_server {
            room.wait(TICK);
        }
    }
    assert!(room.guests[0].client.is_connected() && room.closed(0).is_none());
    sent
}

#[test]
fn r09_reliable_messages_on_a_slow_link_are_tried_at_least_four_times_a_second_in_both_directions() {
    for is_of_server in [true, false] {
        let tries = tries_on_a_slow_link(is_of_server);
        assert!((12..=20).contains(&tries), "{tries} in three seconds, of the server: {is_of_server}");
    }
}

#[test]
fn r04_a_late_ack_of_a_message_ends_its_repeats_in_both_directions() {
    for is_of_server in [true, false] {
        let mut room = room(ServerConfig::default());
        let id = room.guests[0].id;
        match is_of_server {
            true => room.server.connection(id).send(&Chat(1, TEXT.to_owned())).unwrap(),
            false => room.guests[0].client.send(&Chat(1, TEXT.to_owned())).unwrap(),
        }
        let send = |room: &mut Room| packets_of(room, is_of_server);
        let is_sent =
            |packets: &[Vec<u8>]| packets.iter().any(|packet| MESSAGE_BYTES.contains(&packet.len()));
        let first = send(&mut room);
        pass_on(&mut room, is_of_server, &first);
        let ack = packets_of(&mut room, !is_of_server);
        room.wait(Duration::from_millis(400));
        assert!(is_sent(&send(&mut room)), "the first packet counts as lost");
        pass_on(&mut room, !is_of_server, &ack);
        for _ in 0..120 {
            room.wait(TICK);
            assert!(!is_sent(&send(&mut room)), "of the server: {is_of_server}");
        }
    }
}

#[test]
fn w14_a_sender_that_is_too_fast_is_told_and_nothing_is_lost() {
    let mut room = room(ServerConfig::default());
    let id = room.guests[0].id;
    let mut sent = 0;
    let error = loop {
        match room.guests[0].client.send(&Score(sent)) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    assert_eq!((sent, error), (1_024, SendError::Full));
    room.settle();
    room.guests[0].client.send(&Score(sent)).unwrap();
    room.settle();
    let arrived: Vec<u32> =
        polled(|| room.server.poll_message::<Score>()).into_iter().map(|(_, score)| score.0).collect();
    assert!(arrived.iter().copied().eq(0..=1_024));
    // Large messages reach the limit in bytes before the limit of 1,024 messages.
    let large = Chat(0, "y".repeat(1_000));
    let mut sent = 0;
    while room.server.connection(id).send(&large).is_ok() {
        sent += 1;
    }
    assert!((100..130).contains(&sent), "{sent} of about 1,000 bytes");
    room.settle();
    assert_eq!(polled(|| room.guests[0].client.poll_message::<Chat>()).len(), sent);
}

#[test]
fn a_client_that_sends_too_many_messages_of_a_type_is_told_and_stays_connected() {
    let mut room = room(ServerConfig::default());
    let id = room.guests[0].id;
    let send = |room: &mut Room| {
        let mut sent = 0;
        loop {
            match room.guests[0].client.send(&Aim(ObjectRef::NULL)) {
                Ok(()) => sent += 1,
                Err(error) => return (sent, error),
            }
        }
    };
    assert_eq!(send(&mut room), (1_000, SendError::TooFast { per_second: 1_000 }));
    room.guests[0].client.send(&chat(1)).unwrap();
    // The server may send any number of messages per second.
    (0..1_010).for_each(|_| room.server.connection(id).send(&Aim(ObjectRef::NULL)).unwrap());
    let mut sent = 0;
    for _ in 0..100 {
        room.step();
        sent += send(&mut room).0;
        assert!(room.closed(0).is_none());
        while room.server.poll_message::<Aim>().is_some() {}
    }
    assert!((1_550..1_620).contains(&sent), "{sent} in 1.6 s");
}

#[test]
fn honest_clients_are_not_disconnected_after_an_outage_of_almost_a_timeout() {
    for seed in 0..3 {
        let mut session = Session::new(seed, bad_link());
        let links: Vec<_> = session.network.links().map(|(link, ..)| link).collect();
        let (mut sent, mut heard) = (0, 0);
        for tick in 0..2_500 {
            if tick % 1_000 == 300 {
                let until = session.now + Duration::from_secs(9);
                links.iter().for_each(|&link| session.network.blackout(link, until));
            }
            // The client sends as many messages as it is allowed to.
            while session.client.send(&Aim(ObjectRef::NULL)).is_ok() {
                sent += 1;
            }
            _ = session.client.send(&Spark(tick, vec![1; 3_000]));
            session.step();
            heard += polled(|| session.server.poll_message::<Aim>()).len();
            while session.server.poll_message::<Spark>().is_some() {}
            assert!(session.client.is_connected(), "seed {seed}, tick {tick}");
            let ended = std::iter::from_fn(|| session.server.poll_event())
                .find(|event| matches!(event, ServerEvent::Disconnected(..)));
            assert!(ended.is_none(), "seed {seed}, tick {tick}: {ended:?}");
        }
        assert!(sent > 5_000 && heard > sent - 1_100, "seed {seed}: {heard} of {sent}");
    }
}

#[test]
fn a_message_that_cannot_be_sent_changes_nothing() {
    let mut room = Room::new(ServerConfig::default(), register);
    register_on_server(&mut room.server);
    let id = room.enter();
    assert_eq!(room.guests[0].client.send(&Score(1)), Err(SendError::NotConnected));
    assert_eq!(room.server.connection(id).send(&Score(1)), Err(SendError::NotConnected));
    room.settle();
    let large = Chat(0, "z".repeat(65_536));
    let error = room.guests[0].client.send(&large).expect_err("larger than 64 KiB");
    assert!(matches!(error, SendError::TooLarge { max_bits: 524_288, .. }), "{error}");
    room.guests[0].client.send(&Score(2)).unwrap();
    room.step();
    assert_eq!(polled(|| room.server.poll_message::<Score>()), [(id, Score(2))]);
    assert_eq!(polled(|| room.server.poll_message::<Chat>()), []);
    room.server.connection(id).disconnect();
    assert_eq!(room.server.connection(id).send(&Score(1)), Err(SendError::NotConnected));
}

/// Returns a chat with a text of this many bytes, which differs for each number.
fn long_chat(number: u32, bytes: usize) -> Chat {
    let text = (0..bytes)
        .map(|at| char::from(b'a' + ((at as u32 ^ at as u32 >> 7).wrapping_add(number) % 26) as u8));
    Chat(number, text.collect())
}

fn file(number: u32, words: u64) -> File {
    File(
        number,
        (0..words).map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(number)).collect(),
    )
}

#[test]
fn messages_larger_than_a_packet_arrive_whole_once_and_in_order() {
    for seed in 1..8 {
        let mut session = Session::new(seed, bad_link());
        let sizes = [10, 2_000, 65_000, 1_150, 1_190, 9_000, 0, 30_000];
        let chats: Vec<Chat> = (0..24).map(|number| long_chat(number, sizes[number as usize % 8])).collect();
        let files: Vec<File> =
            (0..24).map(|number| file(number, sizes[number as usize % 8] as u64 / 32)).collect();
        let (mut sent, mut heard) = ([[0; 2]; 2], [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())]);
        while heard.iter().any(|(chats, files)| chats.len() < 24 || files.len() < 24) {
            let Session { server, client, id, .. } = &mut session;
            let [[up, down], [up_files, down_files]] = &mut sent;
            *up += usize::from(chats.get(*up).is_some_and(|chat| client.send(chat).is_ok()));
            *down +=
                usize::from(chats.get(*down).is_some_and(|chat| server.connection(*id).send(chat).is_ok()));
            *up_files += usize::from(files.get(*up_files).is_some_and(|file| client.send(file).is_ok()));
            *down_files += usize::from(
                files.get(*down_files).is_some_and(|file| server.connection(*id).send(file).is_ok()),
            );
            session.step();
            let Session { server, client, .. } = &mut session;
            heard[0].0.extend(polled(|| server.poll_message::<Chat>()).into_iter().map(|(_, chat)| chat));
            heard[0].1.extend(polled(|| server.poll_message::<File>()).into_iter().map(|(_, file)| file));
            heard[1].0.extend(polled(|| client.poll_message::<Chat>()));
            heard[1].1.extend(polled(|| client.poll_message::<File>()));
            assert!(session.now < Duration::from_secs(120), "seed {seed}: {sent:?}");
        }
        for (chats_heard, mut files_heard) in heard {
            assert_eq!(chats_heard, chats, "seed {seed}");
            files_heard.sort_by_key(|file| file.0);
            assert_eq!(files_heard, files, "seed {seed}");
        }
    }
}

#[test]
fn unreliable_messages_arrive_at_most_once_whatever_their_size() {
    for seed in 1..8 {
        let mut session = Session::new(seed, bad_link());
        let (mut sparks, mut drawings) = ([0; 400], Vec::new());
        for number in 0..400_u32 {
            // Four sizes: 0, 100, 800 and 2,700 bytes.
            let bytes = vec![number as u8; (number as usize % 4).pow(3) * 100];
            session.client.send(&Spark(number, bytes.clone())).unwrap();
            session.client.send(&Drawing(number, bytes)).unwrap();
            session.step();
            for (_, Spark(spark, bytes)) in polled(|| session.server.poll_message::<Spark>()) {
                assert_eq!(bytes, vec![spark as u8; (spark as usize % 4).pow(3) * 100]);
                sparks[spark as usize] += 1;
            }
            drawings
                .extend(polled(|| session.server.poll_message::<Drawing>()).into_iter().map(|(_, of)| of.0));
        }
        assert!(sparks.iter().all(|times| *times < 2), "seed {seed}");
        for (size, least) in [(0, 50), (1, 50), (2, 40), (3, 10)] {
            let arrived: u32 = sparks.iter().skip(size).step_by(4).sum();
            assert!((least..90).contains(&arrived), "seed {seed}: {arrived} of 100 of size {size}");
        }
        assert!(drawings.is_sorted_by(|one, next| one < next), "seed {seed}: {drawings:?}");
        assert!(drawings.len() > 100, "seed {seed}: {} of 400", drawings.len());
    }
}

#[test]
fn a_large_message_does_not_hold_up_other_types() {
    let latency = Duration::from_millis(40);
    let link =
        LinkConditions { latency, bandwidth_bytes_per_second: Some(60_000), ..LinkConditions::perfect() };
    let mut session = Session::new(1, link);
    session.client.send(&long_chat(1, 60_000)).unwrap();
    let (mut inputs, mut ticks) = (0, 0);
    while session.server.poll_message::<Chat>().is_none() {
        session.client.send(&Input(ticks)).unwrap();
        session.step();
        inputs += polled(|| session.server.poll_message::<Input>()).len() as u32;
        ticks += 1;
        assert!(ticks < 300, "60 KB take about a second");
    }
    assert!(inputs + 25 > ticks, "{inputs} inputs in {ticks} ticks");
}

#[test]
fn a_reference_in_a_message_is_the_object_or_null() {
    let (mut room, player) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        register_on_server(server);
        server.spawn(Player { health: 1 })
    });
    let id = room.guests[0].id;
    room.guests[0].client.send(&Aim(player)).unwrap();
    // The message arrives together with the opening of the object to which it refers.
    let later = room.server.spawn(Player { health: 2 });
    let hidden = room.server.spawn(Player { health: 3 });
    room.server.object(hidden).set_visible(id, false);
    room.server.connection(id).send(&Aim(later)).unwrap();
    room.server.connection(id).send(&Aim(hidden)).unwrap();
    room.server.despawn(player);
    room.step();
    assert_eq!(polled(|| room.server.poll_message::<Aim>()), [(id, Aim(ObjectRef::NULL))]);
    assert_eq!(polled(|| room.guests[0].client.poll_message::<Aim>()), [Aim(later), Aim(ObjectRef::NULL)]);
}

#[test]
fn messages_that_nobody_polls_end_the_connection_before_they_fill_the_memory() {
    let mut room = room(ServerConfig::default());
    let id = room.guests[0].id;
    for number in 0..6_000 {
        if room.guests[0].client.send(&Score(number)).is_err() {
            room.step();
        }
    }
    room.step();
    let reason = room.closed(0).expect("the server has closed the connection");
    assert!(matches!(&reason, DisconnectReason::Unread(what) if what == "message Score"), "{reason}");
    // Everything that arrived can still be polled, including the packet that exceeded the limit.
    let arrived = polled(|| room.server.poll_message::<Score>()).len();
    assert!((4_097..=4_096 + 1_200 / 4).contains(&arrived), "{arrived} messages of at least 4 bytes");
    assert_eq!(room.server.connection(id).send(&Score(0)), Err(SendError::NotConnected));
}

#[test]
fn r20_a_client_that_polls_no_messages_applies_the_last_packet_whole_and_says_why_it_ends() {
    let mut room = room(ServerConfig::default());
    let player = room.server.spawn(Player { health: 0 });
    room.settle();
    // Each packet has 50 messages and a change. With the 82nd packet there are more than 4,096 unread
    // messages.
    let mut packets = 0;
    while room.client().is_connected() {
        (0..50).for_each(|at| {
            room.server.connection(room.guests[0].id).send(&Score(packets * 50 + at)).unwrap()
        });
        room.server[player].health += 1;
        let packet = room.tick_one();
        assert_eq!(packet.len(), 1);
        room.deliver(0, &packet);
        room.acknowledge();
        packets += 1;
    }
    assert_eq!((packets, room.client()[player].health), (82, 82));
    let arrived = polled(|| room.guests[0].client.poll_message::<Score>());
    assert!(arrived.iter().map(|score| score.0).eq(0..4_100), "{} messages", arrived.len());
    let reason = DisconnectReason::Unread("message Score".to_owned());
    let events = polled(|| room.guests[0].client.poll_event());
    assert!(reason.to_string().contains("by this side (message Score): call `poll_message`"), "{reason}");
    assert_eq!(events.last(), Some(&ClientEvent::Disconnected(reason)));
    room.acknowledge();
    let reason = DisconnectReason::UnreadByOther("message Score".to_owned());
    assert!(reason.to_string().contains("by the other side (message Score), which must call"), "{reason}");
    assert_eq!(room.closed(0), Some(reason));
}

#[test]
fn of_unreliable_messages_that_nobody_polls_the_newest_are_kept() {
    let mut room = room(ServerConfig::default());
    for number in 0..6_000 {
        room.guests[0].client.send(&Spark(number, Vec::new())).unwrap();
        room.guests[0].client.send(&Input(number)).unwrap();
        room.step();
    }
    (0..30).for_each(|_| _ = room.step());
    assert_eq!(room.closed(0), None);
    let sparks = polled(|| room.server.poll_message::<Spark>());
    let inputs = polled(|| room.server.poll_message::<Input>());
    assert!(sparks.iter().map(|(_, spark)| spark.0).eq(6_000 - 4_096..6_000));
    assert!(inputs.iter().map(|(_, input)| input.0).eq(6_000 - 4_096..6_000));
    // Unread messages have a limit in bytes too: 1 MiB.
    for number in 0..200 {
        room.guests[0].client.send(&Spark(number, vec![0; 2_000])).unwrap();
        room.guests[0].client.send(&Spark(number, vec![0; 10_000])).unwrap();
        room.step();
    }
    let unread: usize =
        polled(|| room.server.poll_message::<Spark>()).iter().map(|(_, spark)| spark.1.len()).sum();
    assert!((1 << 20) - unread < 20_000, "{unread} bytes");
}

#[test]
fn r20_large_messages_that_nobody_polls_end_the_connection() {
    let mut room = room(ServerConfig::default());
    for number in 0..40 {
        _ = room.guests[0].client.send(&long_chat(number, 60_000));
        (0..4).for_each(|_| _ = room.step());
    }
    let reason = room.closed(0).expect("the server has closed the connection");
    assert_eq!(reason, DisconnectReason::Unread("message Chat".to_owned()));
    assert_eq!(polled(|| room.server.poll_message::<Chat>()).len(), (1 << 20) / 60_000 + 1);
}

#[test]
fn r21_sides_with_other_messages_refuse_each_other() {
    for (other, said) in [
        (
            (|client: &mut Client| {
                client.register_message::<Score>(Channel::Ordered);
            }) as fn(&mut Client),
            "`channel` of the messages `Score` is `ordered` on the client and `unordered` on the server",
        ),
        (|_| {}, "the client has no messages of the type `Score`"),
        (
            |client| {
                client
                    .register_message::<Score>(Channel::Unordered)
                    .register_message::<Chat>(Channel::Ordered);
            },
            "the server has no messages of the type `Chat`",
        ),
    ] {
        let mut room = Room::new(ServerConfig::default(), other);
        room.server.register_message::<Score>(Channel::Unordered);
        room.enter();
        (0..20).for_each(|_| _ = room.step());
        let reason = room.closed(0).expect("refused");
        assert!(matches!(reason, DisconnectReason::Layouts(_)), "{reason}");
        assert!(reason.to_string().contains(said), "{reason}");
    }
}

#[test]
#[should_panic(expected = "call `register_message` on both sides")]
fn a_type_that_is_not_registered_is_named() {
    let mut room = Room::new(ServerConfig::default(), |_| {});
    let id = room.enter();
    _ = room.server.connection(id).send(&Score(1));
}

#[test]
fn a_small_message_beside_others_takes_few_bytes() {
    let mut room = room(ServerConfig::default());
    let mut bytes = |count: u32| {
        (0..count).for_each(|number| room.guests[0].client.send(&Score(number)).unwrap());
        let packets = room.replies(0);
        room.hear(0, &packets);
        room.settle();
        size(&packets)
    };
    let (one, many) = (bytes(1), bytes(101));
    assert!(one <= 20, "{one} bytes for 4 bytes alone");
    assert!((many - one) <= 101 * 6, "{many} bytes for 101 messages of 4 bytes");
}
