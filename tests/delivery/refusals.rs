//! How the server reports which value was refused, and what clients receive instead.
//!
//! *Invariant:* each value that cannot be encoded is reported separately, with its path.

use std::collections::{BTreeMap, HashMap};

use repl::WriteError;

use repl::prelude::*;

use crate::support::Room;

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Stack {
    name: String,
    #[replicated(range = 0..=9)]
    count: u8,
    gems: OrderedFastArray<Gem>,
    marks: Vec<Mark>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Gem {
    colour: u8,
    #[replicated(range = 0..=9)]
    facets: [u8; 3],
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Mark {
    #[replicated]
    place: u8,
    #[replicated(range = 0..=9)]
    depth: u8,
    #[replicated(max_len = 2)]
    notes: Vec<u8>,
}

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    stacks: FastArray<Stack>,
    #[replicated]
    shelves: BTreeMap<u8, Stack>,
    #[replicated]
    marks: Vec<Mark>,
    #[replicated]
    badge: Option<Mark>,
    #[replicated]
    best: Mark,
    #[replicated(max_len = 2)]
    few: Vec<u8>,
}

fn gem(facet: u8) -> Gem {
    Gem { colour: 1, facets: [0, facet, 0] }
}

fn mark(depth: u8) -> Mark {
    Mark { place: 1, depth, notes: vec![] }
}

fn room() -> (Room, ObjectRef<Bag>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Bag>();
    });
    let bag = room.server.spawn(Bag::default());
    room.enter();
    room.settle();
    (room, bag)
}

/// Returns the paths of the values that are refused in the next tick.
fn refused(room: &mut Room) -> Vec<String> {
    while room.server.poll_event().is_some() {}
    room.step();
    let events = std::iter::from_fn(|| room.server.poll_event());
    let refused = events.filter_map(|event| match event {
        ServerEvent::ValueRefused { property, path, error, .. } => {
            assert!(path.starts_with(property), "{path} is in {property}");
            assert!(matches!(error, WriteError::OutOfRange | WriteError::TooLong { .. }), "{error}");
            Some(path)
        }
        _ => None,
    });
    refused.collect()
}

#[test]
fn a_refused_value_is_reported_with_its_path() {
    let (mut room, bag) = room();
    let stack = || Stack { gems: [gem(1), gem(2)].into(), marks: vec![mark(1), mark(2)], ..Stack::default() };
    let live = &mut room.server[bag];
    live.stacks.extend([stack(), stack(), stack()]);
    live.shelves.extend([(4, stack()), (5, stack())]);
    live.marks.extend([mark(1), mark(2)]);
    live.badge = Some(mark(1));
    assert_eq!(refused(&mut room), [""; 0]);

    let live = &mut room.server[bag];
    live.stacks[1].count = 10;
    live.stacks[2].gems[1].facets[2] = 10;
    live.stacks[2].marks[1].depth = 10;
    live.shelves.get_mut(&5).expect("a shelf").gems[0].facets[0] = 10;
    live.marks[1].notes = vec![1; 3];
    live.badge.as_mut().expect("a badge").depth = 10;
    live.best.depth = 10;
    live.few.extend([1, 2, 3]);
    let expected = [
        "stacks{2}.count",
        "stacks{3}.gems{2}.facets[2]",
        "stacks{3}.marks[1].depth",
        "shelves{}.gems{1}.facets[0]",
        "marks[1].notes",
        "badge?.depth",
        "best.depth",
        "few",
    ];
    assert_eq!(refused(&mut room), expected);
}

