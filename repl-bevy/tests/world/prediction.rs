//! A client predicts its own moves, and does not wait for the server.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_time::Time;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    Input, MakeInput, NetEntity, NextInput, Owned, OwnedBy, PredictionCounts, Remote, ReplAppExt, ReplServer,
    Replicate, SeenBy, Simulate, Simulated, Simulation, SimulationStep, is_first_run,
};
use std::sync::Mutex;
use std::time::Duration;

use crate::support::{all, clients};

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Steer(#[replicated(range = -1..=1)] i8);

#[derive(Component, Replicated, Interpolate, Clone, Debug, Default, PartialEq)]
struct Position(#[replicated] f32);

/// The remaining ticks of a dash (a short fast move).
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
struct Dash(#[replicated] u8);

/// Counts the steps, to check that some things happen only once in each tick.
#[derive(Resource, Default)]
struct Steps {
    first: Vec<u64>,
    replays: usize,
}

fn walk(mut walkers: Query<(&Input<Steer>, &mut Position, Has<Dash>), With<Simulated>>, time: Res<Time>) {
    for (input, mut position, is_dashing) in &mut walkers {
        let way = input.get().map_or(0.0, |steer| f32::from(steer.0));
        let speed = if is_dashing { 30.0 } else { 10.0 };
        position.0 += way * speed * time.delta_secs();
    }
}

/// A dash begins when a walker is at a position between 20 and 21, and ends by itself.
fn dash(mut dashing: Query<(Entity, &Position, Option<&mut Dash>), With<Simulated>>, mut commands: Commands) {
    for (entity, position, dash) in &mut dashing {
        match dash {
            Some(dash) if dash.0 == 0 => drop(commands.entity(entity).remove::<Dash>()),
            Some(mut dash) => dash.0 -= 1,
            None if position.0 > 20.0 && position.0 < 21.0 => drop(commands.entity(entity).insert(Dash(9))),
            None => {}
        }
    }
}

fn simulation(conditions: LinkConditions) -> Simulation {
    let mut simulation = Simulation::new(8, conditions, 2, |app: &mut App| {
        app.replicate::<Position>().replicate::<Dash>().input::<Steer>();
        app.predict::<Position>().predict::<Dash>().interpolate::<Position>(4).init_resource::<Steps>();
        app.add_systems(Simulate, (walk, dash).chain());
        app.add_systems(Simulate, |step: Res<SimulationStep>, mut steps: ResMut<Steps>| {
            steps.replays += usize::from(step.is_replay);
        });
        let first = |step: Res<SimulationStep>, mut steps: ResMut<Steps>| steps.first.push(step.tick);
        app.add_systems(Simulate, first.run_if(is_first_run));
    });
    simulation.run(60);
    simulation
}

fn lossy() -> LinkConditions {
    LinkConditions { latency: Duration::from_millis(60), ..LinkConditions::lan().with_loss(0.05) }
}

/// Spawns an entity that the first client owns, and waits until the client's input clock is ready.
fn spawn(simulation: &mut Simulation) -> Entity {
    let owner = clients(simulation)[0];
    let walker = simulation.server.world_mut().spawn((OwnedBy(owner), Position(0.0))).id();
    simulation.run(60);
    walker
}

fn steer(simulation: &mut Simulation, way: i8) {
    simulation.clients[0].world_mut().resource_mut::<NextInput<Steer>>().0 = Steer(way);
}

fn position(app: &mut App) -> f32 {
    all::<Position>(app)[0].0
}

fn rollbacks(simulation: &Simulation) -> u64 {
    simulation.clients[0].world().resource::<PredictionCounts>().0.rollbacks
}

#[test]
fn the_own_entity_moves_at_once_and_ends_where_the_server_says() {
    let mut simulation = simulation(lossy());
    spawn(&mut simulation);
    let before = rollbacks(&simulation);
    steer(&mut simulation, 1);
    simulation.run(2);
    let own = position(&mut simulation.clients[0]);
    assert!(own > 0.0, "the round trip takes four ticks");
    assert_eq!(position(&mut simulation.server), 0.0);
    assert_eq!(position(&mut simulation.clients[1]), 0.0);
    simulation.run(120);
    steer(&mut simulation, 0);
    simulation.run(60);
    let end = position(&mut simulation.server);
    assert!(end > 40.0, "{end}: a dash is part of the way");
    for client in &mut simulation.clients {
        assert_eq!(position(client), end);
        assert_eq!(all::<Dash>(client), []);
    }
    assert_eq!(rollbacks(&simulation), before, "both sides step alike, and no input was missing");
}

#[test]
fn what_the_server_decides_otherwise_is_corrected() {
    let mut simulation = simulation(lossy());
    let walker = spawn(&mut simulation);
    steer(&mut simulation, 1);
    simulation.run(30);
    let before = rollbacks(&simulation);
    simulation.server.world_mut().get_mut::<Position>(walker).unwrap().0 = -50.0;
    simulation.run(30);
    assert_eq!(rollbacks(&simulation), before + 1);
    let (own, server) = (position(&mut simulation.clients[0]), position(&mut simulation.server));
    assert!(own < 0.0 && own > server, "{own}: ahead of the server's {server}");
    steer(&mut simulation, 0);
    simulation.run(60);
    assert_eq!(position(&mut simulation.clients[0]), position(&mut simulation.server));
    // The server inserts a component that the client does not have.
    simulation.server.world_mut().entity_mut(walker).insert(Dash(40));
    simulation.run(20);
    assert_eq!(all::<Dash>(&mut simulation.clients[0]).len(), 1);
    simulation.run(80);
    assert_eq!(all::<Dash>(&mut simulation.clients[0]), []);
    assert_eq!(rollbacks(&simulation), before + 2, "it ends by itself on both sides");
}

#[test]
fn a_tick_is_simulated_for_the_first_time_only_once() {
    let mut simulation = simulation(lossy());
    let walker = spawn(&mut simulation);
    steer(&mut simulation, 1);
    for _ in 0..20 {
        simulation.server.world_mut().get_mut::<Position>(walker).unwrap().0 -= 3.0;
        simulation.run(7);
    }
    let steps = simulation.clients[0].world().resource::<Steps>();
    assert!(steps.replays > 50, "{}", steps.replays);
    assert!(steps.first.is_sorted_by(|one, next| one < next), "{:?}", steps.first);
    let steps = simulation.server.world().resource::<Steps>();
    assert_eq!(steps.replays, 0);
    assert!(steps.first.is_sorted_by(|one, next| one + 1 == *next));
}

#[test]
fn who_is_no_longer_the_owner_follows_the_server() {
    let mut simulation = simulation(lossy());
    let walker = spawn(&mut simulation);
    steer(&mut simulation, 1);
    simulation.run(30);
    simulation.server.world_mut().entity_mut(walker).remove::<OwnedBy>();
    simulation.run(30);
    let world = simulation.clients[0].world_mut();
    let marks = world.query_filtered::<(Has<Owned>, Has<Simulated>), With<Remote>>().single(world).unwrap();
    assert_eq!(marks, (false, false));
    assert_eq!(position(&mut simulation.clients[0]), position(&mut simulation.server));
    simulation.server.world_mut().get_mut::<Position>(walker).unwrap().0 = 7.0;
    simulation.run(30);
    assert_eq!(position(&mut simulation.clients[0]), position(&mut simulation.server));
}

#[test]
fn systems_of_the_frame_make_the_input() {
    let mut simulation = simulation(LinkConditions::lan());
    spawn(&mut simulation);
    let client = &mut simulation.clients[0];
    client.add_systems(MakeInput, |mut next: ResMut<NextInput<Steer>>| next.0 = Steer(-1));
    client.add_systems(Update, |own: Single<&Position, With<Owned>>| assert!(own.0 <= 0.0));
    simulation.run(30);
    assert!(position(&mut simulation.server) < 0.0);
}

#[test]
fn others_move_smoothly_in_every_frame_and_behind_the_server() {
    let mut simulation = simulation(lossy());
    let walker = spawn(&mut simulation);
    let mut shown = Vec::new();
    for tick in 0..120_u16 {
        // The server moves it in every third tick.
        simulation.server.world_mut().get_mut::<Position>(walker).unwrap().0 = f32::from(tick / 3 * 3) * 0.1;
        simulation.run(1);
        shown.push(position(&mut simulation.clients[1]));
    }
    let moving = &shown[30..];
    let steps: Vec<f32> = moving.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(steps.iter().all(|step| (0.0..0.25).contains(step)), "{steps:?}");
    let standing = steps.iter().filter(|&&step| step == 0.0).count();
    assert!(standing < steps.len() / 10, "{standing} of {}", steps.len());
    simulation.run(30);
    assert_eq!(position(&mut simulation.clients[1]), position(&mut simulation.server));
}

#[test]
fn what_arrives_keeps_its_components_until_it_is_confirmed() {
    #[derive(Resource, Default)]
    struct Removed(usize);
    for seed in [1, 2, 16] {
        let mut simulation =
            Simulation::new(seed, LinkConditions::lan().with_loss(0.2), 1, |app: &mut App| {
                app.replicate::<Position>().predict::<Position>().input::<Steer>().init_resource::<Removed>();
                app.add_observer(|_: On<Remove<Position>>, mut removed: ResMut<Removed>| removed.0 += 1);
            });
        simulation.run(90);
        let owner = clients(&simulation)[0];
        (0..70).for_each(|_| _ = simulation.server.world_mut().spawn((OwnedBy(owner), Position(7.0))));
        simulation.run(90);
        assert_eq!(all::<Position>(&mut simulation.clients[0]).len(), 70);
        assert_eq!(simulation.clients[0].world().resource::<Removed>().0, 0, "seed {seed}");
    }
}

/// Returns a simulation with a client that only interpolates, and an entity of the server.
fn interpolated(owned: bool) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(1, LinkConditions::lan(), 1, |app: &mut App| {
        app.replicate::<Position>().interpolate::<Position>(4);
    });
    simulation.run(60);
    let owner = clients(&simulation)[0];
    let mut entity = simulation.server.world_mut().spawn((Replicate, Position(0.0)));
    if owned {
        entity.insert(OwnedBy(owner));
    }
    let entity = entity.id();
    simulation.run(60);
    (simulation, entity)
}

#[test]
fn the_own_entity_follows_the_server_if_it_is_not_predicted() {
    let (mut simulation, entity) = interpolated(true);
    simulation.server.world_mut().get_mut::<Position>(entity).unwrap().0 = 9.0;
    simulation.run(60);
    assert_eq!(position(&mut simulation.clients[0]), 9.0);
}

#[test]
fn a_component_that_comes_again_is_not_shown_where_it_was_before() {
    let (mut simulation, entity) = interpolated(false);
    simulation.server.world_mut().entity_mut(entity).remove::<Position>();
    simulation.run(30);
    simulation.server.world_mut().entity_mut(entity).insert(Position(100.0));
    for _ in 0..20 {
        simulation.run(1);
        assert!(all::<Position>(&mut simulation.clients[0]).iter().all(|position| position.0 == 100.0));
    }
}

#[test]
fn what_only_the_prediction_has_inserted_goes_with_the_ownership() {
    let mut simulation = simulation(lossy());
    let walker = spawn(&mut simulation);
    for app in simulation.clients.iter_mut().chain([&mut simulation.server]) {
        let dash = |walkers: Query<(Entity, &Input<Steer>), With<Simulated>>, mut commands: Commands| {
            for (entity, _) in walkers.iter().filter(|(_, input)| input.get() == Some(&Steer(1))) {
                commands.entity(entity).insert(Dash(9));
            }
        };
        app.add_systems(Simulate, dash);
    }
    steer(&mut simulation, 1);
    simulation.server.world_mut().entity_mut(walker).remove::<OwnedBy>();
    simulation.run(120);
    assert_eq!(all::<Dash>(&mut simulation.clients[0]), []);
}

/// Returns a simulation in which `kinds` registers the predicted components of the server and of the client.
fn with_kinds(kinds: impl Fn(&mut App, bool) + 'static) -> Simulation {
    let mut simulation = Simulation::new(8, LinkConditions::lan(), 1, move |app: &mut App| {
        app.replicate::<Position>().replicate::<Dash>().input::<Steer>();
        app.add_systems(Simulate, walk);
        let is_server = app.world().contains_resource::<ReplServer>();
        kinds(app, is_server);
    });
    simulation.run(60);
    spawn(&mut simulation);
    simulation
}

#[test]
fn the_order_in_which_components_are_predicted_does_not_matter() {
    let mut simulation = with_kinds(|app, is_server| {
        _ = if is_server {
            app.predict::<Position>().predict::<Dash>()
        } else {
            app.predict::<Dash>().predict::<Position>()
        };
    });
    let before = rollbacks(&simulation);
    steer(&mut simulation, 1);
    simulation.run(2);
    assert!(position(&mut simulation.clients[0]) > 0.0);
    simulation.run(60);
    assert_eq!(rollbacks(&simulation), before);
}

#[test]
fn a_client_that_predicts_other_components_says_so_and_follows_the_server() {
    static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut simulation = with_kinds(|app, is_server| {
        app.set_error_handler(|error, _| ERRORS.lock().unwrap().push(error.to_string()));
        app.predict::<Position>();
        if is_server {
            app.predict::<Dash>();
        }
    });
    steer(&mut simulation, 1);
    simulation.run(60);
    steer(&mut simulation, 0);
    simulation.run(60);
    let errors = ERRORS.lock().unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("call `predict` for the same types on both sides"), "{}", errors[0]);
}

/// The entity that an entity carries.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
struct Carries(#[replicated] NetEntity);

#[test]
fn a_predicted_reference_to_what_the_client_does_not_see_is_empty_until_it_does() {
    let mut simulation = Simulation::new(8, LinkConditions::lan(), 1, |app: &mut App| {
        app.replicate::<Carries>().replicate::<Dash>().predict::<Carries>().input::<Steer>();
    });
    simulation.run(60);
    let owner = clients(&simulation)[0];
    let world = simulation.server.world_mut();
    let hidden = world.spawn((SeenBy(Group(9).into()), Dash(1))).id();
    simulation.run(1);
    let name = *simulation.server.world().get::<NetEntity>(hidden).unwrap();
    simulation.server.world_mut().spawn((OwnedBy(owner), Carries(name)));
    simulation.run(60);
    assert_eq!(all::<Carries>(&mut simulation.clients[0]), [Carries(NetEntity::EMPTY)]);
    simulation.server.world_mut().entity_mut(hidden).remove::<SeenBy>();
    simulation.run(60);
    assert_eq!(all::<Carries>(&mut simulation.clients[0]), [Carries(name)]);
}

#[test]
fn after_a_restart_of_the_server_what_is_predicted_is_confirmed_again() {
    let mut simulation = simulation(LinkConditions::lan());
    spawn(&mut simulation);
    steer(&mut simulation, 1);
    simulation.run(90);
    simulation.restart_server();
    let is_back = |simulation: &Simulation| simulation.client_entity(1).and(simulation.client_entity(0));
    (0..2_000).find(|_| {
        simulation.run(1);
        is_back(&simulation).is_some()
    });
    spawn(&mut simulation);
    simulation.run(60);
    let (before, counted) = (position(&mut simulation.clients[0]), rollbacks(&simulation));
    simulation.run(60);
    assert_eq!(rollbacks(&simulation), counted);
    let (own, server) = (position(&mut simulation.clients[0]), position(&mut simulation.server));
    let seconds = Simulation::TICK.as_secs_f32() * 60.0;
    assert!((own - before - 10.0 * seconds).abs() < 0.5, "{} m in {seconds} s", own - before);
    assert!(own > server && own < server + 2.0, "{own} m here, {server} m there");
}
