//! Connections that have nothing to do for a while (that *rest*), in a world with few changes.
//!
//! *Invariant:* a connection that rests does everything as early as if every tick visited it.

use std::cell::Cell;
use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, DisconnectReason};

use crate::support::{Guest, Room, TICK, collect};

/// With this timeout the server sends a keep-alive packet only every 15 s. So a test notices if something
/// waits for the next keep-alive packet.
const LONG: Duration = Duration::from_secs(600);

#[derive(NetSerialize, Clone)]
struct Letter(String);

#[derive(Replicated, Default)]
struct Ship {
    #[replicated(location)]
    place: [f32; 2],
    #[replicated(max_len = 8_000)]
    name: String,
    #[replicated(condition = OwnerOnly)]
    course: u16,
}

fn ship(place: [f32; 2]) -> Ship {
    Ship { place, ..Ship::default() }
}

/// Returns a room with one client that has everything. So its connection rests.
fn room<T>(timeout: Duration, furnish: impl FnOnce(&mut Server) -> T) -> (Room, T) {
    let mut room = Room::new(ServerConfig { timeout, ..ServerConfig::default() }, |_| {});
    room.server.register_message::<Letter>(Channel::Ordered);
    let furniture = furnish(&mut room.server);
    let id = room.server.connect(room.now);
    let mut client = Client::new(ClientConfig { timeout, ..ClientConfig::default() }, Session::for_tests(1));
    client.register::<Ship>().register_message::<Letter>(Channel::Ordered);
    room.guests.push(Guest { client, id });
    room.settle();
    (0..20).for_each(|_| _ = room.step());
    (room, furniture)
}

/// Runs steps until `is_done` returns true, for at most ten seconds. Returns how many.
fn steps_until(room: &mut Room, is_done: impl Fn(&mut Room) -> bool) -> u32 {
    (0..625)
        .find(|_| {
            room.step();
            is_done(room)
        })
        .expect("it is done within ten seconds")
}

#[test]
fn messages_beyond_the_budget_of_a_tick_are_sent_in_the_next_ticks() {
    let (mut room, _) = room(LONG, |server| server.spawn(ship([0.0; 2])));
    let id = room.guests[0].id;
    room.server.connection(id).set_budget(2_000);
    for _ in 0..10 {
        room.server.connection(id).send(&Letter("x".repeat(200))).expect("there is room");
    }
    let arrivals = Cell::new(0);
    let steps = steps_until(&mut room, |room| {
        let letters = std::iter::from_fn(|| room.guests[0].client.poll_message::<Letter>());
        arrivals.set(arrivals.get() + u32::from(letters.count() > 0));
        room.server
            .connection_info(room.guests[0].id)
            .stats()
            .is_some_and(|stats| stats.bytes_sent > 2_000 && stats.packets_in_flight == 0)
    });
    assert!(steps < 67, "{steps} steps for a second's budget");
    assert_eq!(arrivals.get(), 10, "each is sent as soon as the budget allows it");
}

#[test]
fn a_large_value_beyond_the_budget_of_a_tick_is_sent_in_the_next_ticks() {
    let (mut room, ship) = room(LONG, |server| server.spawn(ship([0.0; 2])));
    room.server.connection(room.guests[0].id).set_budget(4_000);
    room.server[ship].name = "x".repeat(8_000);
    let steps =
        steps_until(&mut room, |room| room.client().get(ship).is_some_and(|ship| ship.name.len() == 8_000));
    assert!(steps < 130, "{steps} steps for two seconds' budget");
}

#[test]
fn s210_the_tear_off_of_an_object_with_a_hidden_change_is_told_at_once() {
    let (mut room, ship) = room(LONG, |server| server.spawn(ship([0.0; 2])));
    room.server[ship].course = 7;
    room.server.object(ship).tear_off();
    let steps = steps_until(&mut room, |room| room.server.object_info(ship).is_tear_off_known());
    assert!(steps < 6, "{steps} steps");
}

#[test]
fn a_viewpoint_follows_an_object_at_once_although_the_connection_rests() {
    let (mut room, [leader, far]) = room(LONG, |server| {
        server.class::<Ship>().set_area(Area::within(100.0));
        [0.0, 1_000.0].map(|x| server.spawn(ship([x, 0.0])))
    });
    let id = room.guests[0].id;
    // The followed object itself is not sent to the client.
    room.server.object(leader).set_relevancy(Relevancy::Nobody);
    room.server.connection(id).follow(leader);
    for round in 0..8 {
        room.settle();
        (0..round).for_each(|_| _ = room.step());
        let is_near = round % 2 == 0;
        room.server[leader].place[0] = if is_near { 1_000.0 } else { 0.0 };
        let steps = steps_until(&mut room, |room| room.client().get(far).is_some() == is_near);
        assert!(steps < 4, "{steps} steps in round {round}");
    }
}

#[test]
fn a_viewpoint_that_is_set_in_each_tick_shows_at_once_what_is_there() {
    let (mut room, far) = room(LONG, |server| {
        server.class::<Ship>().set_area(Area::within(100.0));
        server.spawn(ship([1_000.0, 0.0]))
    });
    let id = room.guests[0].id;
    for round in 0..8_u8 {
        for _ in 0..20 + round {
            room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
            room.step();
        }
        assert!(room.client().get(far).is_none());
        room.server.connection(id).set_viewpoints(&[[1_000.0, 0.0, 0.0]]);
        let steps = steps_until(&mut room, |room| room.client().get(far).is_some());
        assert!(steps < 4, "{steps} steps in round {round}");
    }
}

#[test]
fn r26_the_silence_of_a_client_is_noticed_in_time() {
    let timeout = Duration::from_secs(10);
    let (mut room, _) = room(timeout, |server| server.spawn(ship([0.0; 2])));
    // The client's last packet does not arrive at the time of a keep-alive packet.
    room.wait(Duration::from_millis(100));
    let (id, last) = (room.guests[0].id, room.now);
    let packets = room.replies(0);
    room.hear(0, &packets);
    let ended = loop {
        room.server.tick(room.now);
        collect(&mut room.server, id);
        if let Some(reason) = room.closed(0) {
            assert_eq!(reason, DisconnectReason::Timeout);
            break room.now;
        }
        room.wait(TICK);
    };
    assert!(ended - last <= timeout + TICK, "{:?}", ended - last);
}

#[test]
fn r09_a_connection_that_rests_sends_its_keep_alive_packets_when_one_does_that_every_tick_visits() {
    let times = |rests: bool| -> Vec<Duration> {
        let (mut room, _) = room(Duration::from_secs(60), |server| server.spawn(ship([0.0; 2])));
        let (id, start) = (room.guests[0].id, room.now);
        let mut times = Vec::new();
        while room.now - start < Duration::from_secs(50) {
            if !rests {
                // An empty packet has no effect, but the next tick visits the connection.
                room.server.receive(id, room.now, &[]);
            }
            let now = room.now - start;
            times.extend((!room.tick()[0].is_empty()).then_some(now));
        }
        times
    };
    let resting = times(true);
    assert!(resting.len() > 40, "{} packets", resting.len());
    assert_eq!(resting, times(false));
}
