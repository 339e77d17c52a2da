//! Long round trips through the endpoint (R9, R21): every step of a handshake follows the timeouts.
//!
//! *Invariant:* the link loses nothing, so a session can end only because of a timeout.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{EndpointConfig, ServerEvent};

use super::world::World;

/// Joins over a link with this round trip. The timeouts are five seconds longer than the round trip. Returns
/// how long joining took.
fn join(round_trip: Duration, login: Login) -> Duration {
    let timeout = round_trip + Duration::from_secs(5);
    let link = LinkConditions { latency: round_trip / 2, ..LinkConditions::perfect() };
    let server = ServerConfig { timeout, login, ..ServerConfig::default() };
    let mut world = World::with(7, link, server, EndpointConfig::default());
    let config = ClientConfig { timeout, reconnects: false, ..ClientConfig::default() };
    let guest = world.enter_with(1, 70, config);
    let start = world.now;
    let mut decided = 0;
    while !world.is_current_after(guest, round_trip) {
        assert!(world.now - start < round_trip * 4 + Duration::from_secs(5), "round trip {round_trip:?}");
        world.step();
        let logins = world.events[decided..].to_vec();
        decided = world.events.len();
        for event in logins {
            if let ServerEvent::Login(id, _) = event {
                assert!(world.server.connection(id).accept(&[]));
            }
        }
    }
    let joined = world.now - start;
    world.run(round_trip * 3 + timeout * 2);
    assert_eq!((world.connected().len(), world.disconnected()), (1, vec![]), "round trip {round_trip:?}");
    assert_eq!(world.guests[guest].end, None);
    assert!(world.is_current_after(guest, round_trip));
    joined
}

#[test]
fn r09_a_client_joins_through_the_endpoint_at_any_round_trip_up_to_30_s() {
    for seconds in [0.0, 1.0, 4.0, 5.0, 6.0, 10.0, 20.0, 30.0] {
        let round_trip = Duration::from_secs_f64(seconds);
        for login in [Login::Open, Login::Ask] {
            let joined = join(round_trip, login);
            assert!(joined <= round_trip * 4 + Duration::from_secs(2), "{joined:?} at {round_trip:?}");
        }
    }
}
