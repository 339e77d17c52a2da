//! The server's tick and clock, as a client knows them from packets.
//!
//! *Invariant:* whatever packets are lost or late, a client never computes a wrong tick.

use repl::Interpolated;
use repl::prelude::*;

use crate::support::{Room, TICK};

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Player {
    #[replicated]
    health: u16,
    #[replicated]
    score: u16,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Chest {
    #[replicated]
    gold: u32,
}

fn register(client: &mut Client) {
    client.register::<Player>().register::<Chest>();
}

/// Returns a room with one client that has both objects.
fn room() -> (Room, ObjectRef<Player>, ObjectRef<Chest>) {
    let (room, (player, chest)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        (server.spawn(Player::default()), server.spawn(Chest::default()))
    });
    (room, player, chest)
}

#[test]
fn the_server_tick_is_that_of_the_newest_packet() {
    let (mut room, player, _) = room();
    for round in 0..600_u16 {
        if round % 7 != 0 {
            room.server[player].health = round;
        }
        let packets = room.tick_one();
        if round % 3 == 0 {
            continue;
        }
        room.deliver(0, &packets);
        if !packets.is_empty() {
            assert_eq!(room.client().server_tick(), Some(room.server.ticks()), "round {round}");
        }
        room.acknowledge();
    }
}

#[test]
fn a_value_is_drawn_between_the_ticks_of_the_server_as_the_clock_of_the_client_says() {
    let (mut room, player, _) = room();
    let mut score = Interpolated::new(4);
    for tick in 0..200_u16 {
        // In each tick of the server, the value is the number of the tick.
        room.server[player].score = room.server.ticks() as u16 + 1;
        let packets = room.tick_one();
        room.deliver(0, &packets);
        room.acknowledge();
        let client = room.client();
        score.push(client.server_tick().expect("a packet arrived"), f64::from(client[player].score));
        let shown = client.clock().shown_tick();
        assert!(shown.is_some() || tick < 7, "eight ticks are enough");
        if let Some(shown) = shown {
            assert_eq!(score.at(shown), Some(shown), "tick {tick}");
            assert!((room.server.ticks() as f64 - shown - 1.0).abs() < 0.1, "{shown} in tick {tick}");
        }
    }
    assert_eq!(room.client().clock().interval(), Some(TICK));
}

#[test]
fn a_packet_that_comes_late_does_not_turn_the_server_tick_back() {
    let (mut room, player, chest) = room();
    for round in 1..20 {
        // The packets are about different objects, so the client applies both, whatever their order.
        room.server[player].health = round;
        let first = room.tick_one();
        room.server[chest].gold = round.into();
        let second = room.tick_one();
        for packets in [&second, &first] {
            room.deliver(0, packets);
            assert_eq!(room.client().server_tick(), Some(room.server.ticks()), "round {round}");
        }
        assert_eq!((room.client()[player].health, room.client()[chest].gold), (round, round.into()));
        room.acknowledge();
    }
}

#[test]
fn the_server_tick_is_right_after_a_silence_around_the_span_of_its_short_form() {
    for silence in 254..259 {
        let (mut room, player, _) = room();
        let known = room.client().server_tick().expect("packets arrived");
        while room.server.ticks() < known + silence {
            room.acknowledge();
            room.tick();
        }
        room.server[player].health = 5;
        room.step();
        assert_eq!(room.client()[player].health, 5);
        assert_eq!(
            room.client().server_tick(),
            Some(room.server.ticks()),
            "{silence} ticks without a packet"
        );
    }
}

#[test]
fn a_time_that_goes_back_does_not_move_the_shown_tick() {
    let (mut room, player, _) = room();
    for _ in 0..60 {
        room.server[player].health += 1;
        let packets = room.tick_one();
        room.deliver(0, &packets);
        room.acknowledge();
    }
    let (now, shown) = (room.now, room.client().clock().shown_tick());
    for _ in 0..50 {
        for time in [now - TICK * 8, now] {
            room.now = time;
            room.replies(0);
            assert_eq!(room.client().clock().shown_tick(), shown, "at {time:?}, after {now:?}");
        }
    }
}