#[test]
fn refused_values_of_new_elements_are_reported_with_their_path() {
    let (mut room, bag) = room();
    let stack = || Stack {
        count: 10,
        gems: [gem(1), gem(10)].into(),
        marks: vec![mark(1), Mark { notes: vec![1; 3], ..mark(10) }],
        ..Stack::default()
    };
    let live = &mut room.server[bag];
    live.stacks.extend([Stack::default(), stack()]);
    live.shelves.extend([(4, stack())]);
    live.marks.extend([mark(1), mark(10)]);
    live.badge = Some(mark(10));
    let in_a_stack = ["count", "gems{2}.facets[1]", "marks[1].depth", "marks[1].notes"];
    let in_stacks = ["stacks{2}", "shelves{}"]
        .into_iter()
        .flat_map(|stack| in_a_stack.map(|path| format!("{stack}.{path}")));
    let expected: Vec<_> =
        in_stacks.chain(["marks[1].depth".to_owned(), "badge?.depth".to_owned()]).collect();
    assert_eq!(refused(&mut room), expected);
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Sheet {
    #[replicated(quantize(step = 0.5, range = 1.0..=100.0))]
    rows: Vec<f32>,
    #[replicated(quantize(step = 0.5, range = 1.0..=100.0))]
    best: Option<f32>,
    #[replicated(max_len = 3)]
    words: Vec<String>,
    grid: Vec<Vec<Cell>>,
    cells: HashMap<u8, Cell>,
    last: u32,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Cell {
    #[replicated(quantize(step = 0.5, range = 1.0..=100.0))]
    weight: f32,
}

fn cell(weight: f32) -> Cell {
    Cell { weight }
}

#[test]
fn r03_clients_are_never_shown_a_value_that_the_server_never_had() {
    let register = |client: &mut Client| {
        client.register::<Sheet>();
    };
    let (mut room, sheet) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.spawn(Sheet { rows: vec![1.0, 2.0], grid: vec![vec![cell(1.0)]], ..Sheet::default() })
    });
    let before = room.client()[sheet].clone();
    assert_eq!((before.rows.len(), before.grid.len()), (2, 1));
    // Among the new elements, some cannot be encoded. Clients do not receive these, and existing elements are
    // updated as usual.
    let broken = &mut room.server[sheet];
    broken.rows = vec![3.0, 2.0, 4.0, f32::NAN, 5.0];
    broken.best = Some(f32::INFINITY);
    broken.words = vec!["a".into(), "long".repeat(2_000)];
    broken.grid = vec![vec![cell(1.0), cell(f32::NAN)], vec![cell(2.0), cell(0.0)]];
    broken.cells = HashMap::from([(1, cell(2.0)), (2, cell(f32::NAN))]);
    broken.last = 1;
    room.settle();
    let expected = Sheet { rows: vec![3.0, 2.0], cells: HashMap::from([(1, cell(2.0))]), last: 1, ..before };
    assert_eq!(room.client()[sheet], expected);
    // A client that joins now shows the same values.
    room.enter();
    room.settle();
    assert_eq!(room.guests[1].client[sheet], expected);
    // A value that can be encoded again is sent.
    let mended = &mut room.server[sheet];
    mended.rows[3] = 6.0;
    mended.best = Some(7.0);
    mended.words[1] = "short".into();
    mended.grid[0][1] = cell(8.0);
    mended.grid[1][1] = cell(9.0);
    mended.cells.insert(2, cell(10.0));
    let whole = mended.clone();
    room.settle();
    assert_eq!([&room.client()[sheet], &room.guests[1].client[sheet]], [&whole; 2]);
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Rack {
    stacks: FastArray<Stack>,
    row: OrderedFastArray<Stack>,
    boxes: Vec<Crate>,
    drawers: HashMap<u8, Crate>,
    last: u32,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Crate {
    size: u8,
    gems: FastArray<Gem>,
}

fn stack(name: &str, count: u8) -> Stack {
    Stack { name: name.to_owned(), count, ..Stack::default() }
}

fn crate_of(facets: &[u8]) -> Crate {
    Crate { size: 1, gems: facets.iter().map(|&facet| gem(facet)).collect() }
}

fn rack_room() -> (Room, ObjectRef<Rack>) {
    let register = |client: &mut Client| {
        client.register::<Rack>();
    };
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.spawn(Rack {
            stacks: [stack("first", 1)].into(),
            row: [stack("first", 1)].into(),
            boxes: vec![crate_of(&[1])],
            drawers: HashMap::from([(1, crate_of(&[1]))]),
            last: 0,
        })
    })
}

/// Returns the names and counts of a guest's stacks: those of the fast array sorted, those of the ordered
/// array in its order.
fn stacks(room: &Room, guest: usize, rack: ObjectRef<Rack>) -> [Vec<(String, u8)>; 2] {
    let told = |stack: &Stack| (stack.name.clone(), stack.count);
    let found = &room.guests[guest].client[rack];
    let mut stacks: Vec<_> = found.stacks.iter().map(told).collect();
    stacks.sort_unstable();
    [stacks, found.row.iter().map(told).collect()]
}

