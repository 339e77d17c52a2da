//! Tests how much memory a server needs for fast arrays and their connections: a constant amount for acked
//! items, and more for each changed item without an ack.
//!
//! *Invariant:* an allocator counts the bytes, and only while the server works. Memory of clients is not
//! counted.

use repl::prelude::*;
use repl::sim::Rng;

use crate::allocator::measure_given;
use crate::crowd::{Crowd, Link, fall_behind, further_growth, growth, per_array, per_connection, send_off};
use crate::support::{Guest, Room};

/// The most bytes of a connection if its client has everything: the connection itself, its entry in a map,
/// and some packet buffers.
const CONNECTION_BYTES: f64 = 10_240.0;
/// The most additional bytes that a connection may need, however many removals its client has not
/// acknowledged.
const LAGGARD_BYTES: isize = 262_144;
/// The most bytes for each item that was changed and is not acked.
const ITEM_BYTES: isize = 192;
/// The most bytes of packets and their records, not counting the items.
const RECORD_BYTES: isize = 16_384;

#[derive(Replicated, Default)]
struct Counter {
    #[replicated]
    count: u32,
}

/// Changes a hundred items again and again, and loses two packets of three.
fn lossy(crowd: &mut Crowd) {
    for tick in 0..300 {
        crowd.edit(tick % 10, 10, 1);
        crowd.tick(if tick % 3 == 0 { Link::Good } else { Link::Dead });
    }
}

#[test]
fn r11_a_client_with_everything_costs_the_same_for_any_length_and_history() {
    for len in [10, 1_000, 100_000] {
        let quiet = per_connection(1, len, |_| {});
        assert!(quiet <= CONNECTION_BYTES, "{quiet} bytes with an array of {len} items");
    }
    for len in [1_000, 100_000] {
        let events = |crowd: &mut Crowd| {
            lossy(crowd);
            fall_behind(crowd, 100, len / 10);
            crowd.thin_out(len / 2);
            fall_behind(crowd, 100, 10);
        };
        let worn = per_connection(1, len, events);
        assert!(worn <= CONNECTION_BYTES, "{worn} bytes after changes and losses in an array of {len} items");
    }
}

#[test]
fn r11_an_acknowledged_array_costs_a_connection_some_bits() {
    for len in [0, 10] {
        let bytes = per_array(len);
        assert!(bytes <= 2.0, "{bytes} bytes for each connection and array of {len} items");
    }
}

#[test]
fn w07_a_write_and_its_tick_allocate_the_same_for_any_length() {
    let given = [1_000, 10_000].map(|len| {
        let mut crowd = Crowd::new(1, len, 2);
        let mut write = || {
            crowd.edit(500, 1, 1);
            crowd.tick(Link::Good);
        };
        // The first writes look up the item for the first time and make the buffers large enough.
        (0..10).for_each(|_| write());
        measure_given(|| (0..10).for_each(|_| write())).1
    });
    assert_eq!(given[0], given[1], "bytes for an array of 1,000 and of 10,000 items");
}

#[test]
fn r11_unacked_changes_are_stored_once_for_all_connections() {
    for len in [10_000, 100_000] {
        for changed in [1, 1_000] {
            let events = |crowd: &mut Crowd| send_off(crowd, changed, len);
            let (alone, further) = (growth(len, 1, events), further_growth(len, events));
            let most = ITEM_BYTES * changed as isize + RECORD_BYTES;
            assert!(0 < alone && alone <= most, "{alone} bytes for {changed} of {len} items");
            assert!(further <= 8_192, "{further} bytes for another connection and {changed} of {len} items");
        }
    }
}

#[test]
fn r11_the_memory_for_a_silent_client_depends_on_the_changes_and_not_on_the_time() {
    for len in [1_000, 100_000] {
        for (ticks, spread) in [(100, len), (100, 100), (1_000, 100)] {
            let changed = (10 * ticks).min(spread) as isize;
            for connections in [1, 4] {
                let bytes = growth(len, connections, |crowd| fall_behind(crowd, ticks, spread));
                let each = bytes / connections as isize;
                let what = format!("{changed} of {len} items that changed in {ticks} ticks");
                assert!(each <= ITEM_BYTES * changed + RECORD_BYTES, "{each} bytes for {what}");
                assert!(each >= 8 * changed, "{each} bytes are too few for {what}");
            }
        }
    }
}

#[test]
fn r12_the_memory_for_missed_removals_is_capped() {
    for len in [10_000, 100_000] {
        for ticks in [1, 200, 1_000] {
            let further = further_growth(len, |crowd| {
                crowd.thin_out(len);
                crowd.tick(Link::Dead);
                fall_behind(crowd, ticks - 1, 10);
            });
            assert!(further <= LAGGARD_BYTES, "{further} bytes after every second of {len} items went");
        }
    }
}

#[test]
fn r06_who_hears_nothing_of_items_that_come_and_go_costs_no_more_with_time() {
    let lived = |ticks: usize| {
        growth(1_000, 4, |crowd| {
            for _ in 0..ticks {
                crowd.churn(20);
                crowd.tick(Link::Dead);
            }
        }) / 4
    };
    let (second, later) = (lived(60), lived(1_200));
    assert!(later <= second.max(LAGGARD_BYTES), "{second} bytes after a second, {later} after 20");
}

/// Returns the memory of two connections after many changes and losses, and a quiet time.
fn quiet_memory(connections_per_tick: usize) -> Vec<usize> {
    let config = ServerConfig { connections_per_tick, ..ServerConfig::default() };
    let (mut room, counters) = Room::furnished(
        config,
        |client| _ = client.register::<Counter>(),
        2,
        |server| (0..3_000).map(|_| server.spawn(Counter::default())).collect::<Vec<_>>(),
    );
    let mut rng = Rng::new(1);
    for count in 1..200 {
        counters.iter().filter(|_| rng.chance(0.3)).for_each(|&counter| room.server[counter].count = count);
        for (guest, mut packets) in room.tick().into_iter().enumerate() {
            packets.retain(|_| !rng.chance(0.4));
            room.deliver(guest, &packets);
        }
        room.acknowledge();
    }
    (0..1_000).for_each(|_| _ = room.step());
    let stats = |guest: &Guest| room.server.connection_info(guest.id).stats().expect("it is connected");
    room.guests.iter().map(|guest| stats(guest).memory_bytes).collect()
}

/// Memory is freed at the ends of rounds, which last an even number of ticks. So of two connections that take
/// turns, one never has its turn at the end of a round.
#[test]
fn r11_memory_is_freed_whoever_has_its_turn_in_that_tick() {
    let most = quiet_memory(usize::MAX).into_iter().max().unwrap_or_default();
    let bytes = quiet_memory(1);
    assert!(bytes.iter().all(|&bytes| bytes <= most + most / 4), "{bytes:?}, without turns {most}");
}
