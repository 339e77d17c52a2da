//! [`ByProperty`]: a map whose keys are properties of objects.

use std::collections::BTreeMap;

/// Identifies a property: the slot of its object, and its handle.
pub(crate) type PropertyKey = (u32, u32);

/// A map whose keys are properties of objects. All entries of one object are found without a search for the
/// others.
#[derive(Debug)]
pub(crate) struct ByProperty<T>(BTreeMap<PropertyKey, T>);

impl<T> Default for ByProperty<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> ByProperty<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, key: PropertyKey) -> Option<&T> {
        self.0.get(&key)
    }

    pub(crate) fn get_mut(&mut self, key: PropertyKey) -> Option<&mut T> {
        self.0.get_mut(&key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    /// Returns the entry of a property. Inserts a default value if there is none.
    pub(crate) fn or_default(&mut self, key: PropertyKey) -> &mut T
    where
        T: Default,
    {
        self.0.entry(key).or_default()
    }

    /// Removes the entries of the object in a slot, and returns them. Costs O(log n) without such entries.
    pub(crate) fn remove_object(&mut self, slot: u32) -> Vec<(PropertyKey, T)> {
        let keys: Vec<_> = self.0.range((slot, 0)..=(slot, u32::MAX)).map(|(key, _)| *key).collect();
        keys.into_iter().filter_map(|key| Some((key, self.0.remove(&key)?))).collect()
    }

    /// Removes all entries, and returns them.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (PropertyKey, T)> + use<T> {
        std::mem::take(&mut self.0).into_iter()
    }
}
