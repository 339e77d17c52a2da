//! The maps and sets of the standard library as fields.
//!
//! *Invariant:* the entries of a map are accessed only through [`Map`].
#![expect(unsafe_code, reason = "types state their own shapes")]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::object::whole;
use crate::schema::map::{HashKey, Map, SortKey};
use crate::schema::property::Property;
use crate::schema::shape::{Field, Shape, WireForm};
use crate::schema::value::NetSerialize;
use crate::types::std::net_serialize_by_shape;

/// The value that each element of a set has when the set is treated as a map.
static NOTHING: () = ();

/// Returns a mutable `()`. A `()` contains nothing, so any number of mutable references to it may exist.
fn nothing_mut<'a>() -> &'a mut () {
    // A box of `()` allocates nothing.
    Box::leak(Box::new(()))
}

/// Implements [`Property`] and [`Map`] for a type. The macro's arguments in braces are the parts in which
/// maps and sets differ.
macro_rules! entries {
    ([$($generics:tt)*] $type:ty, $name:literal, $value:ty, $is_set:literal, { $($own:tt)* }) => {
        // SAFETY: the shape accesses entries only through `Map`, with functions that were made for this type,
        // and the shape is not marked as bitwise.
        unsafe impl<$($generics)*> Property for $type {
            const SHAPE: &'static Shape = &Shape::map::<Self>($name);
            fn initial() -> Self {
                Self::default()
            }
        }
        net_serialize_by_shape!([$($generics)*] $type, $name);

        impl<$($generics)*> Map for $type {
            type Key = K;
            type Value = $value;
            const IS_SET: bool = $is_set;

            fn len(&self) -> usize {
                self.len()
            }
            fn remove(&mut self, key: &K) {
                self.remove(key);
            }
            $($own)*
        }
    };
}

macro_rules! map {
    ([$($generics:tt)*] $type:ty, $name:literal) => {
        entries!([$($generics)*] $type, $name, V, false, {
            fn value(&self, key: &K) -> Option<&V> {
                self.get(key)
            }
            fn value_mut(&mut self, key: &K) -> Option<&mut V> {
                self.get_mut(key)
            }
            fn insert(&mut self, key: K) -> &mut V {
                self.entry(key).or_insert_with(V::initial)
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
        });
    };
}

macro_rules! set {
    ([$($generics:tt)*] $type:ty, $name:literal) => {
        entries!([$($generics)*] $type, $name, (), true, {
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
            fn retain(&mut self, keep: &mut dyn FnMut(&K) -> bool) {
                self.retain(|key| keep(key));
            }
            fn each(&self, each: &mut dyn FnMut(&K, &())) {
                self.iter().for_each(|key| each(key, &NOTHING));
            }
            fn each_mut(&mut self, _: &mut dyn FnMut(&mut ())) {}
        });
    };
}

map!([K: HashKey, V: Property, S: BuildHasher + Default + Send + 'static] HashMap<K, V, S>, "HashMap");
map!([K: SortKey, V: Property] BTreeMap<K, V>, "BTreeMap");
set!([K: HashKey, S: BuildHasher + Default + Send + 'static] HashSet<K, S>, "HashSet");
set!([K: SortKey] BTreeSet<K>, "BTreeSet");
