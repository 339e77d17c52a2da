//! Ordered fast arrays from a server to its clients: the same items in the same order, under any loss (R13).
//!
//! *Invariant:* on a link without loss a client has the server's order after every update, and on any link
//! after a round trip without changes.

use crate::support::{Packets, Room};
use proptest::prelude::*;
use repl::prelude::*;
use repl::tools::{Changelist, Class, HandleSet, Scratch};
use repl::{BitReader, BitWriter, ItemId, NoObjects, ReferenceMap};

#[derive(Replicated, Default)]
struct Scroll {
    #[replicated]
    lines: OrderedFastArray<u64>,
    #[replicated]
    author: u32,
}

fn room_with(lines: impl IntoIterator<Item = u64>) -> (Room, ObjectRef<Scroll>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Scroll>();
    });
    let scroll = room.server.spawn(Scroll { lines: lines.into_iter().collect(), author: 7 });
    room.enter();
    room.settle();
    (room, scroll)
}

fn sequence(array: &OrderedFastArray<u64>) -> Vec<(ItemId, u64)> {
    array.ids().zip(array.iter().copied()).collect()
}

fn assert_same(room: &Room, scroll: ObjectRef<Scroll>) {
    for (number, guest) in room.guests.iter().enumerate() {
        let client = guest.client.get(scroll).expect("the client has it");
        assert_eq!(sequence(&client.lines), sequence(&room.server[scroll].lines), "guest {number}");
    }
}

/// Makes a change. Returns how many bits of the lines the first guest received for it.
fn cost(room: &mut Room, scroll: ObjectRef<Scroll>, change: impl FnOnce(&mut OrderedFastArray<u64>)) -> u64 {
    let before = room.received::<Scroll>(0, "lines").1;
    change(&mut room.server[scroll].lines);
    room.settle();
    assert_same(room, scroll);
    room.received::<Scroll>(0, "lines").1 - before
}

#[test]
fn r13_an_insertion_among_many_is_a_few_bytes() {
    let (mut room, scroll) = Room::measuring(|| room_with(0..10_000));
    // Of these bits, the value takes 8 bytes.
    let bits = cost(&mut room, scroll, |lines| {
        lines.insert(5_000, 77);
    });
    assert!(bits <= 64 + 64, "{bits} bits for the first");
    let bits = cost(&mut room, scroll, |lines| {
        (5_001..5_101).for_each(|at| {
            lines.insert(at, 77);
        });
    });
    assert!(bits <= 100 * (64 + 8) + 64, "{bits} bits for the next hundred");
}

#[test]
fn s145_a_move_sends_labels_and_no_values() {
    let (mut room, scroll) = Room::measuring(|| room_with(0..1_000));
    for (from, to) in [(0, 999), (999, 0), (500, 20)] {
        let bits = cost(&mut room, scroll, |lines| lines.move_item(from, to));
        assert!(bits < 64, "{bits} bits to move {from} to {to}");
    }
    let bits = cost(&mut room, scroll, |lines| lines.swap(3, 900));
    assert!(bits < 100, "{bits} bits to swap");
    let bits = cost(&mut room, scroll, |lines| lines.rotate_left(1));
    assert!(bits < 64, "{bits} bits to rotate");
    let bits = cost(&mut room, scroll, OrderedFastArray::reverse);
    assert!(bits < 1_000 * 16, "{bits} bits to turn all round");
    let bits = cost(&mut room, scroll, OrderedFastArray::sort);
    assert!(bits < 1_000 * 16, "{bits} bits to sort all");
    let bits = cost(&mut room, scroll, OrderedFastArray::sort);
    assert_eq!(bits, 0, "to sort what is sorted");
}

#[derive(Replicated, Default)]
struct Line {
    #[replicated(notify = on_places)]
    places: OrderedFastArray<u8>,
    calls: u32,
}

impl Line {
    fn on_places(&mut self) {
        self.calls += 1;
    }
}

#[test]
fn s145_a_client_is_notified_once_of_each_move_from_and_to_any_place() {
    let register = |client: &mut Client| _ = client.register::<Line>();
    let (mut room, line) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.spawn(Line { places: [1, 2, 3, 4, 5].into(), ..Line::default() })
    });
    for (from, to) in (0..5).flat_map(|from| (0..5).map(move |to| (from, to))) {
        let before = room.client()[line].calls;
        room.server[line].places.move_item(from, to);
        room.settle();
        let seen = &room.client()[line];
        assert_eq!(seen.places, room.server[line].places);
        assert_eq!(seen.calls - before, u32::from(from != to), "from {from} to {to}");
    }
}

