//! The context in which updates of the server are applied: the client, the world, and a queue of changes.
//!
//! *Invariant:* components are inserted and removed only when the queue is applied.

use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use repl::prelude::*;

use super::remote::Remote;

/// Everything that is needed to apply updates: the client, the world, and a queue of changes.
pub(super) struct Scene<'a> {
    pub(super) client: &'a Client,
    /// Whether another session has begun. Then the client removes the objects of the old session, although
    /// the server may still have them.
    pub(super) is_new_session: bool,
    pub(super) world: &'a mut World,
    pub(super) queue: &'a mut CommandQueue,
}

impl Scene<'_> {
    /// Queues a change of the components of an entity. The change is skipped if the entity no longer exists
    /// when the queue is applied.
    pub(super) fn later(&mut self, entity: Entity, change: impl FnOnce(EntityWorldMut<'_>) + Send + 'static) {
        self.queue.push(move |world: &mut World| {
            if let Ok(entity) = world.get_entity_mut(entity) {
                change(entity);
            }
        });
    }

    /// Despawns an entity when the queue is applied.
    pub(super) fn end(&mut self, entity: Entity) {
        self.queue.push(move |world: &mut World| despawn(world, entity));
    }
}

/// Despawns an entity and those of its children that this client has spawned. Children from the server remain
/// until the server removes them.
fn despawn(world: &mut World, entity: Entity) {
    let children = world.get::<Children>(entity).map(|children| children.to_vec());
    for child in children.unwrap_or_default() {
        let Ok(mut child) = world.get_entity_mut(child) else { continue };
        if child.contains::<Remote>() {
            child.remove::<ChildOf>();
        }
    }
    world.try_despawn(entity).ok();
}
