//! Limits on the lengths of fast arrays, which an attribute of the field sets. Also other attributes of the
//! field for items that are single values.
//!
//! *Invariant:* only the server enforces a limit. After losses a client may hold more items for a while.

use std::collections::{BTreeMap, HashMap};

use crate::support::Room;
use repl::WriteError;
use repl::prelude::*;
use repl::tools::Keyed;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Bag {
    #[replicated(max_len = 4)]
    items: FastArray<u16>,
    #[replicated(max_len = 4)]
    queue: OrderedFastArray<u16>,
    #[replicated(max_len = 2)]
    names: FastArray<String>,
    #[replicated(max_len = 3)]
    spare: Option<FastArray<u8>>,
    pouches: Vec<Pouch>,
    note: Note,
}

#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Pouch {
    size: u8,
    #[replicated(max_len = 2)]
    coins: FastArray<Coin>,
}

#[derive(FastArrayItem, Clone, Default, PartialEq, Debug)]
struct Coin {
    worth: u8,
}

#[derive(NetSerialize, Clone, Default)]
struct Note {
    #[replicated(max_len = 2)]
    lines: FastArray<u8>,
}

/// Arrays of single values. The attributes of the fields change how these are sent.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Numbers {
    #[replicated(range = 0..=9)]
    digits: FastArray<u8>,
    #[replicated(bits = 3, saturate, max_len = 8)]
    steps: OrderedFastArray<i16>,
    #[replicated(quantize(step = 0.5, range = 0.0..=8.0))]
    weights: FastArray<f32>,
}

/// Returns a room with one bag and one guest.
fn one_bag() -> (Room, ObjectRef<Bag>) {
    let register = |client: &mut Client| _ = client.register::<Bag>();
    Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Bag::default()))
}

fn by_id<A: Keyed<Item: Clone>>(array: &A) -> BTreeMap<u32, A::Item> {
    let mut items = BTreeMap::new();
    array.ids(&mut |id| {
        items.extend(array.item(id).map(|item| (id.number(), item.clone())));
    });
    items
}

fn assert_same(room: &Room, guest: usize, bag: ObjectRef<Bag>) {
    let (live, seen) = (&room.server[bag], room.guests[guest].client.get(bag).expect("the bag is there"));
    assert_eq!(by_id(&seen.items), by_id(&live.items));
    assert_eq!(seen.queue.iter().collect::<Vec<_>>(), live.queue.iter().collect::<Vec<_>>());
    assert_eq!(by_id(&seen.names), by_id(&live.names));
    assert_eq!(seen.pouches.len(), live.pouches.len());
    for (seen, live) in seen.pouches.iter().zip(&live.pouches) {
        assert_eq!((seen.size, by_id(&seen.coins)), (live.size, by_id(&live.coins)));
    }
}

fn seen(room: &Room, guest: usize, bag: ObjectRef<Bag>) -> &Bag {
    room.guests[guest].client.get(bag).expect("the bag is there")
}

#[test]
fn limits_and_forms_of_arrays_are_printed() {
    insta::assert_snapshot!(format!("{}\n{}", Bag::LAYOUT, Numbers::LAYOUT));
}

