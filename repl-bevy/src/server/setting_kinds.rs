//! Which components are settings of replicated entities, for example the owner and the priority.

use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::world::EntityRef;
use repl::prelude::*;

/// The ids of the components that are settings, of the component that contains the position of an entity, and
/// of the component by which a function decides who sees an entity.
#[derive(Resource, Default)]
pub(super) struct SettingKinds {
    ids: Vec<ComponentId>,
    position: Option<ComponentId>,
    function: Option<ComponentId>,
}

impl SettingKinds {
    pub(super) fn add(&mut self, id: ComponentId) {
        self.ids.push(id);
    }

    pub(super) fn set_position(&mut self, id: ComponentId) {
        self.position = Some(id);
    }

    pub(super) fn set_function(&mut self, id: ComponentId) {
        self.function = Some(id);
    }

    /// Returns whether a function decides who sees an entity.
    pub(super) fn has_function(&self, entity: EntityRef<'_>) -> bool {
        self.function.is_some_and(|id| entity.contains_id(id))
    }

    /// Returns a relevancy that the user has chosen.
    ///
    /// # Panics
    /// Panics if the relevancy needs positions or a function, and the app has none.
    pub(super) fn checked(&self, relevancy: Relevancy) -> Relevancy {
        assert!(
            self.position.is_some() || !has(&relevancy, &Relevancy::Located),
            "`Relevancy::Located` in `SeenBy` needs positions: call `relevancy` of the app"
        );
        assert!(
            self.function.is_some() || !has(&relevancy, &Relevancy::Computed),
            "`Relevancy::Computed` in `SeenBy` needs a function: call `relevancy_by` of the app"
        );
        relevancy
    }

    /// Returns whether an entity has a position.
    pub(super) fn has_position(&self, entity: EntityRef<'_>) -> bool {
        self.position.is_some_and(|id| entity.contains_id(id))
    }

    /// Returns whether an entity that was just replicated has settings other than those of a new object, so
    /// that they must be applied. A new object has no owner. It is seen by near clients if the app has set a
    /// position component, and otherwise by all clients. If the app has a function, the function must also
    /// show it.
    pub(super) fn are_set(&self, entity: EntityRef<'_>) -> bool {
        let is_nowhere = self.position.is_some() && !self.has_position(entity);
        let is_not_decided = self.function.is_some() && !self.has_function(entity);
        is_nowhere || is_not_decided || self.ids.iter().any(|&id| entity.contains_id(id))
    }
}

/// Returns whether a relevancy is `part`, or has it as a part.
fn has(relevancy: &Relevancy, part: &Relevancy) -> bool {
    relevancy == part
        || match relevancy {
            Relevancy::Any(parts) | Relevancy::All(parts) => parts.iter().any(|inner| has(inner, part)),
            Relevancy::Not(inner) => has(inner, part),
            _ => false,
        }
}
