//! Entities and their components are spawned, changed and removed.

use bevy_app::{App, AppExit};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::error::Severity;
use bevy_ecs::prelude::*;
use bevy_time::{Time, TimeUpdateStrategy, Virtual};
use repl::Session;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    ClientLeft, ClientPlugin, LeavesWithOwner, LeftServer, NetEntities, NetEntity, Owned, OwnedBy, Remote,
    ReplAppExt, Replicate, ServerPlugin, SimulatedNetwork, Simulation,
};

use std::sync::Mutex;
use std::time::Duration;

use crate::support::{Player, all, app, clients};

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Burning {
    #[replicated]
    ticks: u8,
}

#[derive(Component, Replicated, Default)]
struct Weapon {
    #[replicated]
    holder: NetEntity,
}

fn simulation(clients: usize) -> Simulation {
    Simulation::new(1, LinkConditions::perfect(), clients, |app| {
        app.replicate::<Player>().replicate::<Burning>().replicate::<Weapon>();
    })
}

#[test]
fn an_entity_comes_changes_and_goes() {
    let mut simulation = simulation(2);
    let player = simulation.server.world_mut().spawn((Replicate, Player { health: 90, ammo: 3 })).id();
    simulation.run(10);
    for client in &mut simulation.clients {
        assert_eq!(all::<Player>(client), [Player { health: 90, ammo: 0 }]);
    }
    simulation.server.world_mut().get_mut::<Player>(player).unwrap().health = 80;
    simulation.run(3);
    assert_eq!(all::<Player>(&mut simulation.clients[0])[0].health, 80);
    simulation.server.world_mut().despawn(player);
    simulation.run(3);
    for client in &mut simulation.clients {
        assert_eq!(client.world_mut().query::<&Remote>().iter(client.world()).count(), 0);
    }
}

#[test]
fn clients_of_a_game_that_is_paused_stay_and_see_what_changes() {
    let mut simulation = simulation(1);
    let player = simulation.server.world_mut().spawn((Replicate, Player::default())).id();
    simulation.run(10);
    let client = simulation.client_entity(0);
    simulation.server.world_mut().resource_mut::<Time<Virtual>>().pause();
    simulation.run(30 * 60);
    assert_eq!(simulation.client_entity(0), client, "it is still connected");
    simulation.server.world_mut().get_mut::<Player>(player).unwrap().health = 4;
    simulation.run(10);
    assert_eq!(all::<Player>(&mut simulation.clients[0])[0].health, 4);
}

#[test]
fn components_come_and_go() {
    let mut simulation = simulation(1);
    let player = simulation.server.world_mut().spawn((Replicate, Player::default())).id();
    simulation.run(10);
    for ticks in [5, 9] {
        simulation.server.world_mut().entity_mut(player).insert(Burning { ticks });
        simulation.run(3);
        assert_eq!(all::<Burning>(&mut simulation.clients[0]), [Burning { ticks }]);
        simulation.server.world_mut().entity_mut(player).insert(Burning { ticks: ticks + 1 });
        simulation.run(3);
        assert_eq!(all::<Burning>(&mut simulation.clients[0]), [Burning { ticks: ticks + 1 }]);
        simulation.server.world_mut().entity_mut(player).remove::<Burning>();
        simulation.run(3);
        assert_eq!(all::<Burning>(&mut simulation.clients[0]), []);
    }
    assert_eq!(all::<Player>(&mut simulation.clients[0]).len(), 1);
}

#[test]
fn an_entity_that_is_not_replicated_any_more_ends_on_clients_and_can_come_again() {
    let mut simulation = simulation(1);
    let player = simulation.server.world_mut().spawn((Replicate, Player { health: 7, ammo: 0 })).id();
    simulation.run(10);
    simulation.server.world_mut().entity_mut(player).remove::<Replicate>();
    simulation.run(3);
    assert_eq!(all::<Player>(&mut simulation.clients[0]), []);
    simulation.server.world_mut().entity_mut(player).insert(Replicate);
    simulation.run(3);
    assert_eq!(all::<Player>(&mut simulation.clients[0]), [Player { health: 7, ammo: 0 }]);
}

#[test]
fn the_owner_has_what_is_for_the_owner_and_knows_that_it_is() {
    let mut simulation = simulation(2);
    simulation.run(10);
    let clients = clients(&simulation);
    let player =
        simulation.server.world_mut().spawn((OwnedBy(clients[0]), Player { health: 90, ammo: 3 })).id();
    simulation.run(5);
    let ammo = |simulation: &mut Simulation| -> Vec<(u16, bool)> {
        let clients = simulation.clients.iter_mut();
        clients
            .map(|client| {
                let world = client.world_mut();
                let (player, is_owned) = world.query::<(&Player, Has<Owned>)>().single(world).unwrap();
                (player.ammo, is_owned)
            })
            .collect()
    };
    assert_eq!(ammo(&mut simulation), [(3, true), (0, false)]);
    simulation.server.world_mut().entity_mut(player).insert(OwnedBy(clients[1]));
    simulation.run(5);
    assert_eq!(ammo(&mut simulation)[1], (3, true));
    assert!(!ammo(&mut simulation)[0].1);
}

