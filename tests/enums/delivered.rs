//! Enums of objects on clients: what their updates cost, and what arrives when packets are lost.
//!
//! *Invariant:* a client never has a variant with a field that the server did not have in this variant.

use repl::prelude::*;

use crate::support::{Room, size};

#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(all)]
enum Weapon {
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

impl Default for Weapon {
    fn default() -> Self {
        Self::Fists
    }
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
fn a_changed_field_of_the_active_variant_is_sent_alone() {
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
fn another_variant_arrives_with_all_its_fields() {
    let (mut room, hero) = hero(bow());
    for weapon in [Weapon::Sword { damage: 3, name: "Sting".into() }, Weapon::Fists, bow()] {
        room.server.get_mut(hero).unwrap().weapon = weapon.clone();
        let packets = room.tick_one();
        room.deliver(0, &packets);
        assert_eq!(*seen(&room, hero), weapon);
    }
}
