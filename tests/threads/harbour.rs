//! A harbour of a few classes, in which most objects change in each tick.
//!
//! *Invariant:* a run depends only on the seed.

use std::time::Duration;

use rayon::ThreadPool;
use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Dormancy, Relevancy};

use crate::pool;
use crate::support::{self, Packets, Room};

/// Several times as many connections as one thread processes at a time.
const GUESTS: usize = 45;

/// An object that everyone sees, or that is in an area.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Crate {
    #[replicated]
    position: [f32; 2],
    #[replicated]
    weight: u32,
    #[replicated(condition = OwnerOnly)]
    code: u32,
    #[replicated(condition = InitialOnly)]
    origin: u32,
    #[replicated(max_len = 4096)]
    label: String,
    #[replicated]
    items: FastArray<Item>,
}

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u16,
    count: u16,
}

/// An object that everyone sees.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Clock {
    #[replicated]
    time: u32,
}

/// An object in an area, of another class than the crates.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Buoy {
    #[replicated(location)]
    position: [f32; 2],
    #[replicated]
    log: FastArray<Item>,
    #[replicated(push)]
    tally: u32,
}

fn register(client: &mut Client) {
    client.register::<Crate>();
    client.register::<Clock>();
    client.register::<Buoy>();
}

/// A room with changes in each tick that depend only on the seed.
struct Harbour {
    room: Room,
    rng: Rng,
    crates: Vec<ObjectRef<Crate>>,
    /// There are enough clocks that several classes are compared at the same time.
    clocks: Vec<ObjectRef<Clock>>,
    buoys: Vec<ObjectRef<Buoy>>,
}

impl Harbour {
    fn new(seed: u64) -> Self {
        let config = ServerConfig::default();
        let mut room = Room::new(config, register);
        room.server.register::<Clock>();
        room.server
            .class::<Crate>()
            .locate(Area::within(100.0).flat().slower_beyond(40.0, 3), |one: &Crate| one.position);
        room.server.class::<Buoy>().set_area(Area::within(60.0).flat());
        let (mut clocks, mut buoys) = (Vec::new(), Vec::new());
        for _ in 0..300 {
            clocks.push(room.server.spawn(Clock::default()));
            buoys.push(room.server.spawn(Buoy::default()));
        }
        let mut rng = Rng::new(seed);
        for _ in 0..GUESTS {
            let id = room.enter();
            let viewpoint = [rng.below(400) as f32, rng.below(400) as f32, 0.0];
            room.server.connection(id).set_viewpoints(&[viewpoint]);
            if rng.chance(0.3) {
                room.server.connection(id).set_budget(20_000 + rng.below(60_000) as usize);
            }
        }
        room.server.connection(room.guests[0].id).pause();
        let mut harbour = Self { room, rng, crates: Vec::new(), clocks, buoys };
        (0..100).for_each(|_| harbour.spawn());
        harbour
    }

    fn spawn(&mut self) {
        let Self { room, rng, crates, .. } = self;
        let position = [rng.below(400) as f32, rng.below(400) as f32];
        let items = (0..rng.below(60)).map(|at| Item { kind: at as u16, count: 1 }).collect();
        let one =
            room.server.spawn(Crate { position, origin: rng.below(9) as u32, items, ..Crate::default() });
        match rng.below(6) {
            0 => _ = room.server.object(one).set_relevancy(Relevancy::Always),
            1 => _ = room.server.object(one).set_dormancy(Dormancy::All),
            2 => {
                _ = room.server.object(one).set_owner(Some(room.guests[rng.below(GUESTS as u64) as usize].id))
            }
            _ => {}
        }
        crates.push(one);
    }

    fn change(&mut self) {
        for _ in 0..60 {
            let at = self.rng.below(self.crates.len() as u64) as usize;
            let one = self.crates[at];
            let guest = self.room.guests[self.rng.below(GUESTS as u64) as usize].id;
            let Self { room, rng, .. } = self;
            match rng.below(24) {
                0 => {
                    room.server.despawn(one);
                    self.crates.swap_remove(at);
                    self.spawn();
                }
                1 => {
                    room.server.object(one).tear_off();
                    self.crates.swap_remove(at);
                    self.spawn();
                }
                2 => room.server[one].label = "x".repeat(rng.below(3_000) as usize),
                3 => _ = room.server.connection(guest).pause(),
                // The first guest is not resumed here, so it is paused for longer than an object keeps its
                // changelists.
                4 | 5 if guest != room.guests[0].id => _ = room.server.connection(guest).resume(),
                6 => _ = room.server.object(one).set_owner(Some(guest)),
                7 => _ = room.server.object(one).set_visible(guest, rng.chance(0.5)),
                8 => {
                    _ = room.server.connection(guest).set_viewpoints(&[[
                        rng.below(400) as f32,
                        rng.below(400) as f32,
                        0.0,
                    ]])
                }
                9 => _ = room.server[one].items.push(Item::default()),
                10..14 => {
                    if let Some(mut item) = room.server[one].items.iter_mut().next() {
                        item.count += 1;
                    }
                }
                14..18 => room.server[one].position[0] = rng.below(400) as f32,
                _ => room.server[one].weight += 1,
            }
        }
        for clock in &self.clocks {
            self.room.server[*clock].time += 1;
        }
        for buoy in &self.buoys {
            let buoy = &mut self.room.server[*buoy];
            buoy.position = buoy.position.map(|at| (at + self.rng.below(40) as f32) % 400.0);
            buoy.tally += 1;
            if self.rng.chance(0.02) {
                buoy.log.push(Item::default());
            }
        }
        for buoy in self.buoys.iter().filter(|_| self.rng.chance(0.3)) {
            self.room.server.object(*buoy).mark_dirty(support::property("tally"));
        }
    }

