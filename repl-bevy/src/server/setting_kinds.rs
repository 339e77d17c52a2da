//! Which components are settings of the entities that are replicated.

use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::world::EntityRef;

/// The components that are settings, and the one that says where an entity is.
#[derive(Resource, Default)]
pub(super) struct SettingKinds {
    ids: Vec<ComponentId>,
    position: Option<ComponentId>,
}

impl SettingKinds {
    pub(super) fn add(&mut self, id: ComponentId) {
        self.ids.push(id);
    }

    pub(super) fn set_position(&mut self, id: ComponentId) {
        self.position = Some(id);
    }

    /// Returns whether an entity says where it is.
    pub(super) fn has_position(&self, entity: EntityRef<'_>) -> bool {
        self.position.is_some_and(|id| entity.contains_id(id))
    }

    /// Returns whether the settings of a new entity must be applied. A new object has no owner. It is seen by
    /// the clients near it if entities have positions, and by all clients otherwise.
    pub(super) fn are_set(&self, entity: EntityRef<'_>) -> bool {
        let is_nowhere = self.position.is_some() && !self.has_position(entity);
        is_nowhere || self.ids.iter().any(|&id| entity.contains_id(id))
    }
}