fn named(stacks: &[(&str, u8)]) -> Vec<(String, u8)> {
    stacks.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

#[test]
fn r03_a_new_item_with_a_refused_value_waits_until_all_of_it_has_a_form() {
    let (mut room, rack) = rack_room();
    let live = &mut room.server[rack];
    let news = || [stack("a", 2), stack("b", 10), stack("c", 3)];
    live.stacks.extend(news());
    news().into_iter().enumerate().for_each(|(at, stack)| _ = live.row.insert(at, stack));
    live.last = 1;
    assert_eq!(refused(&mut room), ["stacks{3}.count", "row{3}.count"]);
    room.settle();
    let expected =
        [&[("a", 2), ("c", 3), ("first", 1)], &[("a", 2), ("c", 3), ("first", 1)]].map(|all| named(all));
    assert_eq!(stacks(&room, 0, rack), expected);
    assert_eq!(room.client()[rack].last, 1);
    room.enter();
    room.settle();
    assert_eq!(stacks(&room, 1, rack), expected, "one who comes later sees the same");

    // The item is written to, but still cannot be encoded. Nothing new is reported, and clients see no
    // change.
    room.server[rack].stacks[2].name = "still".into();
    room.server[rack].row[1].name = "still".into();
    assert_eq!(refused(&mut room), [""; 0]);
    room.settle();
    assert_eq!(stacks(&room, 0, rack), expected);

    // When all values of the item can be encoded, the whole item arrives, at the same position as on the
    // server.
    room.server[rack].stacks[2].count = 9;
    room.server[rack].row[1].count = 9;
    assert_eq!(refused(&mut room), [""; 0]);
    room.settle();
    for guest in 0..2 {
        let [of_stacks, of_row] = stacks(&room, guest, rack);
        assert_eq!(of_stacks, named(&[("a", 2), ("c", 3), ("first", 1), ("still", 9)]));
        assert_eq!(of_row, named(&[("a", 2), ("still", 9), ("c", 3), ("first", 1)]));
    }
    // An item that clients already have keeps its last valid value. The other properties of the item are
    // updated.
    room.server[rack].stacks[2].count = 10;
    room.server[rack].stacks[2].name = "known".into();
    assert_eq!(refused(&mut room), ["stacks{3}.count"]);
    room.settle();
    assert_eq!(stacks(&room, 0, rack)[0], named(&[("a", 2), ("c", 3), ("first", 1), ("known", 9)]));
}

#[test]
fn r03_the_removal_of_an_item_that_waits_tells_nothing_and_takes_no_other() {
    let (mut room, rack) = Room::measuring(rack_room);
    let before = stacks(&room, 0, rack);
    let live = &mut room.server[rack];
    live.stacks.extend([stack("bad", 10), stack("worse", 11)]);
    live.row.extend([stack("bad", 10), stack("worse", 11)]);
    room.settle();
    assert_eq!(stacks(&room, 0, rack), before);
    let bits = |room: &Room| ["stacks", "row"].map(|property| room.received::<Rack>(0, property).1);
    let told = bits(&room);
    let live = &mut room.server[rack];
    live.stacks.remove(1);
    live.row.remove(1);
    room.settle();
    assert_eq!(bits(&room), told, "no bit of what was never there");
    assert_eq!(stacks(&room, 0, rack), before);
    // Other items are still updated.
    let live = &mut room.server[rack];
    live.stacks[1].count = 4;
    live.row[1].count = 4;
    live.stacks.push(stack("new", 5));
    live.row.push(stack("new", 5));
    live.stacks.remove(0);
    live.row.remove(0);
    room.settle();
    room.enter();
    room.settle();
    for guest in 0..2 {
        let [of_stacks, of_row] = stacks(&room, guest, rack);
        assert_eq!(of_stacks, named(&[("new", 5), ("worse", 4)]));
        assert_eq!(of_row, named(&[("worse", 4), ("new", 5)]));
    }
}

#[test]
fn r03_a_new_element_around_a_new_item_with_a_refused_value_waits_too() {
    let (mut room, rack) = rack_room();
    let before = room.client()[rack].clone();
    let nested =
        |facets: &[u8]| Stack { gems: facets.iter().map(|&facet| gem(facet)).collect(), ..stack("n", 1) };
    let live = &mut room.server[rack];
    live.stacks.push(nested(&[1, 10]));
    live.row.push(nested(&[10]));
    live.boxes.push(crate_of(&[2, 10]));
    live.drawers.insert(2, crate_of(&[10, 2]));
    // In existing items, only the new inner item waits.
    live.boxes[0].gems.extend([gem(3), gem(10)]);
    live.drawers.get_mut(&1).expect("it is there").gems.extend([gem(10), gem(3)]);
    let mut paths = refused(&mut room);
    paths.sort_unstable();
    let expected = [
        "boxes[0].gems{3}.facets[1]",
        "boxes[1].gems{2}.facets[1]",
        "drawers{}.gems{1}.facets[1]",
        "drawers{}.gems{2}.facets[1]",
        "row{2}.gems{1}.facets[1]",
        "stacks{2}.gems{2}.facets[1]",
    ];
    assert_eq!(paths, expected);
    room.settle();
    room.enter();
    room.settle();
    for guest in &room.guests {
        let found = &guest.client[rack];
        assert_eq!((&found.stacks, &found.row), (&before.stacks, &before.row));
        assert_eq!(found.boxes, [crate_of(&[1, 3])]);
        assert_eq!(found.drawers, HashMap::from([(1, crate_of(&[1, 3]))]));
    }
    let live = &mut room.server[rack];
    live.stacks[1].gems[1].facets[1] = 4;
    live.row[1].gems[0].facets[1] = 5;
    live.boxes[1].gems[1].facets[1] = 6;
    live.drawers.get_mut(&2).expect("it is there").gems[0].facets[1] = 7;
    live.boxes[0].gems[2].facets[1] = 8;
    live.drawers.get_mut(&1).expect("it is there").gems[1].facets[1] = 9;
    assert_eq!(refused(&mut room), [""; 0]);
    room.settle();
    for guest in &room.guests {
        assert_same_rack(&guest.client[rack], &room.server[rack]);
    }
}

/// Asserts that two racks hold the same items. The order of items in fast arrays does not matter.
fn assert_same_rack(found: &Rack, expected: &Rack) {
    let gems = |gems: &FastArray<Gem>| {
        let mut facets: Vec<_> = gems.iter().map(|gem| gem.facets[1]).collect();
        facets.sort_unstable();
        facets
    };
    let row = |rack: &Rack| rack.row.clone();
    let sorted_stacks = |rack: &Rack| {
        let mut stacks: Vec<_> = rack.stacks.iter().cloned().collect();
        stacks.sort_by(|one, other| one.name.cmp(&other.name));
        stacks
    };
    assert_eq!((row(found), sorted_stacks(found)), (row(expected), sorted_stacks(expected)));
    let boxes = |rack: &Rack| rack.boxes.iter().map(|one| gems(&one.gems)).collect::<Vec<_>>();
    let drawers = |rack: &Rack| {
        rack.drawers.iter().map(|(&key, one)| (key, gems(&one.gems))).collect::<BTreeMap<_, _>>()
    };
    assert_eq!((boxes(found), drawers(found)), (boxes(expected), drawers(expected)));
}

#[test]
fn r03_each_of_many_waiting_items_is_added_or_removed_separately() {
    let (mut room, rack) = rack_room();
    let live = &mut room.server[rack];
    live.stacks.extend((0..240).map(|number| stack(&format!("{number:03}"), 8 + number % 3)));
    live.row.extend((0..240).map(|number| stack(&format!("{number:03}"), 8 + number % 3)));
    room.settle();
    assert_eq!(room.client()[rack].stacks.len(), 161);
    // Every second item is removed. After that, the refused items between the others become valid. They
    // arrive between items that the client has.
    let live = &mut room.server[rack];
    let mut number = 0;
    live.stacks.retain(|_| {
        number += 1;
        number % 2 == 0
    });
    number = 0;
    live.row.retain(|_| {
        number += 1;
        number % 2 == 0
    });
    room.settle();
    let good = live_stacks(&room, rack)
        .map(|all| all.into_iter().filter(|(_, count)| *count < 10).collect::<Vec<_>>());
    assert_eq!(stacks(&room, 0, rack), good);
    let live = &mut room.server[rack];
    live.stacks.iter_mut().filter(|stack| stack.count == 10).for_each(|mut stack| stack.count = 7);
    live.row.iter_mut().filter(|stack| stack.count == 10).for_each(|mut stack| stack.count = 7);
    room.settle();
    room.enter();
    room.settle();
    for guest in 0..2 {
        assert_eq!(stacks(&room, guest, rack), live_stacks(&room, rack));
    }
}

/// Returns the names and counts of the server's stacks: those of the fast array sorted, those of the ordered
/// array in its order.
fn live_stacks(room: &Room, rack: ObjectRef<Rack>) -> [Vec<(String, u8)>; 2] {
    let told = |stack: &Stack| (stack.name.clone(), stack.count);
    let live = &room.server[rack];
    let mut stacks: Vec<_> = live.stacks.iter().map(told).collect();
    stacks.sort_unstable();
    [stacks, live.row.iter().map(told).collect()]
}