#[test]
fn a_reference_names_the_same_entity_on_both_sides_although_it_was_made_before_the_spawn() {
    let mut simulation = simulation(1);
    simulation
        .server
        .world_mut()
        .run_system_cached(|mut commands: Commands, mut names: NetEntities| {
            let player = commands.spawn((Replicate, Player { health: 5, ammo: 0 })).id();
            commands.spawn((Replicate, Weapon { holder: names.of(player) }));
        })
        .unwrap();
    simulation.run(10);
    simulation.clients[0]
        .world_mut()
        .run_system_cached(|weapon: Single<&Weapon>, names: NetEntities, players: Query<&Player>| {
            let holder = names.entity(weapon.holder).expect("the player is here");
            assert_eq!(players.get(holder).unwrap().health, 5);
        })
        .unwrap();
}

#[test]
fn an_observer_of_one_component_sees_the_others_of_a_new_entity() {
    #[derive(Resource, Default)]
    struct Seen(usize);
    let mut simulation = Simulation::new(3, LinkConditions::mobile(), 1, |app| {
        app.replicate::<Player>().replicate::<Burning>().init_resource::<Seen>();
        app.add_observer(|added: On<Add<Burning>>, players: Query<&Player>, mut seen: ResMut<Seen>| {
            assert!(players.contains(added.entity));
            seen.0 += 1;
        });
    });
    for _ in 0..20 {
        simulation.server.world_mut().spawn((Replicate, Burning::default(), Player::default()));
    }
    simulation.run(60);
    assert_eq!(simulation.clients[0].world().resource::<Seen>().0, 20);
}

#[test]
fn values_that_arrive_twice_are_no_change() {
    #[derive(Resource, Default)]
    struct Changes(u32);
    let mut simulation = Simulation::new(9, LinkConditions::lan().with_loss(0.5), 1, |app| {
        app.replicate::<Player>().init_resource::<Changes>();
        let count = |players: Query<&Player, Changed<Player>>, mut changes: ResMut<Changes>| {
            changes.0 += players.iter().count() as u32;
        };
        app.add_systems(bevy_app::Update, count);
    });
    let player = simulation.server.world_mut().spawn((Replicate, Player::default())).id();
    simulation.run(100);
    let before = simulation.clients[0].world().resource::<Changes>().0;
    simulation.server.world_mut().get_mut::<Player>(player).unwrap().health = 1;
    simulation.run(100);
    assert_eq!(simulation.clients[0].world().resource::<Changes>().0, before + 1);
}

#[test]
fn what_changes_while_an_entity_is_disabled_is_not_lost() {
    let mut simulation = simulation(1);
    let player = simulation.server.world_mut().spawn((Replicate, Player { health: 1, ammo: 0 })).id();
    simulation.run(10);
    simulation.server.world_mut().entity_mut(player).insert((Disabled, Player { health: 2, ammo: 0 }));
    simulation.run(10);
    simulation.server.world_mut().entity_mut(player).remove::<Disabled>();
    simulation.run(10);
    assert_eq!(all::<Player>(&mut simulation.clients[0])[0].health, 2);
}

#[test]
fn a_server_whose_process_stood_still_goes_on() {
    let mut simulation = simulation(1);
    simulation.server.world_mut().spawn((Replicate, Player::default()));
    simulation.run(10);
    // The clients continue while the server does not run, so their packets wait.
    (0..30 * 8).for_each(|_| simulation.clients[0].update());
    simulation.server.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(8)));
    simulation.run(1);
    simulation.server.insert_resource(TimeUpdateStrategy::ManualDuration(Simulation::TICK));
    simulation.run(300);
    assert_eq!(all::<Player>(&mut simulation.clients[0]).len(), 1);
}

