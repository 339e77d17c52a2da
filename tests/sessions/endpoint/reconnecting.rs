//! Clients that begin another session by themselves, and their objects and references afterwards.

use std::collections::HashMap;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{CloseReason, DisconnectReason, Endpoint, EndpointConfig};

use crate::endpoint::world::{Banner, Fleet, Hail, Muster, SERVER, Ship, World};

fn world_with(guests: u32, seed: u64) -> World {
    let mut world = World::new(seed, LinkConditions::mobile());
    for guest in 0..guests {
        world.enter_with(guest + 1, u64::from(guest) + 70, ClientConfig::default());
    }
    world.run_until(|world| (0..guests as usize).all(|guest| world.sees(guest)));
    world
}

/// Returns whether a client has the ship of the current server, up to date.
fn has_ship(world: &World, client: &Client) -> bool {
    let hull = world.server[world.ship].hull;
    client.is_connected()
        && client.objects::<Ship>().any(|(_, ship)| (hull.saturating_sub(62)..=hull).contains(&ship.hull))
}

#[test]
fn a_client_finds_a_restarted_server_within_seconds() {
    for seed in 1..6 {
        let mut world = world_with(3, seed);
        world.restart(99);
        world.run_until(|world| world.guests.iter().all(|guest| guest.end.is_some()));
        let time = world.run_until(|world| world.guests.iter().all(|guest| has_ship(world, &guest.client)));
        assert!(time < Duration::from_secs(2), "{time:?}");
        for guest in &world.guests {
            assert_eq!(guest.end, Some(DisconnectReason::Forgotten));
        }
        assert_eq!(world.connected().len(), 3 + 3);
    }
}

#[test]
fn r18_after_a_restart_all_objects_are_told_to_go_and_those_of_the_next_server_to_come() {
    let mut world = world_with(1, 3);
    let parts: Vec<_> = (0..5)
        .map(|hull| world.server.object(world.ship).spawn_subobject(Ship { hull }).expect("it exists"))
        .collect();
    world.run_until(|world| parts.iter().all(|&part| world.guests[0].client.contains(part)));
    let mut old: Vec<_> = world.guests[0].told.drain(..).map(|(object, _)| object).collect();
    assert_eq!(old.len(), 6);
    world.restart(99);
    let ship = world.ship;
    for hull in 0..7 {
        world.server.object(ship).spawn_subobject(Ship { hull }).expect("it exists");
    }
    world.run_until(|world| world.guests[0].told.len() >= 6 + 8);
    world.run(Duration::from_secs(1));
    let told = std::mem::take(&mut world.guests[0].told);
    let (gone, came) = told.split_at(6);
    let destroyed = UpdateKind::Despawned(CloseReason::Destroyed);
    assert!(gone.iter().all(|(_, what)| *what == destroyed), "{gone:?}");
    let mut gone: Vec<_> = gone.iter().map(|(object, _)| *object).collect();
    old.sort_unstable();
    gone.sort_unstable();
    assert_eq!(gone, old);
    let client = &world.guests[0].client;
    assert!(came.iter().all(|(_, what)| *what == UpdateKind::Spawned), "{came:?}");
    let known: Vec<_> = came.iter().map(|(object, _)| *object).collect();
    assert!(known.iter().all(|object| !old.contains(object) && client.contains(*object)));
    assert_eq!(
        (known.len(), client.object_info(known[0]).subobjects().count()),
        (8, 7),
        "the root comes first"
    );
}

#[test]
fn a_client_says_whether_it_tries_again_and_which_server_it_had_last() {
    let mut world = world_with(2, 8);
    let instance = world.guests[0].client.connection_info().server_instance();
    assert!(instance.is_some());
    world.restart(99);
    world.run_until(|world| world.guests.iter().all(|guest| guest.end.is_some()));
    for guest in &world.guests {
        assert!(!guest.client.connection_info().is_over(), "it tries again");
        assert_eq!(
            guest.client.connection_info().server_instance(),
            instance,
            "no other server has accepted it yet"
        );
    }
    world.run_until(|world| world.guests.iter().all(|guest| has_ship(world, &guest.client)));
    assert_ne!(world.guests[0].client.connection_info().server_instance(), instance);
    let connection = *world.connected().last().unwrap();
    world.server.connection(connection).disconnect_with("bye");
    world.run(Duration::from_secs(1));
    let over: Vec<_> = world.guests.iter().map(|guest| guest.client.connection_info().is_over()).collect();
    assert_eq!(over.iter().filter(|&&over| over).count(), 1, "the server has sent one away for good");
}

