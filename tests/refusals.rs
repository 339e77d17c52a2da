//! Where a refused value stands, as the server tells it.
//!
//! *Invariant:* each value that has no form on the wire is told by itself, by the path that leads to it.

mod support;

use std::collections::{BTreeMap, HashMap};

use repl::WriteError;

use repl::prelude::*;

use support::Room;

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

/// The paths of what is refused in the next tick.
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
fn a_refused_value_is_told_with_the_way_to_it() {
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
fn what_is_refused_of_something_new_is_told_with_the_way_to_it() {
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
    // New ones without a form, among others that have one: none of them comes, and what was there changes as it did.
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
    // A newcomer sees the same.
    room.enter();
    room.settle();
    assert_eq!(room.guests[1].client[sheet], expected);
    // What has a form again comes.
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
