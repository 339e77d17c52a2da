//! Components that set how an entity is replicated: who owns it, and who may see it.

use bevy_app::App;
use bevy_ecs::component::ComponentId;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::world::EntityRef;
use repl::prelude::*;

use super::replicate::Replicate;
use super::setting_kinds::SettingKinds;
use super::state::ReplServer;
use crate::net_entity::NetEntity;
use crate::net_parent::NetParent;
use crate::torn_off::TornOff;

/// The client that owns an entity, named by the client's entity (the one with
/// [`ConnectedClient`](crate::ConnectedClient)). The owner receives the components and fields that only the
/// owner may see. On the client of the owner, the owned entity has the component [`Owned`](crate::Owned).
///
/// After the client has left, the entity has no owner: despawn the entity, or keep it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Owns)]
#[require(Replicate)]
pub struct OwnedBy(pub Entity);

/// The entities that a client owns, as a component of the client's entity. Bevy computes it from [`OwnedBy`].
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = OwnedBy)]
pub struct Owns(Vec<Entity>);

/// Which clients see the entity, besides its owner. Insert the component again to change this. To hide an
/// entity from a single client, use [`set_visible`](ReplServer::set_visible).
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use repl::prelude::*;
/// # use repl_bevy::SeenBy;
/// # #[derive(Component)] struct Flag;
/// const RED: Group = Group(1);
/// const BLUE: Group = Group(2);
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Flag, SeenBy(RED.into()))); // the clients with `MemberOf(vec![RED])`
///     commands.spawn((Flag, SeenBy(Relevancy::any([RED, BLUE]))));
///     // The red team wherever it is, and everyone who is near.
///     commands.spawn((Flag, SeenBy(Relevancy::any([RED.into(), Relevancy::Located]))));
/// }
/// ```
///
/// Without this component, the clients that are near see an entity with a position, if the app has called
/// [`relevancy`](crate::ReplAppExt::relevancy). If the app has called
/// [`relevancy_by`](crate::ReplAppExt::relevancy_by), its function must also show an entity with the
/// component that it reads. A child without position and without this function is seen together with its
/// parent. All clients see all other entities.
///
/// # Panics
/// The server panics in the next tick if [`Located`](Relevancy::Located) is in the relevancy and the app has
/// not called `relevancy`, if [`Computed`](Relevancy::Computed) is in it and the app has not called
/// `relevancy_by`, or if [`AttachedTo`](Relevancy::AttachedTo) is a part of a combination.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[component(immutable)]
#[require(Replicate)]
pub struct SeenBy(pub Relevancy);

/// What clients do with the entity when they may no longer see it. By default they despawn it. With
/// [`OutOfSight::kept`] they keep it with its last values, and it has
/// [`KeptOutOfSight`](crate::KeptOutOfSight) until it is back in sight. Insert the component again to change
/// the setting, which applies to clients that lose sight of the entity from now on.
///
/// The component does not replicate an entity by itself, so another component can require it. Then all
/// entities with this other component are kept:
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use repl::prelude::*;
/// use repl_bevy::WhenOutOfSight;
///
/// #[derive(Component, Replicated, Default)]
/// #[require(WhenOutOfSight(OutOfSight::kept()))]
/// struct Building {
///     #[replicated]
///     health: u16,
/// }
/// ```
///
/// [`OutOfSight`] says how long a client keeps an entity, and what a player can read of it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[component(immutable)]
pub struct WhenOutOfSight(pub OutOfSight);

/// Pauses the entity: while the entity has this component, the server sends nothing of it except messages
/// and calls. After the component is removed, each client receives the newest values that it lacks. A client
/// that has nothing of the entity yet receives it only then. If a paused entity is despawned or goes out of
/// sight, clients despawn it at once. To pause an entity for one client, use
/// [`set_paused_for`](ReplServer::set_paused_for).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[require(Replicate)]
pub struct NetPaused;

/// The priority of the entity if not everything fits into the packets of a tick. Entities without this
/// component have the priority 1, and an entity with priority 2 is sent twice as often. A priority below
/// 0.000001 counts as 0.000001, and a priority above 1,000,000 counts as 1,000,000. Insert the component
/// again to change it.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(immutable)]
#[require(Replicate)]
pub struct NetPriority(pub f32);

/// The entity is a viewpoint of its owner: the owner sees the entities near it. Its position comes from the
/// component that was registered by [`relevancy`](crate::ReplAppExt::relevancy). A client may own several
/// viewpoints. After it has lost all of them, the server continues to use their last positions.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[require(Replicate)]
pub struct Viewpoint;

/// The entity is despawned when its owner leaves.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[require(Replicate)]
pub struct LeavesWithOwner;

