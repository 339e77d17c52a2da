//! The entities that a client has made, and that become those of the server with the same key.

use bevy_app::App;
use bevy_ecs::prelude::*;
use std::collections::HashMap;

use super::remote::Remote;
use crate::net_key::NetKey;

/// The entities with a key that have not arrived.
#[derive(Resource, Default)]
pub(super) struct Waiting(HashMap<NetKey, Entity>);

/// This client has made the entity before the server's arrived.
#[derive(Component)]
pub(super) struct MadeHere;

/// Lets a client note its entities with keys.
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

/// Returns the entity that waits for one with this key, once.
pub(super) fn take(world: &mut World, key: NetKey) -> Option<Entity> {
    let entity = world.resource_mut::<Waiting>().0.remove(&key)?;
    world.get::<NetKey>(entity).filter(|now| **now == key)?;
    world.entity_mut(entity).insert(MadeHere);
    Some(entity)
}

/// Lets an entity wait again. Does nothing if it has no key.
pub(super) fn wait_again(world: &mut World, entity: Entity) {
    if let Some(key) = world.get::<NetKey>(entity).copied() {
        world.resource_mut::<Waiting>().0.insert(key, entity);
    }
}
