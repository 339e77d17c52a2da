//! The name of an entity, which is the same on the server and its clients.

use bevy_ecs::prelude::*;
use repl::prelude::*;

/// The object that stands for an entity. The components of the entity are its subobjects.
#[derive(Replicated, Default)]
#[replicated(name = "bevy::Entity")]
pub(crate) struct Root;

/// The name of an entity, which is the same on the server and its clients.
///
/// Each replicated entity has its name as a component, on the server and on clients. Use it in fields of
/// components, messages and inputs to refer to an entity. [`NetEntities`](crate::NetEntities) converts an
/// entity to its name, and back.
///
/// In a field of a component, the name is [empty](Self::is_empty) on a client that does not have the entity.
/// It becomes valid as soon as the entity arrives.
#[derive(Component, NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NetEntity(ObjectRef<Root>);

impl NetEntity {
    /// Names no entity.
    pub const EMPTY: Self = Self(ObjectRef::NULL);

    /// Returns whether this names no entity, or one that this client does not have.
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