#[test]
fn r18_references_to_objects_of_a_server_before_its_restart_are_dead_and_not_wrong() {
    let mut world = world_with(1, 4);
    // Many objects are spawned and removed, so that generations are greater than one.
    let mut old = vec![world.ship];
    for round in 0..5 {
        let ships: Vec<_> = (0..10).map(|hull| world.server.spawn(Ship { hull: hull + round })).collect();
        world.run(Duration::from_secs(1));
        let client = &world.guests[0].client;
        assert!(ships.iter().all(|&ship| client.contains(ship)));
        old.extend(&ships);
        ships.iter().for_each(|&ship| world.server.despawn(ship));
        world.run(Duration::from_secs(1));
    }
    for restart in 1..4_u64 {
        world.restart(u128::from(restart) << 100);
        let ships: Vec<_> = (0..30).map(|hull| world.server.spawn(Ship { hull })).collect();
        let fleet = world.server.spawn(Fleet {
            flagship: ships[3],
            order: ships[..4].to_vec(),
            captains: (1..).zip(ships[..4].iter().copied()).collect(),
            escorts: ships[4..6].iter().copied().collect(),
            emblem: AssetRef::NULL,
        });
        world.run_until(|world| {
            let client = &world.guests[0].client;
            client.objects::<Ship>().count() == 31 && client.objects::<Fleet>().count() == 1
        });
        let client = &world.guests[0].client;
        assert!(old.iter().all(|&ship| !client.contains(ship)), "dead");
        // The references that the client has now refer to the new objects.
        let (_, there) = client.objects::<Fleet>().next().expect("the fleet");
        let hull = |ship: ObjectRef<Ship>| client.get(ship).map(|ship| ship.hull);
        assert_eq!(hull(there.flagship), Some(3));
        assert_eq!(there.order.iter().map(|&ship| hull(ship)).collect::<Vec<_>>(), [0, 1, 2, 3].map(Some));
        assert_eq!(there.escorts.iter().map(|&ship| hull(ship)).collect::<Vec<_>>(), [4, 5].map(Some));
        let captains: HashMap<_, _> =
            there.captains.iter().map(|(&captain, &ship)| (captain, hull(ship))).collect();
        assert_eq!(captains, (0..4).map(|hull| (hull as u8 + 1, Some(hull))).collect());
        let flagship = there.flagship;
        old.extend(client.objects::<Ship>().map(|(ship, _)| ship));
        // Values of these objects change, entries are removed, and the client sends references back to the
        // server.
        world.server[fleet].captains.insert(90, ships[2]);
        world.server[fleet].captains.remove(&1);
        world.server[fleet].order.remove(0);
        world.guests[0].client.send(&Hail(1, flagship)).unwrap();
        world.guests[0].client.send(&Hail(2, old[0])).unwrap();
        world.guests[0].client.send(&Muster([flagship, old[0], old[1]].into())).unwrap();
        world.run(Duration::from_secs(2));
        let received = std::iter::from_fn(|| world.server.poll_message::<Hail>()).map(|(_, hail)| hail);
        assert_eq!(received.collect::<Vec<_>>(), [Hail(1, ships[3]), Hail(2, ObjectRef::NULL)]);
        let mustered = world.server.poll_message::<Muster>().map(|(_, Muster(ships))| ships);
        assert_eq!(mustered, Some([ships[3]].into()));
        let client = &world.guests[0].client;
        let hull = |ship: ObjectRef<Ship>| client.get(ship).map(|ship| ship.hull);
        let (_, there) = client.objects::<Fleet>().next().expect("the fleet");
        let mut captains: Vec<_> =
            there.captains.iter().map(|(&captain, &ship)| (captain, hull(ship))).collect();
        captains.sort_unstable();
        assert_eq!(captains, [(2, Some(1)), (3, Some(2)), (4, Some(3)), (90, Some(2))]);
        // When an object is removed, references to it become null.
        world.server.despawn(ships[3]);
        world.run(Duration::from_secs(2));
        let client = &world.guests[0].client;
        let (_, there) = client.objects::<Fleet>().next().expect("the fleet");
        assert!(there.flagship.is_null() && !client.contains(flagship));
        assert!(there.captains[&4].is_null() && !there.captains[&3].is_null());
    }
}