#[test]
fn r13_room_is_made_for_a_few_labels_at_a_time() {
    let (mut room, scroll) = Room::measuring(|| room_with(0..2_000));
    // All insertions are after the same item and before the item that was inserted last. They need longer
    // labels than insertions at any other position.
    for round in 0..40 {
        let bits = cost(&mut room, scroll, |lines| {
            for step in 0..20 {
                lines.insert(1_000 + step % 2, round);
            }
        });
        assert!(bits < 20 * (64 + 300) + 20_000, "{bits} bits in round {round}");
    }
}

#[test]
fn s137_an_array_assigned_over_its_source_is_all_new() {
    let (mut room, scroll) = room_with(0..100);
    let before: Vec<ItemId> = room.server[scroll].lines.ids().collect();
    room.server[scroll].lines = room.server[scroll].lines.clone();
    room.settle();
    assert_same(&room, scroll);
    let lines = &room.client().get(scroll).expect("it is there").lines;
    assert!(lines.ids().all(|id| !before.contains(&id)));
}

#[test]
fn s183_local_items_stay_between_those_of_the_server() {
    let (mut room, scroll) = room_with(0..10);
    let lines = &mut room.guests[0].client.get_mut(scroll).expect("it is there").lines;
    let local = lines.insert(5, 1_000);
    assert!(local.is_local());
    room.server[scroll].lines.insert(2, 50);
    room.server[scroll].lines.remove(9);
    room.server[scroll].lines.move_item(0, 8);
    room.settle();
    let mut lines = room.client().get(scroll).expect("it is there").lines.iter().copied().collect::<Vec<_>>();
    assert_eq!(
        lines.iter().position(|&line| line == 1_000),
        lines.iter().position(|&line| line == 4).map(|at| at + 1)
    );
    lines.retain(|&line| line != 1_000);
    assert_eq!(room.server[scroll].lines, lines);
    room.server[scroll].lines.clear();
    room.settle();
    assert_eq!(room.client().get(scroll).expect("it is there").lines, [1_000]);
}

/// Inserts `count` items into an array of 1,000 items, with `batch` insertions in each update. `place`
/// returns the index for a length and a number of inserted items. Returns the bits of all updates together,
/// without the bits of the values.
fn bits_beside_values(count: usize, batch: usize, mut place: impl FnMut(usize, usize) -> usize) -> usize {
    let class: Class<Scroll> = Class::new();
    let mut live = Scroll { lines: (0..1_000).collect(), author: 0 };
    let mut shadow = class.shadow_of(&Scroll::default());
    update(&class, &live, &mut shadow);
    let mut written = 0;
    for inserted in 0..count {
        let at = place(live.lines.len(), inserted);
        live.lines.insert(at, 7);
        if (inserted + 1).is_multiple_of(batch) {
            written += update(&class, &live, &mut shadow).1.len() - batch * 64;
        }
    }
    written
}

#[test]
fn r13_no_way_to_insert_that_is_foreseen_takes_many_bytes() {
    type Place = fn(usize, usize) -> usize;
    // For each position, two limits in tenths of a byte for each insertion: for updates with ten insertions,
    // and with one.
    let places: [(&str, Place, usize, usize); 10] = [
        ("append", |len, _| len, 15, 75),
        ("prepend", |_, _| 0, 15, 75),
        ("forward", |_, nth| 500 + nth, 20, 90),
        ("backward", |_, _| 500, 20, 95),
        ("far cursors", |_, nth| [200 + nth / 2, 701 + nth / 2 * 2][nth % 2], 65, 90),
        ("cursors with an item between", |_, nth| [500 + nth / 2, 502 + nth / 2 * 2][nth % 2], 60, 90),
        ("cursors side by side", |_, nth| [500 + nth / 2, 501 + nth / 2 * 2][nth % 2], 60, 95),
        ("two places in turn", |_, nth| 500 + nth % 2, 45, 95),
        ("two places in turn, one apart", |_, nth| 500 + nth % 2 * 2, 45, 95),
        ("between the last two", |_, nth| 500 + nth.div_ceil(2), 60, 105),
    ];
    for (name, place, ten, one) in places {
        for (batch, tenths) in [(10, ten), (1, one)] {
            let bits = bits_beside_values(10_000, batch, place);
            assert!(bits * 10 <= 10_000 * 8 * tenths, "{name}: {bits} bits in updates of {batch}");
        }
    }
}

