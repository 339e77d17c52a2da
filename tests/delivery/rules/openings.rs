//! R2 for an object that grows before its opening (its first update) is acked.
//!
//! *Invariant:* a client never loses items or entries of an object that still exist on the server.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use repl::prelude::*;

use crate::support::{Packets, Room, TICK};

thread_local! {
    static REMOVED: Cell<u32> = const { Cell::new(0) };
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
struct Item {
    text: String,
}

impl ItemCallbacks for Item {
    fn pre_replicated_remove(&mut self) {
        REMOVED.set(REMOVED.get() + 1);
    }
}

#[derive(Replicated, Debug, Default)]
#[replicated(all)]
struct Bag {
    a: u32,
    items: FastArray<Item>,
    ordered: OrderedFastArray<Item>,
    map: BTreeMap<u32, String>,
    hashed: HashMap<String, u16>,
}

fn item(number: u32) -> Item {
    Item { text: number.to_string() }
}

fn fill(bag: &mut Bag, numbers: std::ops::Range<u32>) {
    for number in numbers {
        bag.items.push(item(number));
        bag.ordered.push(item(number));
        bag.map.insert(number, number.to_string());
        bag.hashed.insert(number.to_string(), number as u16);
    }
}

fn bags(client: &mut Client) {
    client.register::<Bag>();
    client.register_archetype(stocked);
}

fn stocked() -> Bag {
    let mut bag = Bag::default();
    fill(&mut bag, 100..103);
    bag
}

fn room() -> Room {
    let mut room = Room::new(ServerConfig::default(), bags);
    room.server.register_archetype(stocked);
    room.enter();
    room.settle();
    REMOVED.set(0);
    room
}

/// Returns the lengths of the collections on the client, or `None` if the client does not have the object.
fn lengths(room: &Room, bag: ObjectRef<Bag>) -> Option<[usize; 4]> {
    let bag = room.client().get(bag)?;
    Some([bag.items.len(), bag.ordered.len(), bag.map.len(), bag.hashed.len()])
}

fn assert_equal(room: &Room, bag: ObjectRef<Bag>) {
    let (here, there) = (room.client().get(bag).expect("the client has it"), &room.server[bag]);
    assert_eq!((here.a, &here.map, &here.hashed), (there.a, &there.map, &there.hashed));
    assert_eq!(here.items.len(), there.items.len());
    for id in there.items.ids() {
        assert_eq!(here.items.by_id(*id), there.items.by_id(*id));
    }
    assert!(here.ordered.iter().eq(there.ordered.iter()));
}

/// Delivers packets one by one. Asserts that the client loses no element of the object that it had.
fn deliver_without_loss(room: &mut Room, bag: ObjectRef<Bag>, packets: &Packets) {
    for packet in packets {
        let before = lengths(room, bag).unwrap_or_default();
        room.deliver(0, std::slice::from_ref(packet));
        let after = lengths(room, bag).unwrap_or_default();
        assert!(
            after.iter().zip(&before).all(|(after, before)| after >= before),
            "{before:?}, then {after:?}"
        );
    }
}

#[test]
fn r02_an_object_that_grows_before_its_opening_is_acked_never_looks_empty() {
    for arrives in [0b1111_u32, 0b1110, 0b1101, 0b1011, 0b0101] {
        let mut room = room();
        let mut bag = Bag::default();
        fill(&mut bag, 0..3);
        let bag = room.server.spawn(bag);
        for step in 0..4 {
            let packets = room.tick_one();
            if arrives >> step & 1 == 1 {
                deliver_without_loss(&mut room, bag, &packets);
            }
            room.now -= TICK / 2;
            fill(&mut room.server[bag], 50 * (step + 1)..50 * (step + 2));
            room.server[bag].a += 1;
        }
        // Until now, all acks are late.
        for _ in 0..200 {
            let packets = room.tick_one();
            deliver_without_loss(&mut room, bag, &packets);
        }
        assert!(lengths(&room, bag).is_some());
        room.settle();
        assert_equal(&room, bag);
        assert_eq!(
            REMOVED.get(),
            0,
            "callbacks of items that are still on the server, arrived {arrives:04b}"
        );
    }
}

#[test]
fn r02_an_opening_held_for_lost_that_arrived_is_repeated_with_no_less() {
    for was_there in [false, true] {
        let mut room = room();
        let mut bag = Bag::default();
        fill(&mut bag, 0..3);
        let bag = room.server.spawn(bag);
        if was_there {
            // The client has already had the object, so its opening is not shared with other clients.
            room.settle();
            let id = room.guests[0].id;
            room.server.object(bag).set_visible(id, false);
            room.settle();
            room.server.object(bag).set_visible(id, true);
        }
        let opening = room.tick_one();
        room.deliver(0, &opening);
        assert_eq!(lengths(&room, bag), Some([3; 4]));
        // No ack arrives. Then the object grows, and is opened again.
        for _ in 0..40 {
            room.tick_one();
        }
        fill(&mut room.server[bag], 10..90);
        for _ in 0..100 {
            let packets = room.tick_one();
            deliver_without_loss(&mut room, bag, &packets);
        }
        room.settle();
        assert_equal(&room, bag);
        assert_eq!(REMOVED.get(), 0);
    }
}

#[test]
fn r02_elements_removed_between_two_openings_are_removed_on_the_client() {
    let mut room = room();
    let mut bag = Bag::default();
    fill(&mut bag, 0..3);
    let bag = room.server.spawn(bag);
    let opening = room.tick_one();
    room.deliver(0, &opening);
    let on_server = &mut room.server[bag];
    on_server.items.swap_remove(0);
    on_server.ordered.remove(0);
    on_server.map.remove(&0);
    on_server.hashed.remove("0");
    fill(&mut room.server[bag], 10..90);
    let again = room.tick_one();
    room.deliver(0, &again);
    room.settle();
    assert_equal(&room, bag);
    assert_eq!(REMOVED.get(), 2, "one of each array");
}

#[test]
fn r02_items_of_an_archetype_that_are_gone_stay_gone_when_the_opening_is_repeated() {
    let mut room = Room::new(ServerConfig::default(), bags);
    let archetype = room.server.register_archetype(stocked);
    room.enter();
    room.settle();
    let mut bag = stocked();
    bag.items.swap_remove(0);
    bag.ordered.remove(0);
    bag.map.remove(&100);
    bag.hashed.remove("100");
    let bag = room.server.spawn_from(archetype, bag);
    room.tick_one();
    fill(&mut room.server[bag], 10..90);
    let again = room.tick_one();
    deliver_without_loss(&mut room, bag, &again);
    assert_eq!(lengths(&room, bag), Some([2; 4]), "what the archetype has and the server has not is gone");
    room.settle();
    assert_equal(&room, bag);
}
