//! How much memory a server needs for an object of 112 bytes: after its spawn, when clients have it, and
//! after many more ticks.
//!
//! *Invariant:* what the server needed only for spawns and joins is freed after some rounds of ticks.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::prelude::*;

use crate::allocator::{held, measure_given};
use crate::residents::{Moment, Resident, Town, per_object};

/// The ticks after which unused memory is freed.
const ROUND_TICKS: u32 = 256;

/// Asserts that each object needs at most `limits` bytes: with no client, with one client, and with 32
/// clients.
fn assert_at_most(objects: usize, moment: Moment, limits: [f64; 3]) {
    for (clients, limit) in [0, 1, 32].into_iter().zip(limits) {
        let bytes = per_object(objects, clients, moment);
        assert!(bytes > 224.0 && bytes <= limit, "{moment:?}, {clients} clients: {bytes:.0} B of {limit} B");
    }
}

#[test]
fn an_object_at_rest_takes_few_bytes_beside_itself_and_its_shadow() {
    assert_at_most(1_000, Moment::AtRest, [355.0, 360.0, 370.0]);
    assert_at_most(10_000, Moment::AtRest, [366.0, 368.0, 372.0]);
}

#[test]
fn an_object_among_few_that_change_takes_hardly_more_and_each_connection_some_pages() {
    assert_at_most(1_000, Moment::Busy, [355.0, 380.0, 920.0]);
    assert_at_most(10_000, Moment::Busy, [366.0, 375.0, 430.0]);
}

#[test]
fn an_object_that_was_spawned_or_sent_takes_what_lists_grow_by_and_its_encoded_values() {
    assert_at_most(1_000, Moment::Spawned, [360.0, 360.0, 390.0]);
    assert_at_most(10_000, Moment::Spawned, [570.0, 570.0, 600.0]);
    assert_at_most(1_000, Moment::Joined, [360.0, 580.0, 4_000.0]);
    assert_at_most(10_000, Moment::Joined, [570.0, 830.0, 3_900.0]);
}

#[test]
fn a_client_that_joins_a_server_at_rest_gets_all_objects_although_no_opening_is_kept() {
    let mut town = Town::new(300, 1);
    town.play_until(Moment::AtRest);
    town.connect();
    (0..10).for_each(|_| town.tick());
    let (_, client) = &town.clients[1];
    let stocks: Vec<u32> = client.objects::<Resident>().map(|(_, resident)| resident.stock[5]).collect();
    assert_eq!(stocks, (0..300).collect::<Vec<u32>>());
}

/// Returns how many bytes the server allocates when objects are spawned, after `ticks` ticks.
fn bytes_of_spawns(objects: usize, ticks: u32, prepare: impl FnOnce(&mut Server)) -> usize {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Resident>();
    prepare(&mut server);
    (1..=ticks).for_each(|tick| server.tick(Duration::from_millis(16) * tick));
    let (_, bytes) = measure_given(|| (0..objects).for_each(|_| _ = server.spawn(Resident::default())));
    bytes
}

#[test]
fn room_that_was_reserved_is_kept() {
    let reserve = |server: &mut Server| _ = server.class::<Resident>().reserve(5_000);
    let bytes = bytes_of_spawns(5_000, 3 * ROUND_TICKS, reserve);
    assert!(bytes < 5_000 * 8, "{bytes} B were allocated");
    assert!(bytes_of_spawns(5_000, 3 * ROUND_TICKS, |_| {}) > 5_000 * 300);
}

#[test]
fn objects_that_come_and_go_in_each_round_find_the_memory_of_the_last_one() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Resident>();
    let mut spawned = Vec::new();
    let mut bytes = 0;
    for tick in 1..=6 * ROUND_TICKS {
        if tick % ROUND_TICKS == 50 {
            let spawn = || spawned.extend((0..1_000).map(|_| server.spawn(Resident::default())));
            bytes = measure_given(spawn).1;
        }
        if tick % ROUND_TICKS == 150 {
            spawned.drain(..).for_each(|object| server.despawn(object));
        }
        server.tick(Duration::from_millis(16) * tick);
    }
    assert!(bytes < 10_000, "{bytes} B were allocated for objects that the server had in the last round");
}

/// Asserts that `Server::memory` reports most of the memory that the server has allocated for each object,
/// and not more. It does not report the lists that a tick uses.
fn assert_memory_is_known(clients: usize, moment: Moment) {
    const OBJECTS: usize = 10_000;
    let mut town = Town::new(OBJECTS, clients);
    town.play_until(moment);
    let memory = town.memory();
    let class = &memory.classes[0];
    assert_eq!((class.class, class.objects, memory.classes.len()), ("Resident", OBJECTS, 1));
    assert!(class.object_bytes >= OBJECTS * 112 && class.shadow_bytes >= OBJECTS * 112, "{memory:?}");
    let (known, all) = (memory.total_bytes() as f64 / OBJECTS as f64, per_object(OBJECTS, clients, moment));
    assert!(
        known < all * 1.02 && known > all * 0.85,
        "{moment:?}: {known:.0} B of {all:.0} B an object, {memory:?}"
    );
}

#[test]
fn the_memory_that_a_server_names_is_what_it_has_allocated() {
    assert_memory_is_known(0, Moment::Spawned);
    assert_memory_is_known(1, Moment::Joined);
    assert_memory_is_known(1, Moment::AtRest);
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Shop {
    name: String,
    wares: Vec<[u32; 4]>,
    prices: BTreeMap<u16, u64>,
    sold: FastArray<Sale>,
    best: Option<u32>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Sale {
    #[replicated]
    to: String,
    #[replicated]
    price: u64,
}

#[test]
fn the_elements_of_collections_are_counted_at_any_depth_in_objects_and_shadows() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Shop>();
    let before = held();
    let shop = Shop {
        name: "x".repeat(3_000),
        wares: vec![[7; 4]; 1_000],
        prices: (0..500).map(|key| (key, 1)).collect(),
        sold: (0..200).map(|price| Sale { to: "y".repeat(50), price }).collect(),
        best: Some(3),
    };
    let taken = (held() - before) as usize;
    let bytes = 3_000 + 16_000 + 500 * (8 + 2) + 200 * (size_of::<Sale>() + 50);
    assert!((bytes..bytes * 5 / 4).contains(&taken), "{taken} B were allocated for {bytes} B of elements");
    server.spawn(shop);
    let known = |server: &Server| server.memory().classes[0].element_bytes;
    assert_eq!(known(&server), bytes, "the shadow is empty");
    server.tick(Duration::from_millis(16));
    assert_eq!(known(&server), 2 * bytes);
}
