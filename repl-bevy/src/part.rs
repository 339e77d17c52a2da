//! The component that refers to the object of another component.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::marker::PhantomData;

/// Refers to the object that is replicated for a component of the type `T` of the same entity. On a server,
/// the reference is null until the next tick spawns the object. After the component was removed, the object
/// exists until the next tick removes it.
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
