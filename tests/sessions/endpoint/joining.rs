//! Clients join through the cookie, over links of all kinds.
//!
//! *Invariant:* no client connects twice.

use std::time::Duration;

use repl::sim::LinkConditions;
use repl::{DisconnectReason, ServerEvent};

use super::world::{TICK, World};

#[test]
fn r21_clients_join_over_every_link_and_each_connects_once() {
    let links = [
        LinkConditions::perfect(),
        LinkConditions::wifi(),
        LinkConditions::mobile(),
        LinkConditions::mobile().with_loss(0.3),
    ];
    for (seed, link) in (0..24).zip(links.iter().cycle()) {
        let mut world = World::new(seed, *link);
        (1..=4).for_each(|guest| _ = world.enter(guest, 1_000 + u64::from(guest)));
        let time = world.run_until(|world| (0..4).all(|guest| world.sees(guest)));
        assert!(time < Duration::from_secs(12), "{time:?} with the seed {seed}");
        world.run(Duration::from_secs(3));
        assert!((0..4).all(|guest| world.is_current(guest)), "with the seed {seed}");
        assert_eq!(world.connected().len(), 4);
        assert_eq!(world.disconnected(), []);
    }
}

#[test]
fn r21_state_comes_after_two_round_trips() {
    let latency = Duration::from_millis(48);
    let link = LinkConditions { latency, ..LinkConditions::perfect() };
    let mut world = World::new(1, link);
    world.enter(1, 7);
    let time = world.run_until(|world| world.sees(0));
    assert!(time <= latency * 4 + TICK * 4, "{time:?}");
}

#[test]
fn a_client_of_another_server_knows_that_from_the_number_in_the_welcome() {
    let instance = |seed: u64| {
        let mut world = World::new(seed, LinkConditions::perfect());
        world.enter(1, 7);
        assert_eq!(world.guests[0].client.connection_info().server_instance(), None);
        world.run_until(|world| world.sees(0));
        world.guests[0].client.connection_info().server_instance().expect("it is in the welcome")
    };
    assert_eq!(instance(1), instance(1));
    assert_ne!(instance(1), instance(2), "a server with another secret");
}

#[test]
fn a_connection_without_an_endpoint_is_left_to_its_host() {
    let mut world = World::new(1, LinkConditions::perfect());
    let id = world.server.connect_replay(world.now);
    world.server.receive(id, world.now, &super::world::hello(77));
    assert_eq!(world.endpoint.poll_transmit(&mut world.server), None);
    assert_eq!(world.endpoint.address(id), None);
    world.enter(1, 7);
    world.run_until(|world| world.sees(0));
    assert!(world.server.poll_transmit(id).is_some(), "the welcome");
    assert!(!world.events.contains(&ServerEvent::Disconnected(id, DisconnectReason::Replaced)));
}
