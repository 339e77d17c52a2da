//! Objects that the user has placed under paths, for example the doors of a level. They wait for the server's
//! objects with the same paths, and the user can look them up (S199).
//!
//! *Invariant:* a path has at most one placed object of a class. The object either waits in the column of its
//! class, or is in a row, bound to the server's object.

use std::sync::Arc;

use repl_core::{Guid, ObjectRef, Replicated};

use super::Replicas;
use crate::client::replica::TypedReplica;

/// The result of [placing](crate::ClientStatics::place) an object under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed<T> {
    /// The object waits for the server's object. When that object arrives, the update
    /// [`Bound`](crate::UpdateKind::Bound) reports it.
    Waiting,
    /// The server's object has already arrived, and counts as placed from now on. The value that you wanted
    /// to place is returned. Move its fields that are not replicated to the object with this reference, for
    /// example mesh handles.
    Bound(ObjectRef<T>, T),
    /// The server has destroyed its object. The placed object waits nevertheless, because the server may
    /// spawn another object under this path. Hide the placed object, or
    /// [remove](crate::ClientStatics::remove) it.
    Destroyed,
}

impl Replicas {
    fn typed_mut<T: Replicated>(&mut self) -> Option<&mut TypedReplica<T>> {
        let class = *self.by_type.get(&std::any::TypeId::of::<T>())?;
        self.columns.get_mut(class as usize)?.as_any_mut().downcast_mut()
    }

    pub(crate) fn find_static<T: Replicated>(&self, path: &str) -> Option<(ObjectRef<T>, u32)> {
        let (slot, generation) = self.paths.find(path)?;
        let is_there = self.slots.generation(slot) == Some(generation);
        let object = ObjectRef::<()>::new(self.slots.known(Guid::new(slot, generation)));
        Some((self.cast(object).filter(|_| is_there)?, slot))
    }

    /// Returns the path of an object that the server has sent, if it is static.
    pub(crate) fn path<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<&str> {
        self.class_and_row_of(object)?;
        let slot = object.guid()?.slot();
        self.paths.path(slot, self.slots.generation(slot)?).map(|path| &**path)
    }

    /// Places an object under a path. If the server's object has already arrived, returns the passed object.
    /// Returns `None` if the path already has a placed object of the class.
    pub(crate) fn place<T: Replicated>(&mut self, path: &str, object: T) -> Option<Placed<T>> {
        if let Some((found, slot)) = self.find_static::<T>(path) {
            let is_free = self.paths.bound_path(slot).is_none();
            self.paths.set_bound(slot, true);
            return is_free.then_some(Placed::Bound(found, object));
        }
        let is_destroyed = self.paths.is_destroyed(path);
        let column = self.typed_mut::<T>()?;
        if column.placed.contains(path) {
            return None;
        }
        column.placed.insert(Arc::from(path), object);
        Some(if is_destroyed { Placed::Destroyed } else { Placed::Waiting })
    }

    pub(crate) fn remove_placed<T: Replicated>(&mut self, path: &str) -> Option<T> {
        if let Some((_, slot)) = self.find_static::<T>(path) {
            self.paths.set_bound(slot, false);
        }
        self.typed_mut::<T>()?.placed.remove(path)
    }

    /// Returns the object that the user has placed under a path, both while it waits and while it is bound.
    pub(crate) fn placed<T: Replicated>(&self, path: &str) -> Option<&T> {
        if let Some(waiting) = self.typed::<T>()?.placed.get(path) {
            return Some(waiting);
        }
        let (object, slot) = self.find_static::<T>(path)?;
        self.paths.bound_path(slot).and_then(|_| self.get(object))
    }

    pub(crate) fn placed_mut<T: Replicated>(&mut self, path: &str) -> Option<&mut T> {
        if let Some((object, slot)) = self.find_static::<T>(path)
            && self.paths.bound_path(slot).is_some()
        {
            return self.get_mut(object);
        }
        self.typed_mut::<T>()?.placed.get_mut(path)
    }
}