#[test]
fn a_process_that_is_frozen_for_30_s_comes_back_and_shows_nothing_stale() {
    let mut world = world_with(2, 5);
    let ship = world.ship;
    // The server and the other client go on without the first client.
    let frozen = world.guests.remove(0);
    let gone = world.server.spawn(Ship { hull: 7 });
    world.run(Duration::from_secs(1));
    world.server.despawn(gone);
    world.run(Duration::from_secs(29));
    world.guests.insert(0, frozen);
    let time = world.run_until(|world| world.is_current(0));
    assert!(time < Duration::from_secs(5), "{time:?}");
    assert_eq!(world.guests[0].end, Some(DisconnectReason::Timeout));
    assert!(world.guests[0].client.contains(ship), "the same server has the same references");
    assert!(world.sees(1) && world.guests[1].end.is_none());
    let ends = world.disconnected();
    assert_eq!(
        ends.iter().map(|(_, reason)| reason.clone()).collect::<Vec<_>>(),
        [DisconnectReason::Timeout]
    );
}

#[test]
fn a_clock_that_jumps_an_hour_ends_the_sessions_and_new_ones_begin() {
    let mut world = world_with(2, 6);
    world.now += Duration::from_secs(3_600);
    world.step();
    let time = world.run_until(|world| (0..2).all(|guest| world.is_current(guest)));
    assert!(time < Duration::from_secs(5), "{time:?}");
    for guest in &world.guests {
        assert_eq!(guest.end, Some(DisconnectReason::Timeout));
    }
}

#[test]
fn a_session_that_the_server_gave_up_is_followed_by_another_with_the_same_objects() {
    let mut world = world_with(1, 7);
    let ship = world.ship;
    // Nothing arrives in either direction for longer than the timeouts.
    world.network.connect(SERVER, world.guests[0].address, LinkConditions::perfect().with_loss(1.0));
    world.run(Duration::from_secs(25));
    assert!(world.guests[0].client.contains(ship), "the last state stays until the next session");
    world.network.connect(SERVER, world.guests[0].address, LinkConditions::mobile());
    world.run_until(|world| world.is_current(0));
    assert!(world.guests[0].client.contains(ship));
    let out_of_sight = UpdateKind::Despawned(CloseReason::Relevancy);
    let told = [UpdateKind::Spawned, out_of_sight, UpdateKind::Spawned];
    assert_eq!(world.guests[0].told, told.map(|what| (ship.erase(), what)));
}

#[test]
fn r25_late_packets_of_a_server_before_a_restart_are_no_packets_of_the_next_server() {
    let serve = |hull: u64, secret: u128| {
        let mut server = Server::new(ServerConfig::default());
        let ship = server.spawn(Ship { hull });
        (server, ship, Endpoint::new(EndpointConfig::default(), secret))
    };
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register::<Ship>();
    let (mut now, mut late) = (Duration::ZERO, Vec::new());
    let mut exchange = |(server, ship, endpoint): &mut (Server, ObjectRef<Ship>, Endpoint<u8>),
                        client: &mut Client| {
        now += Duration::from_millis(16);
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            endpoint.receive(server, now, 1, packet);
        }
        server[*ship].hull += 1;
        server.tick(now);
        let packets =
            std::iter::from_fn(|| endpoint.poll_transmit(server).map(|(_, packet)| packet.to_vec()));
        (now, packets.collect::<Vec<_>>())
    };
    // Only the cookie of the first server arrives. Its welcome and its packets of state are late.
    let mut first = serve(1_000, 7);
    for tick in 0..40 {
        let (now, packets) = exchange(&mut first, &mut client);
        if tick == 0 {
            packets.iter().for_each(|packet| client.receive(now, packet).expect("a cookie"));
        } else {
            late.extend(packets);
        }
    }
    assert!(!client.is_connected() && late.len() > 20);
    let mut second = serve(9_000, 8);
    for late in std::iter::repeat_n(&[][..], 60).chain(late.chunks(1)).chain([&[][..]; 4]) {
        let (now, packets) = exchange(&mut second, &mut client);
        packets.iter().for_each(|packet| client.receive(now, packet).expect("a packet of the server"));
        late.iter().for_each(|packet| _ = client.receive(now, packet));
    }
    assert!(client.is_connected());
    let hulls: Vec<_> = client.objects::<Ship>().map(|(_, ship)| ship.hull).collect();
    assert_eq!(hulls, [second.0[second.1].hull]);
}

