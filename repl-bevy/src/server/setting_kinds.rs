//! The components that are settings of replicated entities, for example owner and group.

use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::world::EntityRef;

/// The components that are settings, and the component that is the position of an entity.
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

    /// Returns whether an entity has a position.
    pub(super) fn has_position(&self, entity: EntityRef<'_>) -> bool {
        self.position.is_some_and(|id| entity.contains_id(id))
    }

    /// Returns whether the settings of a new entity differ from those of a new object, so that they must be
    /// applied. A new object has no owner. If the app has set a position component, only near clients see it,
    /// and otherwise all clients.
    pub(super) fn are_set(&self, entity: EntityRef<'_>) -> bool {
        let is_nowhere = self.position.is_some() && !self.has_position(entity);
        is_nowhere || self.ids.iter().any(|&id| entity.contains_id(id))
    }
}
