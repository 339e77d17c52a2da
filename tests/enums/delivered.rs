//! Enums of objects on clients: what their updates cost, and what arrives when packets are lost.
//!
//! *Invariant:* a client never has a variant with a field that the server did not have in this variant.

use std::collections::BTreeMap;

use repl::prelude::*;
use repl::sim::Rng;

use crate::support::{Room, size};

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Weapon {
    #[default]
    Fists,
    Sword {
        damage: u16,
        name: String,
    },
    Bow {
        arrows: u8,
        #[replicated(max_len = 200)]
        range: Vec<u8>,
    },
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Hero {
    health: u8,
    weapon: Weapon,
    gold: u32,
}

fn register(client: &mut Client) {
    client.register::<Hero>();
}

/// Returns a room with one client, and a hero whose weapon is known to the client.
fn hero(weapon: Weapon) -> (Room, ObjectRef<Hero>) {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Hero>();
    let hero = room.server.spawn(Hero { weapon, ..Hero::default() });
    room.enter();
    room.settle();
    (room, hero)
}

fn bow() -> Weapon {
    Weapon::Bow { arrows: 20, range: vec![7; 200] }
}

/// Returns the weapon of the hero as a client knows it.
fn seen(room: &Room, hero: ObjectRef<Hero>) -> &Weapon {
    &room.client().get(hero).expect("the client has the hero").weapon
}

#[test]
fn r28_a_changed_field_of_the_active_variant_is_sent_alone() {
    let (mut room, hero) = hero(bow());
    assert_eq!(*seen(&room, hero), bow());
    let changed = Weapon::Bow { arrows: 19, range: vec![7; 200] };
    room.server.get_mut(hero).unwrap().weapon = changed.clone();
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert_eq!(*seen(&room, hero), changed);
    assert!(size(&packets) <= 16, "sent {} bytes", size(&packets));
}

#[test]
fn r28_another_variant_arrives_with_all_its_fields() {
    let (mut room, hero) = hero(bow());
    for weapon in [Weapon::Sword { damage: 3, name: "Sting".into() }, Weapon::Fists, bow()] {
        room.server.get_mut(hero).unwrap().weapon = weapon.clone();
        let packets = room.tick_one();
        room.deliver(0, &packets);
        assert_eq!(*seen(&room, hero), weapon);
    }
}

/// Numbers that say in which life of a variant a field was written. The server writes `born` once, when it
/// makes the variant active, and only greater numbers after that.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Life {
    #[default]
    None,
    Fish {
        born: u32,
        size: u32,
        fins: Vec<u32>,
    },
    Bird {
        born: u32,
        wings: (u32, u32),
        nest: Option<u32>,
        egg: Egg,
    },
    Stone(u32, u32),
}

#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(all)]
enum Egg {
    Whole { born: u32, weight: u32 },
    Broken { born: u32 },
}

impl Default for Egg {
    fn default() -> Self {
        Self::Broken { born: 0 }
    }
}

impl Life {
    fn new(kind: u64, now: u32) -> Self {
        match kind {
            0 => Self::None,
            1 => Self::Fish { born: now, size: now, fins: vec![now; 3] },
            2 => Self::Bird { born: now, wings: (now, now), nest: Some(now), egg: Egg::Broken { born: now } },
            _ => Self::Stone(now, now),
        }
    }

    /// Writes a newer number to one field of the active variant.
    fn grow(&mut self, which: u64, now: u32) {
        match (self, which % 4) {
            (Self::None, _) => {}
            (Self::Fish { size, .. }, 0 | 1) => *size = now,
            (Self::Fish { fins, .. }, 2) => fins.push(now),
            (Self::Fish { fins, .. }, _) => fins[0] = now,
            (Self::Bird { wings, .. }, 0) => wings.1 = now,
            (Self::Bird { nest, .. }, 1) => *nest = Some(now),
            (Self::Bird { egg: Egg::Whole { weight, .. }, .. }, 2) => *weight = now,
            (Self::Bird { egg, .. }, 2) => *egg = Egg::Whole { born: now, weight: now },
            (Self::Bird { egg, .. }, _) => *egg = Egg::Broken { born: now },
            (Self::Stone(_, second), _) => *second = now,
        }
    }

