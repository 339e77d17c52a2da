//! Random worlds: at the end, each client has all values of the server that it may see, and no other values.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use repl::prelude::*;
use repl::sim::{LinkConditions, Rng, SeedReport, seeds};
use repl_bevy::{
    KeptOutOfSight, NetEntities, NetEntity, NetPaused, NetPriority, Owned, OwnedBy, Remote, ReplAppExt,
    ReplServer, Replicate, SeenBy, Simulation, WhenOutOfSight,
};
use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Player, clients};

/// A number that is different for every entity.
#[derive(Component, Replicated, Default, Clone, Copy)]
struct Tag(#[replicated] u32);

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Place(#[replicated] [i32; 2]);

#[derive(Component, Replicated, Default, Clone)]
struct Bag {
    #[replicated]
    items: FastArray<Item>,
}

#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
struct Item(#[replicated] u8);

#[derive(Component, Replicated, Default, Clone)]
struct Target(#[replicated] NetEntity);

/// Only the clients in this group see the entity, if nothing else decides.
#[derive(Component, Clone, Copy)]
struct Spy(Group);

/// The clients from which an entity is hidden.
#[derive(Component, Default)]
struct HiddenFrom(BTreeSet<Entity>);

const CLIENTS: usize = 2;

fn simulation(seed: u64, loss: f64) -> Simulation {
    let mut simulation =
        Simulation::new(seed, LinkConditions::lan().with_loss(loss), CLIENTS, |app: &mut App| {
            app.replicate::<Tag>()
                .replicate::<Player>()
                .replicate::<Place>()
                .replicate::<Bag>()
                .replicate::<Target>();
            app.relevancy(Area::within(20.0).flat(), |place: &Place| place.0.map(|metre| metre as f32));
            app.relevancy_by(|spy: &Spy, viewer| viewer.is_in_group(spy.0));
            app.add_observer(|added: On<Add<Remote>>, tags: Query<&Tag>| {
                assert!(tags.contains(added.entity), "an entity comes with its components");
            });
        });
    connect(&mut simulation);
    simulation
}

/// Waits until all clients are connected, and sets the viewpoint of each client. Returns the entities of the
/// clients.
fn connect(simulation: &mut Simulation) -> Vec<Entity> {
    let mut ticks = 0;
    while (0..CLIENTS).any(|client| simulation.client_entity(client).is_none()) {
        simulation.run(1);
        ticks += 1;
        assert!(ticks < 3_000, "the clients connect");
    }
    let connections = clients(simulation);
    let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
    for (number, client) in (0_u32..).zip(&connections) {
        let connection = server.connection_of(*client).unwrap();
        let mut connection = server.connection(connection);
        connection.set_viewpoints(&[viewpoint(number).map(|metre| metre as f32)]).join_group(Group(number));
    }
    connections
}

/// Returns the viewpoint of a client. The viewpoints are so far apart that no entity is near two of them.
fn viewpoint(client: u32) -> [i32; 3] {
    [client as i32 * 1_000, 0, 0]
}

/// Makes a random change to a random entity, or spawns an entity.
fn play(world: &mut World, rng: &mut Rng, next_tag: &mut u32, clients: &[Entity]) {
    let entities: Vec<Entity> = world.query_filtered::<Entity, With<Tag>>().iter(world).collect();
    let Some(&entity) = rng.pick(&entities).filter(|_| !rng.chance(0.15)) else {
        *next_tag += 1;
        let mut spawned = world.spawn((Replicate, Tag(*next_tag)));
        if rng.chance(0.7) {
            spawned.insert(Player { health: 1, ammo: 1 });
        }
        if rng.chance(0.5) {
            spawned.insert(Place(viewpoint(rng.below(3) as u32)[..2].try_into().unwrap()));
        }
        return;
    };
    let small = rng.below(200) as u16;
    let place = Place([viewpoint(rng.below(3) as u32)[0] + i32::from(small % 5), 0]);
    let other = *rng.pick(&entities).unwrap();
    let mut entity = world.entity_mut(entity);
    let group = Group(rng.below(2) as u32);
    match rng.below(32) {
        0 => entity.despawn(),
        1 => drop(entity.remove::<Player>()),
        2..=4 => drop(entity.insert(Player { health: small, ammo: small })),
        // The component is removed and inserted in one tick.
        5 => drop(entity.remove::<Player>().insert(Player { health: small, ammo: 0 })),
        6 => drop(entity.insert(place)),
        7 => drop(entity.remove::<Place>()),
        8 => drop(entity.insert(OwnedBy(*rng.pick(clients).unwrap()))),
        9 => drop(entity.remove::<OwnedBy>()),
        10 => drop(entity.insert(SeenBy(group.into()))),
        23 => drop(entity.insert(SeenBy(Relevancy::any([group.into(), Relevancy::Located])))),
        24 => drop(entity.insert(SeenBy(Relevancy::not(group)))),
        25 => drop(entity.insert(Spy(group))),
        26 => drop(entity.remove::<Spy>()),
        27 if entity.contains::<Spy>() => entity.get_mut::<Spy>().unwrap().0 = group,
        28 if entity.contains::<Replicate>() => drop(entity.insert(NetPaused)),
        29 => drop(entity.remove::<NetPaused>()),
        30 => drop(entity.insert(WhenOutOfSight(OutOfSight::kept()))),
        31 => drop(entity.insert(WhenOutOfSight(OutOfSight::kept().even_if_hidden()))),
        11 => drop(entity.remove::<SeenBy>()),
        // An entity that is replicated again is not hidden from any client.
        12 => drop(entity.remove::<(Replicate, HiddenFrom)>()),
        13 => drop(entity.insert((Replicate, NetPriority(2.0)))),
        14 => drop(entity.insert(Bag::default())),
        // The new parent may also be a descendant, or the entity itself, which Bevy refuses.
        18 | 19 => drop(entity.insert(ChildOf(other))),
        20 => drop(entity.remove::<ChildOf>()),
        21 | 22 if entity.contains::<Replicate>() => {
            let (entity, client) = (entity.id(), *rng.pick(clients).unwrap());
            hide_or_show(world, entity, client);
        }
        15 | 16 => {
            if let Some(mut bag) = entity.get_mut::<Bag>() {
                bag.items.push(Item(small as u8));
                if bag.items.len() > 3 {
                    bag.items.clear();
                }
            }
        }
        _ => {
            let entity = entity.id();
            let aim = move |mut names: NetEntities, mut commands: Commands| {
                commands.entity(entity).insert(Target(names.of(other)));
            };
            world.run_system_once(aim).unwrap();
        }
    }
}

/// Hides an entity from a client, or shows it again if it was hidden.
fn hide_or_show(world: &mut World, entity: Entity, client: Entity) {
    let mut hidden = world.get::<HiddenFrom>(entity).map_or_else(BTreeSet::new, |hidden| hidden.0.clone());
    let is_visible = hidden.remove(&client) || !hidden.insert(client);
    world.entity_mut(entity).insert(HiddenFrom(hidden));
    let name = world.run_system_once(move |mut names: NetEntities| names.of(entity)).unwrap();
    world.resource_mut::<ReplServer>().set_visible(name, client, is_visible);
}

/// What a client sees of an entity, or should see.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    is_owned: bool,
    player: Option<Player>,
    place: Option<Place>,
    /// A set, because clients do not keep the order of the items.
    items: Option<BTreeSet<u8>>,
    target: Option<Option<u32>>,
    parent: Option<u32>,
}

type View = BTreeMap<u32, Seen>;

/// Matches the entities that a client sees now.
type InSight = (With<Remote>, Without<KeptOutOfSight>);

/// Returns what can be seen of each entity in a world. `see` returns it for one entity.
fn view<F: bevy_ecs::query::QueryFilter>(
    world: &mut World,
    see: impl Fn(EntityRef) -> Option<(bool, Option<Player>)>,
) -> View {
    let entities: Vec<Entity> = world.query_filtered::<Entity, (With<Tag>, F)>().iter(world).collect();
    let targets: BTreeMap<Entity, Option<u32>> = entities
        .iter()
        .filter_map(|&entity| Some((entity, world.get::<Target>(entity)?.0)))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(entity, name)| {
            let tag = move |names: NetEntities, seen: Query<&Tag>| {
                names.entity(name).and_then(|entity| seen.get(entity).ok()).map(|tag| tag.0)
            };
            (entity, world.run_system_once(tag).unwrap())
        })
        .collect();
    let entity_views = entities.iter().filter_map(|&entity| {
        let entity = world.entity(entity);
        let (is_owned, player) = see(entity)?;
        let seen = Seen {
            is_owned,
            player,
            place: entity.get::<Place>().cloned(),
            items: entity.get::<Bag>().map(|bag| bag.items.iter().map(|item| item.0).collect()),
            target: targets.get(&entity.id()).copied(),
            parent: parent_of(world, entity.id()).and_then(|parent| Some(world.get::<Tag>(parent)?.0)),
        };
        Some((entity.get::<Tag>()?.0, seen))
    });
    entity_views.collect()
}

/// Returns the parent that clients should see. Clients see a parent only if it is replicated and is not also
/// a descendant of the entity.
fn parent_of(world: &World, entity: Entity) -> Option<Entity> {
    let up = |entity: Entity| world.get::<ChildOf>(entity).map(ChildOf::parent);
    let is_circle =
        std::iter::successors(up(entity), |&entity| up(entity)).take(1_000).any(|next| next == entity);
    let is_local = world.get::<Remote>(entity).is_none();
    up(entity).filter(|&parent| !is_circle && (!is_local || world.get::<Replicate>(parent).is_some()))
}

/// Returns whether a client should have an entity.
fn is_seen(world: &World, entity: Entity, client: u32, client_entity: Entity) -> bool {
    let here = world.entity(entity);
    if is_hidden(world, entity, client_entity) {
        return false;
    }
    if here.get::<OwnedBy>().is_some_and(|owner| owner.0 == client_entity) {
        return true;
    }
    let is_near = here.get::<Place>().map(|place| place.0[0] / 500 == client as i32 * 2);
    let is_shown = here.get::<Spy>().map(|spy| spy.0 == Group(client));
    match (here.get::<SeenBy>(), is_near, is_shown) {
        (Some(seen_by), ..) => match &seen_by.0 {
            Relevancy::Any(parts) => parts[0] == Group(client).into() || is_near == Some(true),
            Relevancy::Not(group) => **group != Group(client).into(),
            group => *group == Group(client).into(),
        },
        (None, None, None) => {
            parent_of(world, entity).is_none_or(|parent| is_seen(world, parent, client, client_entity))
        }
        (None, ..) => is_near != Some(false) && is_shown != Some(false),
    }
}

/// Returns whether an entity or its parent is hidden from a client.
fn is_hidden(world: &World, entity: Entity, client: Entity) -> bool {
    let here = world.entity(entity);
    let follows_parent = !here.contains::<SeenBy>() && !here.contains::<Place>() && !here.contains::<Spy>();
    here.get::<HiddenFrom>().is_some_and(|hidden| hidden.0.contains(&client))
        || follows_parent && parent_of(world, entity).is_some_and(|parent| is_hidden(world, parent, client))
}

/// Returns what a client should see of all entities.
fn expected(world: &mut World, client: u32, client_entity: Entity) -> View {
    let entities = world.query_filtered::<Entity, With<Replicate>>();
    let seen: BTreeSet<Entity> =
        { entities }.iter(world).filter(|&entity| is_seen(world, entity, client, client_entity)).collect();
    let mut view = view::<With<Replicate>>(world, |entity| {
        let is_owned = entity.get::<OwnedBy>().is_some_and(|owner| owner.0 == client_entity);
        let mut player = entity.get::<Player>().cloned();
        if let Some(player) = player.as_mut().filter(|_| !is_owned) {
            player.ammo = 0;
        }
        seen.contains(&entity.id()).then_some((is_owned, player))
    });
    forget_unseen(&mut view);
    view
}

/// Removes what refers to entities that are not in a view. A reference to an entity that the client does not
/// see is empty, and a parent that the client does not see is missing, except if the client keeps it.
fn forget_unseen(view: &mut View) {
    let tags: Vec<u32> = view.keys().copied().collect();
    for seen in view.values_mut() {
        seen.parent = seen.parent.filter(|tag| tags.contains(tag));
        seen.target = seen.target.map(|target| target.filter(|tag| tags.contains(tag)));
    }
}

#[test]
fn random_worlds_converge() {
    for seed in seeds(0..16) {
        let mut report = SeedReport::new(seed);
        let mut rng = Rng::new(seed);
        let mut simulation = simulation(seed, [0.0, 0.1, 0.5][seed as usize % 3]);
        let mut connected = clients(&simulation);
        let mut next_tag = 0;
        for tick in 0..60 {
            if rng.chance(0.01) {
                simulation.restart_server();
                let world = simulation.server.world_mut();
                let hidden: Vec<_> = world.query_filtered::<Entity, With<HiddenFrom>>().iter(world).collect();
                hidden.into_iter().for_each(|entity| _ = world.entity_mut(entity).remove::<HiddenFrom>());
                connected = connect(&mut simulation);
            }
            for _ in 0..rng.below(4) {
                play(simulation.server.world_mut(), &mut rng, &mut next_tag, &connected);
            }
            simulation.run(1);
            report.reached(tick);
        }
        let world = simulation.server.world_mut();
        let paused: Vec<_> = world.query_filtered::<Entity, With<NetPaused>>().iter(world).collect();
        paused.into_iter().for_each(|entity| _ = world.entity_mut(entity).remove::<NetPaused>());
        simulation.run(240);
        for (number, &entity) in connected.iter().enumerate() {
            let expected = expected(simulation.server.world_mut(), number as u32, entity);
            let mut seen = view::<InSight>(simulation.clients[number].world_mut(), |entity| {
                let is_owned = entity.contains::<Owned>();
                let mut player = entity.get::<Player>().cloned();
                // If a client owned the entity before, it keeps the last ammo, so ignore the ammo.
                if let Some(player) = player.as_mut().filter(|_| !is_owned) {
                    player.ammo = 0;
                }
                Some((is_owned, player))
            });
            forget_unseen(&mut seen);
            assert_eq!(seen, expected, "client {number}");
        }
    }
}