#[test]
fn an_array_over_the_limit_of_its_field_is_refused_and_reported() {
    let (mut room, bag) = one_bag();
    room.refused();
    room.server[bag].items.extend(0..4);
    room.server[bag].queue.extend(0..4);
    room.settle();
    assert_same(&room, 0, bag);
    assert_eq!(room.refused(), []);
    room.server[bag].items.push(4);
    room.server[bag].queue.insert(0, 4);
    room.server[bag].names.extend(["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    room.settle();
    let too_long = |len, max| WriteError::TooLong { len, max };
    assert_eq!(
        room.refused(),
        [("items", too_long(5, 4)), ("queue", too_long(5, 4)), ("names", too_long(3, 2))]
    );
    let shown = seen(&room, 0, bag);
    assert_eq!((&shown.items[..], shown.names.len()), (&[0, 1, 2, 3][..], 0));
    assert_eq!(shown.queue.iter().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn an_array_that_was_too_long_is_sent_again_when_it_is_shorter() {
    let (mut room, bag) = one_bag();
    room.server[bag].items.extend(0..4);
    room.settle();
    room.server[bag].items.extend(4..9);
    room.server[bag].queue.extend(0..9);
    room.server[bag].items[1] = 100;
    room.settle();
    assert_eq!(&seen(&room, 0, bag).items[..], [0, 1, 2, 3], "nothing of it, until it has room");
    room.enter();
    room.settle();
    assert_eq!(&seen(&room, 1, bag).items[..], [0, 1, 2, 3], "nor to one who comes later");
    room.server[bag].items.retain(|item| item % 2 == 0);
    room.server[bag].items.truncate(4);
    room.server[bag].queue.truncate(3);
    room.settle();
    assert_eq!(room.server[bag].items.len(), 4);
    assert_same(&room, 0, bag);
    assert_same(&room, 1, bag);
}

#[test]
fn an_array_in_a_new_element_obeys_its_own_limit() {
    let (mut room, bag) = one_bag();
    room.refused();
    let coins = |worths: &[u8]| worths.iter().map(|&worth| Coin { worth }).collect();
    room.server[bag].pouches = vec![Pouch { size: 1, coins: coins(&[1, 2]) }];
    room.settle();
    assert_same(&room, 0, bag);
    assert_eq!(room.refused(), [], "as many as there may be");
    let more = [Pouch { size: 3, coins: coins(&[4]) }, Pouch { size: 2, coins: coins(&[1, 2, 3]) }];
    room.server[bag].pouches.extend(more);
    room.server[bag].spare = Some((0..4).collect());
    room.server[bag].note.lines.extend(0..3);
    room.settle();
    let mut told = room.refused();
    told.sort_by_key(|(property, _)| *property);
    let too_long = |len, max| WriteError::TooLong { len, max };
    assert_eq!(told, [("note", too_long(3, 2)), ("pouches", too_long(3, 2)), ("spare", too_long(4, 3))]);
    let shown = seen(&room, 0, bag);
    // No element arrives with a value that the server never had. This holds for this pouch and for the pouch
    // before it.
    assert_eq!(shown.pouches.iter().map(|pouch| pouch.coins.len()).collect::<Vec<_>>(), [2]);
    assert_eq!(shown.spare, None);
    assert_eq!(shown.note.lines.len(), 0);
    let live = &mut room.server[bag];
    live.pouches[2].coins.pop();
    live.spare.as_mut().expect("it was set").pop();
    live.note.lines.pop();
    room.settle();
    assert_same(&room, 0, bag);
    let shown = seen(&room, 0, bag);
    assert_eq!((shown.spare.as_ref().map(|spare| spare.len()), shown.note.lines.len()), (Some(3), 2));
}

/// Returns a function that returns true in `percent` percent of its calls, in the same order in every run.
fn chances(seed: u64, percent: u64) -> impl FnMut() -> bool {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 100 < percent
    }
}

/// More items than one packet can hold.
const CROWD: u16 = 400;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Crowd {
    #[replicated(max_len = 400)]
    heads: FastArray<u64>,
    #[replicated(max_len = 400)]
    line: OrderedFastArray<u64>,
    #[replicated(max_len = 400)]
    book: HashMap<u64, u32>,
}

#[test]
fn r12_churn_at_the_limit_under_loss_ends_no_connection() {
    let mut most = [0; 3];
    for (seed, percent) in [(1, 20), (2, 50), (3, 70)] {
        let register = |client: &mut Client| _ = client.register::<Crowd>();
        let config = ServerConfig { mtu_bytes: 576, ..ServerConfig::default() };
        let (mut room, crowd) = Room::furnished(config, register, 1, |server| server.spawn(Crowd::default()));
        let mut is_lost = chances(seed, percent);
        for tick in 0..150 {
            let Crowd { heads, line, book } = &mut room.server[crowd];
            heads.clear();
            heads.extend((0..CROWD).map(|head| u64::from(head + tick) << 40));
            line.clear();
            line.extend((0..CROWD).map(|head| u64::from(head + tick) << 40));
            *book = (0..CROWD).map(|key| (u64::from(key + tick * CROWD) << 30, 1)).collect();
            for packet in room.tick_one() {
                if !is_lost() {
                    room.deliver(0, &[packet]);
                }
            }
            for reply in room.replies(0) {
                if !is_lost() {
                    room.hear(0, &[reply]);
                }
            }
            let shown = room.client().get(crowd).expect("it is there");
            for (most, len) in most.iter_mut().zip([shown.heads.len(), shown.line.len(), shown.book.len()]) {
                *most = len.max(*most);
            }
        }
        room.settle();
        let (live, shown) = (&room.server[crowd], room.client().get(crowd).expect("it is there"));
        assert_eq!(by_id(&shown.heads), by_id(&live.heads));
        assert_eq!(by_id(&shown.line), by_id(&live.line));
        assert_eq!(shown.book, live.book);
    }
    let is_over = most.iter().all(|&most| most > 2 * usize::from(CROWD));
    assert!(is_over, "no client held what it may not hold for good: {most:?}");
}

#[test]
fn s183_items_of_a_clients_own_do_not_count() {
    let (mut room, bag) = one_bag();
    let shown = room.guests[0].client.get_mut(bag).expect("the bag is there");
    shown.items.extend(100..120);
    shown.queue.extend(100..120);
    room.server[bag].items.extend(0..4);
    room.server[bag].queue.extend(0..4);
    room.settle();
    let shown = seen(&room, 0, bag);
    assert_eq!((shown.items.len(), shown.queue.len()), (24, 24));
}

#[test]
fn attributes_of_an_array_of_leaves_are_obeyed_by_each() {
    let register = |client: &mut Client| _ = client.register::<Numbers>();
    let (mut room, numbers) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Numbers::default()));
    room.refused();
    room.server[numbers].digits.extend([1, 9, 4]);
    room.server[numbers].steps.extend([1, 100, -100]);
    room.server[numbers].weights.extend([0.4, 7.9]);
    room.settle();
    let shown = |room: &Room| {
        let shown = room.client().get(numbers).expect("they are there");
        (shown.digits.to_vec(), shown.steps.iter().copied().collect::<Vec<_>>(), shown.weights.to_vec())
    };
    assert_eq!(shown(&room), (vec![1, 9, 4], vec![1, 3, -4], vec![0.5, 8.0]));
    assert_eq!(room.refused(), []);
    room.server[numbers].digits[1] = 10;
    room.server[numbers].digits[2] = 5;
    room.settle();
    assert_eq!(room.refused(), [("digits", WriteError::OutOfRange)]);
    assert_eq!(shown(&room).0, [1, 9, 5], "the item keeps the last value that had a form");
    room.server[numbers].digits[1] = 8;
    room.settle();
    assert_eq!(shown(&room).0, [1, 8, 5]);
}
