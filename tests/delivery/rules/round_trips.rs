//! R9 on slow links that lose nothing.
//!
//! *Invariant:* each packet arrives exactly half a round trip after it was made.

use std::collections::VecDeque;
use std::time::Duration;

use repl::prelude::*;

use super::{Thing, thing, things};
use crate::support::{Guest, Packets, Room, TICK};

/// The timeout of both sides, longer than every round trip here.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A room with a long delay for all packets.
struct SlowRoom {
    room: Room,
    one_way: Duration,
    to_client: VecDeque<(Duration, Vec<u8>)>,
    to_server: VecDeque<(Duration, Vec<u8>)>,
    /// How many packets with state the server has made.
    packets: usize,
}

/// Removes and returns the packets that have arrived by `now`.
fn arrived(link: &mut VecDeque<(Duration, Vec<u8>)>, now: Duration) -> Packets {
    let count = link.partition_point(|(at, _)| *at <= now);
    link.drain(..count).map(|(_, packet)| packet).collect()
}

impl SlowRoom {
    fn new(round_trip: Duration) -> Self {
        let mut room = Room::new(ServerConfig { timeout: TIMEOUT, ..ServerConfig::default() }, things);
        let mut client =
            Client::new(ClientConfig { timeout: TIMEOUT, ..ClientConfig::default() }, Session::for_tests(5));
        things(&mut client);
        room.server.register::<Thing>();
        let id = room.server.connect(room.now);
        room.guests.push(Guest { client, id });
        let (to_client, to_server) = (VecDeque::new(), VecDeque::new());
        Self { room, one_way: round_trip / 2, to_client, to_server, packets: 0 }
    }

    fn step(&mut self) {
        let Self { room, one_way, to_client, to_server, packets } = self;
        let now = room.now;
        let acks = arrived(to_server, now);
        room.hear(0, &acks);
        let made = room.tick_one();
        *packets += made.iter().filter(|packet| packet.len() > 24).count();
        to_client.extend(made.into_iter().map(|packet| (now + *one_way, packet)));
        let state = arrived(to_client, now);
        room.deliver(0, &state);
        to_server.extend(room.replies(0).into_iter().map(|packet| (now + *one_way, packet)));
    }

    fn run(&mut self, time: Duration) {
        let end = self.room.now + time;
        while self.room.now < end {
            self.step();
        }
    }
}

#[test]
fn r09_any_round_trip_up_to_30_s_converges_and_falls_silent() {
    for seconds in [0.0, 0.5, 2.0, 4.0, 4.2, 6.0, 10.0, 15.0, 30.0] {
        let round_trip = Duration::from_secs_f64(seconds);
        let mut slow = SlowRoom::new(round_trip);
        let all: Vec<_> = (0..60).map(|_| slow.room.server.spawn(thing(0))).collect();
        // Two objects change in each tick for a while, and others are spawned and despawned.
        let busy_until = round_trip * 3 + Duration::from_secs(5);
        let mut born = Vec::new();
        while slow.room.now < busy_until {
            let now = slow.room.now;
            let server = &mut slow.room.server;
            server[all[0]].a += 1;
            server[all[1]].list.push(7);
            server[all[1]].list.truncate(20);
            if now.as_millis().is_multiple_of(320) {
                born.push(server.spawn(thing(now.as_millis() as u32)));
            }
            if born.len() > 10 {
                server.despawn(born.remove(0));
            }
            slow.step();
        }
        slow.run(round_trip * 3 + Duration::from_secs(2));
        for &object in all.iter().chain(&born) {
            let here = slow.room.client().get(object);
            assert_eq!(here, slow.room.server.get(object), "at a round trip of {seconds} s");
        }
        assert_eq!(slow.room.client().objects::<Thing>().count(), all.len() + born.len());
        let before = slow.packets;
        slow.run(round_trip + Duration::from_secs(5));
        assert_eq!(slow.packets, before, "at a round trip of {seconds} s it never falls silent");
        let stats =
            slow.room.server.connection_info(slow.room.guests[0].id).stats().expect("it is connected");
        assert!(stats.round_trip.abs_diff(round_trip) <= TICK * 4, "{:?} for {seconds} s", stats.round_trip);
    }
}
