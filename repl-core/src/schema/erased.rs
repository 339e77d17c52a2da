//! Collections and maps without their types: what a shape can do with one.
//!
//! *Invariant:* pointers that come out of a collection are to its elements, whose shape is the one in the collection's own shape; they
//! hold for as long as the borrow that they came from.

use std::any::Any;

use crate::bits::WriteError;
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::label::Label;

/// A collection without its types.
pub(crate) trait Collection: Any {
    fn len(&self) -> usize;
    fn preload(&self, id: ItemId);
    fn item(&self, id: ItemId) -> Option<*const u8>;
    fn item_mut(&mut self, id: ItemId) -> Option<*mut u8>;
    fn label(&self, id: ItemId) -> Option<&Label>;
    fn received_label(&mut self, id: ItemId, label: Label);
    /// All ids, ascending.
    fn ids(&self) -> Vec<ItemId>;
    fn is_abreast(&self, live: &dyn Collection) -> bool;
    fn follow(&mut self, live: &dyn Collection, visit: &mut dyn FnMut(ItemId, RawStep)) -> bool;
    fn hold_back(&mut self, id: ItemId);
    fn settle(&mut self);
    /// Takes over the ids of `other`; `copy` is given each item there and here.
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
    /// Calls `each` with the ids of the items of a replica that are to go.
    fn departing(&self, each: &mut dyn FnMut(ItemId));
    fn as_any(&self) -> &dyn Any;
}

/// What became of an item; see [`Step`].
pub(crate) enum RawStep {
    Added(*const u8, *mut u8),
    Touched(*const u8, *mut u8, bool),
    Removed,
}

/// A map without its types.
pub(crate) trait Entries: Any {
    fn len(&self) -> usize;
    fn value(&self, key: &KeyBits) -> Option<*const u8>;
    fn value_mut(&mut self, key: &KeyBits) -> Option<*mut u8>;
    /// The value of a key, an initial one if there was none; `None` if the bits are no key.
    fn insert(&mut self, key: &KeyBits) -> Option<*mut u8>;
    fn remove(&mut self, key: &KeyBits);
    /// The forms of all keys that have one, ascending. O(entries × log entries).
    fn keys(&self) -> Vec<KeyBits>;
    /// Whether each key has a form of its own.
    fn try_keys(&self) -> Result<Vec<KeyBits>, WriteError>;
    /// Whether both have the same keys, and `is_same` values for each.
    fn is_same(&self, other: &dyn Entries, is_same: &mut dyn FnMut(*const u8, *const u8) -> bool) -> bool;
    /// Makes this, a shadow, have the keys that `live` has, and tells `visit` of each. O(entries).
    fn follow(&mut self, live: &dyn Entries, visit: &mut dyn FnMut(RawEntry<'_>));
    /// Takes over the keys of `other`; `copy` is given each value there and here.
    fn copy_from(&mut self, other: &dyn Entries, copy: &mut dyn FnMut(*const u8, *mut u8));
    /// Calls `each` with every value.
    fn values_mut(&mut self, each: &mut dyn FnMut(*mut u8));
    /// Calls the user's code on the value of `key`.
    fn tell(&mut self, key: &KeyBits, news: News<'_>);
    fn as_any(&self) -> &dyn Any;
}

/// What a comparison finds of an entry.
pub(crate) enum RawEntry<'a> {
    /// It is in both; its form, if anybody asks, or what the key has none for.
    Kept(*const u8, *mut u8, &'a dyn Fn() -> Result<KeyBits, WriteError>),
    /// It is new; the shadow has an initial value in its place.
    Born(KeyBits, *const u8, *mut u8),
    /// It is no more, here and in the shadow.
    Removed(KeyBits),
    /// Its key has no form of its own.
    Refused(WriteError),
}

/// What a value is told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News<'a> {
    Removing,
    Added,
    Changed(&'a HandleSet),
}
