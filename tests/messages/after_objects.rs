//! Messages that wait for an object: the client receives the object before it receives the message.
//!
//! *Invariant:* each message contains a reference to the object for which it waits, so a test can check that
//! the client has this object.

use std::time::Duration;

use repl::SendError;
use repl::prelude::*;
use repl::sim::{LinkConditions, Loss, Network, PeerId};

use crate::support::{Room, TICK};

#[derive(Replicated, Default)]
struct Chest {
    #[replicated]
    gold: u32,
}

/// A number, and the object for which the message waits.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Found(u32, ObjectRef<Chest>);

/// The same as `Found`, in an unordered channel.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Glimpse(u32, ObjectRef<Chest>);

fn register(side: &mut impl Register) {
    side.register::<Chest>();
    side.register_message::<Found>(Channel::Ordered).register_message::<Glimpse>(Channel::Unordered);
}

fn room() -> (Room, ConnectionId) {
    let (room, ()) = Room::furnished(ServerConfig::default(), register, 1, register);
    let id = room.guests[0].id;
    (room, id)
}

fn send(room: &mut Room, number: u32, chest: ObjectRef<Chest>) -> Result<(), SendError> {
    let id = room.guests[0].id;
    room.server.connection(id).send_after(chest, &Found(number, chest))
}

/// Returns the numbers of the messages that have arrived. Asserts that the client has the object of each
/// message.
fn found(room: &mut Room) -> Vec<u32> {
    let client = &mut room.guests[0].client;
    let mut numbers = Vec::new();
    while let Some(Found(number, chest)) = client.poll_message() {
        assert!(client.get(chest).is_some(), "message {number} came before its chest");
        numbers.push(number);
    }
    numbers
}

#[test]
fn r22_a_message_waits_until_the_client_has_acknowledged_its_object() {
    let (mut room, id) = room();
    let chest = room.server.spawn(Chest { gold: 7 });
    send(&mut room, 1, chest).unwrap();
    send(&mut room, 2, chest).unwrap();
    // Messages that wait for no object overtake the others.
    room.server.connection(id).send(&Found(9, ObjectRef::NULL)).unwrap();
    room.tick_one();
    assert!(room.client().get(chest).is_none(), "the packet is lost");
    for _ in 0..200 {
        room.step();
        let client = &mut room.guests[0].client;
        if let Some(Found(number, object)) = client.poll_message() {
            assert_eq!((number, object), (9, ObjectRef::NULL));
            break;
        }
    }
    room.settle();
    assert_eq!(found(&mut room), [1, 2]);
    send(&mut room, 3, chest).unwrap();
    room.step();
    assert_eq!(found(&mut room), [3], "the client has the chest");
}

#[test]
fn r22_over_a_bad_link_every_message_finds_its_object_and_those_of_one_keep_their_order() {
    for seed in 1..20 {
        let (home, away) = (PeerId(0), PeerId(1));
        let mut network = Network::new(seed);
        let link = LinkConditions {
            latency: Duration::from_millis(40),
            jitter: Duration::from_millis(60),
            loss: Loss::Independent(0.3),
            ..LinkConditions::default()
        };
        network.connect(home, away, link);
        let mut server = Server::new(ServerConfig::default());
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(seed));
        register(&mut server);
        register(&mut client);
        let id = server.connect(Duration::ZERO);
        let (mut now, mut chests, mut sent, mut got) =
            (Duration::ZERO, Vec::new(), [0, 0], [Vec::new(), Vec::new()]);
        while got.iter().any(|got| got.len() < 200) {
            while let Some(delivery) = network.deliver(now) {
                if delivery.to == home {
                    server.receive(id, now, delivery.bytes);
                } else {
                    client.receive(now, delivery.bytes).expect("a packet of the server");
                }
                while let Some(Found(number, chest)) = client.poll_message() {
                    assert!(client.get(chest).is_some(), "seed {seed}: message {number}");
                    got[0].push((chest, number));
                }
                while let Some(Glimpse(number, chest)) = client.poll_message() {
                    assert!(client.get(chest).is_some(), "seed {seed}: glimpse {number}");
                    got[1].push((chest, number));
                }
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, away, home, packet);
            }
            server.tick(now);
            while let Some(packet) = server.poll_transmit(id) {
                network.send(now, home, away, packet);
            }
            now += TICK;
            if sent[0] < 200 && now.as_millis() % 3 == 0 {
                chests.push(server.spawn(Chest { gold: sent[0] }));
            }
            if let Some(&chest) = chests.get(chests.len() * 2 / 3) {
                let mut connection = server.connection(id);
                if sent[0] < 200 && connection.send_after(chest, &Found(sent[0], chest)).is_ok() {
                    sent[0] += 1;
                }
                if sent[1] < 200 && connection.send_after(chest, &Glimpse(sent[1], chest)).is_ok() {
                    sent[1] += 1;
                }
            }
            assert!(now < Duration::from_secs(120), "seed {seed}: {sent:?} {:?}", got.map(|got| got.len()));
        }
        for &chest in &chests {
            let of_chest: Vec<_> =
                got[0].iter().filter(|(of, _)| *of == chest).map(|(_, number)| *number).collect();
            assert!(of_chest.is_sorted(), "seed {seed}: {of_chest:?}");
        }
    }
}