#[test]
fn r13_unforeseen_ways_to_insert_take_bounded_bytes() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = move |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 16) as usize % bound
    };
    let anywhere = bits_beside_values(10_000, 10, |len, _| below(len + 1));
    assert!(anywhere <= 10_000 * 8 * 6, "{anywhere} bits anywhere");
    let among_twenty = bits_beside_values(10_000, 10, |_, _| 500 + below(20));
    assert!(among_twenty <= 10_000 * 8 * 7, "{among_twenty} bits among twenty places");
    // The worst position for insertions: next to the item that was inserted last, on a random side.
    let mut last = 500;
    let beside_last = bits_beside_values(10_000, 10, |_, _| {
        last += below(2);
        last
    });
    assert!(beside_last <= 10_000 * 8 * 16, "{beside_last} bits beside the last");
}

/// Encodes an update that changes an object with the items of `shadow` into an object with the items of
/// `live`.
fn update(class: &Class<Scroll>, live: &Scroll, shadow: &mut Scroll) -> (HandleSet, Vec<bool>) {
    let (mut list, mut refusals) = (Changelist::new(), Vec::new());
    class.compare(
        live,
        shadow,
        class.conditions().ordinary(),
        &mut list,
        &mut refusals,
        &mut Scratch::default(),
    );
    let mut writer = BitWriter::new();
    class.write_values(shadow, &list, &mut writer).expect("written");
    (list.handles().clone(), bits(writer))
}

fn bits(writer: BitWriter) -> Vec<bool> {
    let len = writer.bit_len();
    let bytes = writer.into_bytes();
    let mut reader = BitReader::new(&bytes);
    (0..len).map(|_| reader.read_flag().expect("as many as there are")).collect()
}

fn bytes(bits: &[bool]) -> Vec<u8> {
    let mut writer = BitWriter::new();
    bits.iter().for_each(|&bit| writer.write_flag(bit));
    writer.into_bytes()
}

/// Returns the bits of a label that follows a label without digits.
fn label(going: u64, coming: u64, digits: &[u8]) -> Vec<bool> {
    let mut writer = BitWriter::new();
    writer.write_bits(0, 2);
    writer.write_exp_golomb(going, 1);
    writer.write_exp_golomb(coming, 1);
    digits.iter().for_each(|&digit| writer.write_bits(digit.into(), 8));
    bits(writer)
}

fn client(class: &Class<Scroll>) -> Scroll {
    let mut client = Scroll::default();
    class.make_replica(&mut client);
    client
}

/// Validates and applies an update. Returns false and does nothing if the operation is not valid.
fn take(class: &Class<Scroll>, client: &mut Scroll, handles: &HandleSet, bits: &[bool]) -> bool {
    let bytes = bytes(bits);
    let (mut reader, mut references) = (BitReader::new(&bytes), ReferenceMap::new(&NoObjects));
    let mut checked = repl::tools::Checked::new();
    if class.validate(Some(client), handles, &mut reader.clone(), &mut references, &mut checked).is_err() {
        return false;
    }
    class.apply(client, handles, checked.take(&mut reader), &mut references, &mut ());
    class.conclude(client, true);
    true
}

#[test]
fn hostile_labels_are_refused() {
    let class = Class::<Scroll>::new();
    let live = Scroll { lines: [0xAAAA_AAAA_AAAA_AAAA].into(), author: 0 };
    let (handles, honest) = update(&class, &live, &mut Scroll::default());
    let mut places = (1..=u8::MAX).filter_map(|digit| {
        let label = label(0, 1, &[digit]);
        honest.windows(label.len()).position(|window| window == label).map(|at| at..at + label.len())
    });
    let place = places.next().expect("an item alone has a label of one digit");
    assert!(places.next().is_none(), "it is found once");
    let accepts = |label: &[bool]| {
        let forged = [&honest[..place.start], label, &honest[place.end..]].concat();
        take(&class, &mut client(&class), &handles, &forged)
    };
    assert!(accepts(&label(0, 2, &[0, 1])));
    assert!(accepts(&label(0, 32, &[255; 32])));
    for (what, forged) in [
        ("too many digits", label(0, 33, &[1; 33])),
        ("far too many digits", label(0, 1 << 40, &[1; 40])),
        ("no digits", label(0, 0, &[])),
        ("a zero at the end", label(0, 2, &[1, 0])),
        ("digits taken away that there are not", label(1, 1, &[1])),
        ("far too many taken away", label(1 << 40, 1, &[1])),
        ("the one after the start", vec![true]),
        ("the one before the start", vec![false, true]),
    ] {
        assert!(!accepts(&forged), "{what}");
    }
}

