//! The server's methods that return objects: one by reference, all of a class, or several at once.
//!
//! *Invariant:* no object is borrowed twice at once, and what is borrowed mutably is compared at the next
//! tick.

use std::ops::{Index, IndexMut};

use repl_core::{ObjectRef, Replicated};

use super::Server;

impl Server {
    /// The object, if it exists and is a `T`.
    #[must_use]
    pub fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.world.get(object)
    }

    /// The object, mutably. It is compared at the next tick, whatever was written. `server[object]` does the
    /// same, and panics if the object does not exist.
    pub fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        self.world.get_mut(object)
    }

    /// All objects of a class with their references, in no particular order.
    pub fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        let column = self.world.typed::<T>();
        column.into_iter().flat_map(|column| column.slots.iter().zip(&column.live)).map(|(&slot, object)| {
            let entry = &self.world.objects[slot as usize];
            (ObjectRef::new(entry.guid(slot)), object)
        })
    }

    /// All objects of a class with their references, mutably, in no particular order. Each is compared at the
    /// next tick, by a scan over their memory.
    pub fn objects_mut<T: Replicated>(&mut self) -> impl Iterator<Item = (ObjectRef<T>, &mut T)> {
        self.world.objects_mut()
    }

    /// Two objects of the same or of different classes, mutably, like [`get_mut`](Self::get_mut). Returns
    /// `None` if either does not exist or both are the same object.
    ///
    /// ```
    /// # use repl_net::Server;
    /// # use repl_core::{ObjectRef, Replicated};
    /// fn swap<T: Replicated>(server: &mut Server, one: ObjectRef<T>, other: ObjectRef<T>) {
    ///     if let Some((one, other)) = server.get_pair_mut(one, other) {
    ///         std::mem::swap(one, other);
    ///     }
    /// }
    /// ```
    pub fn get_pair_mut<A: Replicated, B: Replicated>(
        &mut self,
        first: ObjectRef<A>,
        second: ObjectRef<B>,
    ) -> Option<(&mut A, &mut B)> {
        self.world.get_pair_mut(first, second)
    }

    /// Several objects of one class, mutably, like [`get_mut`](Self::get_mut). Returns `None` if one does not
    /// exist or is given twice. O(N²), so use it for a few; [`objects_mut`](Self::objects_mut) returns all.
    pub fn get_disjoint_mut<T: Replicated, const N: usize>(
        &mut self,
        objects: [ObjectRef<T>; N],
    ) -> Option<[&mut T; N]> {
        self.world.get_disjoint_mut(objects)
    }
}

impl<T: Replicated> Index<ObjectRef<T>> for Server {
    type Output = T;

    /// # Panics
    /// If the object is gone.
    #[track_caller]
    fn index(&self, object: ObjectRef<T>) -> &T {
        match self.get(object) {
            Some(found) => found,
            None => panic!("the {} {object:?} is gone", T::LAYOUT.name()),
        }
    }
}

impl<T: Replicated> IndexMut<ObjectRef<T>> for Server {
    /// # Panics
    /// If the object is gone.
    #[track_caller]
    fn index_mut(&mut self, object: ObjectRef<T>) -> &mut T {
        match self.get_mut(object) {
            Some(found) => found,
            None => panic!("the {} {object:?} is gone", T::LAYOUT.name()),
        }
    }
}
