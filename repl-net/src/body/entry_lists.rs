//! The changelists of the entries of a segment or table. Most entries have changes in the same properties as
//! the previous entry, and share its list. A flat list has only whole properties, without changes inside
//! arrays or collections.
//!
//! *Invariant:* a list does not change as long as any entry stores its index.

use std::num::NonZeroU32;

use repl_core::Changelist;

use crate::body::recycled::{Recycled, free_large};

/// The content of a packet for one object, read back from a segment or a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedEntry<'a> {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) list: &'a Changelist,
}

/// What an entry stores about its object, besides the slot (the object's number in packets).
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryOrigin {
    generation: NonZeroU32,
    /// The index of the entry's changelist in [`EntryLists`].
    list: u32,
}

/// The changelists of all entries of a segment or table.
#[derive(Debug, Default)]
pub(crate) struct EntryLists {
    lists: Recycled<Changelist>,
    /// Whether a list contains new array elements.
    has_new_elements: bool,
}

impl EntryLists {
    pub(crate) fn clear(&mut self) {
        self.lists.clear();
        self.has_new_elements = false;
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.lists.end_round(free_large);
    }

    /// Appends a copy of `list`, unless `list` and the newest list are both flat and have the same handles.
    #[inline]
    pub(crate) fn add(&mut self, list: &Changelist) {
        let is_alike =
            |last: &Changelist| last.is_flat() && list.is_flat() && last.handles() == list.handles();
        if !self.lists.last().is_some_and(is_alike) {
            self.add_anew(list);
        }
    }

    // This function is not inlined, so that the code for an entry with the same list as the previous entry
    // stays short.
    #[inline(never)]
    fn add_anew(&mut self, list: &Changelist) {
        self.has_new_elements |= list.has_new_elements();
        self.lists.next_or(Changelist::new).clone_from(list);
        self.lists.keep();
    }

    pub(crate) fn ends_flat(&self) -> bool {
        self.lists.last().is_some_and(Changelist::is_flat)
    }

    /// Returns the origin of an entry whose changes are the newest list.
    #[inline]
    pub(crate) fn origin(&self, generation: NonZeroU32) -> EntryOrigin {
        debug_assert!(!self.lists.is_empty(), "a list was added");
        EntryOrigin { generation, list: self.lists.len().saturating_sub(1) as u32 }
    }

    #[inline]
    pub(crate) fn entry(&self, slot: u32, origin: EntryOrigin) -> Option<EncodedEntry<'_>> {
        let EntryOrigin { generation, list } = origin;
        Some(EncodedEntry { slot, generation, list: self.lists.get(list as usize)? })
    }

    /// Returns whether an entry contains new array elements. Each connection must track the objects of such
    /// entries until the new elements have arrived (R2).
    pub(crate) fn has_new_elements(&self) -> bool {
        self.has_new_elements
    }

    /// Returns about how many bytes of memory the lists take, including unused lists.
    pub(crate) fn held_bytes(&self) -> usize {
        let lists = self.lists.with_unused().iter().map(Changelist::heap_bytes);
        let own = self.lists.capacity().saturating_mul(size_of::<Changelist>());
        lists.fold(own, usize::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_a_row_with_the_same_properties_share_a_list() {
        let mut lists = EntryLists::default();
        let properties: [&[u32]; 6] = [&[2, 5], &[2, 5], &[2, 70], &[2, 5], &[2, 5], &[2]];
        for _ in 0..2 {
            lists.clear();
            let origins = properties.map(|handles| {
                let mut list = Changelist::new();
                handles.iter().for_each(|&handle| list.insert(handle));
                lists.add(&list);
                lists.origin(NonZeroU32::MIN)
            });
            assert_eq!(origins.map(|origin| origin.list), [0, 0, 1, 2, 2, 3]);
            for ((slot, origin), handles) in (7..).zip(origins).zip(properties) {
                let entry = lists.entry(slot, origin).expect("it was added");
                assert_eq!((entry.slot, entry.generation), (slot, NonZeroU32::MIN));
                assert!(entry.list.handles().iter().eq(handles.iter().copied()), "{handles:?}");
            }
        }
    }
}
