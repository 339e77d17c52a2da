//! The traits through which `repl-core` uses a map, and the attributes that a map's field may have.
//!
//! *Invariant:* writes of `repl-core` are recorded like the writes of users, because a map that a client
//! receives may also be the live map of another server.

use std::hash::BuildHasher;

use repl_core::__private::{HashKey, Lengthy, Quantizable, Ranged, Shape, UnitQuaternion, UnitVector};
use repl_core::{Map, Property};

use super::ReplicatedMap;

#[expect(unsafe_code, reason = "a type states its own shape")]
// SAFETY: the shape accesses entries only through `Map`, with functions that are generated for this type, and
// the shape is not marked as bitwise.
unsafe impl<K: HashKey, V: Property, S: BuildHasher + Default + Send + 'static> Property
    for ReplicatedMap<K, V, S>
{
    // The name is part of checksums, so it is the name of `HashMap`: the other side may use a `HashMap`.
    const SHAPE: &'static Shape = &Shape::map::<Self>("HashMap");

    fn initial() -> Self {
        Self::default()
    }
}

impl<K: HashKey, V: Property, S: BuildHasher + Default + Send + 'static> Map for ReplicatedMap<K, V, S> {
    type Key = K;
    type Value = V;

    const IS_SET: bool = false;

    fn len(&self) -> usize {
        self.map.len()
    }

    fn value(&self, key: &K) -> Option<&V> {
        self.map.get(key)
    }

    fn value_mut(&mut self, key: &K) -> Option<&mut V> {
        let len = self.map.len();
        let value = self.map.get_mut(key)?;
        self.notes.touch(len, || key.clone());
        Some(value)
    }

    fn insert(&mut self, key: K) -> &mut V {
        self.notes.touch(self.map.len(), || key.clone());
        self.map.entry(key).or_insert_with(V::initial)
    }

    fn remove(&mut self, key: &K) {
        self.remove(key);
    }

    fn retain(&mut self, keep: &mut dyn FnMut(&K) -> bool) {
        self.retain(|key, _| keep(key));
    }

    fn each(&self, each: &mut dyn FnMut(&K, &V)) {
        self.map.iter().for_each(|(key, value)| each(key, value));
    }

    fn each_mut(&mut self, each: &mut dyn FnMut(&mut V)) {
        self.notes.touch_all();
        self.map.values_mut().for_each(each);
    }

    fn touched<'l>(&self, live: &'l Self) -> Option<&'l [K]> {
        self.notes.since(&live.notes)
    }

    fn followed(&mut self, live: &Self) {
        self.notes.follow(&live.notes);
    }
}

impl<K, V, S> Lengthy for ReplicatedMap<K, V, S> {}

/// Implements traits for maps whose values implement them.
macro_rules! as_values {
    ($($fits:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<K, V: $fits, S> $fits for ReplicatedMap<K, V, S> {}
    )*};
}

as_values! { Quantizable Ranged UnitQuaternion UnitVector }
