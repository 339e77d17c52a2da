//! Paths that silently drop packets above a size. They are detected in seconds, and no other path is mistaken
//! for such a path.
//!
//! *Invariant:* all packets go through the simulator.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Loss, Rng};
use repl::{CongestionControl, DisconnectReason};

use crate::linked::{HZ, Linked};

const OBJECTS: usize = 60;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Beacon {
    #[replicated]
    number: u64,
    #[replicated(max_len = 20_000)]
    logbook: Vec<u8>,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Report(#[replicated(max_len = 20_000)] Vec<u8>);

fn register(side: &mut impl Register) {
    side.register::<Beacon>().register_message::<Report>(Channel::Ordered);
}

/// A world with small changes in each tick, and large changes from time to time. Both sides send.
struct Coast {
    linked: Linked,
    beacons: Vec<ObjectRef<Beacon>>,
    rng: Rng,
    tick: u64,
    /// The events that told a side which packet size its path carries, each with its time.
    at_server: Vec<(Duration, usize)>,
    at_client: Vec<(Duration, usize)>,
    ends: Vec<DisconnectReason>,
    reports: (u64, u64),
}

impl Coast {
    fn new(seed: u64, mtu_bytes: usize, down: LinkConditions, up: LinkConditions) -> Self {
        Self::with(seed, CongestionControl::Paced, mtu_bytes, down, up)
    }

    fn with(
        seed: u64,
        congestion_control: CongestionControl,
        mtu_bytes: usize,
        down: LinkConditions,
        up: LinkConditions,
    ) -> Self {
        let mut server =
            Server::new(ServerConfig { mtu_bytes, congestion_control, ..ServerConfig::default() });
        register(&mut server);
        let config = ClientConfig { mtu_bytes, reconnects: false, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(seed + 1));
        register(&mut client);
        let beacons = (0..OBJECTS).map(|_| server.spawn(Beacon::default())).collect();
        let mut linked = Linked::new(server, seed);
        linked.connect(client, down, up);
        let (at_server, at_client, ends) = (Vec::new(), Vec::new(), Vec::new());
        Self { linked, beacons, rng: Rng::new(seed), tick: 0, at_server, at_client, ends, reports: (0, 0) }
    }

    fn set_conditions(&mut self, down: LinkConditions, up: LinkConditions) {
        let (to_client, back) = (self.linked.guests[0].down, self.linked.guests[0].up);
        self.linked.network.set_conditions(to_client, down);
        self.linked.network.set_conditions(back, up);
    }

    fn tick(&mut self, changes: bool) {
        self.tick += 1;
        if changes {
            let beacon = *self.rng.pick(&self.beacons).expect("a beacon");
            self.linked.server[beacon].number = self.tick;
            if self.tick.is_multiple_of(40) {
                let len = self.rng.range(200..6_000);
                self.linked.server[beacon].logbook = vec![self.tick as u8; len as usize];
            }
            if self.tick.is_multiple_of(50) {
                let report = Report(vec![self.tick as u8; self.rng.range(100..5_000) as usize]);
                self.reports.0 += u64::from(self.linked.guests[0].client.send(&report).is_ok());
            }
        }
        self.linked.tick();
        let now = self.linked.clock.now();
        self.reports.1 += std::iter::from_fn(|| self.linked.server.poll_message::<Report>()).count() as u64;
        while let Some(event) = self.linked.server.poll_event() {
            match event {
                ServerEvent::PacketBytesChanged(_, bytes) => self.at_server.push((now, bytes)),
                ServerEvent::Disconnected(_, reason) => self.ends.push(reason),
                _ => {}
            }
        }
        while let Some(event) = self.linked.guests[0].client.poll_event() {
            match event {
                ClientEvent::PacketBytesChanged(bytes) => self.at_client.push((now, bytes)),
                ClientEvent::Disconnected(reason) => self.ends.push(reason),
                _ => {}
            }
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.linked.clock.now() + time;
        while self.linked.clock.now() < end && self.ends.is_empty() {
            self.tick(true);
        }
    }

    /// Runs without changes until the client has everything, and the server has all reports. Returns how long
    /// it took.
    fn settle(&mut self, longest: Duration) -> Option<Duration> {
        let start = self.linked.clock.now();
        while self.linked.clock.now() < start + longest {
            let Linked { server, guests, .. } = &self.linked;
            let has = |beacon: &&ObjectRef<Beacon>| guests[0].client.get(**beacon) == Some(&server[**beacon]);
            if self.beacons.iter().filter(has).count() == OBJECTS && self.reports.0 == self.reports.1 {
                return Some(self.linked.clock.now() - start);
            }
            self.tick(false);
        }
        None
    }
}

fn link(latency_ms: u64, loss: f64) -> LinkConditions {
    let latency = Duration::from_millis(latency_ms);
    LinkConditions { latency, loss: Loss::Independent(loss), ..LinkConditions::perfect() }
}

fn narrow(mtu_bytes: usize, link: LinkConditions) -> LinkConditions {
    LinkConditions { mtu_bytes, ..link }
}

#[test]
fn a_path_that_carries_less_than_both_sides_receive_is_found_in_seconds_and_everything_arrives() {
    for (mtu_bytes, carried) in [(1_200, 1_130), (1_200, 1_100), (1_200, 600), (1_200, 508), (1_450, 1_222)] {
        for (latency, loss, longest) in
            [(0, 0.0, 5), (20, 0.0, 6), (150, 0.0, 15), (20, 0.05, 8), (20, 0.2, 25)]
        {
            let conditions = narrow(carried, link(latency, loss));
            let mut coast = Coast::new(carried as u64, mtu_bytes, conditions, conditions);
            coast.run(Duration::from_secs(30));
            let what = format!("{carried} of {mtu_bytes} bytes, {latency} ms, {loss}");
            for found in [&coast.at_server, &coast.at_client] {
                let (at, bytes) = *found.first().unwrap_or_else(|| panic!("not found: {what}"));
                assert!(bytes <= carried && (loss > 0.0 || bytes + 33 > carried), "{bytes} bytes: {what}");
                assert!(bytes >= 508, "{bytes} bytes: {what}");
                assert!(at < Duration::from_secs(longest), "{at:?}: {what}");
            }
            assert!(coast.settle(Duration::from_secs(60)).is_some(), "{what}");
            assert_eq!(coast.ends, [], "{what}");
        }
    }
}

#[test]
fn a_path_that_becomes_narrow_and_wide_again_is_followed() {
    let (wide, small) = (link(20, 0.01), narrow(900, link(20, 0.01)));
    let mut coast = Coast::new(5, 1_200, wide, wide);
    coast.run(Duration::from_secs(20));
    assert_eq!((coast.at_server.len(), coast.at_client.len()), (0, 0));
    let since = coast.linked.clock.now();
    // Only the way to the client becomes narrow.
    coast.set_conditions(small, wide);
    coast.run(Duration::from_secs(20));
    let [(at, bytes)] = coast.at_server[..] else { panic!("{:?}", coast.at_server) };
    assert!(at - since < Duration::from_secs(8) && (868..=900).contains(&bytes), "{:?}, {bytes}", at - since);
    assert_eq!(coast.at_client, []);
    coast.set_conditions(wide, wide);
    coast.run(Duration::from_secs(70));
    let [_, (_, bytes)] = coast.at_server[..] else { panic!("{:?}", coast.at_server) };
    assert_eq!(bytes, 1_200, "it is tried again once in a minute");
    assert!(coast.settle(Duration::from_secs(10)).is_some());
}

#[test]
fn a_single_large_object_and_a_single_large_message_get_through_a_narrow_path() {
    let conditions = narrow(1_100, link(20, 0.0));
    let mut coast = Coast::new(3, 1_200, conditions, conditions);
    coast.settle(Duration::from_secs(5)).expect("small objects");
    let beacon = coast.beacons[0];
    coast.linked.server[beacon].logbook = vec![7; 1_120];
    coast.linked.guests[0].client.send(&Report(vec![8; 1_130])).expect("room");
    coast.reports.0 += 1;
    let elapsed = coast.settle(Duration::from_secs(20)).expect("all arrives");
    assert!(elapsed < Duration::from_secs(8), "{elapsed:?}");
}

#[test]
fn a_path_that_does_not_carry_the_least_size_ends_the_session_with_this_reason() {
    let wide = link(20, 0.0);
    let mut coast = Coast::new(4, 1_200, wide, wide);
    coast.run(Duration::from_secs(5));
    coast.set_conditions(narrow(400, wide), wide);
    coast.run(Duration::from_secs(20));
    coast.ends.dedup();
    assert_eq!(coast.ends, [DisconnectReason::PathTooNarrow]);
}

#[test]
fn losses_bursts_outages_and_full_links_are_never_taken_for_a_narrow_path() {
    let mut all: Vec<(String, LinkConditions)> = Vec::new();
    for loss in [0.05, 0.2, 0.5, 0.75, 0.9] {
        all.push((format!("loss {loss}"), link(20, loss)));
        all.push((format!("loss {loss}, slow"), link(150, loss)));
    }
    for (rate, length) in [(0.05, 4.0), (0.2, 10.0), (0.4, 60.0)] {
        let loss = Loss::bursts(rate, length);
        all.push((format!("bursts of {length}"), LinkConditions { loss, ..link(30, 0.0) }));
    }
    for (period, lost) in [(32, 16), (2_000, 1_500), (9_000, 4_000)] {
        let (period, lost) = (Duration::from_millis(period), Duration::from_millis(lost));
        let loss = Loss::Regular { period, lost };
        all.push((format!("{lost:?} of {period:?}"), LinkConditions { loss, ..link(10, 0.0) }));
    }
    for (rate, queue) in [(2_000, 1_500), (4_000, 3_000), (10_000, 1_500), (20_000, 3_000), (60_000, 8_000)] {
        let (bandwidth_bytes_per_second, queue_bytes) = (Some(rate), queue);
        let full = LinkConditions { bandwidth_bytes_per_second, queue_bytes, ..link(20, 0.0) };
        all.push((format!("{rate} bytes a second, {queue}"), full));
        all.push((
            format!("{rate} bytes a second, {queue}, 20 %"),
            LinkConditions { loss: Loss::Independent(0.2), ..full },
        ));
    }
    let jitter = LinkConditions {
        jitter: Duration::from_millis(300),
        reorder: 0.5,
        reorder_by: Duration::from_millis(500),
        duplicate: 0.3,
        ..link(20, 0.2)
    };
    all.push(("jitter".to_owned(), jitter));
    let (mut alarms, mut simulated) = (Vec::new(), 0);
    for (name, conditions) in &all {
        for congestion_control in [CongestionControl::Paced, CongestionControl::Off] {
            // The path is narrow in both directions, or in one of them.
            for (down, up) in
                [(*conditions, *conditions), (*conditions, link(20, 0.0)), (link(20, 0.0), *conditions)]
            {
                let mut coast = Coast::with(simulated, congestion_control, 1_200, down, up);
                coast.run(Duration::from_secs(50));
                simulated += 50;
                if !coast.at_server.is_empty() || !coast.at_client.is_empty() {
                    alarms.push((name, congestion_control, coast.at_server, coast.at_client));
                }
            }
        }
    }
    assert!(alarms.is_empty(), "after {simulated} s at {HZ} Hz: {alarms:#?}");
    assert!(simulated > 8_000, "{simulated} s");
}
