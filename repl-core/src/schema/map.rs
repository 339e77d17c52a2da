//! Maps and sets of the standard library and of `indexmap` as fields: what core asks of one, and the types that have it.
//!
//! Invariant: the identity of an entry is its key; a map has no room for anything else, so nothing is asked of it but what any map can do.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::hash::Hash;

use crate::schema::property::Property;

/// A map whose entries are replicated one by one, or a set, which is a map to nothing: `HashMap`, `BTreeMap`, `HashSet`, `BTreeSet`, and with the
/// feature `indexmap` its `IndexMap` and `IndexSet`.
///
/// No map tells what was touched, so comparing one costs O(entries); what is sent is the keys of the entries that went, those that came, and of the
/// others the properties of their values that changed. Keys and attributes: a `max_len` limits the number of entries, all else is for the values.
/// The order of an `IndexMap` is not replicated.
///
/// A key travels whole, as it is when it stands alone. Keys that are equal must have the same form: names that are the same in capitals, say, or
/// wrapped floats to which zero and minus zero are one, make clients lose entries. One that reads back as another, and one that has no form on the wire, is refused: its
/// entry stays on the server, and the refusal is told like that of a value without a form.
///
/// An entry whose key is or holds a reference is shown on a client while the object that it names is there: it comes when the object does, and goes with it,
/// though nothing is sent for it. What a client does not show it keeps, in a second copy of the object, up to date. A key that is null is shown. Such an
/// entry is told of as others are: its value's callbacks and the property's notify run when it is shown and before it goes.
///
/// Values that are items with callbacks (`#[replicated(callbacks)]`) are told what came of them, one by one, while the update is applied: first
/// what goes by name, then what comes and changes, by key, and at last what a sweep takes out; the functions that are given all items of an array at
/// once are not called. Other properties of the object may not have arrived yet. An entry that a client's user added is the server's as soon as
/// that sends one with its key, and goes when the server begins the map anew.
pub trait Map: Property {
    /// What tells entries apart.
    type Key: Property + Clone + PartialEq;
    /// What is replicated property by property; `()` for a set.
    type Value: Property;
    /// Whether this is a set.
    const IS_SET: bool;

    /// How many entries there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`.
    fn value(&self, key: &Self::Key) -> Option<&Self::Value>;

    /// The value of `key`, to be written.
    fn value_mut(&mut self, key: &Self::Key) -> Option<&mut Self::Value>;

    /// The value of `key`, an initial one if there was none.
    fn insert(&mut self, key: Self::Key) -> &mut Self::Value;

    /// Takes the entry out, if there is one.
    fn remove(&mut self, key: &Self::Key);

    /// Takes the entries out for which `keep` says no.
    fn retain(&mut self, keep: &mut dyn FnMut(&Self::Key) -> bool);

    /// Calls `each` with every entry, in no particular order.
    fn each(&self, each: &mut dyn FnMut(&Self::Key, &Self::Value));

    /// Calls `each` with every value, in no particular order.
    fn each_mut(&mut self, each: &mut dyn FnMut(&mut Self::Value));
}

/// What keys of maps that hash are, in one trait, so that a type that cannot be one is reported once.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a hashed map, nor the element of a hashed set",
    label = "not a key",
    note = "keys are told apart by `Eq` and `Hash` and travel: on a type of your own say `#[derive(NetSerialize, Clone, PartialEq, Eq, Hash)]`",
    note = "a float is no key: take an integer, such as how many steps of a millimetre it is, or keep it in the value"
)]
pub trait HashKey: Property + Clone + Eq + Hash {}

#[diagnostic::do_not_recommend]
impl<K: Property + Clone + Eq + Hash> HashKey for K {}

/// What keys of maps that sort are, for the same reason.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a sorted map, nor the element of a sorted set",
    label = "not a key",
    note = "keys are told apart by `Ord` and travel: on a type of your own say `#[derive(NetSerialize, Clone, PartialEq, Eq, PartialOrd, Ord)]`",
    note = "a float is no key: take an integer, such as how many steps of a millimetre it is, or keep it in the value"
)]
pub trait SortKey: Property + Clone + Ord {}

#[diagnostic::do_not_recommend]
impl<K: Property + Clone + Ord> SortKey for K {}
