//! The methods of the server that return objects: one object, all objects of a class, or several objects
//! together.
//!
//! *Invariant:* no object is borrowed twice at the same time, and every object that was borrowed mutably is
//! compared at its next update. This is the next tick, unless the object has an
//! [`UpdateRate`](crate::UpdateRate). Torn-off objects have no further updates.

use std::ops::{Index, IndexMut};

use repl_core::{ObjectRef, Replicated};

use super::Server;
use super::rows::OwnColumn;
use super::world::Absence;

impl Server {
    /// Returns an object if it exists, is a `T`, and is stored by the server. None of the methods that return
    /// objects return [external](crate::External) objects, because the server does not store them.
    #[must_use]
    pub fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.world.store.get(object).ok()
    }

    /// Returns a mutable reference to an object. The returned object is compared at its next update, even if
    /// nothing was written to it. The next update is in the next tick, unless the object has an [update
    /// rate](crate::UpdateRate). `server[object]` also returns this reference, and panics if the object
    /// does not exist.
    pub fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        self.world.get_mut(object).ok()
    }

    /// Returns all objects of a class with their references, in no particular order.
    pub fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.world
            .store
            .own::<T>()
            .into_iter()
            .flat_map(OwnColumn::pairs)
            .map(|(&slot, object)| (ObjectRef::new(self.world.store.occupant(slot).guid(slot)), object))
    }

    /// Returns references to the objects of all classes, in no particular order, for example for a debug
    /// screen. [`cast`](crate::ObjectInfo::cast) returns a reference with the type of its object.
    ///
    /// ```
    /// # use repl_net::{ConnectionId, Server};
    /// fn report(server: &Server, connection: ConnectionId) {
    ///     for object in server.all_objects() {
    ///         let info = server.object_info(object);
    ///         let class = info.class_name().unwrap_or_default();
    ///         if let Some(reason) = info.why_not_sent_to(connection) {
    ///             println!("{class} {object:?} is not sent, because {reason}");
    ///         }
    ///     }
    /// }
    /// ```
    pub fn all_objects(&self) -> impl Iterator<Item = ObjectRef<()>> {
        self.world.store.alive.iter().map(|slot| ObjectRef::new(self.world.store.occupant(slot).guid(slot)))
    }

    /// Returns mutable references to all objects of a class, each with its [`ObjectRef`], in no particular
    /// order. The next tick scans the memory of all objects of the class to find the objects that have
    /// changed. Each changed object is compared at its next update, as with [`get_mut`](Self::get_mut).
    pub fn objects_mut<T: Replicated>(&mut self) -> impl Iterator<Item = (ObjectRef<T>, &mut T)> {
        self.world.objects_mut()
    }

    /// Returns mutable references to two objects of the same or of different classes, in the same way as
    /// [`get_mut`](Self::get_mut). Returns `None` if one of the objects does not exist, or if both are the
    /// same object.
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

    /// Returns mutable references to several objects of one class, in the same way as
    /// [`get_mut`](Self::get_mut). Returns `None` if one of the objects does not exist or occurs twice. Costs
    /// O(N²), so use this method for a few objects. [`objects_mut`](Self::objects_mut) can change all objects
    /// of a class.
    pub fn get_disjoint_mut<T: Replicated, const N: usize>(
        &mut self,
        objects: [ObjectRef<T>; N],
    ) -> Option<[&mut T; N]> {
        self.world.get_disjoint_mut(objects)
    }
}

/// Returns the panic message of `server[object]`.
#[cold]
pub(super) fn text_of<T: Replicated>(absence: Absence, object: ObjectRef<T>) -> String {
    let name = T::LAYOUT.name();
    match absence {
        Absence::Gone if object.is_null() => format!("there is no {name}: the reference is null"),
        Absence::Gone => format!("there is no {name} {object:?} (never spawned, or despawned)"),
        Absence::NotOwn => format!(
            "the server itself has no {name} {object:?}: read and write an object outside the server where it lives, and hand it over with \
             `external::<{name}>().compare`"
        ),
    }
}

impl<T: Replicated> Index<ObjectRef<T>> for Server {
    type Output = T;

    /// # Panics
    /// Panics if the object does not exist, or is [external](crate::External).
    #[track_caller]
    fn index(&self, object: ObjectRef<T>) -> &T {
        match self.world.store.get(object) {
            Ok(found) => found,
            Err(absence) => panic!("{}", text_of(absence, object)),
        }
    }
}

impl<T: Replicated> IndexMut<ObjectRef<T>> for Server {
    /// # Panics
    /// Panics if the object does not exist, or is [external](crate::External).
    #[track_caller]
    fn index_mut(&mut self, object: ObjectRef<T>) -> &mut T {
        match self.world.get_mut(object) {
            Ok(found) => found,
            Err(absence) => panic!("{}", text_of(absence, object)),
        }
    }
}
