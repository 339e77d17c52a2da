//! Arrays and updates that are larger than a packet. Such updates are split and sent oldest change first, and
//! nothing is dropped (W8, R12, R15).
//!
//! *Invariant:* the configuration limits how much is sent at the same time, however much there is to send.

use repl::prelude::*;

use super::classes::{by_id, list};
use crate::support::{Guest, Room};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Grid {
    cells: FastArray<u16>,
}

fn room(config: ServerConfig, cells: u32) -> (Room, ObjectRef<Grid>) {
    let mut room = Room::new(config, |client| {
        client.register::<Grid>();
    });
    let grid = room.server.spawn(Grid { cells: (0..cells).map(|cell| cell as u16).collect() });
    (room, grid)
}

fn assert_same(room: &Room, guest: usize, grid: ObjectRef<Grid>) {
    let found = room.guests[guest].client.get(grid).expect("the client has it");
    assert_eq!(by_id(list(&found.cells)), by_id(list(&room.server[grid].cells)));
}

/// Runs some ticks, in which every `lost`th packet is lost.
fn lossy(room: &mut Room, ticks: usize, lost: usize) {
    let mut count = 0;
    for _ in 0..ticks {
        room.acknowledge();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            for packet in packets {
                count += 1;
                if count % lost != 0 {
                    room.deliver(guest, &[packet]);
                }
            }
        }
    }
}

#[test]
fn r15_twenty_thousand_items_reach_a_late_joiner_in_small_packets_under_loss() {
    let config = ServerConfig { mtu_bytes: 200, ..ServerConfig::default() };
    let (mut room, grid) = room(config, 20_000);
    room.enter();
    for at in 0..30 {
        lossy(&mut room, 2, 3);
        room.server[grid].cells.swap_remove(at * 100);
        room.server[grid].cells[at * 50] = 60_000;
    }
    room.settle();
    assert_same(&room, 0, grid);
}

#[test]
fn r15_changes_without_room_in_a_tick_wait_in_parts() {
    let config = ServerConfig { max_bytes_per_tick: 20_000, ..ServerConfig::default() };
    // The array has more bytes than a client accepts in fragments.
    let (mut room, grid) = room(config, 200_000);
    room.enter();
    room.settle();
    assert!(room.client().is_connected());
    assert_same(&room, 0, grid);
}

#[test]
fn w08_five_thousand_changes_of_one_tick_are_split_and_none_is_dropped() {
    let (mut room, grid) = room(ServerConfig::default(), 10_000);
    room.enter();
    room.settle();
    for at in 0..5_000 {
        room.server[grid].cells[at * 2] = 7;
    }
    for cell in room.tick_one() {
        assert!(cell.len() <= 1_200);
        room.deliver(0, &[cell]);
    }
    assert_same(&room, 0, grid);
    room.settle();
    assert_same(&room, 0, grid);
}

#[test]
fn w08_waiting_changes_are_sent_oldest_first() {
    let config = ServerConfig { max_bytes_per_tick: 600, ..ServerConfig::default() };
    let (mut room, grid) = room(config, 4_000);
    room.enter();
    room.settle();
    let shown = |room: &Room, at: usize| {
        let id = room.server[grid].cells.id(at).expect("an item");
        let found = room.client().get(grid).expect("the client has it");
        found.cells.by_id(id).copied()
    };
    // The newer changes have the lower ids. If the server sent changes by ascending id alone, the newer ones
    // would be sent first.
    for at in 3_000..4_000 {
        room.server[grid].cells[at] = 50_000;
    }
    room.step();
    for at in 0..1_000 {
        room.server[grid].cells[at] = 50_001;
    }
    for _ in 0..200 {
        room.step();
        let old_wait = (3_000..4_000).any(|at| shown(&room, at) != Some(50_000));
        let new_shown = (0..1_000).filter(|&at| shown(&room, at) == Some(50_001)).count();
        assert!(!old_wait || new_shown == 0, "{new_shown} newer ones overtook");
    }
    room.settle();
    assert_same(&room, 0, grid);
}