#[test]
fn what_a_client_counts_as_lost_goes_on_in_the_next_session() {
    let mut world = world_with(1, 9);
    let lost = |world: &World| world.guests[0].client.connection_info().stats().packets_lost;
    world.run(Duration::from_secs(20));
    let before = lost(&world);
    assert!(before > 0, "the link loses packets");
    world.restart(99);
    world.run_until(|world| world.guests[0].end.is_some());
    world.run_until(|world| has_ship(world, &world.guests[0].client));
    assert!(lost(&world) >= before, "{} after {before}", lost(&world));
    let begun = lost(&world);
    world.run(Duration::from_secs(20));
    assert!(lost(&world) > begun, "the link still loses packets");
}

#[test]
fn a_client_that_disconnected_stays_away() {
    let mut world = world_with(1, 8);
    world.guests[0].client.disconnect();
    world.run(Duration::from_secs(20));
    assert!(!world.guests[0].client.is_connected());
    assert_eq!(world.connected().len(), 1);
}

#[test]
fn a_class_with_references_as_keys_keeps_the_references_of_the_first_server() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Crew {
        captains: HashMap<ObjectRef<Ship>, u8>,
    }
    assert!(Crew::LAYOUT.keys_may_refer() && !Fleet::LAYOUT.keys_may_refer());
}

#[test]
fn r18_references_to_assets_of_a_server_before_its_restart_are_dead_and_not_wrong() {
    let mut world = world_with(1, 4);
    ["red", "blue"].iter().for_each(|path| world.guests[0].client.assets().add(path));
    let mut old = Vec::new();
    for (restart, emblems) in [["red", "blue"], ["blue", "red"], ["red", "blue"]].iter().enumerate() {
        if restart > 0 {
            world.restart((restart as u128) << 100);
            world.run(Duration::from_secs(20));
        }
        let fleets = emblems.map(|path| {
            let emblem = world.server.assets().add(path);
            world.server.spawn(Fleet { emblem, ..Fleet::default() })
        });
        world.run_until(|world| world.guests[0].client.objects::<Fleet>().count() == 2);
        let client = &world.guests[0].client;
        let mut seen: Vec<AssetRef<str>> = client.objects::<Fleet>().map(|(_, fleet)| fleet.emblem).collect();
        seen.sort_unstable();
        let paths: Vec<_> = seen.iter().map(|&emblem| client.asset_path(emblem)).collect();
        assert_eq!(paths, emblems.map(Some), "the server counts from one again");
        assert!(old.iter().all(|&emblem| client.asset_path::<str>(emblem).is_none()), "dead");
        assert!(seen.iter().all(|emblem| !old.contains(emblem)));
        old.extend(seen);
        // If the client sends a reference to an asset, the server gets the asset that it has named.
        let found = world.guests[0].client.assets().find::<str>(emblems[1]).expect("it was named");
        world.guests[0].client.send(&Banner(found)).expect("a message");
        world.guests[0].client.send(&Banner(old[0])).expect("a message");
        world.run(Duration::from_secs(1));
        let of_server = |world: &mut World| world.server.poll_message::<Banner>().expect("a message").1.0;
        let second = of_server(&mut world);
        assert_eq!(world.server.asset_path(second), Some(emblems[1]));
        assert_eq!(of_server(&mut world).is_null(), restart > 0);
        fleets.into_iter().for_each(|fleet| world.server.despawn(fleet));
    }
}
