//! The bytes that a server sends do not depend on whether its objects live in the server or outside it.

use repl::Condition;

use crate::external::fleet::{Changes, Home, Ship, World};
use crate::external::store::Store;
use crate::support::property;

const TICKS: usize = 400;

#[test]
fn a_store_whose_rows_move_sends_the_same_bytes_as_the_servers_own_column() {
    for seed in 0..16 {
        let mut own = World::new(Home::Server, Changes::Tame, seed);
        let mut external = World::new(Home::Store(Store::new()), Changes::Tame, seed);
        let mut bytes = 0;
        for tick in 0..TICKS {
            own.play();
            external.play();
            assert!(own.packets == external.packets, "seed {seed}: the packets of tick {tick} differ");
            bytes += own.packets.iter().map(|(_, packet)| packet.len()).sum::<usize>();
        }
        assert!(bytes > 25_000, "seed {seed}: only {bytes} bytes were sent");
        assert!(own.network.total().lost > 20, "seed {seed}: the links lost nothing");
        for &ship in &own.ships {
            let ids = |ship: &Ship| (0..ship.hold.len()).map(|at| ship.hold.id(at)).collect::<Vec<_>>();
            assert_eq!(ids(own.ship(ship)), ids(external.ship(ship)), "the items have other ids");
        }
    }
}

/// Makes all ships visible for all clients, gives them an owner and switches their conditions on, so that
/// everything may be sent. Compares no ship.
fn lift_all_conditions(world: &mut World) {
    let owner = world.clients[0].1;
    for &ship in &world.ships {
        let server = &mut world.server;
        for name in ["cargo_list", "course", "safe"] {
            server.object(ship).set_custom_active(property(name), true);
        }
        for (_, id) in &world.clients {
            server.object(ship).set_custom_active_for(*id, property::<Ship>("course"), true);
            server.object(ship).set_visible(*id, true);
        }
        server.object(ship).set_dynamic_condition(property::<Ship>("speed"), Condition::None);
        server.object(ship).mark_dirty(property::<Ship>("pushed"));
        server.object(ship).set_owner(Some(owner));
    }
}

#[test]
fn values_compared_while_they_could_not_be_sent_arrive_later() {
    for seed in 0..16 {
        let mut world = World::new(Home::Store(Store::new()), Changes::Wild, seed);
        (0..TICKS).for_each(|_| world.play());
        world.enter();
        lift_all_conditions(&mut world);
        (0..600).for_each(|_| world.tick());
        for (number, (client, _)) in world.clients.iter().enumerate() {
            assert_eq!(client.objects::<Ship>().count(), world.ships.len(), "seed {seed}: client {number}");
            for &object in &world.ships {
                let (ship, shown) = (world.ship(object), &client[object]);
                let context = format!("seed {seed}: client {number}, {object:?}");
                assert!((ship.position[1] - shown.position[1]).abs() <= 0.25, "{context}");
                let plain =
                    |ship: &Ship| (ship.hull, ship.course, ship.speed, ship.pushed, ship.cargo_list.clone());
                assert_eq!(plain(ship), plain(shown), "{context}");
                assert_eq!(
                    ship.target.is_null() || !world.server.contains(ship.target),
                    shown.target.is_null()
                );
                assert_eq!(ship.deck, shown.deck, "{context}");
                for (array, shown) in [(&ship.hold, &shown.hold), (&ship.safe, &shown.safe)] {
                    assert_eq!(array.len(), shown.len(), "{context}");
                    for (at, item) in array.iter().enumerate() {
                        let id = array.id(at).expect("it is there");
                        assert_eq!(shown.by_id(id), Some(item), "{context}");
                    }
                }
                if number == 0 {
                    assert_eq!(ship.ammo, shown.ammo, "{context}: the owner");
                }
                if number == 3 {
                    assert_eq!(ship.name, shown.name, "{context}: it joined last");
                }
            }
        }
    }
}
