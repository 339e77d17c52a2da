//! Entities that a client has spawned before the server's entity arrives, and entities that clients keep.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{NetKey, Owned, OwnedBy, Remote, ReplAppExt, Replicate, SeenBy, Simulation, TornOff};

use crate::support::{Player, all, clients};

/// A component that only entities of the client have.
#[derive(Component, Clone, Debug, Default, PartialEq)]
struct Mesh(&'static str);

#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
struct Door(#[replicated] bool);

const NORTH: NetKey = NetKey::of("hall/north");

fn simulation() -> Simulation {
    let mut simulation = Simulation::new(4, LinkConditions::lan().with_loss(0.1), 2, |app: &mut App| {
        app.replicate::<Door>().replicate::<Player>();
    });
    simulation.run(30);
    for client in &mut simulation.clients {
        client.world_mut().spawn((Replicate, NORTH, Mesh("of wood")));
    }
    simulation
}

/// Returns the doors of the first client. Each has its state, its mesh, and whether it is from the server.
fn doors(simulation: &mut Simulation) -> Vec<(bool, Option<Mesh>, bool)> {
    let world = simulation.clients[0].world_mut();
    let mut doors = world.query::<(&Door, Option<&Mesh>, Has<Remote>)>();
    doors.iter(world).map(|(door, mesh, is_remote)| (door.0, mesh.cloned(), is_remote)).collect()
}

#[test]
fn an_entity_that_both_sides_have_made_is_one() {
    let mut simulation = simulation();
    let wood = || Some(Mesh("of wood"));
    let door = simulation.server.world_mut().spawn((Replicate, NORTH, Door(true))).id();
    simulation.server.world_mut().spawn((Replicate, NetKey::of("hall/south"), Door(false)));
    simulation.run(30);
    let mut here = doors(&mut simulation);
    here.sort_by_key(|door| door.0);
    assert_eq!(here, [(false, None, true), (true, wood(), true)]);
    simulation.server.world_mut().get_mut::<Door>(door).unwrap().0 = false;
    simulation.run(30);
    assert!(doors(&mut simulation).contains(&(false, wood(), true)));
    // The client may no longer see the door, and then it may see it again.
    simulation.server.world_mut().entity_mut(door).insert(SeenBy(Group(7).into()));
    simulation.run(30);
    assert!(doors(&mut simulation).contains(&(false, wood(), false)));
    simulation.server.world_mut().entity_mut(door).remove::<SeenBy>().insert(Door(true));
    simulation.run(30);
    assert!(doors(&mut simulation).contains(&(true, wood(), true)));
    // Another session begins.
    simulation.restart_server();
    simulation.run(60);
    assert_eq!(doors(&mut simulation), [(true, wood(), false)]);
    let door = simulation.server.world_mut().spawn((Replicate, NORTH, Door(false))).id();
    simulation.run(60);
    assert_eq!(doors(&mut simulation), [(false, wood(), true)]);
    simulation.server.world_mut().despawn(door);
    simulation.run(30);
    assert_eq!(doors(&mut simulation), []);
}

#[test]
fn what_is_torn_off_stays_with_its_last_state_on_the_clients_that_see_it() {
    let mut simulation = simulation();
    let owner = clients(&simulation)[0];
    let world = simulation.server.world_mut();
    let body = world.spawn((OwnedBy(owner), Player { health: 9, ammo: 3 })).id();
    simulation.run(30);
    let mut entity = simulation.server.world_mut().entity_mut(body);
    entity.get_mut::<Player>().unwrap().health = 0;
    entity.insert(TornOff);
    simulation.run(60);
    simulation.server.world_mut().get_mut::<Player>(body).unwrap().health = 5;
    simulation.run(30);
    simulation.server.world_mut().despawn(body);
    simulation.join();
    simulation.run(60);
    for (number, ammo) in [(0, 3), (1, 0)] {
        let world = simulation.clients[number].world_mut();
        let mut bodies = world.query::<(&Player, Has<TornOff>, Has<Remote>, Has<Owned>)>();
        let (player, is_torn_off, is_remote, is_owned) = bodies.single(world).unwrap();
        assert_eq!(*player, Player { health: 0, ammo });
        assert_eq!((is_torn_off, is_remote, is_owned), (true, false, false));
    }
    assert_eq!(all::<Player>(&mut simulation.clients[2]), []);
}
