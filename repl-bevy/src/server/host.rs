//! The player in the process of the server, as an entity.

use bevy_ecs::prelude::*;

use super::settings::OwnedBy;
use crate::owned::Owned;

/// Marks the [`ConnectedClient`](crate::ConnectedClient) that is the player in the process of the server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct HostPlayer;

/// Inserts [`Owned`] into an entity if the host owns it, and removes it otherwise.
pub(super) fn mark(world: &mut World, entity: Entity) {
    let owner = world.get::<OwnedBy>(entity).map(|owner| owner.0);
    let is_owned = owner.is_some_and(|owner| world.get::<HostPlayer>(owner).is_some());
    let Ok(mut entity) = world.get_entity_mut(entity) else { return };
    match (is_owned, entity.contains::<Owned>()) {
        (true, false) => drop(entity.insert(Owned)),
        (false, true) => drop(entity.remove::<Owned>()),
        _ => {}
    }
}
