//! Entities that clients keep when they are out of sight.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    KeptOutOfSight, NetEntity, NetKey, Owned, OwnedBy, Remote, ReplAppExt, ReplServer, Replicate, Simulation,
    WhenOutOfSight,
};

use crate::support::{Player, all, clients, see_from};

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Place(#[replicated] [f32; 2]);

/// All entities with this component are kept.
#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
#[require(WhenOutOfSight(OutOfSight::kept()))]
struct Building(#[replicated] u16);

#[derive(Component, Replicated, Interpolate, Default, Clone, Debug, PartialEq)]
struct Height(#[replicated] f32);

/// Counts the observer events of the marker.
#[derive(Resource, Default, Clone, Debug, PartialEq)]
struct Events {
    lost: u32,
    found: Vec<Option<Building>>,
}

fn simulation() -> Simulation {
    let mut simulation = Simulation::new(4, LinkConditions::lan(), 1, |app: &mut App| {
        app.replicate::<Place>().replicate::<Building>().replicate::<Player>();
        app.replicate::<Height>().interpolate::<Height>(4);
        app.relevancy(Area::within(20.0).flat(), |place: &Place| place.0);
        app.init_resource::<Events>();
        app.add_observer(|_: On<Add<KeptOutOfSight>>, mut events: ResMut<Events>| events.lost += 1);
        app.add_observer(
            |found: On<Remove<KeptOutOfSight>>, buildings: Query<&Building>, mut events: ResMut<Events>| {
                events.found.push(buildings.get(found.entity).ok().cloned());
            },
        );
    });
    simulation.run(10);
    look(&mut simulation, 0.0);
    simulation
}

fn look(simulation: &mut Simulation, x: f32) {
    see_from(simulation, 0, x);
    simulation.run(8);
}

fn client(simulation: &mut Simulation) -> &mut World {
    simulation.clients[0].world_mut()
}

/// Returns the only building of the client, and whether it is out of sight.
fn building(simulation: &mut Simulation) -> Option<(Entity, Building, bool)> {
    let world = client(simulation);
    let mut query = world.query::<(Entity, &Building, Has<KeptOutOfSight>)>();
    query.iter(world).next().map(|(entity, building, is_kept)| (entity, building.clone(), is_kept))
}

fn events(simulation: &mut Simulation) -> Events {
    std::mem::take(&mut *client(simulation).resource_mut::<Events>())
}

#[test]
fn a_kept_entity_is_marked_and_has_its_last_values_until_it_is_back_in_sight() {
    let mut simulation = simulation();
    let house = simulation.server.world_mut().spawn((Replicate, Building(1), Place::default())).id();
    simulation.run(8);
    let (here, ..) = building(&mut simulation).unwrap();
    assert_eq!(events(&mut simulation), Events::default());
    look(&mut simulation, 500.0);
    assert_eq!(building(&mut simulation), Some((here, Building(1), true)));
    assert!(client(&mut simulation).get::<Remote>(here).is_some());
    assert_eq!(events(&mut simulation), Events { lost: 1, found: vec![] });
    simulation.server.world_mut().entity_mut(house).insert(Building(2));
    simulation.run(8);
    assert_eq!(building(&mut simulation), Some((here, Building(1), true)), "nothing of it is sent");
    look(&mut simulation, 0.0);
    assert_eq!(building(&mut simulation), Some((here, Building(2), false)));
    assert_eq!(events(&mut simulation), Events { lost: 0, found: vec![Some(Building(2))] });
    simulation.server.world_mut().entity_mut(house).insert(Building(3));
    simulation.run(8);
    assert_eq!(building(&mut simulation), Some((here, Building(3), false)));
    simulation.server.world_mut().despawn(house);
    simulation.run(8);
    assert_eq!(building(&mut simulation), None);
    assert_eq!(events(&mut simulation), Events::default());
}

#[test]
fn components_that_come_and_go_out_of_sight_have_come_and_gone_afterwards() {
    let mut simulation = simulation();
    let player = Player { health: 7, ammo: 0 };
    let house = simulation.server.world_mut().spawn((Replicate, Building(1), Place::default(), player)).id();
    simulation.run(8);
    look(&mut simulation, 500.0);
    simulation.server.world_mut().entity_mut(house).insert(Height(2.0));
    simulation.run(8);
    // No other object takes the place of this component, so nothing else tells the client of its removal.
    simulation.server.world_mut().entity_mut(house).remove::<Player>();
    simulation.run(8);
    assert_eq!(all::<Player>(&mut simulation.clients[0]).len(), 1);
    assert_eq!(all::<Height>(&mut simulation.clients[0]), []);
    look(&mut simulation, 0.0);
    assert_eq!(all::<Player>(&mut simulation.clients[0]), []);
    assert_eq!(all::<Height>(&mut simulation.clients[0]), [Height(2.0)]);
    simulation.server.world_mut().entity_mut(house).insert(Player { health: 9, ammo: 0 });
    simulation.run(8);
    assert_eq!(all::<Player>(&mut simulation.clients[0]), [Player { health: 9, ammo: 0 }]);
}

#[test]
fn an_entity_has_a_setting_of_its_own_that_can_change() {
    let mut simulation = simulation();
    let house = simulation.server.world_mut().spawn((Replicate, Building(1), Place::default())).id();
    simulation.server.world_mut().entity_mut(house).insert(WhenOutOfSight(OutOfSight::removed()));
    simulation.run(8);
    let is_kept = |simulation: &mut Simulation| {
        look(simulation, 500.0);
        let is_kept = building(simulation).is_some();
        look(simulation, 0.0);
        is_kept
    };
    assert!(!is_kept(&mut simulation));
    simulation.server.world_mut().entity_mut(house).insert(WhenOutOfSight(OutOfSight::kept()));
    assert!(is_kept(&mut simulation));
    simulation.server.world_mut().entity_mut(house).remove::<WhenOutOfSight>();
    assert!(!is_kept(&mut simulation));
}

#[test]
fn a_hidden_entity_is_kept_only_if_the_setting_says_so() {
    for (setting, expected) in [(OutOfSight::kept(), false), (OutOfSight::kept().even_if_hidden(), true)] {
        let mut simulation = simulation();
        let owner = clients(&simulation)[0];
        let house = (OwnedBy(owner), Building(1), Place::default(), WhenOutOfSight(setting));
        let house = simulation.server.world_mut().spawn(house).id();
        simulation.run(8);
        assert_eq!(all::<Owned>(&mut simulation.clients[0]).len(), 1);
        let name = *simulation.server.world().get::<NetEntity>(house).unwrap();
        let show = |simulation: &mut Simulation, visible| {
            simulation.server.world_mut().resource_mut::<ReplServer>().set_visible(name, owner, visible);
            simulation.run(8);
            building(simulation).map(|(.., is_kept)| is_kept)
        };
        assert_eq!(show(&mut simulation, false), expected.then_some(true));
        assert_eq!(all::<Owned>(&mut simulation.clients[0]).len(), 0);
        assert_eq!(show(&mut simulation, true), Some(false));
        assert_eq!(all::<Owned>(&mut simulation.clients[0]).len(), 1);
    }
}

#[test]
fn the_end_of_a_kept_entity_is_told_only_if_the_setting_says_so() {
    for (setting, is_told) in [(OutOfSight::kept(), false), (OutOfSight::kept().until_destroyed(), true)] {
        let mut simulation = simulation();
        let house = (Replicate, Building(1), Place::default(), WhenOutOfSight(setting));
        let house = simulation.server.world_mut().spawn(house).id();
        simulation.run(8);
        look(&mut simulation, 500.0);
        simulation.server.world_mut().despawn(house);
        simulation.run(30);
        assert_eq!(building(&mut simulation).is_none(), is_told);
    }
}

#[test]
fn a_client_keeps_at_most_as_many_entities_as_its_configuration_says() {
    let mut simulation =
        Simulation::configured(5, LinkConditions::lan(), ServerConfig::default(), |app: &mut App| {
            app.replicate::<Place>().replicate::<Building>();
            app.relevancy(Area::within(20.0).flat(), |place: &Place| place.0);
        });
    simulation.join_with(ClientConfig { max_out_of_sight: 0, ..ClientConfig::default() });
    simulation.run(10);
    look(&mut simulation, 0.0);
    simulation.server.world_mut().spawn((Replicate, Building(1), Place::default()));
    simulation.run(8);
    assert!(building(&mut simulation).is_some());
    look(&mut simulation, 500.0);
    assert_eq!(building(&mut simulation), None);
}

#[test]
fn a_kept_entity_that_the_client_has_spawned_itself_is_the_same_entity() {
    let mut simulation = simulation();
    let own = client(&mut simulation).spawn((NetKey::of("house"), Building::default())).id();
    let house = (Replicate, NetKey::of("house"), Building(1), Place::default());
    simulation.server.world_mut().spawn(house);
    simulation.run(8);
    assert_eq!(building(&mut simulation), Some((own, Building(1), false)));
    look(&mut simulation, 500.0);
    assert_eq!(building(&mut simulation), Some((own, Building(1), true)));
    look(&mut simulation, 0.0);
    assert_eq!(building(&mut simulation), Some((own, Building(1), false)));
}

#[test]
fn a_kept_entity_ends_with_the_session() {
    let mut simulation = simulation();
    simulation.server.world_mut().spawn((Replicate, Building(1), Place::default()));
    simulation.run(8);
    look(&mut simulation, 500.0);
    assert!(building(&mut simulation).is_some());
    simulation.restart_server();
    simulation.run(900);
    assert!(simulation.client_entity(0).is_some(), "another session has begun");
    assert_eq!(building(&mut simulation), None);
}

#[test]
fn an_interpolated_component_does_not_move_through_the_values_that_were_not_seen() {
    let mut simulation = simulation();
    let lift = simulation.server.world_mut().spawn((Replicate, Building(1), Place::default(), Height(0.0)));
    let lift = lift.id();
    simulation.run(20);
    look(&mut simulation, 500.0);
    simulation.server.world_mut().entity_mut(lift).insert(Height(100.0));
    see_from(&mut simulation, 0, 0.0);
    for _ in 0..20 {
        simulation.run(1);
        let shown = all::<Height>(&mut simulation.clients[0]);
        assert!([Height(0.0), Height(100.0)].contains(&shown[0]), "{shown:?}");
    }
    assert_eq!(all::<Height>(&mut simulation.clients[0]), [Height(100.0)]);
}
