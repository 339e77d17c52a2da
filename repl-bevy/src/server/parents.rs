//! Sends the parents of entities: which entities are children of other replicated entities.

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;

use super::state::ReplServer;
use crate::net_entity::NetEntity;
use crate::net_parent::NetParent;

/// Copies the parent of an entity into its [`NetParent`], which is sent to clients. A parent is not sent if
/// it is not replicated, or if the entity is its own ancestor.
pub(super) fn note(world: &mut World, entity: Entity) {
    let mut parent = parent_of(world, entity);
    if let Some(circle) = circle_of(world, entity) {
        world.resource_mut::<ReplServer>().add_circle(circle);
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

fn parent_of(world: &World, entity: Entity) -> Option<Entity> {
    world.get::<ChildOf>(entity).map(ChildOf::parent)
}

/// If an entity is its own ancestor, returns this circle of parents.
fn circle_of(world: &World, entity: Entity) -> Option<EntityHashSet> {
    let mut known = EntityHashSet::default();
    let mut next = parent_of(world, entity);
    while let Some(ancestor) = next.filter(|&ancestor| known.insert(ancestor)) {
        next = parent_of(world, ancestor);
    }
    known.contains(&entity).then_some(known)
}
