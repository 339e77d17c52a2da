//! Objects of one class by their keys.
//!
//! *Invariant:* `objects[i]` has the key `keys[i]`, and `positions` maps this key to `i`.

use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Objects of the class `T`, each with a key. The order of the objects depends only on the insertions and
/// removals.
pub(crate) struct KeyedObjects<K, T> {
    index: Index<K>,
    objects: Vec<T>,
}

/// Finds the position of each key. It does not depend on `T`, so its code is compiled once and not for each
/// class.
struct Index<K> {
    positions: BTreeMap<K, u32>,
    keys: Vec<K>,
}

impl<K, T> Default for KeyedObjects<K, T> {
    fn default() -> Self {
        Self { index: Index { positions: BTreeMap::new(), keys: Vec::new() }, objects: Vec::new() }
    }
}

impl<K: Ord + Clone, T> KeyedObjects<K, T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(crate) fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.index.position(key).is_some()
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&T>
    where
        K: Borrow<Q>,
    {
        self.objects.get(self.index.position(key)?)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut T>
    where
        K: Borrow<Q>,
    {
        self.objects.get_mut(self.index.position(key)?)
    }

    /// Adds an object, or replaces the object with the same key.
    pub(crate) fn insert(&mut self, key: K, object: T) {
        match self.get_mut(&key) {
            Some(known) => *known = object,
            None => {
                self.index.push(key);
                self.objects.push(object);
            }
        }
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<T>
    where
        K: Borrow<Q>,
    {
        let position = self.index.swap_remove(key)?;
        let removed = self.objects.swap_remove(position);
        if self.objects.is_empty() {
            // This frees the memory.
            *self = Self::default();
        }
        Some(removed)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &T)> {
        self.index.keys.iter().zip(&self.objects)
    }
}

impl<K: Ord + Clone> Index<K> {
    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.positions.get(key).map(|&position| position as usize)
    }

    fn push(&mut self, key: K) {
        self.positions.insert(key.clone(), self.keys.len() as u32);
        self.keys.push(key);
    }

    /// Removes a key, and moves the last key to its position. Returns this position.
    fn swap_remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let position = self.positions.remove(key)?;
        self.keys.swap_remove(position as usize);
        if let Some(moved) = self.keys.get(position as usize)
            && let Some(known) = self.positions.get_mut::<K>(moved)
        {
            *known = position;
        }
        Some(position as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn objects_are_found_by_their_keys(
            steps in prop::collection::vec((0..20_u32, any::<Option<u16>>()), 0..100),
        ) {
            let (mut objects, mut model) = (KeyedObjects::default(), BTreeMap::new());
            for (key, object) in steps {
                match object {
                    Some(object) => {
                        objects.insert(key, object);
                        model.insert(key, object);
                    }
                    None => prop_assert_eq!(objects.remove(&key), model.remove(&key)),
                }
                let found: BTreeMap<u32, u16> = objects.iter().map(|(&key, &object)| (key, object)).collect();
                prop_assert_eq!(&found, &model);
                prop_assert_eq!(objects.iter().count(), model.len());
                prop_assert_eq!(objects.is_empty(), model.is_empty());
                for key in 0..20 {
                    prop_assert_eq!(objects.contains(&key), model.contains_key(&key));
                    prop_assert_eq!(objects.get(&key), model.get(&key));
                    prop_assert_eq!(objects.get_mut(&key).copied(), model.get(&key).copied());
                }
            }
        }
    }
}
