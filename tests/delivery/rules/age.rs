//! R6, R20: a repeated packet has no effect, however late it is.
//!
//! *Invariant:* each repeated packet was accepted the first time.

use std::time::Duration;

use repl::prelude::*;

use super::{copy, one_thing};
use crate::support::{Packets, Room, TICK};

/// After how many further packets a packet is repeated. At some of these distances, the 16 bits of its packet
/// number would mean another packet.
const DISTANCES: [usize; 8] = [1_025, 32_767, 32_769, 40_000, 65_535, 65_536, 65_537, 70_000];
/// How many packets are repeated at each distance.
const COPIES: usize = 40;

/// A client and a server that exchange one packet in each direction in each tick.
struct Match {
    room: Room,
    object: ObjectRef<super::Thing>,
    down: Packets,
    up: Packets,
}

impl Match {
    fn new() -> Self {
        let (room, object) = one_thing();
        Self { room, object, down: Packets::new(), up: Packets::new() }
    }

    /// Runs one tick with a change and an ack.
    fn step(&mut self) {
        self.room.server[self.object].a += 1;
        let packets = self.room.tick_one();
        self.room.deliver(0, &packets);
        let acks = self.room.replies(0);
        self.room.hear(0, &acks);
        assert_eq!((packets.len(), acks.len()), (1, 1));
        self.down.extend(packets);
        self.up.extend(acks);
    }

    fn last(packets: &Packets, distance: usize) -> &[Vec<u8>] {
        &packets[packets.len() - distance - COPIES..packets.len() - distance]
    }
}

#[test]
fn r06_packets_that_come_again_up_to_70_000_later_do_nothing_to_a_client() {
    let mut played = Match::new();
    while played.down.len() < 70_100 {
        played.step();
    }
    for distance in DISTANCES {
        let shown = copy(&played.room, played.object);
        let old = Match::last(&played.down, distance).to_vec();
        let now = played.room.now;
        for packet in &old {
            // A game goes on if `receive` returns `Damaged`: the packet is damaged or too old.
            let result = played.room.guests[0].client.receive(now, packet);
            assert!(matches!(result, Ok(()) | Err(repl::ReceiveError::Damaged)), "{distance}: {result:?}");
        }
        assert_eq!(copy(&played.room, played.object), shown, "{distance} packets later");
        let said = played.room.replies(0);
        assert!(said.is_empty(), "{distance} packets later they are acked: {said:?}");
        for _ in 0..COPIES {
            played.step();
        }
        let ship = played.object;
        assert_eq!(copy(&played.room, ship).a, played.room.server[ship].a);
    }
}

#[test]
fn r06_packets_that_come_again_up_to_70_000_later_do_nothing_to_a_server() {
    let mut played = Match::new();
    while played.up.len() < 70_100 {
        played.step();
    }
    for distance in DISTANCES {
        // A packet is in flight. An old ack that is repeated must not acknowledge it.
        played.room.server[played.object].a += 1;
        let under_way = played.room.tick_one();
        assert_eq!(played.room.in_flight(0), 1);
        let old = Match::last(&played.up, distance).to_vec();
        played.room.hear(0, &old);
        assert_eq!(played.room.closed(0), None, "{distance} packets later");
        assert_eq!(played.room.in_flight(0), 1, "{distance} packets later");
        played.room.deliver(0, &under_way);
        for _ in 0..COPIES {
            played.step();
        }
        assert_eq!(played.room.in_flight(0), 0);
    }
}

#[test]
fn packets_that_come_again_keep_no_connection_alive() {
    let mut played = Match::new();
    (0..10).for_each(|_| played.step());
    let (down, up) = (played.down.clone(), played.up.clone());
    let mut waited = Duration::ZERO;
    while waited <= ServerConfig::default().timeout {
        let now = played.room.now;
        down.iter().for_each(|packet| drop(played.room.guests[0].client.receive(now, packet)));
        played.room.hear(0, &up);
        // The client's replies are lost.
        played.room.replies(0);
        played.room.tick_one();
        played.room.wait(TICK * 20);
        waited += TICK * 21;
    }
    played.room.replies(0);
    played.room.tick_one();
    assert!(!played.room.client().is_connected());
    assert_eq!(played.room.server.connections().count(), 0);
}
