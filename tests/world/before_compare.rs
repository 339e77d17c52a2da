//! Functions that prepare objects before they are compared.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use repl::prelude::*;
use repl::{Dormancy, UpdateRate};

use crate::support::Room;

/// A vehicle whose physics are not replicated.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Truck {
    #[replicated]
    place: f32,
    #[replicated(push)]
    gear: u32,
    /// What the physics engine has computed.
    engine: f32,
}

/// An object whose only properties are `push` properties.
#[derive(Replicated, Default)]
struct Clock {
    #[replicated(push)]
    hour: u32,
    turns: u32,
}

fn register(client: &mut Client) {
    client.register::<Truck>().register::<Clock>();
}

/// Returns a room with one guest and some trucks, and counts how often a truck is prepared.
fn room(trucks: usize) -> (Room, Vec<ObjectRef<Truck>>, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (room, trucks) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Clock>();
        server.class::<Truck>().before_compare(move |truck| {
            counted.fetch_add(1, Ordering::Relaxed);
            let (place, gear) = (truck.engine * 2.0, truck.engine as u32 / 10);
            truck.place(place).gear(gear);
        });
        (0..trucks).map(|_| server.spawn(Truck::default())).collect::<Vec<_>>()
    });
    calls.store(0, Ordering::Relaxed);
    (room, trucks, calls)
}

#[test]
fn s238_an_object_is_prepared_once_in_each_tick_that_compares_it_and_the_result_is_sent() {
    let (mut room, trucks, calls) = room(100);
    for turn in 1..=30_u16 {
        let engine = f32::from(turn);
        trucks.iter().take(70).for_each(|&truck| {
            room.server[truck].engine = engine;
            room.server[truck].engine = engine;
        });
        room.step();
        assert_eq!(calls.swap(0, Ordering::Relaxed), 70, "once for each that was touched");
        let shown = &room.client()[trucks[3]];
        assert_eq!((shown.place, shown.gear), (engine * 2.0, u32::from(turn) / 10), "in the same tick");
    }
    room.settle();
    assert_eq!(calls.load(Ordering::Relaxed), 0, "nobody touches them");
    room.server.object(trucks[99]).force_update();
    room.step();
    assert_eq!(calls.load(Ordering::Relaxed), 1, "it was asked for");
}

#[test]
fn s238_what_is_not_compared_is_not_prepared() {
    let (mut room, trucks, calls) = room(4);
    let [asleep, slow, paused, torn_off] = [0, 1, 2, 3].map(|at| trucks[at]);
    room.server.object(asleep).set_dormancy(Dormancy::All);
    room.server.object(slow).set_update_rate(Some(UpdateRate::every(Duration::from_secs(1_000))));
    room.server.object(torn_off).tear_off();
    room.settle();
    assert!(room.client().object_info(asleep).is_asleep());
    room.server.object(paused).set_paused(true);
    (0..100).for_each(|_| _ = room.step());
    calls.store(0, Ordering::Relaxed);
    for turn in 1..20 {
        [slow, paused, torn_off].into_iter().for_each(|truck| room.server[truck].engine = turn as f32);
        room.step();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(room.server[torn_off].place, 0.0, "its last state stays");
    room.server[asleep].engine = 8.0;
    room.server.object(slow).force_update();
    room.server.object(paused).set_paused(false);
    room.step();
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert_eq!([asleep, slow, paused].map(|truck| room.client()[truck].place), [16.0, 38.0, 38.0]);
    assert!(!room.client().object_info(asleep).is_asleep(), "a change that the function made wakes it");
}

#[test]
fn s238_a_new_object_and_a_removed_one_are_prepared() {
    let (mut room, trucks, calls) = room(1);
    let new = room.server.spawn(Truck { engine: 40.0, ..Truck::default() });
    room.step();
    assert_eq!(
        (calls.load(Ordering::Relaxed), room.client()[new].clone()),
        (1, Truck { place: 80.0, gear: 4, engine: 0.0 })
    );
    room.settle();
    while room.guests[0].client.poll_update().is_some() {}
    room.server[trucks[0]].engine = 50.0;
    room.server.despawn(trucks[0]);
    room.step();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let last = room.client().object_info(trucks[0]).departed().map(|last| (last.place, last.gear));
    assert_eq!(last, Some((100.0, 5)), "it goes with what the function wrote");
}

#[test]
fn s238_the_function_reads_other_state_and_classes_without_one_are_left_alone() {
    let (mut room, _, calls) = room(1);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let clock = room.server.spawn(Clock::default());
    room.settle();
    calls.store(0, Ordering::Relaxed);
    room.server[clock].turns = 5;
    room.step();
    assert_eq!((room.client()[clock].hour, calls.load(Ordering::Relaxed)), (0, 0));
    let list = Arc::clone(&seen);
    room.server.class::<Clock>().before_compare(move |clock| {
        list.lock().expect("nobody panics").push(clock.turns);
        let hour = clock.turns % 12;
        clock.hour(hour);
    });
    for turns in [7, 13] {
        room.server[clock].turns = turns;
        room.step();
    }
    assert_eq!(*seen.lock().expect("nobody panics"), [7, 13]);
    assert_eq!(room.client()[clock].hour, 1, "a `push` property is marked by its setter");
}

#[test]
#[should_panic = "live outside the server"]
fn a_function_for_objects_that_the_server_does_not_own_is_refused() {
    let mut server = Server::new(ServerConfig::default());
    server.register_external::<Truck>();
    server.class::<Truck>().before_compare(|_| ());
}
