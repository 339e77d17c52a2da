//! The traffic statistics of a server, by class and property.
//!
//! *Invariant:* while nothing is lost, the numbers of a server are the sums of the numbers of its clients.

use std::collections::{BTreeMap, HashMap};

use repl::prelude::*;
use repl::tools::ClassTraffic;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

use crate::support::Room;

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Stack {
    #[replicated]
    count: u16,
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum Mood {
    #[default]
    Calm,
    Angry {
        at: ObjectRef<Chest>,
    },
}

/// A value with its own serialiser.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Odd(u8);

impl NetSerialize for Odd {
    const WIRE_NAME: &'static str = "Odd";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(self.0.into(), 5);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        reader.read_bits(5).map(|bits| Self(bits as u8))
    }
}
repl::leaf!(Odd);

#[derive(Replicated, Debug, Default)]
struct Chest {
    #[replicated]
    weight: u32,
    #[replicated(quantize(step = 0.01, range = -100.0..=100.0))]
    position: [f32; 3],
    #[replicated]
    label: String,
    #[replicated]
    odd: Odd,
    #[replicated]
    mood: Mood,
    #[replicated]
    next: ObjectRef<Self>,
    #[replicated(max_len = 5_000)]
    coins: Vec<u16>,
    #[replicated]
    prices: HashMap<String, u32>,
    #[replicated]
    pages: BTreeMap<u8, Vec<u16>>,
    #[replicated]
    stacks: FastArray<Stack>,
    #[replicated(condition = OwnerOnly)]
    secret: u64,
}

#[derive(Replicated, Debug, Default)]
struct Lamp {
    #[replicated]
    colour: u16,
}

fn register(client: &mut Client) {
    client.register::<Chest>().register::<Lamp>();
}

/// Returns a room with chests and lamps. Its guests measure what they receive, and its server what it sends.
fn room(guests: usize, share: bool) -> (Room, Vec<ObjectRef<Chest>>) {
    let config = ServerConfig { measure: true, share, ..ServerConfig::default() };
    Room::measuring(|| {
        Room::furnished(config, register, guests, |server| {
            server.register::<Chest>().register::<Lamp>();
            (0..30).for_each(|colour| _ = server.spawn(Lamp { colour }));
            (0..4).map(|weight| server.spawn(Chest { weight, ..Chest::default() })).collect()
        })
    })
}

/// Returns the numbers of all guests, added up.
fn received(room: &Room) -> Vec<ClassTraffic> {
    let mut guests = room.guests.iter().map(|guest| guest.client.connection_info().traffic());
    let mut all = guests.next().expect("there is a guest").to_vec();
    for traffic in guests {
        for (all, one) in all.iter_mut().zip(traffic) {
            all.opened += one.opened;
            all.updates += one.updates;
            all.head_bits += one.head_bits;
            for (all, one) in all.properties.iter_mut().zip(&one.properties) {
                all.updates += one.updates;
                all.bits += one.bits;
            }
        }
    }
    all
}

#[test]
fn a_server_counts_what_its_clients_receive_of_every_kind_of_value() {
    for share in [true, false] {
        let (mut room, chests) = room(2, share);
        let owner = room.guests[0].id;
        room.server.object(chests[0]).set_owner(Some(owner));
        for step in 0..40_u16 {
            for (at, &chest) in (0..).zip(&chests) {
                let chest = &mut room.server[chest];
                match (step + at) % 9 {
                    0 => chest.weight += 1,
                    1 => chest.position[usize::from(step % 3)] += 0.5,
                    2 => chest.label = format!("chest {step}"),
                    3 => chest.odd = Odd(step as u8 % 32),
                    4 => chest.mood = Mood::Angry { at: chests[usize::from(step) % 4] },
                    5 if step % 2 == 0 => chest.coins.push(step),
                    5 => _ = chest.coins.pop(),
                    6 => _ = chest.prices.insert(format!("thing {}", step % 5), step.into()),
                    7 => chest.pages.entry(step as u8 % 3).or_default().push(step),
                    _ => {
                        chest.stacks.push(Stack { count: step });
                        chest.stacks.iter_mut().next().expect("there is one").count += 1;
                    }
                }
                chest.secret += u64::from(step % 4 == 0);
                chest.next = chests[usize::from(step) % 4];
            }
            room.step();
        }
        // The last state of an object also counts as an update, once for each client.
        room.settle();
        let before = room.server.traffic()[0].updates;
        room.server[chests[1]].weight = 77;
        room.server.despawn(chests[1]);
        room.settle();
        assert_eq!(room.server.traffic()[0].updates, before + 2);
        let expected = received(&room);
        assert_eq!(room.server.traffic(), expected);
        let chest = &expected[0];
        assert_eq!((chest.class, chest.opened), ("Chest", 8 + 1), "another opening tells the owner its role");
        assert!(chest.properties.iter().all(|property| property.bits > 0), "{chest:?}");
    }
}

