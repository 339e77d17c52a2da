//! Calls in both directions.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    Called, Calls, ConnectedClient, Owned, OwnedBy, ReplAppExt, ReplServer, Replicate, Simulation,
};

use crate::support::clients;

#[derive(Component, Replicated, Default)]
struct Door {
    #[replicated]
    is_open: bool,
}

#[rpcs]
impl Door {
    #[rpc(server, reliable)]
    fn knock(times: u8);

    #[rpc(multicast, reliable)]
    fn creak(loudness: u8);
}

/// The calls that an app has received, each with its caller.
#[derive(Resource, Default)]
struct Told(Vec<(Entity, Option<Entity>, String)>);

fn simulation() -> Simulation {
    let mut simulation = Simulation::new(4, LinkConditions::mobile(), 2, |app: &mut App| {
        app.replicate::<Door>().calls::<Door>().init_resource::<Told>();
        app.add_observer(|called: On<Called<Door>>, mut told: ResMut<Told>| {
            told.0.push((called.entity, called.caller, format!("{:?}", called.call)));
        });
    });
    simulation.run(30);
    simulation
}

fn told(app: &App) -> Vec<(Entity, Option<Entity>, String)> {
    app.world().resource::<Told>().0.clone()
}

#[test]
fn a_call_of_the_owner_is_an_event_of_the_entity_on_the_server() {
    let mut simulation = simulation();
    let clients = clients(&simulation);
    let door = simulation.server.world_mut().spawn((OwnedBy(clients[1]), Door::default())).id();
    simulation.run(30);
    for client in &mut simulation.clients {
        let knock =
            |door: Single<Entity, With<Door>>, mut calls: Calls| calls.of::<Door>(*door).knock(3).is_ok();
        client.world_mut().run_system_cached(knock).unwrap();
    }
    simulation.run(30);
    assert_eq!(told(&simulation.server), [(door, Some(clients[1]), "Knock { times: 3 }".to_owned())]);
}

#[test]
fn a_call_of_the_server_is_an_event_of_the_entity_on_all_clients() {
    let mut simulation = simulation();
    let door = simulation.server.world_mut().spawn((Replicate, Door::default())).id();
    simulation.run(30);
    simulation
        .server
        .world_mut()
        .run_system_cached_with(
            |door: In<Entity>, mut calls: Calls| calls.of::<Door>(*door).creak(9).is_ok(),
            door,
        )
        .unwrap();
    simulation.run(30);
    assert_eq!(told(&simulation.server), [(door, None, "Creak { loudness: 9 }".to_owned())]);
    for client in &mut simulation.clients {
        let world = client.world_mut();
        let door = world.query_filtered::<Entity, With<Door>>().single(world).unwrap();
        assert_eq!(told(client), [(door, None, "Creak { loudness: 9 }".to_owned())]);
    }
}

#[test]
fn a_call_of_what_is_not_replicated_is_refused() {
    let mut simulation = simulation();
    let door = simulation.server.world_mut().spawn(Door::default()).id();
    let creak = |door: In<Entity>, mut calls: Calls| calls.of::<Door>(*door).creak(9);
    let result = simulation.server.world_mut().run_system_cached_with(creak, door).unwrap();
    assert_eq!(result, Err(CallError::Gone));
}

#[test]
fn an_observer_of_an_entity_that_arrives_can_call_and_one_of_a_client_finds_its_connection() {
    let mut simulation = simulation();
    simulation.server.add_observer(|added: On<Add<ConnectedClient>>, server: Res<ReplServer>| {
        assert!(server.connection_of(added.entity).is_some());
    });
    simulation.join();
    simulation.clients[2].add_observer(|owned: On<Add<Owned>>, mut calls: Calls| {
        calls.of::<Door>(owned.entity).knock(1).unwrap();
    });
    simulation.run(30);
    let owner = clients(&simulation)[2];
    let door = simulation.server.world_mut().spawn((OwnedBy(owner), Door::default())).id();
    simulation.run(60);
    assert_eq!(told(&simulation.server), [(door, Some(owner), "Knock { times: 1 }".to_owned())]);
}

#[test]
#[should_panic(expected = "the calls of `Door` are not known: say `app.calls::<Door>()` on both sides")]
fn calls_that_the_app_was_not_told_of_are_a_mistake_that_says_what_to_write() {
    let mut simulation = Simulation::new(4, LinkConditions::lan(), 0, |app: &mut App| {
        app.replicate::<Door>();
    });
    let world = simulation.server.world_mut();
    world.spawn((Replicate, Door::default()));
    let call = |door: Single<Entity, With<Door>>, mut calls: Calls| calls.of::<Door>(*door).creak(3).is_ok();
    world.run_system_cached(call).unwrap();
}