    /// Runs one tick on the threads of `pool`. Some packets are lost. Returns all packets.
    fn tick(&mut self, pool: &ThreadPool) -> Vec<Packets> {
        self.change();
        let sent = pool.install(|| self.room.tick());
        for (guest, packets) in sent.iter().enumerate() {
            let arriving: Vec<_> = packets.iter().filter(|_| !self.rng.chance(0.2)).cloned().collect();
            self.room.deliver(guest, &arriving);
            let replies = self.room.replies(guest);
            let arriving: Vec<_> = replies.into_iter().filter(|_| !self.rng.chance(0.2)).collect();
            self.room.hear(guest, &arriving);
        }
        sent
    }

    /// Lets everything arrive, and checks that each client has the values of the objects that it sees.
    fn check(&mut self, pool: &ThreadPool) {
        self.room.guests.iter().for_each(|guest| _ = self.room.server.connection(guest.id).resume());
        for buoy in &self.buoys {
            self.room.server.object(*buoy).mark_dirty(support::property("tally"));
        }
        pool.install(|| self.room.settle());
        for guest in &self.room.guests {
            for clock in &self.clocks {
                assert_eq!(guest.client.get(*clock), Some(&self.room.server[*clock]));
            }
            for (one, have) in guest.client.objects::<Crate>() {
                let is_weight_same =
                    self.room.server.get(one).is_none_or(|there| there.weight == have.weight);
                assert!(is_weight_same, "a client lacks a change");
            }
            for (buoy, have) in guest.client.objects::<Buoy>() {
                assert_eq!(have, &self.room.server[buoy]);
            }
        }
    }
}

#[test]
fn the_packets_are_the_same_for_any_number_of_threads() {
    let pools = [1, 2, 8].map(pool);
    for seed in 0..2 {
        let mut harbours = pools.each_ref().map(|_| Harbour::new(seed));
        let mut bytes = 0;
        for tick in 0..80 {
            let sent: Vec<_> =
                harbours.iter_mut().zip(&pools).map(|(harbour, pool)| harbour.tick(pool)).collect();
            bytes += sent[0].iter().flatten().map(Vec::len).sum::<usize>();
            for (other, pool) in sent[1..].iter().zip(&pools[1..]) {
                assert!(
                    *other == sent[0],
                    "seed {seed}, tick {tick}, {} threads",
                    pool.current_num_threads()
                );
            }
        }
        assert!(bytes > 200_000, "only {bytes} bytes were compared");
        harbours.iter_mut().zip(&pools).for_each(|(harbour, pool)| harbour.check(pool));
    }
}

#[test]
fn connections_end_in_the_order_of_their_numbers() {
    let pool = pool(4);
    let config = ServerConfig { timeout: Duration::from_secs(2), ..ServerConfig::default() };
    let (mut room, clock) = Room::furnished(config, register, GUESTS, |server| {
        server.register::<Crate>();
        server.register::<Buoy>();
        server.spawn(Clock::default())
    });
    while room.server.poll_event().is_some() {}
    let mut ended = Vec::new();
    for time in 0..500 {
        room.server[clock].time = time;
        pool.install(|| room.tick());
        let events = std::iter::from_fn(|| room.server.poll_event());
        let of_tick: Vec<_> = events
            .filter_map(|event| match event {
                ServerEvent::Disconnected(id, _) => Some(id),
                _ => None,
            })
            .collect();
        assert!(of_tick.is_sorted(), "{of_tick:?}");
        ended.push(of_tick);
    }
    assert!(ended.iter().any(|of_tick| of_tick.len() > 10), "many end in the same tick: {ended:?}");
    let mut ended = ended.concat();
    ended.sort();
    assert!(ended.into_iter().eq(room.guests.iter().map(|guest| guest.id)));
}