#[test]
fn r06_an_update_larger_than_the_window_continues_as_acks_arrive() {
    let config = ServerConfig { mtu_bytes: 160, max_packets_in_flight: 16, ..ServerConfig::default() };
    let (mut room, grid) = room(config, 5_000);
    room.enter();
    room.settle();
    room.server[grid].cells.iter_mut().for_each(|mut cell| *cell = cell.wrapping_add(9));
    let packets = room.tick_one();
    assert!(packets.len() <= 24, "{} packets in one tick", packets.len());
    room.deliver(0, &packets);
    room.settle();
    assert_same(&room, 0, grid);
}

#[test]
fn s152_the_removal_of_all_takes_a_few_bits() {
    let (mut room, grid) = Room::measuring(|| room(ServerConfig::default(), 20_000));
    room.enter();
    room.settle();
    let before = room.received::<Grid>(0, "cells").1;
    room.server[grid].cells.clear();
    room.settle();
    assert_same(&room, 0, grid);
    let bits = room.received::<Grid>(0, "cells").1 - before;
    assert!(bits <= 16, "{bits} bits");
    // In these cases some packets are lost, or items are added.
    room.server[grid].cells.extend(0..3_000);
    lossy(&mut room, 3, 2);
    room.server[grid].cells.clear();
    room.server[grid].cells.extend(0..10);
    lossy(&mut room, 10, 2);
    room.settle();
    assert_same(&room, 0, grid);
}

#[test]
fn w08_four_thousand_removals_in_a_tick_are_all_sent() {
    let (mut room, grid) = room(ServerConfig { mtu_bytes: 300, ..ServerConfig::default() }, 10_000);
    room.enter();
    room.settle();
    let mut number = 0;
    room.server[grid].cells.retain(|_| {
        number += 1;
        number % 5 < 3
    });
    lossy(&mut room, 10, 2);
    room.settle();
    assert_same(&room, 0, grid);
}

#[test]
fn r12_a_client_far_behind_receives_the_existing_ids_instead_of_all_removals() {
    let (mut room, grid) = Room::measuring(|| room(ServerConfig::default(), 6_000));
    room.enter();
    room.enter();
    room.settle();
    // The second client receives nothing while every second item is removed over many ticks.
    for round in 0..60 {
        for at in 0..40 {
            room.server[grid].cells.remove(5_900 - round * 80 - at * 2);
        }
        room.server[grid].cells[round] = 40_000;
        let packets = room.tick();
        room.deliver(0, &packets[0]);
        let said = room.replies(0);
        room.hear(0, &said);
    }
    let before = room.received::<Grid>(1, "cells").1;
    room.settle();
    assert_same(&room, 0, grid);
    assert_same(&room, 1, grid);
    let bytes = (room.received::<Grid>(1, "cells").1 - before) / 8;
    assert!(bytes < 3_600, "{bytes} bytes for a list of 3,600 items");
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Shelf {
    texts: FastArray<String>,
}

#[test]
fn r15_large_items_share_fragments_up_to_32_kib_however_large_objects_may_be() {
    // With this limit, an eighth of what an object may take is far more than 32 KiB.
    let max_object_bytes = 2 << 20;
    let mut room = Room::new(ServerConfig { max_object_bytes, ..ServerConfig::default() }, |_| {});
    let shelf = room.server.spawn(Shelf::default());
    let id = room.server.connect(room.now);
    let mut client =
        Client::new(ClientConfig { max_object_bytes, ..ClientConfig::default() }, Session::for_tests(1));
    client.register::<Shelf>();
    room.guests.push(Guest { client, id });
    room.settle();
    room.server[shelf].texts.extend((0..100).map(|number| format!("{number:02000}")));
    let (mut before, mut most) = (0, 0);
    while before < 100 {
        room.step();
        let texts = room.client()[shelf].texts.len();
        (before, most) = (texts, most.max(texts - before));
    }
    assert!((14..=16).contains(&most), "{most} texts of 2,000 bytes arrived together");
}
