//! Entities with a key that this client has spawned itself. They wait until the server's entity with the same
//! key arrives.

use bevy_app::App;
use bevy_ecs::prelude::*;
use std::collections::HashMap;

use super::remote::Remote;
use crate::net_key::NetKey;

/// The client's own entities that wait for the server's entity with the same key.
#[derive(Resource, Default)]
pub(super) struct Waiting(HashMap<NetKey, Entity>);

/// Marks an entity of this client that became the server's entity with the same key.
#[derive(Component)]
pub(super) struct MadeHere;

/// Adds observers that record the client's entities with keys.
pub(super) fn note(app: &mut App) {
    app.init_resource::<Waiting>();
    app.add_observer(
        |inserted: On<Insert<NetKey>>,
         keys: Query<&NetKey, Without<Remote>>,
         mut waiting: ResMut<Waiting>| {
            if let Ok(key) = keys.get(inserted.entity) {
                waiting.0.insert(*key, inserted.entity);
            }
        },
    );
    app.add_observer(|removed: On<Remove<NetKey>>, keys: Query<&NetKey>, mut waiting: ResMut<Waiting>| {
        if let Ok(key) = keys.get(removed.entity)
            && waiting.0.get(key) == Some(&removed.entity)
        {
            waiting.0.remove(key);
        }
    });
}

/// Removes and returns the client's entity that waits with this key, and marks it with [`MadeHere`].
pub(super) fn take(world: &mut World, key: NetKey) -> Option<Entity> {
    let entity = world.resource_mut::<Waiting>().0.remove(&key)?;
    world.get::<NetKey>(entity).filter(|now| **now == key)?;
    world.entity_mut(entity).insert(MadeHere);
    Some(entity)
}

/// Lets an entity wait for the server's entity with its key again. Does nothing if it has no key.
pub(super) fn wait_again(world: &mut World, entity: Entity) {
    if let Some(key) = world.get::<NetKey>(entity).copied() {
        world.resource_mut::<Waiting>().0.insert(key, entity);
    }
}
