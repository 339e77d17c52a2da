//! Limits of data that is sent in parts: the size of an item or entry, and the number of items and entries.
//!
//! *Invariant:* a limit that is reached on the server never ends a connection, whatever packets are lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::support::{Room, collect};
use repl::ReceiveError;
use repl::prelude::*;

#[derive(Replicated, Default)]
struct Shop {
    #[replicated(max_len = 3)]
    few: BTreeMap<u32, u8>,
    #[replicated(max_len = 3)]
    few_keys: BTreeSet<u32>,
}

/// Makes changes in quick succession and loses every second packet, before the server can notice a loss.
fn lose_every_other(mut change: impl FnMut(&mut Shop, u32)) -> Result<(), ReceiveError> {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Shop>();
    });
    let shop = room.server.spawn(Shop::default());
    room.enter();
    room.settle();
    change(&mut room.server[shop], 0);
    room.settle();
    for pass in 1..12 {
        change(&mut room.server[shop], pass);
        room.wait(Duration::from_micros(100));
        room.server.tick(room.now);
        let packets = collect(&mut room.server, room.guests[0].id);
        for packet in packets.iter().filter(|_| pass % 2 == 0) {
            room.guests[0].client.receive(room.now, packet)?;
        }
    }
    Ok(())
}

#[test]
fn r12_w08_a_map_at_its_limit_is_taken_though_removals_were_lost() {
    let result = lose_every_other(|shop, pass| {
        shop.few.retain(|key, _| *key == 0);
        shop.few.extend([(0, 0), (2 * pass + 1, 0), (2 * pass + 2, 0)]);
    });
    assert!(result.is_ok(), "{result:?}");
}

#[test]
fn r12_w08_a_set_at_its_limit_is_taken_though_removals_were_lost() {
    let result = lose_every_other(|shop, pass| {
        shop.few_keys.retain(|key| *key == 0);
        shop.few_keys.extend([0, 2 * pass + 1, 2 * pass + 2]);
    });
    assert!(result.is_ok(), "{result:?}");
}

#[derive(Replicated, Default)]
struct Library {
    #[replicated]
    shelf: FastArray<Book>,
    #[replicated]
    order: OrderedFastArray<Book>,
    #[replicated]
    index: BTreeMap<u32, Book>,
    #[replicated]
    open: bool,
}

#[derive(FastArrayItem, Clone, Debug, Default)]
struct Book {
    number: u32,
    pages: FastArray<u16>,
}

fn book(number: u32, pages: u32) -> Book {
    Book { number, pages: (0..pages).map(|page| page as u16).collect() }
}

/// Returns the number and the page count of each book, for each collection.
fn books(library: &Library) -> [Vec<(u32, usize)>; 3] {
    let told = |books: &mut dyn Iterator<Item = &Book>| {
        let mut told: Vec<_> = books.map(|book| (book.number, book.pages.len())).collect();
        told.sort_unstable();
        told
    };
    [told(&mut library.shelf.iter()), told(&mut library.order.iter()), told(&mut library.index.values())]
}

#[test]
fn an_item_over_the_limit_is_refused_in_part_and_ends_no_connection() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Library>();
    });
    let library = room.server.spawn(Library::default());
    room.enter();
    room.settle();
    let object = &mut room.server[library];
    object.shelf.extend([book(1, 10), book(2, 200_000)]);
    object.order.extend([book(1, 10), book(2, 200_000)]);
    object.index.extend([(1, book(1, 10)), (2, book(2, 200_000))]);
    room.settle();
    assert_eq!(room.refused().len(), 3, "each is told of");
    // A new item arrives completely or not at all.
    assert_eq!(books(room.client().get(library).unwrap()), [[(1, 10)]; 3].map(Vec::from));

    // An existing item grows beyond the limit. The other properties of the item are still updated.
    let object = &mut room.server[library];
    let more = || (0..200_000).map(|page| page as u16);
    (object.shelf[0].number, object.order[0].number, object.open) = (7, 7, true);
    object.shelf[0].pages.extend(more());
    object.order[0].pages.extend(more());
    object.index.get_mut(&1).unwrap().number = 7;
    object.index.get_mut(&1).unwrap().pages.extend(more());
    room.settle();
    assert!(!room.refused().is_empty());
    assert_eq!(books(room.client().get(library).unwrap()), [[(7, 10)]; 3].map(Vec::from));
    assert!(room.client().get(library).unwrap().open);

    let object = &mut room.server[library];
    object.shelf.iter_mut().for_each(|mut book| book.pages.truncate(20));
    object.order.iter_mut().for_each(|mut book| book.pages.truncate(20));
    object.index.values_mut().for_each(|book| book.pages.truncate(20));
    room.settle();
    assert_eq!(books(room.client().get(library).unwrap()), [[(2, 20), (7, 20)]; 3].map(Vec::from));
    room.enter();
    room.settle();
    assert!(room.guests.iter().all(|guest| guest.client.is_connected()));
}

#[test]
fn an_item_that_just_fits_arrives_in_updates_and_openings() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Library>();
    });
    let library = room.server.spawn(Library::default());
    room.enter();
    room.settle();
    // A quarter of a mebibyte can store about 50,000 pages with their ids.
    let (mut below, mut over) = (0, 200_000);
    while below + 50 < over {
        let middle = (below + over) / 2;
        room.server[library].shelf = [book(middle, middle)].into();
        for _ in 0..40 {
            room.step();
        }
        if room.refused().is_empty() {
            below = middle
        } else {
            over = middle
        }
        assert!(room.client().is_connected());
    }
    assert!(below > 40_000, "{below} pages fit");
    room.server[library].shelf = [book(below, below)].into();
    room.enter();
    room.settle();
    for guest in &room.guests {
        assert_eq!(books(guest.client.get(library).unwrap())[0], [(below, below as usize)]);
    }
}
