//! Collections and maps without their types: what the rest of the core can do with one through its shape.
//!
//! *Invariant:* a pointer that a collection returns points to one of its elements, which has the shape that
//! the collection's own shape names. The pointer is valid for the borrow that it came from.

use std::any::Any;

use crate::bits::WriteError;
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::label::Label;

/// A collection without its types. The methods are those of [`Keyed`](crate::schema::keyed::Keyed).
pub(crate) trait Collection: Any {
    fn len(&self) -> usize;
    fn preload(&self, id: ItemId);
    fn item(&self, id: ItemId) -> Option<*const u8>;
    fn item_mut(&mut self, id: ItemId) -> Option<*mut u8>;
    fn label(&self, id: ItemId) -> Option<&Label>;
    fn received_label(&mut self, id: ItemId, label: Label);
    /// Returns all ids, ascending.
    fn ids(&self) -> Vec<ItemId>;
    fn is_abreast(&self, live: &dyn Collection) -> bool;
    fn follow(&mut self, live: &dyn Collection, visit: &mut dyn FnMut(ItemId, RawStep)) -> bool;
    fn hold_back(&mut self, id: ItemId);
    fn settle(&mut self);
    /// Takes over the ids of `other`. Calls `copy` with each item of `other` and the item here.
    fn copy_from(&mut self, other: &dyn Collection, copy: &mut dyn FnMut(*const u8, *mut u8));
    fn become_replica(&mut self);
    fn own(&mut self);
    fn received_whole(&mut self, id: ItemId) -> *mut u8;
    fn received_change(&mut self, id: ItemId, handles: &HandleSet);
    fn received_removal(&mut self, id: ItemId);
    fn received_sweep(&mut self);
    fn received_sparing(&mut self, id: ItemId);
    fn received(&mut self, each: &mut dyn FnMut(*mut u8));
    fn has_news(&self) -> bool;
    fn conclude(&mut self, with_callbacks: bool);
    /// Calls `each` with the ids of the items of a replica that are marked for removal.
    fn departing(&self, each: &mut dyn FnMut(ItemId));
    fn as_any(&self) -> &dyn Any;
}

/// What happened to an item; see [`Step`].
pub(crate) enum RawStep {
    Added(*const u8, *mut u8),
    Touched(*const u8, *mut u8, bool),
    Removed,
}

/// A map without its types. Keys are given in their wire form.
pub(crate) trait Entries: Any {
    fn len(&self) -> usize;
    fn value(&self, key: &KeyBits) -> Option<*const u8>;
    fn value_mut(&mut self, key: &KeyBits) -> Option<*mut u8>;
    /// Returns the value of a key. Inserts an initial value if there is none. `None` if the bits are not a
    /// valid key.
    fn insert(&mut self, key: &KeyBits) -> Option<*mut u8>;
    fn remove(&mut self, key: &KeyBits);
    /// Returns the forms of all keys that have one, ascending. O(entries × log entries).
    fn keys(&self) -> Vec<KeyBits>;
    /// Returns the forms of all keys, or an error if a key has no form of its own.
    fn try_keys(&self) -> Result<Vec<KeyBits>, WriteError>;
    /// Whether both have the same keys, and for each key `is_same` returns true for the two values.
    fn is_same(&self, other: &dyn Entries, is_same: &mut dyn FnMut(*const u8, *const u8) -> bool) -> bool;
    /// Makes this shadow have the keys of `live`, and calls `visit` for each entry. O(entries).
    fn follow(&mut self, live: &dyn Entries, visit: &mut dyn FnMut(RawEntry<'_>));
    /// Takes over the keys of `other`. Calls `copy` with each value of `other` and the value here.
    fn copy_from(&mut self, other: &dyn Entries, copy: &mut dyn FnMut(*const u8, *mut u8));
    /// Calls `each` with every value.
    fn values_mut(&mut self, each: &mut dyn FnMut(*mut u8));
    /// Calls the user's callback on the value of `key`.
    fn tell(&mut self, key: &KeyBits, news: News<'_>);
    fn as_any(&self) -> &dyn Any;
}

/// What a comparison finds about an entry.
pub(crate) enum RawEntry<'a> {
    /// The entry is in both. The function returns the key's form, or why it has none; it is called only if
    /// needed.
    Kept(*const u8, *mut u8, &'a dyn Fn() -> Result<KeyBits, WriteError>),
    /// The entry is new. The shadow holds an initial value for it.
    Born(KeyBits, *const u8, *mut u8),
    /// The entry was removed, here and in the shadow.
    Removed(KeyBits),
    /// The entry's key has no form of its own.
    Refused(WriteError),
}

/// Which callback of a value to call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News<'a> {
    Removing,
    Added,
    Changed(&'a HandleSet),
}
