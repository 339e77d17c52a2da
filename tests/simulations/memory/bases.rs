//! How much memory the earlier values take to which differences are made, on a server and on a client.
//!
//! *Invariant:* an earlier value is freed when no client uses it any more, and with its object.

use repl::prelude::*;

use crate::allocator::held;
use crate::support::Room;

const PAGES: usize = 16;
const TEXT: usize = 4_000;
const LIST: usize = 2_000;
/// The bytes of the values of all pages.
const VALUES: isize = (PAGES * (TEXT + LIST * size_of::<u64>())) as isize;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Page {
    #[replicated(delta)]
    text: String,
    #[replicated(delta)]
    list: Vec<u64>,
}

/// Returns a room with a client that has all pages.
fn pages() -> (Room, Vec<ObjectRef<Page>>) {
    let page = |server: &mut Server| server.spawn(Page { text: "a".repeat(TEXT), list: vec![7; LIST] });
    Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<Page>();
        },
        1,
        |server| (0..PAGES).map(|_| page(server)).collect(),
    )
}

fn change(room: &mut Room, pages: &[ObjectRef<Page>], letter: &str) {
    for &page in pages {
        room.server[page].text.replace_range(5..6, letter);
        room.server[page].list[5] += 1;
    }
}

/// Changes all pages a few times, so that buffers have grown, and the client keeps as many values as it may.
fn warm_up(room: &mut Room, pages: &[ObjectRef<Page>]) {
    for letter in ["b", "c", "d", "e"] {
        change(room, pages, letter);
        room.settle();
    }
    (0..600).for_each(|_| _ = room.step());
}

/// Removes all pages, and lets all buffers shrink.
fn despawn(room: &mut Room, pages: &[ObjectRef<Page>]) {
    pages.iter().for_each(|&page| room.server.despawn(page));
    (0..600).for_each(|_| _ = room.step());
    // An update that was not polled contains the removed object.
    room.polled(0);
}

/// Asserts that so many bytes are the bytes of `values`, within some per cent.
fn assert_about(bytes: isize, values: isize) {
    assert!((values * 98 / 100..values * 103 / 100).contains(&bytes), "{bytes} B for values of {values} B");
}

#[test]
fn s226_the_base_bytes_that_a_server_names_are_what_bases_take() {
    let (mut room, pages) = pages();
    warm_up(&mut room, &pages);
    let (before, named) = (held(), room.server.memory().base_bytes);
    change(&mut room, &pages, "f");
    let packets = room.tick_one();
    let (taken, named) = (held() - before, (room.server.memory().base_bytes - named) as isize);
    // The client has the values from before, so the server stores them.
    assert_about(named, VALUES);
    assert_about(taken, named);
    room.deliver(0, &packets);
    room.settle();
    let named = room.server.memory().base_bytes;
    assert!(named < PAGES * 500, "{named} B are named without an earlier value");
}

#[test]
fn r23_a_client_keeps_at_most_three_values_and_frees_them_with_their_object() {
    let (mut room, pages) = pages();
    let before = held();
    warm_up(&mut room, &pages);
    // Since its first value, the client has kept at most two more.
    let kept = held() - before;
    assert!(kept < 2 * VALUES * 103 / 100, "{kept} B are held for values of {VALUES} B");
    let named = room.server.memory().base_bytes as isize;
    let before = held();
    despawn(&mut room, &pages);
    assert_eq!(room.server.memory().base_bytes, 0);
    let freed = before - held();
    // The server frees the values and their shadows, the client its values and the two that it keeps at rest.
    assert_about(freed, 5 * VALUES + named);
}

#[test]
fn r23_a_client_frees_the_values_of_objects_that_are_torn_off() {
    let (mut room, pages) = pages();
    warm_up(&mut room, &pages);
    let before = held();
    pages.iter().for_each(|&page| _ = room.server.object(page).tear_off());
    room.settle();
    for &page in &pages {
        room.guests[0].client.object(page).remove_torn_off();
        room.server.despawn(page);
    }
    (0..600).for_each(|_| _ = room.step());
    room.polled(0);
    // The server frees the values and their shadows, the client its values and the two that it keeps at rest.
    let freed = before - held();
    assert!(freed > 5 * VALUES * 98 / 100, "{freed} B were freed of values of {VALUES} B");
}

#[test]
fn s226_pages_that_come_and_go_leave_nothing() {
    let (mut room, first) = pages();
    warm_up(&mut room, &first);
    despawn(&mut room, &first);
    let held_after = |room: &mut Room| {
        let page = || Page { text: "a".repeat(TEXT), list: vec![7; LIST] };
        let pages: Vec<_> = (0..PAGES).map(|_| room.server.spawn(page())).collect();
        room.settle();
        warm_up(room, &pages);
        despawn(room, &pages);
        held()
    };
    let before = held_after(&mut room);
    let left = held_after(&mut room) - before;
    assert!(left < 2_000, "{left} B are left");
}