#[test]
fn r22_a_message_is_dropped_if_its_object_cannot_come() {
    let (mut room, _) = room();
    // The objects are hidden or despawned before they arrive, or never existed.
    let [hidden, despawned] = [1, 2].map(|gold| room.server.spawn(Chest { gold }));
    send(&mut room, 1, hidden).unwrap();
    send(&mut room, 2, despawned).unwrap();
    room.server.object(hidden).set_relevancy(Relevancy::Nobody);
    room.server.despawn(despawned);
    send(&mut room, 3, hidden).unwrap();
    send(&mut room, 4, despawned).unwrap();
    send(&mut room, 5, ObjectRef::NULL).unwrap();
    room.settle();
    assert_eq!(found(&mut room), []);
    // The hidden object is shown again: only messages that are sent from now on arrive.
    room.server.object(hidden).set_relevancy(Relevancy::Always);
    send(&mut room, 6, hidden).unwrap();
    room.settle();
    assert_eq!(found(&mut room), [6]);
}

#[test]
fn r22_a_message_that_was_sent_arrives_before_the_client_learns_that_its_object_is_despawned() {
    let (mut room, _) = room();
    let chest = room.server.spawn(Chest { gold: 1 });
    room.settle();
    send(&mut room, 1, chest).unwrap();
    room.server.despawn(chest);
    assert_eq!(send(&mut room, 2, chest), Ok(()));
    let mut lost = 0;
    let mut numbers = Vec::new();
    while room.client().get(chest).is_some() {
        let packets = room.tick_one();
        if lost < 3 && !packets.is_empty() {
            lost += 1;
        } else {
            room.deliver(0, &packets);
        }
        let client = &mut room.guests[0].client;
        while let Some(Found(number, object)) = client.poll_message() {
            assert!(client.get(object).is_some(), "message {number}");
            numbers.push(number);
        }
        room.acknowledge();
    }
    assert_eq!((lost, numbers), (3, vec![1]), "the second message was sent after the end of the chest");
}

#[test]
fn w14_the_messages_that_wait_for_objects_are_limited() {
    let (mut room, _) = room();
    let chest = room.server.spawn(Chest { gold: 1 });
    let sent = (0..10_000).take_while(|&number| send(&mut room, number, chest).is_ok()).count();
    assert_eq!(sent, 4_096);
    assert_eq!(send(&mut room, 0, chest), Err(SendError::Full));
    let mut numbers = Vec::new();
    for _ in 0..600 {
        room.step();
        numbers.extend(found(&mut room));
    }
    assert!(numbers.iter().copied().eq(0..4_096), "{} have come", numbers.len());
    send(&mut room, 0, chest).unwrap();
    // Messages that still wait at the end of a session are dropped.
    let other = room.server.spawn(Chest { gold: 2 });
    send(&mut room, 1, other).unwrap();
    let id = room.guests[0].id;
    room.server.connection(id).disconnect();
    assert_eq!(send(&mut room, 2, other), Err(SendError::NotConnected));
}
