//! Pauses of entities, changes immediately before components are compared, and limits of a tick.

use bevy_app::{App, FixedPostUpdate};
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{Session, Work};
use repl_bevy::{
    ClientPlugin, NetEntity, NetPaused, OwnedBy, ReplAppExt, ReplServer, ReplSystems, Replicate,
    ServerPlugin, SimulatedNetwork, Simulation,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Player, all, app, clients};

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Score(#[replicated] u16);

/// A component that stays on the server.
#[derive(Component, Default)]
struct Points(u16);

fn simulation() -> Simulation {
    let mut simulation = Simulation::new(6, LinkConditions::lan(), 2, |app: &mut App| {
        app.replicate::<Score>().replicate::<Player>();
    });
    simulation.run(10);
    simulation
}

/// Returns the scores that each client has, sorted.
fn scores(simulation: &mut Simulation) -> [Vec<u16>; 2] {
    simulation.run(8);
    [0, 1].map(|client: usize| {
        let scores = all::<Score>(&mut simulation.clients[client]);
        let mut scores: Vec<u16> = scores.iter().map(|score| score.0).collect();
        scores.sort_unstable();
        scores
    })
}

#[test]
fn a_paused_entity_sends_nothing_and_then_its_newest_values() {
    let mut simulation = simulation();
    let entity = simulation.server.world_mut().spawn((Replicate, Score(1))).id();
    let child = simulation.server.world_mut().spawn((Replicate, Score(10), ChildOf(entity))).id();
    assert_eq!(scores(&mut simulation), [vec![1, 10], vec![1, 10]]);
    for paused in [entity, child] {
        simulation.server.world_mut().entity_mut(paused).insert(NetPaused);
    }
    simulation.server.world_mut().get_mut::<Score>(entity).unwrap().0 = 2;
    simulation.server.world_mut().get_mut::<Score>(child).unwrap().0 = 20;
    simulation.server.world_mut().entity_mut(entity).insert(Player { health: 1, ammo: 0 });
    assert_eq!(scores(&mut simulation), [vec![1, 10], vec![1, 10]]);
    let owner = clients(&simulation)[0];
    simulation.server.world_mut().entity_mut(entity).insert(OwnedBy(owner));
    simulation.server.world_mut().get_mut::<Score>(entity).unwrap().0 = 3;
    assert_eq!(scores(&mut simulation), [vec![1, 10], vec![1, 10]]);
    assert_eq!(all::<Player>(&mut simulation.clients[0]), [], "new components wait, too");
    simulation.join();
    simulation.run(30);
    assert_eq!(all::<Score>(&mut simulation.clients[2]), [], "it has nothing of it yet");
    for paused in [entity, child] {
        simulation.server.world_mut().entity_mut(paused).remove::<NetPaused>();
    }
    assert_eq!(scores(&mut simulation), [vec![3, 20], vec![3, 20]]);
    assert_eq!(all::<Score>(&mut simulation.clients[2]).len(), 2);
    assert_eq!(all::<Player>(&mut simulation.clients[0]).len(), 1);
}

#[test]
fn an_entity_can_begin_paused_and_end_while_it_is_paused() {
    let mut simulation = simulation();
    let entity = simulation.server.world_mut().spawn((NetPaused, Score(1))).id();
    assert_eq!(scores(&mut simulation), [Vec::<u16>::new(), Vec::new()]);
    simulation.server.world_mut().entity_mut(entity).remove::<NetPaused>();
    assert_eq!(scores(&mut simulation), [vec![1], vec![1]]);
    simulation.server.world_mut().entity_mut(entity).insert(NetPaused);
    simulation.run(8);
    simulation.server.world_mut().despawn(entity);
    assert_eq!(scores(&mut simulation), [Vec::<u16>::new(), Vec::new()]);
}

#[test]
fn an_entity_is_paused_for_one_client() {
    let mut simulation = simulation();
    let entity = simulation.server.world_mut().spawn((Replicate, Score(1))).id();
    simulation.run(8);
    let client = clients(&simulation)[0];
    let name = *simulation.server.world().get::<NetEntity>(entity).unwrap();
    let pause = |simulation: &mut Simulation, paused| {
        simulation.server.world_mut().resource_mut::<ReplServer>().set_paused_for(name, client, paused);
    };
    pause(&mut simulation, true);
    simulation.server.world_mut().get_mut::<Score>(entity).unwrap().0 = 2;
    assert_eq!(scores(&mut simulation), [vec![1], vec![2]]);
    let server = simulation.server.world().resource::<ReplServer>();
    assert_eq!(server.why_not_sent(name, client), Some(NotSent::ObjectPaused));
    pause(&mut simulation, false);
    assert_eq!(scores(&mut simulation), [vec![2], vec![2]]);
}

/// Copies points, which stay on the server, to scores.
fn count(mut rows: Query<(&Points, &mut Score), Changed<Points>>) {
    rows.iter_mut().for_each(|(points, mut score)| score.0 = points.0);
}

#[test]
fn a_system_before_the_packets_changes_what_the_same_tick_sends() {
    let mut simulation = Simulation::new(7, LinkConditions::lan(), 1, |app: &mut App| {
        app.replicate::<Score>();
        if app.is_plugin_added::<ServerPlugin>() {
            app.add_systems(FixedPostUpdate, count.before(ReplSystems::Write));
        }
    });
    simulation.run(10);
    let entity = simulation.server.world_mut().spawn((Replicate, Score(0), Points(1))).id();
    simulation.run(8);
    assert_eq!(all::<Score>(&mut simulation.clients[0]), [Score(1)], "it arrives so");
    simulation.server.world_mut().get_mut::<Points>(entity).unwrap().0 = 2;
    simulation.run(1);
    let name = *simulation.server.world().get::<NetEntity>(entity).unwrap();
    let server = simulation.server.world().resource::<ReplServer>();
    let reason = server.why_not_sent(name, clients(&simulation)[0]);
    assert_ne!(reason, Some(NotSent::NextTick), "the tick has compared the change");
    simulation.run(4);
    assert_eq!(all::<Score>(&mut simulation.clients[0]), [Score(2)]);
}

#[test]
fn a_limited_tick_serves_some_clients_and_the_others_in_the_next_ticks() {
    let network = SimulatedNetwork::new(8, LinkConditions::perfect());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let goes_on = move |work, _| match work {
        Work::Connections(served) => {
            counted.fetch_add(1, Ordering::Relaxed);
            served < 1
        }
        _ => true,
    };
    let setup = |app: &mut App| _ = app.replicate::<Score>();
    let mut server =
        app(ServerPlugin::over(network.server()).hz(30.0).tick_while(goes_on), Simulation::TICK, setup);
    let mut clients: Vec<App> = (1..5)
        .map(|number| {
            let client = ClientPlugin::over(network.client(), Session::for_tests(number));
            app(client, Simulation::TICK, setup)
        })
        .collect();
    let run = |server: &mut App, clients: &mut [App], ticks| {
        for _ in 0..ticks {
            server.update();
            clients.iter_mut().for_each(App::update);
        }
    };
    run(&mut server, &mut clients, 60);
    server.world_mut().spawn((Replicate, Score(5)));
    let have = |clients: &mut [App]| {
        clients.iter_mut().filter_map(|client| all::<Score>(client).first().cloned()).count()
    };
    run(&mut server, &mut clients, 2);
    assert!(have(&mut clients) < 4, "not all clients were served at once");
    run(&mut server, &mut clients, 30);
    assert_eq!(have(&mut clients), 4);
    assert!(asked.load(Ordering::Relaxed) > 0);
}
