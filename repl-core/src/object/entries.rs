//! Maps as levels: the values of one, to be read and written by their table.
//!
//! Invariant: an [`ItemTable`] is used with pointers that the map of its command gave, and only while that map is borrowed.
#![expect(unsafe_code, reason = "makes levels of the values of maps")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use super::items::changed_by;
use super::level::{ItemTable, Level, LevelMut, MapEntries, MapEntriesMut, nests};
use crate::bits::WriteError;
use crate::ids::handles::HandleSet;
use crate::ids::key::KeyBits;
use crate::ids::reference::Objects;
use crate::schema::erased::{News, RawEntry};

/// What a comparison finds of an entry; see [`RawEntry`].
pub(crate) enum EntryStep<'a> {
    Kept(Level<'a>, LevelMut<'a>, &'a dyn Fn() -> Result<KeyBits, WriteError>),
    Born(KeyBits, Level<'a>, LevelMut<'a>),
    Removed(KeyBits),
    Refused(WriteError),
}

impl<'a> MapEntries<'a> {
    fn values(&self) -> ItemTable<'a> {
        ItemTable::of(self.program, self.command.table, self.command.handles)
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    pub(crate) fn max_len(&self) -> u32 {
        self.command.max_len
    }

    /// Names the table of its values.
    pub(crate) fn table(&self) -> u32 {
        self.command.table
    }

    /// Handles of one value.
    pub(crate) fn handles(&self) -> u32 {
        self.command.handles
    }

    /// Whether values hold arrays, collections or maps.
    pub(crate) fn nests(&self) -> bool {
        nests(self.program, self.command.table, self.command.handles)
    }

    /// Whether every object that the key mentions is there.
    pub(crate) fn is_mapped(&self, key: &KeyBits, objects: &dyn Objects) -> bool {
        let mut guids = Vec::new();
        (self.command.shape.read_key)(&mut key.as_slice().reader(), &mut guids).ok();
        guids.into_iter().all(|guid| objects.contains(guid))
    }

    /// The forms of all keys, ascending. O(entries × log entries).
    pub(crate) fn keys(&self) -> Vec<KeyBits> {
        self.map.keys()
    }

    pub(crate) fn value(&self, key: &KeyBits) -> Option<Level<'a>> {
        let base = self.map.value(key)?;
        // SAFETY: the map of this command gave it, and is borrowed for `'a`.
        Some(unsafe { self.values().level(base) })
    }

    /// Whether both have the same keys, and `is_same` values for each. O(entries).
    pub(crate) fn is_same(
        &self,
        other: &MapEntries<'_>,
        is_same: &mut dyn FnMut(Level<'_>, Level<'_>) -> bool,
    ) -> bool {
        let values = self.values();
        self.map.is_same(other.map, &mut |one, other| {
            // SAFETY: the maps of this command lend a value each, for the time of the call.
            let one = unsafe { values.level(one) };
            // SAFETY: as above.
            let other = unsafe { values.level(other) };
            is_same(one, other)
        })
    }
}

