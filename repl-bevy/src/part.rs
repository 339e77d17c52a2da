//! The object of a component.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::marker::PhantomData;

/// The object of a component of the type `T`, on the same entity as the component. On a server it is null
/// until the next tick. When the component is removed, the object stays until the next tick removes it.
#[derive(Component)]
pub(crate) struct Part<T: 'static> {
    pub(crate) object: ObjectRef<()>,
    component: PhantomData<fn() -> T>,
}

impl<T> Part<T> {
    pub(crate) const fn new(object: ObjectRef<()>) -> Self {
        Self { object, component: PhantomData }
    }

    /// Returns the object as an object of the class in which the component is sent.
    pub(crate) fn object_of<W>(&self) -> ObjectRef<W> {
        self.object.guid().map_or(ObjectRef::NULL, ObjectRef::new)
    }
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self::new(ObjectRef::NULL)
    }
}
