//! Which components are settings of replicated entities, for example the owner and the group.

use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::world::EntityRef;

/// The ids of the components that are settings, and of the component that contains the position of an entity.
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

    /// Returns whether an entity that was just replicated has settings other than those of a new object, so
    /// that they must be applied. A new object has no owner. It is seen by near clients if the app has set a
    /// position component, and otherwise by all clients.
    pub(super) fn are_set(&self, entity: EntityRef<'_>) -> bool {
        let is_nowhere = self.position.is_some() && !self.has_position(entity);
        is_nowhere || self.ids.iter().any(|&id| entity.contains_id(id))
    }
}
