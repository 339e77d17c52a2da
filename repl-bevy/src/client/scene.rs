//! Where updates of the server are applied.
//!
//! *Invariant:* what changes which components an entity has happens when the queue is applied.

use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use repl::prelude::*;

use super::remote::Remote;

/// Where updates are applied.
pub(super) struct Scene<'a> {
    pub(super) client: &'a Client,
    /// Whether another session has begun. Then the objects of the old one end here, but not on the server.
    pub(super) is_new_session: bool,
    pub(super) world: &'a mut World,
    pub(super) queue: &'a mut CommandQueue,
}

impl Scene<'_> {
    /// Changes which components an entity has, if it still exists then.
    pub(super) fn later(&mut self, entity: Entity, change: impl FnOnce(EntityWorldMut<'_>) + Send + 'static) {
        self.queue.push(move |world: &mut World| {
            if let Ok(entity) = world.get_entity_mut(entity) {
                change(entity);
            }
        });
    }

    /// Despawns an entity.
    pub(super) fn end(&mut self, entity: Entity) {
        self.queue.push(move |world: &mut World| despawn(world, entity));
    }
}

/// Despawns an entity. Children that this client has made end with their parent. Those of the server end when
/// it says so.
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
