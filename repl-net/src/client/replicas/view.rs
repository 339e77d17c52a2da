//! Methods that read objects: their values, class and role, and the last state of removed objects.
//!
//! *Invariant:* only the methods in this file find a removed object. In all other code, a removed object does
//! not exist.

use std::any::TypeId;

use repl_core::{Class, Guid, HandleSet, ObjectRef, Replicated};

use super::Replicas;
use crate::body::role::{Proxy, Role};
use crate::client::replica::TypedReplica;

impl Replicas {
    pub(crate) fn reference<T>(&self, slot: u32) -> Option<ObjectRef<T>> {
        self.slots.known_in(slot).map(ObjectRef::new)
    }

    pub(crate) fn is_torn_off<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        object.guid().is_some_and(|guid| self.slots.torn_off.contains(guid))
    }

    pub(crate) fn is_out_of_sight<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        object.guid().is_some_and(|guid| self.slots.out_of_sight.contains(guid))
    }

    /// Returns the class of an object that was torn off or is out of sight.
    fn class_of_detached(&self, guid: Guid) -> Option<u16> {
        self.slots.torn_off.class(guid).or_else(|| self.slots.out_of_sight.class(guid))
    }

    fn get_detached<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        let guid = object.guid()?;
        let class = self.class_of_detached(guid)?;
        self.columns.get(class as usize)?.as_any().downcast_ref::<TypedReplica<T>>()?.detached.get(&guid)
    }

    fn get_detached_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        let guid = object.guid()?;
        let class = self.class_of_detached(guid)?;
        let column = self.columns.get_mut(class as usize)?.as_any_mut();
        column.downcast_mut::<TypedReplica<T>>()?.detached.get_mut(&guid)
    }

    pub(crate) fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.class_and_row_of(object).is_some() || self.is_torn_off(object) || self.is_out_of_sight(object)
    }

    pub(crate) fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        let Some((class, row)) = self.class_and_row_of(object) else { return self.get_detached(object) };
        self.columns.get(class as usize)?.as_any().downcast_ref::<TypedReplica<T>>()?.live.get(row as usize)
    }

    pub(crate) fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        let Some((class, row)) = self.class_and_row_of(object) else { return self.get_detached_mut(object) };
        let column = self.columns.get_mut(class as usize)?.as_any_mut();
        column.downcast_mut::<TypedReplica<T>>()?.borrow_for_user(row)
    }

    /// Sets those properties that `handles_of` returns back to the values that the server sent. Returns
    /// `false` if the object does not exist, was torn off or is out of sight.
    pub(crate) fn restore<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        handles_of: impl FnOnce(&Class<T>) -> HandleSet,
    ) -> bool {
        let Some((class, row)) = self.class_and_row_of(object) else { return false };
        let Some(column) = self.columns.get_mut(class as usize) else { return false };
        let Some(column) = column.as_any_mut().downcast_mut::<TypedReplica<T>>() else { return false };
        let handles = handles_of(&column.class);
        column.restore(row, &handles, &self.slots);
        true
    }

    /// Returns the role of an object on this client, whether this client owns it, and whether it sleeps, if
    /// the object exists.
    pub(crate) fn proxy<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Proxy> {
        if self.is_torn_off(object) {
            return Some(Proxy::new(Role::Authority, false));
        }
        if self.is_out_of_sight(object) {
            return Some(Proxy::new(Role::SimulatedProxy, false));
        }
        self.class_and_row_of(object)?;
        Some(self.slots.proxy(object.guid()?.slot()))
    }

    /// Returns the parent of an object that is a subobject, or was one when it was removed.
    pub(crate) fn parent(&self, object: ObjectRef<()>) -> Option<ObjectRef<()>> {
        let guid = object.guid()?;
        match self.class_and_row_of(object) {
            Some(_) => self.parent_of(guid.slot()),
            None if self.is_out_of_sight(object) => self.parent_of(guid.slot()),
            None => self.departed.parent(guid),
        }
    }

    pub(crate) fn subobjects(&self, object: ObjectRef<()>) -> impl Iterator<Item = ObjectRef<()>> {
        let exists = self.class_and_row_of(object).is_some() || self.is_out_of_sight(object);
        let slot = object.guid().filter(|_| exists).map(|guid| guid.slot());
        let children = slot.into_iter().flat_map(|slot| self.slots.families.children(slot));
        children.filter_map(|child| self.slots.kept_in(child).map(ObjectRef::new))
    }

    pub(crate) fn is_asleep<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.proxy(object).is_some_and(|proxy| proxy.is_asleep)
    }

    /// Returns the class of an object that exists, or that was removed and can still be read.
    fn class_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<u16> {
        let here = self.class_and_row_of(object).map(|(class, _)| class);
        let detached = || self.class_of_detached(object.guid()?);
        here.or_else(detached).or_else(|| self.departed.class(object.guid()?))
    }

    pub(crate) fn class_name<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<&'static str> {
        Some(self.columns.get(self.class_of(object)? as usize)?.program().layout().name())
    }

    pub(crate) fn cast<T: Replicated>(&self, object: ObjectRef<()>) -> Option<ObjectRef<T>> {
        let class = self.class_of(object)?;
        (self.by_type.get(&TypeId::of::<T>()) == Some(&class)).then(|| object.guid().map(ObjectRef::new))?
    }

    pub(crate) fn departed<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.typed::<T>()?.departed.get(&object.guid()?)
    }

    /// Drops a removed object, because the update that reports its removal was polled, or there will be no
    /// such update.
    pub(crate) fn release(&mut self, object: ObjectRef<()>) {
        let Some(guid) = object.guid() else { return };
        if let Some(class) = self.departed.remove(guid)
            && let Some(column) = self.columns.get_mut(class as usize)
        {
            column.release(guid);
        }
    }
}
