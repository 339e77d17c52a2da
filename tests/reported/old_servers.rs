//! Reported: <https://github.com/cBournhonesque/lightyear/issues/482>,
//! <https://github.com/MirrorNetworking/Mirror/pull/2839>, and
//! <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/pull/1231>.
//!
//! After minutes or days counters wrap, or a time in a float has no precision left, and replication stops or
//! stutters. Users expect that the age of a server has no effect.

use std::time::Duration;

use repl::prelude::*;

use crate::step_losing;
use crate::support::{Guest, Room};

const TEN_YEARS: Duration = Duration::from_secs(10 * 365 * 86_400);

#[derive(Replicated, Default)]
struct Counter {
    #[replicated(notify = on_count)]
    count: u64,
    #[replicated]
    rare: u32,
    #[replicated]
    items: FastArray<u32>,
    notifies: u32,
}

impl Counter {
    fn on_count(&mut self) {
        self.notifies += 1;
    }
}

#[derive(NetSerialize, Clone, PartialEq, Debug)]
struct Note(u32);

fn register(side: &mut impl Register) {
    side.register::<Counter>().register_message::<Note>(Channel::Ordered);
}

/// Returns a room with one client, whose time begins at `now`. The packet numbers of both sides begin with
/// `first_sequence`.
fn room(first_sequence: u64, now: Duration) -> Room {
    let config = ServerConfig { first_sequence, ..ServerConfig::default() };
    let mut room = Room::new(config, register);
    register(&mut room.server);
    room.now = now;
    let config = ClientConfig { first_sequence, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(1));
    register(&mut client);
    let id = room.server.connect(now);
    room.guests.push(Guest { client, id });
    room
}

/// Changes objects for ten seconds, with losses in both directions, and compares what arrived.
fn live(first_sequence: u64, now: Duration) {
    let mut room = room(first_sequence, now);
    let object = room.server.spawn(Counter::default());
    let resting = room.server.spawn(Counter { rare: 1, ..Counter::default() });
    room.settle();
    let id = room.guests[0].id;
    for tick in 0..600 {
        room.server[object].count = tick;
        if tick % 40 == 0 {
            room.server[object].items.push(tick as u32);
            room.server.connection(id).send(&Note(tick as u32)).expect("there is room");
        }
        step_losing(&mut room, tick % 7 == 3, tick % 5 == 2);
    }
    room.server[resting].rare = 2;
    room.settle();
    let copy = &room.client()[object];
    assert_eq!((copy.count, copy.items.len(), room.client()[resting].rare), (599, 15, 2));
    assert!(room.client().clock().shown_tick().is_some());
    let notes: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_message::<Note>()).collect();
    assert_eq!(notes, (0..15).map(|at| Note(at * 40)).collect::<Vec<_>>());
}

#[test]
fn packet_numbers_pass_powers_of_two() {
    for exponent in [7, 8, 14, 15, 16, 31, 32, 48] {
        live((1 << exponent) - 60, Duration::ZERO);
    }
}

#[test]
fn a_server_of_ten_years_is_like_a_new_one() {
    live(0, TEN_YEARS);
    live((1 << 32) - 50, TEN_YEARS);
}

#[test]
fn the_clock_for_drawing_is_smooth_on_a_server_of_ten_years() {
    let mut room = room(0, TEN_YEARS);
    let object = room.server.spawn(Counter::default());
    let mut last = None;
    for tick in 0..400 {
        room.server[object].count += 1;
        room.step();
        let shown = room.client().clock().tick_at(room.now);
        if tick > 200 {
            let ticks = shown.zip(last).map_or(f64::NAN, |(shown, last)| shown - last);
            assert!((0.9..=1.1).contains(&ticks), "a step of {ticks} ticks");
        }
        last = shown;
    }
}

/// One object changes in each tick and is sent 140,000 times, so numbers of 16 bits wrap twice. Two others
/// rest all the time, one of them hidden, and then change.
#[test]
fn an_object_rests_while_sixteen_bits_wrap_twice_and_then_changes() {
    let mut room = room(0, Duration::ZERO);
    let object = room.server.spawn(Counter::default());
    let [resting, hidden] = [(); 2].map(|()| room.server.spawn(Counter { rare: 1, ..Counter::default() }));
    room.settle();
    let id = room.guests[0].id;
    room.server.object(hidden).set_visible(id, false);
    for count in 1..=140_000 {
        room.server[object].count = count;
        room.step();
    }
    room.server[resting].rare = 2;
    room.server[hidden].rare = 3;
    room.server.object(hidden).set_visible(id, true);
    room.settle();
    assert_eq!((room.client()[resting].rare, room.client()[hidden].rare), (2, 3));
    assert_eq!(room.client()[object].notifies, 140_000);
}
