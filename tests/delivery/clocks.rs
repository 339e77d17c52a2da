//! Times that are not the time since a fixed start: debug builds panic with a hint.
//!
//! *Invariant:* a time that never decreases, or decreases only seldom, never causes a panic.
#![cfg(debug_assertions)]

use std::time::Duration;

use repl::prelude::*;

use crate::support::{Guest, Room, collect};

#[derive(Replicated, Default)]
struct Lamp {
    #[replicated]
    light: u32,
}

const HOUR: Duration = Duration::from_secs(3_600);

fn room() -> Room {
    let register = |client: &mut Client| _ = client.register::<Lamp>();
    Room::furnished(ServerConfig::default(), register, 1, |server| _ = server.spawn(Lamp::default())).0
}

/// Returns the times of the frames of a program that draws 60 frames in a second.
fn frames() -> impl Iterator<Item = Duration> {
    (0..5_000_u64).map(|frame| Duration::from_micros(16_000 + frame * 7_919 % 1_500))
}

/// Runs a tick of both sides and exchanges their packets. The server's time is `of_server`, the client's is
/// `of_client`.
fn exchange(room: &mut Room, of_server: Duration, of_client: Duration) {
    let Guest { client, id } = &mut room.guests[0];
    while let Some(packet) = client.poll_transmit() {
        room.server.receive(*id, of_server, packet);
    }
    for packet in collect(&mut room.server, *id) {
        client.receive(of_client, &packet).ok();
    }
}

#[test]
#[should_panic(expected = "`Server::tick` went back 100 times: pass the time since a fixed start")]
fn a_server_that_gets_the_times_of_frames_panics_with_a_hint() {
    let mut server = Server::new(ServerConfig::default());
    frames().for_each(|frame| server.tick(frame));
}

#[test]
#[should_panic(expected = "`Client::tick` went back 100 times: pass the time since a fixed start")]
fn a_client_that_gets_the_times_of_frames_panics_with_a_hint() {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    frames().for_each(|frame| client.tick(frame));
}

#[test]
#[should_panic(
    expected = "`Server::tick` got the same time, 16ms, in 1000 ticks in a row: pass the time since a fixed start"
)]
fn a_server_that_always_gets_the_same_time_panics_with_a_hint() {
    let register = |client: &mut Client| _ = client.register::<Lamp>();
    let mut room = Room::new(ServerConfig::default(), register);
    let lamp = room.server.spawn(Lamp::default());
    room.enter();
    for tick in 0..2_000 {
        let (frame, now) = (Duration::from_millis(16), Duration::from_millis(16 * tick));
        room.server[lamp].light += 1;
        room.guests[0].client.tick(now);
        room.server.tick(frame);
        exchange(&mut room, frame, now);
    }
}

#[test]
#[should_panic(
    expected = "`Client::tick` got the same time, 16ms, in 1000 ticks in a row: pass the time since a fixed start"
)]
fn a_client_that_always_gets_the_same_time_panics_with_a_hint() {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    (0..2_000).for_each(|_| client.tick(Duration::from_millis(16)));
}

#[test]
#[should_panic(
    expected = "was passed to it or to `receive` before: pass the time since one fixed start, always of the same clock"
)]
fn a_client_with_two_clocks_panics_with_a_hint() {
    let mut room = room();
    for tick in 0..200 {
        let now = Duration::from_millis(60_000 + tick * 16);
        room.server.tick(now);
        exchange(&mut room, now, now + HOUR);
        room.guests[0].client.tick(now);
    }
}

#[test]
#[should_panic(
    expected = "was passed to it or to `receive` before: pass the time since one fixed start, always of the same clock"
)]
fn a_server_with_two_clocks_panics_with_a_hint() {
    let mut room = room();
    for tick in 0..200 {
        let now = Duration::from_millis(60_000 + tick * 16);
        room.guests[0].client.tick(now);
        exchange(&mut room, now + HOUR, now);
        room.server.tick(now);
    }
}

#[test]
fn a_server_that_receives_nothing_needs_no_clock() {
    let mut server = Server::new(ServerConfig::default());
    server.connect(Duration::ZERO);
    (0..5_000).for_each(|_| server.tick(Duration::from_secs(7)));
    let mut room = room();
    for _ in 0..2_000 {
        room.server.tick(room.now);
        collect(&mut room.server, room.guests[0].id);
    }
}

#[test]
fn times_that_step_back_seldom_are_no_mistake() {
    let mut room = room();
    for step in 0..5_000_u64 {
        if step.is_multiple_of(100) {
            room.now = room.now.saturating_sub(Duration::from_secs(4));
        }
        room.step();
    }
    // Several ticks may have the same time.
    for _ in 0..5 {
        room.wait(Duration::from_millis(16));
        for _ in 0..900 {
            let now = room.now;
            room.step();
            room.now = now;
        }
    }
}