#[test]
fn the_bits_of_each_kind_of_value_are_counted_for_its_own_property() {
    let (mut room, chests) = room(1, true);
    let bits = |room: &Room| -> BTreeMap<String, u64> {
        let properties = &room.server.traffic()[0].properties;
        properties.iter().map(|property| (property.path.clone(), property.bits)).collect()
    };
    for (path, expected, change) in [
        ("weight", 32, (|chest| chest.weight = 7) as fn(&mut Chest)),
        // The range has 20,001 steps, so a value takes 15 bits.
        ("position[1]", 15, |chest| chest.position[1] = 3.0),
        // The length takes 4 bits, and each of the three letters 8 bits.
        ("label", 4 + 3 * 8, |chest| chest.label = "abc".to_owned()),
        ("odd", 5, |chest| chest.odd = Odd(3)),
    ] {
        let before = bits(&room);
        change(&mut room.server[chests[0]]);
        room.settle();
        let after = bits(&room);
        let changed: Vec<_> = after.iter().filter(|(path, bits)| before[*path] != **bits).collect();
        assert_eq!(changed.len(), 1, "{path}: {changed:?}");
        assert_eq!((changed[0].0.as_str(), changed[0].1 - before[path]), (path, expected));
    }
}

#[test]
fn an_object_that_is_too_large_for_a_packet_counts_once() {
    let (mut room, chests) = room(2, true);
    let before = room.server.traffic()[0].clone();
    room.server[chests[0]].coins = (0..4_000).collect();
    room.settle();
    assert_eq!(room.server.traffic(), received(&room));
    let (before, after) = (&before.properties, &room.server.traffic()[0].properties);
    let of = |name: &str, traffic: &[repl::tools::PropertyTraffic]| {
        let property = traffic.iter().find(|property| property.path == name).expect("a property");
        (property.updates, property.bits)
    };
    let (updates, bits) = of("coins", after);
    assert_eq!(updates, of("coins", before).0 + 2, "one for each client");
    assert!(bits >= 2 * 4_000 * 16);
}

#[test]
fn an_object_that_is_too_large_for_a_packet_counts_once_also_if_its_parts_are_lost() {
    let (mut room, chests) = room(1, true);
    room.server[chests[0]].coins = (0..4_000).collect();
    room.lose_until_noticed(0);
    room.lose_until_noticed(0);
    room.settle();
    assert_eq!(room.server.traffic(), received(&room));
}

#[test]
fn what_is_sent_again_counts_again() {
    let (mut room, chests) = room(1, true);
    room.server[chests[0]].weight = 9;
    room.lose_until_noticed(0);
    room.settle();
    let of = |traffic: &[ClassTraffic]| traffic[0].properties[0].updates;
    assert!(of(room.server.traffic()) > of(&received(&room)));
}

#[test]
fn a_server_that_does_not_measure_counts_nothing() {
    let (mut room, ()) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Chest>().register::<Lamp>();
        server.spawn(Lamp { colour: 3 });
    });
    room.settle();
    assert!(room.server.traffic().is_empty());
}
