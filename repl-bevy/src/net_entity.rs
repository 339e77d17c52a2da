//! How an entity is called between the server and its clients.

use bevy_ecs::prelude::*;
use repl::prelude::*;

/// The object that stands for an entity. The components of the entity are its subobjects.
#[derive(Replicated, Default)]
#[replicated(name = "bevy::Entity")]
pub(crate) struct Root;

/// What an entity is called between the server and its clients.
///
/// Each replicated entity has it as a component, on the server and on clients. Fields of components, messages
/// and inputs can hold it: it is how one entity refers to another one. [`NetEntities`](crate::NetEntities)
/// turns an entity into it, and back.
///
/// In a field of a component, it is [empty](Self::is_empty) on a client that does not have the entity, and
/// names the entity as soon as it arrives.
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
