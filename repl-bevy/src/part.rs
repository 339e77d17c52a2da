//! The object of a component.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::marker::PhantomData;

/// The object of a component of the type `T`, beside the component. On a server it is null until the next
/// tick, and stays for that tick when the component is removed.
#[derive(Component)]
pub(crate) struct Part<T: 'static> {
    pub(crate) object: ObjectRef<()>,
    component: PhantomData<fn() -> T>,
}

impl<T> Part<T> {
    pub(crate) const fn new(object: ObjectRef<()>) -> Self {
        Self { object, component: PhantomData }
    }

    /// Returns the object as one of the class in whose form the component is sent.
    pub(crate) fn object_of<W>(&self) -> ObjectRef<W> {
        self.object.guid().map_or(ObjectRef::NULL, ObjectRef::new)
    }
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self::new(ObjectRef::NULL)
    }
}
