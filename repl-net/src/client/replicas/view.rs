//! Queries about objects beyond their values: class, role, what arrived, and removed objects that can still
//! be read.
//!
//! *Invariant:* only these queries find a departed object. For all others it does not exist.

use std::any::TypeId;

use repl_core::{Guid, HandleSet, ObjectRef, Replicated};

use super::Replicas;
use crate::client::change_feed::{Change, ChangeFeed};
use crate::transport::role::Proxy;

impl Replicas {
    /// The reference to the object in a slot.
    pub(crate) fn reference<T>(&self, slot: u32) -> Option<ObjectRef<T>> {
        Some(ObjectRef::new(Guid::new(slot, self.slots.generation(slot)?)))
    }

    /// The owner flag and role of this client for an object that exists.
    pub(crate) fn proxy<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Proxy> {
        self.place_of(object)?;
        self.slots.proxies.get(object.guid()?.slot() as usize).copied()
    }

    /// The class of an object that exists or is departed.
    fn class_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<u16> {
        let here = self.place_of(object).map(|(class, _)| class);
        here.or_else(|| self.departed.class(object.guid()?))
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

    /// Drops a departed object whose removal was reported, or never will be.
    pub(crate) fn release(&mut self, object: ObjectRef<()>) {
        let Some(guid) = object.guid() else { return };
        if let Some(class) = self.departed.remove(guid)
            && let Some(column) = self.columns.get_mut(class as usize)
        {
            column.release(guid);
        }
    }

    /// The changes of a class since the last call.
    pub(crate) fn changes<T: Replicated>(&mut self) -> Vec<Change<T>> {
        let Some(&class) = self.by_type.get(&TypeId::of::<T>()) else { return Vec::new() };
        let feed = self.feeds.entry(class).or_insert_with(|| {
            let mut feed = ChangeFeed::default();
            if let Some(column) = self.columns.get(class as usize) {
                let all = HandleSet::up_to(column.program().handles());
                column.slots().iter().for_each(|&slot| feed.note(slot, true, &all));
            }
            feed
        });
        let noted = feed.take();
        let change = |(slot, noted)| Some(Change::new(self.reference(slot)?, T::LAYOUT, noted));
        noted.into_iter().filter_map(change).collect()
    }
}
