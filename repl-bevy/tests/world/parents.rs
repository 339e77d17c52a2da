//! Children have the same parents on clients.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{Remote, ReplAppExt, ReplServer, Replicate, Simulation};
use std::collections::BTreeMap;

#[derive(Component, Replicated, Default, Clone, Copy, Debug, PartialEq)]
struct Tag(#[replicated] u8);

#[derive(Component, Replicated, Default, Clone, Copy)]
struct Place(#[replicated] [f32; 2]);

fn simulation(loss: f64) -> Simulation {
    let mut simulation = Simulation::new(6, LinkConditions::lan().with_loss(loss), 1, |app: &mut App| {
        app.replicate::<Tag>().replicate::<Place>();
        app.relevancy(Area::within(20.0).flat(), |place: &Place| place.0);
    });
    simulation.run(30);
    let client = simulation.client_entity(0).unwrap();
    let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
    let connection = server.connection_of(client).unwrap();
    server.connection(connection).set_viewpoints(&[[0.0; 3]]);
    simulation
}

/// Returns the tag of each entity of the client, with the tag of its parent.
fn parents(simulation: &mut Simulation) -> BTreeMap<u8, Option<u8>> {
    let world = simulation.clients[0].world_mut();
    let rows: Vec<_> = world
        .query_filtered::<(&Tag, Option<&ChildOf>), With<Remote>>()
        .iter(world)
        .map(|(tag, parent)| (tag.0, parent.map(ChildOf::parent)))
        .collect();
    let tag = |parent: Entity| world.get::<Tag>(parent).map_or(0, |tag| tag.0);
    rows.into_iter().map(|(child, parent)| (child, parent.map(tag))).collect()
}

#[test]
fn a_child_has_its_parent_and_moves_to_another() {
    let mut simulation = simulation(0.3);
    let world = simulation.server.world_mut();
    let [one, two] = [1, 2].map(|tag| world.spawn((Replicate, Tag(tag))).id());
    let child = world.spawn((Replicate, Tag(3), ChildOf(one))).id();
    simulation.run(60);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(1, None), (2, None), (3, Some(1))]));
    simulation.server.world_mut().entity_mut(child).insert(ChildOf(two));
    simulation.run(60);
    assert_eq!(parents(&mut simulation)[&3], Some(2));
    simulation.server.world_mut().entity_mut(child).remove::<ChildOf>();
    simulation.run(60);
    assert_eq!(parents(&mut simulation)[&3], None);
}

#[test]
fn a_child_of_what_is_not_replicated_has_no_parent_until_it_is() {
    let mut simulation = simulation(0.0);
    let world = simulation.server.world_mut();
    let parent = world.spawn(Tag(1)).id();
    world.spawn((Replicate, Tag(2), ChildOf(parent)));
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(2, None)]));
    simulation.server.world_mut().entity_mut(parent).insert(Replicate);
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(1, None), (2, Some(1))]));
    simulation.server.world_mut().entity_mut(parent).remove::<Replicate>();
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(2, None)]));
}

#[test]
fn a_child_without_a_place_is_seen_with_its_parent_and_one_with_a_place_alone() {
    let mut simulation = simulation(0.0);
    let world = simulation.server.world_mut();
    let parent = world.spawn((Replicate, Tag(1), Place([5.0, 0.0]))).id();
    world.spawn((Replicate, Tag(2), ChildOf(parent)));
    world.spawn((Replicate, Tag(3), ChildOf(parent), Place([6.0, 0.0])));
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(1, None), (2, Some(1)), (3, Some(1))]));
    simulation.server.world_mut().get_mut::<Place>(parent).unwrap().0 = [500.0, 0.0];
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(3, None)]));
    simulation.server.world_mut().get_mut::<Place>(parent).unwrap().0 = [5.0, 0.0];
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(1, None), (2, Some(1)), (3, Some(1))]));
    simulation.server.world_mut().despawn(parent);
    simulation.run(10);
    assert_eq!(parents(&mut simulation), BTreeMap::new(), "children end with their parent");
}

#[test]
fn what_a_client_has_made_itself_ends_with_its_parent() {
    let mut simulation = simulation(0.0);
    let parent = simulation.server.world_mut().spawn((Replicate, Tag(1))).id();
    simulation.run(10);
    let world = simulation.clients[0].world_mut();
    let here = world.query_filtered::<Entity, With<Remote>>().single(world).unwrap();
    let mesh = world.spawn(ChildOf(here)).id();
    simulation.server.world_mut().despawn(parent);
    simulation.run(10);
    assert!(simulation.clients[0].world().get_entity(mesh).is_err());
}

#[test]
fn parent_and_child_can_change_places_in_one_tick() {
    for empty in 0..10 {
        let mut simulation = simulation(0.0);
        let world = simulation.server.world_mut();
        (0..empty).for_each(|_| _ = world.spawn_empty());
        let one = world.spawn((Replicate, Tag(1))).id();
        let two = world.spawn((Replicate, Tag(2), ChildOf(one))).id();
        simulation.run(10);
        let world = simulation.server.world_mut();
        world.entity_mut(two).remove::<ChildOf>();
        world.entity_mut(one).insert(ChildOf(two));
        simulation.run(10);
        assert_eq!(parents(&mut simulation), BTreeMap::from([(1, Some(2)), (2, None)]));
    }
}

#[test]
fn a_circle_of_parents_is_none() {
    let mut simulation = simulation(0.0);
    let world = simulation.server.world_mut();
    let [one, two] = [1, 2].map(|tag| world.spawn((Replicate, Tag(tag))).id());
    world.entity_mut(one).insert(ChildOf(two));
    world.spawn((Replicate, Tag(3), ChildOf(two)));
    simulation.run(30);
    simulation.server.world_mut().entity_mut(two).insert(ChildOf(one));
    simulation.run(30);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(1, None), (2, None), (3, Some(2))]));
    simulation.server.world_mut().entity_mut(one).remove::<ChildOf>();
    simulation.run(30);
    assert_eq!(parents(&mut simulation), BTreeMap::from([(1, None), (2, Some(1)), (3, Some(2))]));
}

#[test]
fn an_entity_comes_with_its_parent_and_goes_with_its_components() {
    #[derive(Resource, Default)]
    struct Seen(Vec<&'static str>);
    let mut simulation = simulation(0.2);
    let client = &mut simulation.clients[0];
    client.init_resource::<Seen>();
    client.add_observer(
        |added: On<Add<Remote>>, tags: Query<(&Tag, Has<ChildOf>)>, mut seen: ResMut<Seen>| {
            let (tag, has_parent) = tags.get(added.entity).unwrap();
            assert_eq!(has_parent, tag.0 == 2);
            seen.0.push("came");
        },
    );
    client.add_observer(|ends: On<Remove<Remote>>, tags: Query<&Tag>, mut seen: ResMut<Seen>| {
        assert!(tags.contains(ends.entity));
        seen.0.push("goes");
    });
    let world = simulation.server.world_mut();
    let parent = world.spawn((Replicate, Tag(1))).id();
    world.spawn((Replicate, Tag(2), ChildOf(parent)));
    simulation.run(60);
    simulation.server.world_mut().despawn(parent);
    simulation.run(60);
    assert_eq!(simulation.clients[0].world().resource::<Seen>().0, ["came", "came", "goes", "goes"]);
}
