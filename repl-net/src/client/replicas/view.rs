//! Access to objects and queries about them: their values, class and role, which properties arrived, and the
//! last state of removed objects.
//!
//! *Invariant:* only the queries in this file find a removed object. For all other functions a removed object
//! does not exist.

use std::any::TypeId;

use repl_core::{Class, Guid, HandleSet, ObjectRef, Replicated};

use super::Replicas;
use crate::body::role::{Proxy, Role};
use crate::client::change_feed::{Change, ChangeFeed};
use crate::client::replica::TypedReplica;

impl Replicas {
    /// Returns a reference to the object in a slot.
    pub(crate) fn reference<T>(&self, slot: u32) -> Option<ObjectRef<T>> {
        Some(ObjectRef::new(self.slots.known(Guid::new(slot, self.slots.generation(slot)?))))
    }

    pub(crate) fn is_torn_off<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        object.guid().is_some_and(|guid| self.slots.torn_off.contains(guid))
    }

    fn get_torn_off<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        let guid = object.guid()?;
        let class = self.slots.torn_off.class(guid)?;
        self.columns.get(class as usize)?.as_any().downcast_ref::<TypedReplica<T>>()?.torn_off.get(&guid)
    }

    fn get_torn_off_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        let guid = object.guid()?;
        let class = self.slots.torn_off.class(guid)?;
        let column = self.columns.get_mut(class as usize)?.as_any_mut();
        column.downcast_mut::<TypedReplica<T>>()?.torn_off.get_mut(&guid)
    }

    pub(crate) fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.class_and_row_of(object).is_some() || self.is_torn_off(object)
    }

    pub(crate) fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        let Some((class, row)) = self.class_and_row_of(object) else { return self.get_torn_off(object) };
        self.columns.get(class as usize)?.as_any().downcast_ref::<TypedReplica<T>>()?.live.get(row as usize)
    }

    pub(crate) fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        let Some((class, row)) = self.class_and_row_of(object) else { return self.get_torn_off_mut(object) };
        let column = self.columns.get_mut(class as usize)?.as_any_mut();
        column.downcast_mut::<TypedReplica<T>>()?.borrow_for_user(row)
    }

    /// Puts the properties that `handles_of` returns back to what the server sent. Returns `false` if the
    /// object does not exist or was torn off.
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

    /// Returns whether this client owns an object that exists, and the client's role for it.
    pub(crate) fn proxy<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Proxy> {
        if self.is_torn_off(object) {
            return Some(Proxy::new(Role::Authority, false));
        }
        self.class_and_row_of(object)?;
        Some(self.slots.proxy(object.guid()?.slot()))
    }

    /// Returns the object of which an object is a subobject.
    pub(crate) fn parent(&self, object: ObjectRef<()>) -> Option<ObjectRef<()>> {
        self.class_and_row_of(object)?;
        self.object_in(self.slots.families.parent(object.guid()?.slot())?)
    }

    /// Returns the subobjects of an object.
    pub(crate) fn subobjects(&self, object: ObjectRef<()>) -> impl Iterator<Item = ObjectRef<()>> {
        let exists = self.class_and_row_of(object).is_some();
        let slot = object.guid().filter(|_| exists).map(|guid| guid.slot());
        let children = slot.into_iter().flat_map(|slot| self.slots.families.children(slot));
        children.filter_map(|child| self.object_in(child))
    }

    /// Returns the object in a slot.
    fn object_in(&self, slot: u32) -> Option<ObjectRef<()>> {
        let guid = Guid::new(slot, self.slots.generation(slot)?);
        Some(ObjectRef::new(self.slots.known(guid)))
    }

    /// Returns whether an object exists and sleeps.
    pub(crate) fn is_asleep<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.proxy(object).is_some_and(|proxy| proxy.is_asleep)
    }

    /// Returns the class of an object that exists, or that was removed and can still be read.
    fn class_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<u16> {
        let here = self.class_and_row_of(object).map(|(class, _)| class);
        let torn_off = || self.slots.torn_off.class(object.guid()?);
        here.or_else(torn_off).or_else(|| self.departed.class(object.guid()?))
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

    /// Drops a removed object, because an event has reported its removal, or because no event will report it.
    pub(crate) fn release(&mut self, object: ObjectRef<()>) {
        let Some(guid) = object.guid() else { return };
        if let Some(class) = self.departed.remove(guid)
            && let Some(column) = self.columns.get_mut(class as usize)
        {
            column.release(guid);
        }
    }

    /// Returns which properties of the objects of a class arrived since the last call of this method.
    pub(crate) fn changes<T: Replicated>(&mut self) -> Vec<Change<T>> {
        let Some(&class) = self.by_type.get(&TypeId::of::<T>()) else { return Vec::new() };
        let feed = self.feeds.entry(class).or_insert_with(|| {
            let mut feed = ChangeFeed::default();
            if let Some(column) = self.columns.get(class as usize) {
                let all = HandleSet::up_to(column.program().handles());
                column.slots().iter().for_each(|&slot| feed.note(slot, true, &all));
                let typed = column.as_any().downcast_ref::<TypedReplica<T>>();
                let torn_off = typed.into_iter().flat_map(|column| column.torn_off.keys());
                torn_off.for_each(|&guid| feed.note_torn_off(guid, all.clone()));
            }
            feed
        });
        let (arrived, torn_off) = feed.take();
        let change = |(slot, arrived)| Some(Change::new(self.reference(slot)?, T::LAYOUT, arrived));
        let of_torn_off = |(guid, arrived)| Change::new(ObjectRef::new(guid), T::LAYOUT, arrived);
        let changes = arrived.into_iter().filter_map(change);
        changes.chain(torn_off.into_iter().map(of_torn_off)).collect()
    }

    /// Copies the properties in `change` from the client's object to `to`, or all properties if the object is
    /// new. Returns whether the object still exists.
    pub(crate) fn copy_changed<T: Replicated>(&self, change: &Change<T>, to: &mut T) -> bool {
        let (Some(from), Some(column)) = (self.get(change.object), self.typed::<T>()) else { return false };
        if change.is_new {
            column.class.copy(from, to, &HandleSet::up_to(column.class.program().handles()));
        } else {
            column.class.copy(from, to, change.handles());
        }
        true
    }
}
