//! A rate control of the user decides how much is sent in a tick.

use std::time::Duration;

use crate::support::Room;
use repl::prelude::*;
use repl::{CongestionControl, RateControl};

#[derive(Replicated, Default)]
struct Crate {
    #[replicated]
    weight: u64,
}

/// Allows a fixed number of packets of the greatest size in each tick.
#[derive(Debug)]
struct Metronome {
    packet_bytes: usize,
    left: usize,
    sent: u64,
    acked: u64,
}

const PACKETS: usize = 2;

impl RateControl for Metronome {
    fn begin_pass(&mut self, _: Duration, _: u32) {
        self.left = PACKETS * self.packet_bytes;
    }

    fn has_rested(&mut self, _: Duration) {}

    fn sent(&mut self, packet: u64, bytes: usize, _: Duration) {
        assert!(bytes <= self.left && packet >= self.sent, "packets come in order, and only with room");
        (self.left, self.sent) = (self.left - self.packet_bytes, packet);
    }

    fn arrived(&mut self, packet: u64, _: usize) {
        assert!(packet <= self.sent);
    }

    fn lost(&mut self, _: u64, _: usize) {
        panic!("no packet is lost in this test");
    }

    fn arrived_late(&mut self, _: usize) {}

    fn acked(&mut self, newest: u64, _: Duration) {
        assert!(newest >= self.acked && newest <= self.sent);
        self.acked = newest;
    }

    fn end_pass(&mut self, _: Duration, _: bool) {}

    fn room_bytes(&self) -> usize {
        self.left
    }

    fn loses_most(&self) -> bool {
        false
    }

    fn reset(&mut self) {}
}

fn metronome(packet_bytes: usize) -> Box<dyn RateControl> {
    Box::new(Metronome { packet_bytes, left: 0, sent: 0, acked: 0 })
}

#[test]
fn a_rate_control_of_the_user_spreads_what_it_has_no_room_for_over_ticks() {
    let congestion_control = CongestionControl::Custom(metronome);
    let config = ServerConfig { mtu_bytes: 300, congestion_control, ..ServerConfig::default() };
    let mut room = Room::paced(config, |client| _ = client.register::<Crate>());
    let crates: Vec<_> = (0..400).map(|weight| room.server.spawn(Crate { weight: !weight })).collect();
    room.enter();
    let mut most = 0;
    for _ in 0..60 {
        let packets = room.tick_one();
        most = most.max(packets.len());
        room.deliver(0, &packets);
        let replies = room.replies(0);
        room.hear(0, &replies);
    }
    assert_eq!(most, PACKETS);
    let client = room.client();
    assert!(
        crates.iter().all(|&it| client.get(it).is_some_and(|copy| copy.weight == room.server[it].weight))
    );
}