    /// Returns the number of the birth of the variant, and the least number of its fields.
    fn ages(&self) -> (u32, u32) {
        let egg_is_whole = |egg: &Egg| match *egg {
            Egg::Whole { born, weight } => weight >= born,
            Egg::Broken { .. } => true,
        };
        match self {
            Self::None => (0, 0),
            Self::Fish { born, size, fins } => (*born, fins.iter().copied().min().unwrap().min(*size)),
            Self::Bird { born, wings, nest, egg } => {
                assert!(egg_is_whole(egg), "{egg:?} has a weight of an earlier egg");
                let (Egg::Whole { born: laid, .. } | Egg::Broken { born: laid }) = egg;
                (*born, wings.0.min(wings.1).min(nest.unwrap()).min(*laid))
            }
            Self::Stone(born, second) => (*born, *second),
        }
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Pond {
    life: Life,
    lives: Vec<Life>,
    maybe: Option<Life>,
    by_name: BTreeMap<u8, Life>,
    number: u32,
}

impl Pond {
    fn lives(&self) -> impl Iterator<Item = &Life> {
        let lists = self.lives.iter().chain(&self.maybe).chain(self.by_name.values());
        std::iter::once(&self.life).chain(lists)
    }

    fn change(&mut self, rng: &mut Rng, now: u32) {
        let (kind, which) = (rng.below(4), rng.below(8));
        let lists = self.lives.iter_mut().chain(&mut self.maybe).chain(self.by_name.values_mut());
        let count = 4;
        let life = std::iter::once(&mut self.life).chain(lists).nth(rng.below(count) as usize).unwrap();
        match rng.below(3) {
            // A value of the same variant is no new life: its fields are compared one by one.
            0 if std::mem::discriminant(life) != std::mem::discriminant(&Life::new(kind, now)) => {
                *life = Life::new(kind, now);
            }
            _ => life.grow(which, now),
        }
        self.number = now;
    }
}

#[test]
fn r28_no_variant_ever_has_a_field_of_an_earlier_life_whatever_is_lost() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let mut room = Room::new(ServerConfig::default(), |client| {
            client.register::<Pond>();
        });
        room.server.register::<Pond>();
        let maps = BTreeMap::from([(1, Life::None)]);
        let pond =
            Pond { lives: vec![Life::None], maybe: Some(Life::None), by_name: maps, ..Pond::default() };
        let pond = room.server.spawn(pond);
        room.enter();
        room.enter();
        room.settle();
        for now in 1..400 {
            if rng.chance(0.7) {
                room.server[pond].change(&mut rng, now);
            }
            lossy_step(&mut room, &mut rng, if now < 350 { 0.4 } else { 0.0 });
            for guest in &room.guests {
                let seen = guest.client.get(pond).unwrap();
                for life in seen.lives() {
                    let (born, least) = life.ages();
                    assert!(least >= born, "seed {seed}, tick {now}: {life:?}");
                }
            }
        }
        room.settle();
        let sent = room.server[pond].clone();
        room.guests.iter().for_each(|guest| assert_eq!(*guest.client.get(pond).unwrap(), sent));
    }
}

/// Runs a tick on links that lose packets, and deliver some packets later than the next ones.
fn lossy_step(room: &mut Room, rng: &mut Rng, loss: f64) {
    for guest in 0..room.guests.len() {
        let mut packets = room.replies(guest);
        packets.retain(|_| !rng.chance(loss));
        room.hear(guest, &packets);
    }
    for (guest, mut packets) in room.tick().into_iter().enumerate() {
        packets.retain(|_| !rng.chance(loss));
        room.deliver(guest, &packets);
    }
}
