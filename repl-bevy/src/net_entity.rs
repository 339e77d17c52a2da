//! The name of an entity, which is the same on the server and its clients.

use bevy_ecs::prelude::*;
use repl::prelude::*;

/// The object without fields that stands for an entity itself. The components of the entity are subobjects of
/// it.
#[derive(Replicated, Default)]
#[replicated(name = "bevy::Entity")]
pub(crate) struct Root;

/// The name of an entity, which is the same on the server and its clients.
///
/// Each replicated entity has its name as a component, on the server and on clients. To refer to an entity,
/// put its name into a field of a component, a message or an input. [`NetEntities`](crate::NetEntities)
/// converts an entity to its name, and back.
///
/// On a client that does not have the entity, a name in a field of a component is [empty](Self::is_empty).
/// The field becomes valid when the entity arrives.
#[derive(Component, NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NetEntity(ObjectRef<Root>);

impl NetEntity {
    /// The name of no entity.
    pub const EMPTY: Self = Self(ObjectRef::NULL);

    /// Returns whether this is the name of no entity, or of an entity that this client does not have.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_null()
    }

    pub(crate) const fn new(root: ObjectRef<Root>) -> Self {
        Self(root)
    }

    pub(crate) const fn root(self) -> ObjectRef<Root> {
        self.0
    }
}
