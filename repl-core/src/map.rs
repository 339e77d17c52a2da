//! Maps and sets of the standard library and of `indexmap` as fields: what core asks of one, and the types that have it.
//!
//! Invariant: the identity of an entry is its key; a map has no room for anything else, so nothing is asked of it but what any map can do.
#![expect(unsafe_code, reason = "types state their own shapes")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use crate::access::whole;
use crate::bits::{BitReader, BitWriter};
use crate::checksum::Checksum;
use crate::handles::HandleSet;
use crate::property::{Property, net_serialize_by_shape};
use crate::reference::ReferenceMap;
use crate::shape::{Field, Shape};
use crate::value::{NetSerialize, ReadError, WriteError};

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

/// What a value that has callbacks is told on clients. Set by the derive of items.
#[derive(Clone, Copy)]
pub struct ValueCallbacks<T> {
    /// It is about to go.
    pub removing: fn(&mut T),
    /// It came, and has its values.
    pub added: fn(&mut T),
    /// Properties with these handles have other values than before.
    pub changed: fn(&mut T, &HandleSet),
}

/// The value that sets have for each key.
static NOTHING: () = ();

/// The same to be written, which nothing can be in it.
fn nothing_mut<'a>() -> &'a mut () {
    // Takes no memory.
    Box::leak(Box::new(()))
}

/// Implements [`Map`] and [`Property`] for maps.
macro_rules! map {
    ([$($generics:tt)*] $type:ty, $name:literal, $remove:ident, |$map:ident, $key:ident| $entry:expr) => {
        // SAFETY: the shape reaches entries through `Map` alone, by the functions made for this very type, and is not marked as bitwise.
        unsafe impl<$($generics)*> Property for $type {
            const SHAPE: &'static Shape = &Shape::map::<Self>($name);
            fn initial() -> Self {
                Self::default()
            }
        }
        net_serialize_by_shape!([$($generics)*] $type, $name);

        impl<$($generics)*> Map for $type {
            type Key = K;
            type Value = V;
            const IS_SET: bool = false;

            fn len(&self) -> usize {
                self.len()
            }
            fn value(&self, key: &K) -> Option<&V> {
                self.get(key)
            }
            fn value_mut(&mut self, key: &K) -> Option<&mut V> {
                self.get_mut(key)
            }
            fn insert(&mut self, $key: K) -> &mut V {
                let $map = self;
                $entry
            }
            fn remove(&mut self, key: &K) {
                self.$remove(key);
            }
            fn retain(&mut self, keep: &mut dyn FnMut(&K) -> bool) {
                self.retain(|key, _| keep(key));
            }
            fn each(&self, each: &mut dyn FnMut(&K, &V)) {
                self.iter().for_each(|(key, value)| each(key, value));
            }
            fn each_mut(&mut self, each: &mut dyn FnMut(&mut V)) {
                self.values_mut().for_each(each);
            }
        }
    };
}

/// Implements [`Map`] and [`Property`] for sets.
macro_rules! set {
    ([$($generics:tt)*] $type:ty, $name:literal, $remove:ident) => {
        // SAFETY: the shape reaches entries through `Map` alone, by the functions made for this very type, and is not marked as bitwise.
        unsafe impl<$($generics)*> Property for $type {
            const SHAPE: &'static Shape = &Shape::map::<Self>($name);
            fn initial() -> Self {
                Self::default()
            }
        }
        net_serialize_by_shape!([$($generics)*] $type, $name);

        impl<$($generics)*> Map for $type {
            type Key = K;
            type Value = ();
            const IS_SET: bool = true;

            fn len(&self) -> usize {
                self.len()
            }
            fn value(&self, key: &K) -> Option<&()> {
                self.contains(key).then_some(&NOTHING)
            }
            fn value_mut(&mut self, key: &K) -> Option<&mut ()> {
                self.contains(key).then(nothing_mut)
            }
            fn insert(&mut self, key: K) -> &mut () {
                self.insert(key);
                nothing_mut()
            }
            fn remove(&mut self, key: &K) {
                self.$remove(key);
            }
            fn retain(&mut self, keep: &mut dyn FnMut(&K) -> bool) {
                self.retain(|key| keep(key));
            }
            fn each(&self, each: &mut dyn FnMut(&K, &())) {
                self.iter().for_each(|key| each(key, &NOTHING));
            }
            fn each_mut(&mut self, _: &mut dyn FnMut(&mut ())) {}
        }
    };
}

map!([K: HashKey, V: Property, S: BuildHasher + Default + Send + 'static] HashMap<K, V, S>, "HashMap", remove, |map, key| {
    map.entry(key).or_insert_with(V::initial)
});
map!([K: SortKey, V: Property] BTreeMap<K, V>, "BTreeMap", remove, |map, key| {
    map.entry(key).or_insert_with(V::initial)
});
set!([K: HashKey, S: BuildHasher + Default + Send + 'static] HashSet<K, S>, "HashSet", remove);
set!([K: SortKey] BTreeSet<K>, "BTreeSet", remove);

#[cfg(feature = "indexmap")]
mod indexed {
    use indexmap::{IndexMap, IndexSet};

    use super::*;

    map!([K: HashKey, V: Property, S: BuildHasher + Default + Send + 'static] IndexMap<K, V, S>, "IndexMap", swap_remove, |map, key| {
        map.entry(key).or_insert_with(V::initial)
    });
    set!([K: HashKey, S: BuildHasher + Default + Send + 'static] IndexSet<K, S>, "IndexSet", swap_remove);
}
