//! An attacker who records the packets of clients and sends them again: later, more often, and from any
//! address (R25, R26).
//!
//! *Invariant:* the attacker receives nothing that the server sends to another address, and changes no byte.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, PeerId};
use repl::{DisconnectReason, EndpointConfig};

use super::world::{SERVER, World};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Sends one of the newest recorded packets again, from its own address, from the address of another client,
/// or from an unused address.
fn replay(world: &mut World, numbers: &mut Numbers) {
    let recorded = &world.recorded;
    let newest = recorded.len().min(2_000);
    let (from, bytes) = recorded[recorded.len() - 1 - numbers.below(newest)].clone();
    let from = match numbers.below(4) {
        0 => world.guests[numbers.below(world.guests.len())].address,
        1 => PeerId(900 + numbers.below(3) as u32),
        _ => from,
    };
    world.endpoint.receive(&mut world.server, world.now, from, &bytes);
}

#[test]
fn r25_packets_that_an_attacker_repeats_from_any_address_move_no_session_and_end_none() {
    let links = [LinkConditions::perfect(), LinkConditions::wifi(), LinkConditions::mobile().with_loss(0.1)];
    for seed in 0..12 {
        let config = EndpointConfig { max_connections: 64, ..EndpointConfig::default() };
        let mut world = World::with(seed, links[seed as usize % 3], ServerConfig::default(), config);
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4_u32).for_each(|guest| _ = world.enter(guest + 1, 500 + u64::from(guest)));
        (900..903)
            .for_each(|nobody| _ = world.network.connect(SERVER, PeerId(nobody), LinkConditions::perfect()));
        world.run_until(|world| (0..4).all(|guest| world.sees(guest)));
        let (mut address, mut restarts) = (10, 0);
        for _ in 0..20 {
            match numbers.below(3) {
                0 => {
                    let guest = numbers.below(4);
                    world.rebind(guest, address);
                    address += 1;
                }
                1 if restarts < 3 => {
                    restarts += 1;
                    let PeerId(same) = world.guests.remove(numbers.below(4)).address;
                    world.enter(same, 1_000 + restarts);
                }
                _ => {}
            }
            for _ in 0..numbers.below(150) {
                (0..numbers.below(8)).for_each(|_| replay(&mut world, &mut numbers));
                world.step();
            }
        }
        // The attack continues, but no client changes its address any more.
        for _ in 0..400 {
            replay(&mut world, &mut numbers);
            world.step();
        }
        for tick in 0..300 {
            replay(&mut world, &mut numbers);
            world.step();
            for guest in 0..4 {
                assert!(world.is_current(guest), "guest {guest} in tick {tick} with the seed {seed}");
            }
        }
        assert!(world.guests.iter().all(|guest| guest.end.is_none()), "with the seed {seed}");
        let addresses: Vec<_> =
            world.server.connections().filter_map(|id| world.endpoint.address(id)).collect();
        assert!(world.guests.iter().all(|guest| addresses.contains(&guest.address)));
        for (_, reason) in world.disconnected() {
            assert!(
                matches!(reason, DisconnectReason::Replaced | DisconnectReason::Timeout),
                "{reason} with the seed {seed}"
            );
        }
        world.run(Duration::from_secs(12));
        assert_eq!(world.server.connections().count(), 4, "nothing of the attack is left");
    }
}