#[test]
fn damaged_updates_are_refused_or_leave_an_array_in_order() {
    let class = Class::<Scroll>::new();
    let (mut live, mut shadow) = (Scroll { lines: (0..20).collect(), author: 0 }, Scroll::default());
    let first = update(&class, &live, &mut shadow);
    live.lines.insert(10, 100);
    live.lines.insert(3, 101);
    live.lines.move_item(19, 0);
    live.lines.swap(5, 6);
    live.lines.remove(12);
    live.lines[8] = 7;
    let second = update(&class, &live, &mut shadow);
    let mut accepted = 0;
    for at in 0..second.1.len() {
        let mut client = client(&class);
        assert!(take(&class, &mut client, &first.0, &first.1));
        let mut damaged = second.1.clone();
        damaged[at] = !damaged[at];
        let before = sequence(&client.lines);
        if take(&class, &mut client, &second.0, &damaged) {
            accepted += 1;
            let ids: Vec<ItemId> = client.lines.ids().collect();
            assert!(ids.iter().enumerate().all(|(at, id)| client.lines.index_of(*id) == Some(at)));
        } else {
            assert_eq!(sequence(&client.lines), before);
        }
        let is_cut = at % 8 == 0 && !take(&class, &mut client, &second.0, &second.1[..at]);
        assert!(is_cut || at % 8 != 0, "{at} bits are not all");
    }
    assert!(accepted > 0, "some damage is to values only");
}

#[derive(Clone, Debug)]
enum Op {
    Insert(usize, u64),
    Type(usize, usize, bool),
    Remove(usize),
    Cut(usize, usize),
    Write(usize, u64),
    Move(usize, usize),
    Swap(usize, usize),
    Rotate(usize),
    Sort(u64),
    Reverse,
    Clear,
    Paste(usize),
    Replace,
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..10_000_usize;
    prop_oneof![
        8 => (at.clone(), any::<u64>()).prop_map(|(at, line)| Op::Insert(at, line)),
        6 => (at.clone(), 1..12_usize, any::<bool>()).prop_map(|(at, count, on)| Op::Type(at, count, on)),
        6 => at.clone().prop_map(Op::Remove),
        2 => (at.clone(), 1..40_usize).prop_map(|(at, count)| Op::Cut(at, count)),
        4 => (at.clone(), any::<u64>()).prop_map(|(at, line)| Op::Write(at, line)),
        6 => (at.clone(), at.clone()).prop_map(|(from, to)| Op::Move(from, to)),
        3 => (at.clone(), at.clone()).prop_map(|(one, other)| Op::Swap(one, other)),
        2 => at.clone().prop_map(Op::Rotate),
        1 => (1..50_u64).prop_map(Op::Sort),
        1 => Just(Op::Reverse),
        1 => at.clone().prop_map(|at| if at < 500 { Op::Clear } else { Op::Paste(at % 300) }),
        1 => at.prop_map(|at| if at < 2_000 { Op::Replace } else { Op::Paste(at % 60) }),
    ]
}

fn apply(op: &Op, lines: &mut OrderedFastArray<u64>, model: &mut Vec<u64>) {
    let len = model.len();
    match *op {
        Op::Insert(at, line) => {
            lines.insert(at % (len + 1), line);
            model.insert(at % (len + 1), line);
        }
        Op::Type(at, count, forward) => {
            for step in 0..count {
                let at = at % (len + 1) + if forward { step } else { 0 };
                lines.insert(at, step as u64);
                model.insert(at, step as u64);
            }
        }
        Op::Paste(count) => {
            lines.extend(0..count as u64);
            model.extend(0..count as u64);
        }
        Op::Rotate(by) => {
            lines.rotate_left(by % (len + 1));
            model.rotate_left(by % (len + 1));
        }
        Op::Sort(by) => {
            lines.sort_by_key(|line| line % by);
            model.sort_by_key(|line| line % by);
        }
        Op::Reverse => {
            lines.reverse();
            model.reverse();
        }
        Op::Clear => {
            lines.clear();
            model.clear();
        }
        Op::Replace => *lines = lines.clone(),
        _ if len > 0 => apply_to_some(op, lines, model),
        _ => {}
    }
}

