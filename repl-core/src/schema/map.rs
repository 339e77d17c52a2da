//! Maps and sets as fields: the functions that the core needs of a map, and of the types of keys.
//!
//! *Invariant:* an entry is identified only by its key. The trait requires only functions that every map can
//! have.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::hash::Hash;

use crate::schema::property::Property;

/// A map whose entries are replicated one by one, or a set, which is a map without values: `HashMap`,
/// `BTreeMap`, `HashSet`, `BTreeSet`, and with the feature `indexmap` its `IndexMap` and `IndexSet`.
///
/// A map does not record which entries were touched, so a comparison costs O(entries). An update sends the
/// keys of the entries that were removed, the entries that are new, and of the other entries the properties
/// that changed. An attribute `max_len` limits the number of entries; all other attributes apply to the
/// values. The order of an `IndexMap` is not replicated.
///
/// A key is sent whole, in the form that its type has without attributes. Keys that are equal must have the
/// same form, because clients would otherwise lose entries. Examples that break this are names that are equal
/// in upper and lower case, and wrapped floats for which zero and minus zero are equal. A key is refused if
/// it reads back as another key or has no wire form. The entry of such a key is not sent, and the refusal is
/// reported like that of a value without a wire form.
///
/// If a key is or contains a reference, a client shows the entry only while it has the object of the
/// reference. The entry appears and disappears with the object, although nothing is sent for the entry. The
/// client keeps hidden entries in a second copy of the object, and keeps them up to date. An entry with a
/// null key is shown. Such entries have callbacks like others: the callbacks of the value and the notify of
/// the property run when the entry appears and before it disappears.
///
/// If values are items with callbacks (`#[replicated(callbacks)]`), their callbacks run one by one while the
/// update is applied: first for entries that are removed by name, then for new and changed entries in the
/// order of their keys, and last for entries that a sweep removes. Callbacks that take all items of an array
/// at once are not called. Other properties of the object may not have arrived yet.
///
/// An entry that a client's user added belongs to the server when the server sends an entry with its key.
/// Such an entry is removed when the server sends the whole map again.
pub trait Map: Property {
    /// The type of keys, which identify entries.
    type Key: Property + Clone + PartialEq;
    /// The type of values, which are replicated property by property. `()` for a set.
    type Value: Property;
    /// Whether the type is a set.
    const IS_SET: bool;

    /// Returns the number of entries.
    fn len(&self) -> usize;

    /// Returns whether the map is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of `key`.
    fn value(&self, key: &Self::Key) -> Option<&Self::Value>;

    /// Returns the value of `key` for writing.
    fn value_mut(&mut self, key: &Self::Key) -> Option<&mut Self::Value>;

    /// Returns the value of `key`. Inserts an initial value if there is none.
    fn insert(&mut self, key: Self::Key) -> &mut Self::Value;

    /// Removes the entry with this key, if there is one.
    fn remove(&mut self, key: &Self::Key);

    /// Removes the entries for which `keep` returns false.
    fn retain(&mut self, keep: &mut dyn FnMut(&Self::Key) -> bool);

    /// Calls `each` with every entry, in no particular order.
    fn each(&self, each: &mut dyn FnMut(&Self::Key, &Self::Value));

    /// Calls `each` with every value, in no particular order.
    fn each_mut(&mut self, each: &mut dyn FnMut(&mut Self::Value));
}

/// The requirements for a key of a hashed map, in one trait, so that a type that does not meet them is
/// reported once.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a hashed map, nor the element of a hashed set",
    label = "not a key",
    note = "keys are sent, and compared by `Eq` and `Hash`: on a type of your own, write `#[derive(NetSerialize, Clone, PartialEq, Eq, Hash)]`",
    note = "a float cannot be a key: use an integer, for example a number of millimetres, or store the float in the value"
)]
pub trait HashKey: Property + Clone + Eq + Hash {}

#[diagnostic::do_not_recommend]
impl<K: Property + Clone + Eq + Hash> HashKey for K {}

/// The requirements for a key of a sorted map, in one trait, so that a type that does not meet them is
/// reported once.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a sorted map, nor the element of a sorted set",
    label = "not a key",
    note = "keys are sent, and compared by `Ord`: on a type of your own, write `#[derive(NetSerialize, Clone, PartialEq, Eq, PartialOrd, Ord)]`",
    note = "a float cannot be a key: use an integer, for example a number of millimetres, or store the float in the value"
)]
pub trait SortKey: Property + Clone + Ord {}

#[diagnostic::do_not_recommend]
impl<K: Property + Clone + Ord> SortKey for K {}
