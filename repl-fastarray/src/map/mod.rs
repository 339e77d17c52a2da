//! [`ReplicatedMap`]: a `HashMap` that records which entries were written to.
//!
//! *Invariant:* every write to an entry is recorded in the notes, both by user code and by updates.

mod entry;
mod forms;
mod guard;
mod notes;
mod replicated;

use std::borrow::{Borrow, Cow};
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Deref;

pub use entry::Entry;
pub use guard::{IterMut, ValueMut, ValuesMut};

use notes::Notes;

/// A `HashMap` that sends only the entries that changed, and finds them without visiting the other entries.
///
/// The map is read as a `HashMap`, to which it dereferences. Writes go through guards, which record the keys
/// of the entries that are written to. So one change in a map of 10,000 entries costs as much as one change
/// in a map of ten entries. A plain `HashMap` is compared entry by entry.
///
/// ```
/// # use repl_fastarray as repl;
/// use repl::ReplicatedMap;
///
/// let mut stock: ReplicatedMap<&str, u32> = ReplicatedMap::from([("axe", 1), ("rope", 2)]);
/// stock.insert("torch", 30);
/// if let Some(mut torches) = stock.get_mut("torch") {
///     *torches -= 1; // records this entry, so that it is compared and sent
/// }
/// *stock.entry("oil").or_default() += 5;
/// for (_, mut count) in &mut stock {
///     if *count == 1 {
///         *count = 3; // records only the entries that are written to
///     }
/// }
/// assert_eq!(stock.remove("rope"), Some(2));
/// assert_eq!((stock.len(), stock["axe"], stock["torch"], stock["oil"]), (3, 3, 29, 5));
/// ```
///
/// On the wire and in layouts, the map is a `HashMap<K, V>`. A field can have a `ReplicatedMap` on one side
/// and a `HashMap` on the other side. The rules of the trait [`Map`](repl_core::Map) for keys, values,
/// callbacks and limits are the same for both types. Only recorded entries are compared. So a value that
/// cannot be sent is reported when its entry is written to, and not in every tick.
///
/// # Ways to write
///
/// The server compares a recorded entry with the state of its clients, and sends the properties that differ.
/// So an unnecessary record costs time, but no bytes.
///
/// | write | what it records |
/// |---|---|
/// | [`get_mut`](Self::get_mut), [`iter_mut`](Self::iter_mut), [`values_mut`](Self::values_mut), [`retain`](Self::retain) | each entry, at the first write through its [`ValueMut`] |
/// | [`entry`](Self::entry) | a new entry, or at the first write through its [`ValueMut`] |
/// | [`insert`](Self::insert), `extend`, [`remove`](Self::remove) and all else that inserts or removes | these entries |
/// | assigning another map to the field | nothing: all entries are compared |
///
/// # Cost
///
/// A method costs as much as the `HashMap` method of the same name, and each write also clones the key. The
/// list of recorded keys has at most about two keys for each entry. After more writes than this between two
/// ticks, and after an assignment, the next comparison visits all entries. On a client, the cost of the
/// field's notify and of `Change::copy_to` also depends only on the number of changes.
pub struct ReplicatedMap<K, V, S = RandomState> {
    map: HashMap<K, V, S>,
    notes: Notes<K>,
}

impl<K, V> ReplicatedMap<K, V> {
    /// Returns an empty map. `new` allocates no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::of(HashMap::default())
    }

    /// Returns an empty map with memory for `capacity` entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::of(HashMap::with_capacity(capacity))
    }
}

impl<K, V, S> ReplicatedMap<K, V, S> {
    /// Returns an empty map whose keys are hashed with `hasher`.
    #[must_use]
    pub fn with_hasher(hasher: S) -> Self {
        Self::of(HashMap::with_hasher(hasher))
    }

    fn of(map: HashMap<K, V, S>) -> Self {
        Self { map, notes: Notes::default() }
    }

    /// Returns the entries as a `HashMap`.
    #[must_use]
    pub fn as_map(&self) -> &HashMap<K, V, S> {
        &self.map
    }

    /// Removes all entries. Keeps the allocated memory.
    pub fn clear(&mut self) {
        self.map.clear();
        self.notes.touch_all();
    }

    /// Removes all entries and returns an iterator over them. Keeps the allocated memory.
    pub fn drain(&mut self) -> std::collections::hash_map::Drain<'_, K, V> {
        self.notes.touch_all();
        self.map.drain()
    }
}

impl<K: Eq + Hash + Clone, V, S: BuildHasher> ReplicatedMap<K, V, S> {
    /// Reserves memory for `additional` more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.map.reserve(additional);
    }

    /// Inserts an entry, and returns the value that the key had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.notes.touch(self.map.len(), || key.clone());
        self.map.insert(key, value)
    }

    /// Removes the entry with this key, and returns its value.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes the entry with this key, and returns its key and value.
    pub fn remove_entry<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        let (key, value) = self.map.remove_entry(key)?;
        self.notes.touch(self.map.len(), || key.clone());
        Some((key, value))
    }

    /// Returns a guard for the value of the entry with this key, which records the entry at the first write.
    /// Costs two lookups and a clone of the key.
    #[must_use]
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<ValueMut<'_, K, V>>
    where
        K: Borrow<Q>,
    {
        let (own, _) = self.map.get_key_value(key)?;
        let (own, len) = (own.clone(), self.map.len());
        let value = self.map.get_mut(key)?;
        Some(ValueMut::new(value, Cow::Owned(own), len, Cell::from_mut(&mut self.notes)))
    }

    /// Returns the place of this key, to read, change or insert its value.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let (len, notes) = (self.map.len(), Cell::from_mut(&mut self.notes));
        Entry { place: self.map.entry(key.clone()), key, len, notes }
    }

    /// Returns the entries: their keys, and guards for their values. Only entries that are written to are
    /// recorded, so writing to 3 of 10,000 values sends 3 entries.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        let len = self.map.len();
        IterMut { entries: self.map.iter_mut(), len, notes: Cell::from_mut(&mut self.notes) }
    }

    /// Returns guards for the values of all entries.
    #[must_use]
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut(self.iter_mut())
    }

    /// Keeps the entries for which `keep` returns true. If `keep` writes to a value, the entry is recorded.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut ValueMut<'_, K, V>) -> bool) {
        let (len, notes) = (self.map.len(), Cell::from_mut(&mut self.notes));
        self.map.retain(|key, value| {
            let mut value = ValueMut::new(value, Cow::Borrowed(key), len, notes);
            let stays = keep(key, &mut value);
            if !stays {
                ValueMut::mark(&mut value);
            }
            stays
        });
    }
}

/// Reads the map as a `HashMap`: `len`, `get`, `contains_key`, `iter`, `keys`, `values`, `map[&key]` and
/// everything else that does not write.
impl<K, V, S> Deref for ReplicatedMap<K, V, S> {
    type Target = HashMap<K, V, S>;

    fn deref(&self) -> &HashMap<K, V, S> {
        &self.map
    }
}