#[test]
fn who_exits_is_gone_at_once() {
    #[derive(Resource, Default)]
    struct Left(Vec<DisconnectReason>);
    let mut simulation = simulation(2);
    simulation.run(10);
    simulation.server.init_resource::<Left>();
    let note = |left: On<ClientLeft>, mut all: ResMut<Left>| all.0.push(left.reason.clone());
    simulation.server.add_observer(note);
    let owner = clients(&simulation)[0];
    let world = simulation.server.world_mut();
    let stays = world.spawn((OwnedBy(owner), Player::default())).id();
    let leaves = world.spawn((OwnedBy(owner), LeavesWithOwner, Player::default())).id();
    let child = world.spawn((Replicate, ChildOf(leaves))).id();
    let unowned = world.spawn((LeavesWithOwner, Player::default())).id();
    simulation.clients[0].world_mut().write_message(AppExit::Success);
    simulation.run(5);
    assert_eq!(simulation.server.world().resource::<Left>().0, [DisconnectReason::Closed]);
    let is_there =
        [stays, leaves, child, unowned].map(|entity| simulation.server.world().get_entity(entity).is_ok());
    assert_eq!(is_there, [true, false, false, true]);
    simulation.clients[1].init_resource::<Left>();
    simulation.clients[1]
        .add_observer(|left: On<LeftServer>, mut all: ResMut<Left>| all.0.push(left.reason.clone()));
    simulation.server.world_mut().write_message(AppExit::Success);
    simulation.run(5);
    assert_eq!(simulation.clients[1].world().resource::<Left>().0, [DisconnectReason::Closed]);
}

#[test]
fn a_server_that_is_full_goes_on_and_says_so() {
    static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let network = SimulatedNetwork::new(1, LinkConditions::lan());
    let config = ServerConfig { max_objects: 5, ..ServerConfig::default() };
    let mut server = app(ServerPlugin::over(network.server()).config(config), Simulation::TICK, |app| {
        app.replicate::<Player>();
    });
    server.set_error_handler(|error, _| ERRORS.lock().unwrap().push(error.to_string()));
    let mut client =
        app(ClientPlugin::over(network.client(), Session::for_tests(1)), Simulation::TICK, |app| {
            app.replicate::<Player>();
        });
    let entities: Vec<Entity> =
        (0..4).map(|_| server.world_mut().spawn((Replicate, Player::default())).id()).collect();
    let mut run = |server: &mut App| {
        for _ in 0..30 {
            server.update();
            client.update();
        }
        all::<Player>(&mut client).len()
    };
    assert_eq!(run(&mut server), 1, "four entities and a component are five objects");
    let errors = std::mem::take(&mut *ERRORS.lock().unwrap());
    assert!(errors.len() == 1 && errors[0].contains("not replicated"), "{errors:?}");
    server.world_mut().despawn(entities[0]);
    run(&mut server);
    server.world_mut().spawn((Replicate, Player::default()));
    assert_eq!(run(&mut server), 1);
}

#[test]
fn a_component_in_a_sparse_set_is_replicated_like_others() {
    #[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
    #[component(storage = "SparseSet")]
    struct Mark(#[replicated] u8);
    let mut simulation = Simulation::new(5, LinkConditions::lan(), 1, |app: &mut App| {
        app.replicate::<Mark>();
    });
    let entity = simulation.server.world_mut().spawn((Replicate, Mark(1))).id();
    let disabled = simulation.server.world_mut().spawn((Replicate, Mark(9), Disabled)).id();
    simulation.run(30);
    let marks = |simulation: &mut Simulation| {
        let mut marks = all::<Mark>(&mut simulation.clients[0]);
        marks.sort_unstable_by_key(|mark| mark.0);
        marks
    };
    assert_eq!(marks(&mut simulation), [Mark(1), Mark(9)]);
    simulation.server.world_mut().get_mut::<Mark>(entity).unwrap().0 = 2;
    simulation.server.world_mut().get_mut::<Mark>(disabled).unwrap().0 = 8;
    simulation.run(30);
    assert_eq!(marks(&mut simulation), [Mark(2), Mark(8)]);
    simulation.server.world_mut().entity_mut(entity).remove::<Mark>();
    simulation.run(30);
    assert_eq!(marks(&mut simulation), [Mark(8)]);
}

#[test]
fn a_value_that_is_refused_is_a_warning() {
    #[derive(Component, Replicated, Default)]
    struct Depth(#[replicated(quantize(step = 0.5, range = 0.0..=9.0))] [f32; 2]);
    static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut simulation = Simulation::new(5, LinkConditions::lan(), 1, |app: &mut App| {
        app.replicate::<Depth>();
    });
    simulation.server.set_error_handler(|error, _| {
        assert_eq!(error.severity(), Severity::Warning);
        WARNINGS.lock().unwrap().push(error.to_string());
    });
    simulation.server.world_mut().spawn((Replicate, Depth([-3.0, 40.0])));
    simulation.run(30);
    let warnings = std::mem::take(&mut *WARNINGS.lock().unwrap());
    let [warning] = &*warnings else { panic!("{warnings:?}") };
    for path in ["`0[0]`", "`0[1]`"] {
        assert!(warning.contains(&format!("{path} of a `Depth` is not sent: ")), "{warning}");
    }
}