/// Despawns the entities with [`LeavesWithOwner`] that a client owns.
pub(super) fn leave_with_owner(world: &mut World, client: Entity) {
    let owned = world.get::<Owns>(client).into_iter().flat_map(Owns::iter);
    let leaving: Vec<_> = owned.filter(|owned| world.get::<LeavesWithOwner>(*owned).is_some()).collect();
    leaving.into_iter().for_each(|entity| _ = world.try_despawn(entity));
}

/// Applies all settings of an entity to its root (the object that stands for the entity).
pub(super) fn settle(kinds: &SettingKinds, server: &mut ReplServer, entity: EntityRef<'_>) {
    let Some(root) = entity.get::<NetEntity>().filter(|name| !name.is_empty()) else { return };
    if server.object_info(root.root()).is_torn_off() {
        return;
    }
    let owner = entity.get::<OwnedBy>().and_then(|owner| server.connection_of(owner.0));
    let relevancy = match entity.get::<SeenBy>() {
        Some(seen_by) => kinds.checked(seen_by.0.clone()),
        None => default_relevancy(kinds, entity),
    };
    let priority =
        entity.get::<NetPriority>().map(|priority| priority.0).filter(|priority| !priority.is_nan());
    server
        .object(root.root())
        .set_owner(owner)
        .set_priority(priority.map(|priority| priority.clamp(1e-6, 1e6)))
        .set_relevancy(relevancy)
        .set_paused(entity.contains::<NetPaused>());
    if let Some(setting) = entity.get::<WhenOutOfSight>() {
        server.object(root.root()).set_out_of_sight(setting.0);
    }
}

/// Returns the relevancy of an entity without [`SeenBy`].
fn default_relevancy(kinds: &SettingKinds, entity: EntityRef<'_>) -> Relevancy {
    match (kinds.has_position(entity), kinds.has_function(entity)) {
        (true, true) => Relevancy::all([Relevancy::Located, Relevancy::Computed]),
        (true, false) => Relevancy::Located,
        (false, true) => Relevancy::Computed,
        (false, false) => {
            let parent = entity.get::<NetParent>();
            parent.map_or(Relevancy::Always, |parent| Relevancy::attached_to(parent.parent.root()))
        }
    }
}

/// Detaches the root of an entity from the root of its parent, until [`settle`] applies the settings again.
pub(super) fn detach(server: &mut ReplServer, entity: EntityRef<'_>) {
    if let Some(name) = entity.get::<NetEntity>().filter(|name| !name.is_empty())
        && let Some(Relevancy::AttachedTo(_)) = server.object_info(name.root()).relevancy()
    {
        server.object(name.root()).set_relevancy(Relevancy::OwnerOnly);
    }
}

/// Registers the components that are settings, so that changes of them are applied.
pub(super) fn add_settings(app: &mut App) {
    watch::<ChildOf>(app);
    watch::<OwnedBy>(app);
    watch::<SeenBy>(app);
    watch::<NetPriority>(app);
    watch::<NetPaused>(app);
    watch::<WhenOutOfSight>(app);
    app.add_observer(
        |removed: On<Remove<WhenOutOfSight>>,
         names: Query<&NetEntity, Allow<Disabled>>,
         mut server: ResMut<ReplServer>| {
            if let Ok(name) = names.get(removed.entity) {
                server.object(name.root()).set_out_of_sight(OutOfSight::removed());
            }
        },
    );
    app.add_observer(|added: On<Add<TornOff>>, mut server: ResMut<ReplServer>| {
        server.tear_off_later(added.entity);
    });
}

/// Sets which component contains the position of entities.
pub(super) fn set_position<T: Component>(app: &mut App) {
    let id = watch::<T>(app);
    app.world_mut().get_resource_or_init::<SettingKinds>().set_position(id);
}

/// Sets by which component a function decides who sees entities.
pub(super) fn set_function<T: Component>(app: &mut App) {
    let id = watch::<T>(app);
    app.world_mut().get_resource_or_init::<SettingKinds>().set_function(id);
}

/// Registers `C` as a setting: when a `C` is inserted into an entity or removed from it, the settings of the
/// entity are applied again in the next tick.
fn watch<C: Component>(app: &mut App) -> ComponentId {
    let id = app.world_mut().register_component::<C>();
    app.world_mut().get_resource_or_init::<SettingKinds>().add(id);
    app.add_observer(|inserted: On<'_, '_, Insert<C>>, mut server: ResMut<'_, ReplServer>| {
        server.unsettle(inserted.entity);
    });
    app.add_observer(|removed: On<'_, '_, Remove<C>>, mut server: ResMut<'_, ReplServer>| {
        server.unsettle(removed.entity);
    });
    id
}
