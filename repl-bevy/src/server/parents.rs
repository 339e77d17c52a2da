//! Which entities are the children of others that are replicated.

use bevy_ecs::prelude::*;

use super::state::ReplServer;
use crate::net_entity::NetEntity;
use crate::net_parent::NetParent;

/// Makes what is sent of an entity's parent equal to what the world says. A parent that is not replicated is
/// none, and neither is one that is also a descendant, until it is none any more.
pub(super) fn note(world: &mut World, entity: Entity) {
    let mut parent = world.get::<ChildOf>(entity).map(ChildOf::parent);
    if parent.is_some_and(|parent| is_below(world, parent, entity)) {
        world.resource_mut::<ReplServer>().add_circle(entity);
        parent = None;
    }
    let name = parent.and_then(|parent| world.get::<NetEntity>(parent)).copied();
    let parent = name.filter(|name| !name.is_empty());
    let Ok(mut entity) = world.get_entity_mut(entity) else { return };
    let before = entity.get::<NetParent>().map(|before| before.parent);
    match parent {
        Some(parent) if before != Some(parent) => drop(entity.insert(NetParent { parent })),
        None if before.is_some() => drop(entity.remove::<NetParent>()),
        _ => {}
    }
}

/// Returns whether an entity is another one, or a descendant of it.
fn is_below(world: &World, entity: Entity, ancestor: Entity) -> bool {
    let mut entities =
        std::iter::successors(Some(entity), |&entity| Some(world.get::<ChildOf>(entity)?.parent()));
    // In a circle that the ancestor is not part of, the walk would not end.
    let mut known = bevy_ecs::entity::EntityHashSet::default();
    entities.by_ref().take_while(|&entity| known.insert(entity)).any(|entity| entity == ancestor)
}
