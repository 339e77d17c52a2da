//! Which entities are the children of others that are replicated.

use bevy_ecs::prelude::*;

use crate::net_entity::NetEntity;
use crate::net_parent::NetParent;

/// Makes what is sent of an entity's parent equal to what the world says. A parent that is not replicated is
/// none.
pub(super) fn note(world: &mut World, entity: Entity) {
    let parent = world.get::<ChildOf>(entity).and_then(|child| world.get::<NetEntity>(child.parent()));
    let parent = parent.copied().filter(|parent| !parent.is_empty());
    let Ok(mut entity) = world.get_entity_mut(entity) else { return };
    let before = entity.get::<NetParent>().map(|before| before.parent);
    match parent {
        Some(parent) if before != Some(parent) => drop(entity.insert(NetParent { parent })),
        None if before.is_some() => drop(entity.remove::<NetParent>()),
        _ => {}
    }
}
