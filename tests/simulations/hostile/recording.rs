//! Recorded sessions: all packets of short matches. Tests try each packet in many changed forms.
//!
//! *Invariant:* replaying the packets of a session to a new client creates the same objects every time.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitReader, BitWriter};

use super::forge::{Numbers, seal};
use super::hello::welcome;
use super::support::{Packets, Room};
use super::{Actor, Bag, Mood, PATH, Pebble, register};

/// The session of every recorded client.
pub(crate) const SESSION: u64 = 1_000;

/// Returns a client that has received these packets.
pub(crate) fn client_after(packets: &[Vec<u8>]) -> Client {
    client_of(false, packets)
}

/// Returns a client that has received these packets. If `walks` is true, the client walks over the commands
/// of each update, copies no values, and measures the received values.
pub(crate) fn client_of(walks: bool, packets: &[Vec<u8>]) -> Client {
    let config =
        ClientConfig { max_objects: 64, max_object_bytes: 8_192, measure: walks, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(SESSION));
    if walks {
        client.walk_only();
    }
    register(&mut client);
    client.tick(Duration::ZERO);
    let welcome = welcome(10_000, 0);
    client.receive(Duration::ZERO, &welcome).expect("a welcome");
    for packet in packets {
        client.receive(Duration::ZERO, packet).expect("a recorded packet");
    }
    client
}

/// Returns the packets to the client in a short match that uses all kinds of properties. One seed in four has
/// small packets, so that there are fragments.
pub(crate) fn record(seed: u64, ticks: usize) -> Packets {
    let mut numbers = Numbers(seed);
    let mtu_bytes = if seed % 4 == 1 { 160 } else { 1_200 };
    let mut room = Room::new(ServerConfig { mtu_bytes, ..ServerConfig::default() }, register);
    let mut actors: Vec<_> = (0..2).map(|_| room.server.spawn(Actor::default())).collect();
    room.server.spawn(Pebble { weight: 3 });
    let id = room.server.connect(room.now);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
    register(&mut client);
    room.guests.push(super::support::Guest { client, id });
    let mut recording = Packets::new();
    for _ in 0..ticks {
        for _ in 0..5 {
            let at = numbers.below(actors.len());
            match numbers.below(20) {
                10 => actors.push(room.server.spawn(Actor { score: 9, ..Actor::default() })),
                // The static actor is spawned or despawned.
                15 => match room.server.find_static::<Actor>(PATH) {
                    Some(actor) => room.server.despawn(actor),
                    None => {
                        _ = room.server.statics().spawn(PATH, Actor { score: 8, ..super::placed_actor() })
                    }
                },
                16 => {
                    let actor = room.server.find_static::<Actor>(PATH).unwrap_or_default();
                    room.server.object(actor).set_visible(id, numbers.below(3) > 0);
                }
                11 if actors.len() > 1 => room.server.despawn(actors.swap_remove(at)),
                what => {
                    let other = actors[numbers.below(actors.len())];
                    change(&mut room.server[actors[at]], what, other, seed % 4 == 1, &mut numbers);
                }
            }
        }
        let said = room.replies(0);
        room.hear(0, &said);
        let packets = room.tick_one();
        room.deliver(0, &packets);
        recording.extend(packets.iter().map(|packet| of_server_zero(packet)));
    }
    recording
}

/// Returns the packet of a server as the server with the number 0 would have sent it.
fn of_server_zero(packet: &[u8]) -> Vec<u8> {
    const WELCOME: u64 = 0b0011;
    let mut reader = BitReader::new(&packet[4..]);
    if reader.read_bits(4) != Ok(WELCOME) {
        return seal(&packet[4..], SESSION);
    }
    let mut writer = BitWriter::new();
    writer.write_bits(WELCOME, 4);
    for (bits, is_kept) in [(32, true), (64, true), (64, false)] {
        let number = reader.read_bits(bits).expect("timeout, token and number of the server");
        writer.write_bits(if is_kept { number } else { 0 }, bits);
    }
    while reader.remaining() > 0 {
        writer.write_flag(reader.read_flag().expect("the answer to the login"));
    }
    seal(&writer.into_bytes(), SESSION)
}

fn change(actor: &mut Actor, what: usize, other: ObjectRef<Actor>, large: bool, numbers: &mut Numbers) {
    let number = numbers.below(200);
    match what {
        0 => actor.score = number as u32 * 7_919,
        1 => actor.name = "ab".repeat(if large { 100 + number } else { number % 9 }),
        2 => actor.place[number % 2] = number as f32 / 3.0,
        3 if actor.limbs.len() < 9 => {
            actor.limbs.push(super::Limb { health: 7, joints: vec![1; number % 5] })
        }
        3 => actor.limbs.truncate(number % 9),
        4 => actor.mood = Mood::Angry { at: number as u16, words: vec!["no".into(); number % 4] },
        5 => actor.target = other,
        6 => actor.friends.push(other),
        7 => actor.maybe = number.is_multiple_of(2).then_some(number as u16),
        12 | 13 => change_bags(&mut actor.bags, other, numbers),
        14 if number < 40 => actor.numbers.clear(),
        14 if number < 90 => drop(actor.numbers.pop()),
        14 => actor.numbers.extend((0..number % 5).map(|number| number as u8)),
        17 | 18 => {
            let at = number.min(actor.story.len());
            actor.story.insert_str(at, "then ");
        }
        19 => actor.heroes.insert(number.min(actor.heroes.len()), other),
        8 => actor.letter = char::from(number as u8),
        _ => actor.grid = vec![vec![true; number % 4]; number % 6],
    }
}

fn change_bags(bags: &mut FastArray<Bag>, other: ObjectRef<Actor>, numbers: &mut Numbers) {
    let number = numbers.below(200);
    let at = numbers.below(bags.len().max(1));
    match number % 8 {
        0 if !bags.is_empty() => drop(bags.swap_remove(at)),
        1 => bags.truncate(3),
        2 => bags.rotate_left(at),
        3 if !bags.is_empty() => bags[at].target = other,
        4 if !bags.is_empty() => bags[at].inner.extend([1, 2]),
        5 if !bags.is_empty() => drop(bags[at].inner.pop()),
        6 if !bags.is_empty() => bags[at].marks.push(3),
        _ => _ = bags.push(Bag { kind: number as u8, target: other, inner: [7].into(), ..Bag::default() }),
    }
}
