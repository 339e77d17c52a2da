//! The items that a client holds, by id.
//!
//! *Invariant:* as a set by id, a client holds the same items as the server after a round trip without
//! changes.

use crate::support::Room;
use repl::prelude::*;

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    numbers: FastArray<u16>,
    #[replicated]
    owner: u32,
}

fn room_with(numbers: impl IntoIterator<Item = u16>) -> (Room, ObjectRef<Bag>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Bag>();
    });
    let bag = room.server.spawn(Bag { numbers: numbers.into_iter().collect(), owner: 7 });
    room.enter();
    room.settle();
    (room, bag)
}

fn pairs(array: &FastArray<u16>) -> Vec<(u32, u16)> {
    let mut pairs: Vec<_> = array.ids().iter().map(|id| id.number()).zip(array.iter().copied()).collect();
    pairs.sort_unstable();
    pairs
}

fn assert_same(room: &Room, bag: ObjectRef<Bag>) {
    let client = room.client().get(bag).expect("the client has it");
    assert_eq!(pairs(&client.numbers), pairs(&room.server[bag].numbers));
}

#[test]
fn s149_items_come_change_and_go_by_id() {
    let (mut room, bag) = room_with([1, 2, 3]);
    assert_same(&room, bag);
    room.server[bag].numbers.push(4);
    room.settle();
    assert_same(&room, bag);
    room.server[bag].numbers[1] = 20;
    room.settle();
    assert_same(&room, bag);
    room.server[bag].numbers.remove(0);
    room.server[bag].numbers.insert(1, 9);
    room.settle();
    assert_same(&room, bag);
    room.server[bag].numbers.remove(2);
    room.settle();
    room.server[bag].numbers.insert(0, 7);
    room.settle();
    // On the client this item has the index 2, which is neither its index on the server nor its id.
    room.server[bag].numbers[3] = 40;
    room.settle();
    assert_same(&room, bag);
    room.server[bag].numbers.clear();
    room.settle();
    assert_same(&room, bag);
}

#[test]
fn w04_one_change_among_a_thousand_takes_six_bytes() {
    let (mut room, bag) = Room::measuring(|| room_with(0..1_000));
    assert_same(&room, bag);
    let before = room.received::<Bag>(0, "numbers").1;
    room.server[bag].numbers[777] = 60_000;
    room.settle();
    assert_same(&room, bag);
    let bits = room.received::<Bag>(0, "numbers").1 - before;
    assert!(bits <= 48, "{bits} bits");
}

/// A random number generator with the same sequence in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn mutate(numbers: &mut FastArray<u16>, dice: &mut Dice) {
    let len = numbers.len();
    match dice.below(12) {
        0..3 => drop(numbers.push(dice.below(60_000) as u16)),
        3..7 if len > 0 => numbers[dice.below(len)] = dice.below(60_000) as u16,
        7 if len > 0 => drop(numbers.swap_remove(dice.below(len))),
        8 if len > 0 => drop(numbers.remove(dice.below(len))),
        9 => drop(numbers.insert(dice.below(len + 1), 5)),
        10 => numbers.reverse(),
        11 if dice.below(20) == 0 => numbers.clear(),
        _ => {}
    }
}

#[test]
fn r11_clients_converge_under_any_loss_and_delay() {
    for seed in 1..60 {
        let mut dice = Dice(seed * 0x9E37_79B9);
        let initial = if seed % 7 == 0 { 3_000 } else { dice.below(40) };
        let (mut room, bag) = room_with((0..initial).map(|number| number as u16));
        assert_same(&room, bag);
        room.enter();
        let (loss, mut late) = (seed % 9, Vec::new());
        for tick in 0..200 {
            for _ in 0..dice.below(4) {
                mutate(&mut room.server[bag].numbers, &mut dice);
            }
            if tick == 100 {
                room.enter();
            }
            for (guest, packets) in room.tick().into_iter().enumerate() {
                for packet in packets {
                    match dice.below(10) as u64 {
                        roll if roll < loss => {}
                        9 => late.push((guest, packet)),
                        _ => room.deliver(guest, &[packet]),
                    }
                }
            }
            if dice.below(3) == 0 && !late.is_empty() {
                let (guest, packet) = late.remove(0);
                room.deliver(guest, &[packet]);
            }
            for guest in 0..room.guests.len() {
                let replies = room.replies(guest);
                if dice.below(10) as u64 >= loss {
                    room.hear(guest, &replies);
                }
            }
        }
        room.settle();
        for guest in &room.guests {
            let client = guest.client.get(bag).expect("the client has it");
            assert_eq!(pairs(&client.numbers), pairs(&room.server[bag].numbers), "seed {seed}");
        }
    }
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Boxes {
    maybe: Option<FastArray<u16>>,
    rows: Vec<FastArray<u16>>,
}

#[test]
fn r02_births_inside_an_array_do_not_undo_removals() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Boxes>();
    });
    let [maybe, row] = [[1], [1]].map(FastArray::from);
    let boxes = room.server.spawn(Boxes { maybe: Some(maybe), rows: vec![row] });
    room.enter();
    room.settle();
    let edit = |room: &mut Room, edit: fn(&mut FastArray<u16>)| {
        let boxes = &mut room.server[boxes];
        boxes.maybe.iter_mut().chain(&mut boxes.rows).for_each(edit);
        let packets = room.tick_one();
        room.deliver(0, &packets);
    };
    // The item arrives, but is removed before the server receives the ack.
    edit(&mut room, |array| _ = array.push(2));
    edit(&mut room, |array| _ = array.pop());
    room.settle();
    let found = room.client().get(boxes).expect("the client has it");
    assert_eq!((found.maybe.as_deref(), &found.rows[0][..]), (Some(&[1][..]), &[1][..]));
}

#[test]
fn r04_a_removed_new_element_does_not_undo_a_lost_removal() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Boxes>();
    });
    let boxes = room.server.spawn(Boxes { maybe: Some([1].into()), rows: Vec::new() });
    room.enter();
    room.settle();
    let edit = |room: &mut Room, arrives: bool, edit: fn(&mut FastArray<u16>)| {
        edit(room.server[boxes].maybe.as_mut().expect("it is there"));
        let packets = room.tick_one();
        if arrives {
            room.deliver(0, &packets);
        }
    };
    edit(&mut room, true, |array| _ = array.push(2));
    edit(&mut room, false, |array| _ = array.pop());
    // The client has the removed item, but the server has no ack for it. This update removes the item on the
    // client.
    edit(&mut room, true, |array| _ = array.push(3));
    room.settle();
    let found = room.client().get(boxes).expect("the client has it");
    let mut found: Vec<u16> = found.maybe.iter().flatten().copied().collect();
    found.sort_unstable();
    assert_eq!(found, [1, 3]);
}
