//! Maps and sets as fields: the functions that `repl-core` needs of a map, and the requirements for types of
//! keys.
//!
//! *Invariant:* an entry is identified only by its key. The trait `Map` requires only functions that every
//! map can have.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::hash::Hash;

use crate::schema::property::Property;

/// A map with entries that are replicated one by one, or a set, which is a map without values: `HashMap`,
/// `BTreeMap`, `HashSet`, `BTreeSet`, and `ReplicatedMap` of `repl-fastarray`.
///
/// A `ReplicatedMap` records which entries were written to, so a comparison costs O(entries written to). The
/// other maps and the sets do not record this, so a comparison costs O(entries). An update sends the keys of
/// the entries that were removed, the entries that are new, and the changed properties of the other entries.
/// The attribute `max_len` of the field limits the number of entries. All other attributes of the field apply
/// to the values of the map. The entries of a map have no order on clients, so types that keep an order, such
/// as `IndexMap`, do not implement this trait. Where the order matters, use an `OrderedFastArray` of
/// `repl-fastarray`, or a `Vec` of pairs.
///
/// A key is sent whole, in the form that its type has without attributes. Keys that are equal must have the
/// same wire form, because clients would otherwise lose entries. Two examples of key types that break this
/// rule: names that compare equal in upper and lower case, and wrapped floats for which zero and minus zero
/// compare equal. The server refuses a key if the key has no wire form, or if decoding its bits returns
/// another key. The entry of a refused key is not sent, and the refusal is reported in the same way as for a
/// value without a wire form.
///
/// If a key is or contains a reference, a client shows the entry only while it has the object of the
/// reference. An entry with a reference as its key appears and disappears with the object of the reference,
/// although nothing is sent for the entry. The client stores hidden entries in a second copy of the object,
/// and applies updates to them. An entry with a null key is shown. Entries with references as keys have
/// callbacks, too: the callbacks of the value and the notify of the property run when an entry appears and
/// before it disappears.
///
/// If the values of a map are items with callbacks (`#[replicated(callbacks)]`), the callbacks run one by one
/// while the update is applied. The callbacks run first for the removed entries that the update lists, then
/// for new and changed entries in the order of their keys, and last for the removed entries that the update
/// does not list: it can instead remove all entries except some. Callbacks that receive several items in one
/// call are not called for maps. When a callback runs, other properties of the object may not have their new
/// values yet.
///
/// If a client's own code adds, changes or removes entries, these edits last until the next update of the
/// property.
pub trait Map: Property {
    /// The type of the keys, which identify entries.
    type Key: Property + Clone + PartialEq;
    /// The type of the values, which are replicated property by property. For a set, the type of the values
    /// is `()`.
    type Value: Property;
    /// Whether the type is a set.
    const IS_SET: bool;

    /// Returns the number of entries.
    fn len(&self) -> usize;

    /// Returns whether the map is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of the entry with the key `key`.
    fn value(&self, key: &Self::Key) -> Option<&Self::Value>;

    /// Returns a mutable reference to the value of the entry with the key `key`.
    fn value_mut(&mut self, key: &Self::Key) -> Option<&mut Self::Value>;

    /// Returns a mutable reference to the value of the entry with the key `key`. Inserts an entry with the
    /// initial value if the map has no entry with this key.
    fn insert(&mut self, key: Self::Key) -> &mut Self::Value;

    /// Removes the entry with this key, if there is one.
    fn remove(&mut self, key: &Self::Key);

    /// Removes the entries for which `keep` returns false.
    fn retain(&mut self, keep: &mut dyn FnMut(&Self::Key) -> bool);

    /// Calls `each` with the key and value of every entry, in no particular order.
    fn each(&self, each: &mut dyn FnMut(&Self::Key, &Self::Value));

    /// Calls `each` with every value, in no particular order.
    fn each_mut(&mut self, each: &mut dyn FnMut(&mut Self::Value));

    /// Returns the keys of all entries that were inserted into `live`, written to or removed from it since
    /// this map last [`followed`](Self::followed) it. A key may occur several times. Returns `None` if this
    /// is not known, so that all entries must be compared. Costs O(1).
    fn touched<'l>(&self, live: &'l Self) -> Option<&'l [Self::Key]> {
        let _ = live;
        None
    }

    /// Records that this map, a shadow or another copy of `live`, was just updated from it. A later write to
    /// this map deletes the record, unless this function is called again.
    fn followed(&mut self, live: &Self) {
        let _ = live;
    }
}

/// The requirements for a key of a hashed map, as one trait, so that the compiler reports an unsuitable type
/// only once.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a hashed map, nor the element of a hashed set",
    label = "not a key",
    note = "keys are sent, and compared by `Eq` and `Hash`: on a type of your own, write `#[derive(NetSerialize, Clone, PartialEq, Eq, Hash)]`",
    note = "`Instant` and `SystemTime` mean nothing on another machine: use the number of a tick of the server, or a `Duration` since a moment that both sides know",
    note = "a float cannot be a key: use an integer, for example a number of millimetres, or store the float in the value; instead of a set of floats, use a `Vec`"
)]
pub trait HashKey: Property + Clone + Eq + Hash {}

#[diagnostic::do_not_recommend]
impl<K: Property + Clone + Eq + Hash> HashKey for K {}

/// The requirements for a key of a sorted map, as one trait, so that the compiler reports an unsuitable type
/// only once.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a sorted map, nor the element of a sorted set",
    label = "not a key",
    note = "keys are sent, and compared by `Ord`: on a type of your own, write `#[derive(NetSerialize, Clone, PartialEq, Eq, PartialOrd, Ord)]`",
    note = "`Instant` and `SystemTime` mean nothing on another machine: use the number of a tick of the server, or a `Duration` since a moment that both sides know",
    note = "a float cannot be a key: use an integer, for example a number of millimetres, or store the float in the value; instead of a set of floats, use a `Vec`"
)]
pub trait SortKey: Property + Clone + Ord {}

#[diagnostic::do_not_recommend]
impl<K: Property + Clone + Ord> SortKey for K {}