impl MapEntriesMut<'_> {
    fn values(&self) -> ItemTable<'_> {
        ItemTable::of(self.program, self.command.table, self.command.handles)
    }

    /// The same, to be read.
    pub(crate) fn as_entries(&self) -> MapEntries<'_> {
        MapEntries { program: self.program, command: self.command, map: self.map }
    }

    /// Makes this, a shadow, have the keys of `live`, telling `visit` of each.
    pub(crate) fn follow(&mut self, live: &MapEntries<'_>, visit: &mut dyn FnMut(EntryStep<'_>)) {
        let values = ItemTable::of(self.program, self.command.table, self.command.handles);
        self.map.follow(live.map, &mut |step| {
            visit(match step {
                RawEntry::Kept(live, shadow, form) => {
                    // SAFETY: the maps of this command lend a value each, for the time of the visit.
                    let live = unsafe { values.level(live) };
                    // SAFETY: as above; the shadow is borrowed by this alone.
                    let shadow = unsafe { values.level_mut(shadow) };
                    EntryStep::Kept(live, shadow, form)
                }
                RawEntry::Born(key, live, shadow) => {
                    // SAFETY: the maps of this command lend a value each, for the time of the visit.
                    let live = unsafe { values.level(live) };
                    // SAFETY: as above; the shadow is borrowed by this alone.
                    let shadow = unsafe { values.level_mut(shadow) };
                    EntryStep::Born(key, live, shadow)
                }
                RawEntry::Removed(key) => EntryStep::Removed(key),
                RawEntry::Refused(error) => EntryStep::Refused(error),
            });
        });
    }

    /// Takes over the keys of `other`; `copy` is given each value there and here.
    pub(crate) fn copy_from(
        &mut self,
        other: &MapEntries<'_>,
        copy: &mut dyn FnMut(Level<'_>, &mut LevelMut<'_>),
    ) {
        let values = ItemTable::of(self.program, self.command.table, self.command.handles);
        self.map.copy_from(other.map, &mut |from, to| {
            // SAFETY: the maps of this command lend a value each, for the time of the call.
            let from = unsafe { values.level(from) };
            // SAFETY: as above; this map is borrowed by this alone.
            let mut to = unsafe { values.level_mut(to) };
            copy(from, &mut to);
        });
    }

    /// The value of `key`, an initial one if there was none.
    pub(crate) fn insert(&mut self, key: &KeyBits) -> Option<LevelMut<'_>> {
        let base = self.map.insert(key)?;
        // SAFETY: the map of this command gave it, and is borrowed by this alone for as long as the level is.
        Some(unsafe { self.values().level_mut(base) })
    }

    /// Changes the value of `key` by `change`, which is to write to the properties of `handles`, and if `with_callbacks` tells it which of them
    /// have other values then. Gives what `change` gives; `None` if there is no such entry.
    pub(crate) fn change<R>(
        &mut self,
        key: &KeyBits,
        handles: &HandleSet,
        with_callbacks: bool,
        change: impl FnOnce(&mut LevelMut<'_>) -> R,
    ) -> Option<R> {
        let base = self.map.value_mut(key)?;
        let values = ItemTable::of(self.program, self.command.table, self.command.handles);
        let (mut change, mut result) = (Some(change), None);
        let mut apply = |value: &mut LevelMut<'_>| result = change.take().map(|change| change(value));
        if !with_callbacks || !self.command.shape.has_callbacks {
            // SAFETY: the map of this command gave it, and nobody else reaches it before the end of the call.
            apply(&mut unsafe { values.level_mut(base) });
            return result;
        }
        let with_initial = self.command.shape.with_initial;
        // SAFETY: the map of this command gave `base`, and nobody else reaches it before the end of the call; what the shape lends is of the same type.
        let changed = unsafe { changed_by(values, with_initial, base, handles, &mut apply) };
        if !changed.is_empty() {
            self.map.tell(key, News::Changed(&changed));
        }
        result
    }

    /// Takes an entry out, if there is one; if `with_callbacks` its value is told before.
    pub(crate) fn remove(&mut self, key: &KeyBits, with_callbacks: bool) {
        if with_callbacks {
            self.map.tell(key, News::Removing);
        }
        self.map.remove(key);
    }

    /// Tells a value that it came.
    pub(crate) fn added(&mut self, key: &KeyBits) {
        self.map.tell(key, News::Added);
    }

    /// Calls `each` with every value. O(entries).
    pub(crate) fn each_value(&mut self, each: &mut dyn FnMut(&mut LevelMut<'_>)) {
        let values = ItemTable::of(self.program, self.command.table, self.command.handles);
        self.map.values_mut(&mut |base| {
            // SAFETY: the map of this command, which is borrowed by this alone, lends it for the time of the call.
            each(&mut unsafe { values.level_mut(base) });
        });
    }
}