fn apply_to_some(op: &Op, lines: &mut OrderedFastArray<u64>, model: &mut Vec<u64>) {
    let len = model.len();
    match *op {
        Op::Remove(at) => assert_eq!(lines.remove(at % len), model.remove(at % len)),
        Op::Cut(at, count) => {
            let range = at % len..len.min(at % len + count);
            assert!(lines.drain(range.clone()).eq(model.drain(range)));
        }
        Op::Write(at, line) => (lines[at % len], model[at % len]) = (line, line),
        Op::Move(from, to) => {
            lines.move_item(from % len, to % len);
            let moved = model.remove(from % len);
            model.insert(to % len, moved);
        }
        Op::Swap(one, other) => {
            lines.swap(one % len, other % len);
            model.swap(one % len, other % len);
        }
        _ => unreachable!("the others need no items"),
    }
}

/// What happens to ten packets: how many of them are lost, delayed or repeated. The others are delivered.
#[derive(Clone, Copy, Debug)]
struct Link {
    lost: u32,
    late: u32,
    twice: u32,
}

/// A random number generator with the same sequence in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % u64::from(end)) as u32
    }
}

impl Link {
    fn carry(self, room: &mut Room, guest: usize, packets: Packets, late: &mut Packets, dice: &mut Dice) {
        for packet in packets {
            match dice.below(10) {
                roll if roll < self.lost => {}
                roll if roll < self.lost + self.late => late.push(packet),
                roll if roll < self.lost + self.late + self.twice => {
                    room.deliver(guest, &[packet.clone(), packet]);
                }
                _ => room.deliver(guest, &[packet]),
            }
        }
        if !late.is_empty() && dice.below(3) == 0 {
            let packet = late.swap_remove(dice.below(late.len() as u32) as usize);
            room.deliver(guest, &[packet]);
        }
        let replies = room.replies(guest);
        if dice.below(10) >= self.lost {
            room.hear(guest, &replies);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn r13_after_quiescence_every_client_has_the_order_of_the_server(
        start in 0..400_u64,
        ticks in prop::collection::vec(prop::collection::vec(op(), 0..4), 20..120),
        (lost, late, twice) in (0..7_u32, 0..3_u32, 0..2_u32),
        seed in 1..u64::MAX,
    ) {
        let (mut room, scroll) = room_with(0..start);
        room.enter();
        let mut model: Vec<u64> = (0..start).collect();
        let (mut dice, mut late_packets) = (Dice(seed), vec![Packets::new(); 3]);
        for (tick, ops) in ticks.iter().enumerate() {
            ops.iter().for_each(|op| apply(op, &mut room.server[scroll].lines, &mut model));
            prop_assert_eq!(&room.server[scroll].lines, &model);
            if tick == ticks.len() / 2 {
                room.enter();
            }
            for (guest, packets) in room.tick().into_iter().enumerate() {
                Link { lost, late, twice }.carry(&mut room, guest, packets, &mut late_packets[guest], &mut dice);
            }
        }
        // A lost hello is repeated only after a while. Until then the client sends nothing.
        for _ in 0..200 {
            room.step();
        }
        room.settle();
        assert_same(&room, scroll);
    }

    #[test]
    fn r13_without_loss_the_order_is_the_servers_after_every_update(
        start in 0..400_u64,
        ticks in prop::collection::vec(prop::collection::vec(op(), 0..4), 1..60),
    ) {
        let (mut room, scroll) = room_with(0..start);
        let mut model: Vec<u64> = (0..start).collect();
        for ops in &ticks {
            ops.iter().for_each(|op| apply(op, &mut room.server[scroll].lines, &mut model));
            room.step();
            prop_assert_eq!(&room.client().get(scroll).expect("it is there").lines, &model);
            assert_same(&room, scroll);
        }
    }
}
