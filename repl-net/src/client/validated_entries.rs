//! The entries of a packet that were validated. When they are applied, their heads are not read again. The
//! values of an entry are read by a walk over the program of the class, or by a recipe (see
//! [`ReadRecipe`](repl_core::ReadRecipe)).
//!
//! *Invariant:* the list contains exactly the validated entries, in their order, plus the removals of the
//! subobjects of removed objects. Therefore its memory is limited by the length of a packet and the number of
//! objects.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use super::lists::{ListIndex, Lists};
use crate::body::parent::ParentGap;
use crate::body::removal::CloseReason;
use crate::body::role::Proxy;

/// The validated entries of a packet's own body, and of the large updates that the packet completes. The
/// memory is reused for each packet.
#[derive(Debug, Default)]
pub(crate) struct ValidatedEntries {
    entries: Vec<ValidatedEntry>,
    /// The updates of all entries of the kind [`ValidatedEntry::Prepared`].
    prepared: Vec<PreparedUpdate>,
    openings: Vec<Openings>,
    /// The property lists of the entries.
    pub(crate) lists: Lists,
    /// The paths in the removals of static objects.
    paths: Vec<String>,
    /// For each body, the number of entries up to its end. The first body is the packet's own, and each other
    /// body is a large update that was sent in parts.
    bodies: Vec<usize>,
    /// Whether an entry is the last state of an object that the packet removes.
    pub(crate) has_last_state: bool,
}

/// One validated entry, or several similar entries. The values of updates and openings are not copied: they
/// remain in the packet, one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValidatedEntry {
    /// Updates of the same properties of objects of one class, which are read by the recipe of the list.
    Prepared { list: ListIndex, updates: PreparedUpdates },
    /// An update that is read by a walk over the program of the class. The position of its values is in
    /// [`Checked`](repl_core::Checked).
    Update { slot: u32, list: ListIndex },
    /// Openings of objects in consecutive slots.
    Open {
        first: u32,
        objects: u32,
        openings: OpeningsIndex,
        /// The bit position in the body of the first object's values, if they are read by the recipe of the
        /// list.
        at: Option<NonZeroU32>,
    },
    Close {
        slot: u32,
        reason: CloseReason,
        /// The path of the object, if the removal contains it.
        path: Option<PathIndex>,
    },
}

/// An update that is read by a recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreparedUpdate {
    pub(crate) slot: u32,
    /// The bit position of the values in the body.
    pub(crate) at: u32,
}

/// Consecutive [`PreparedUpdate`]s of the [`ValidatedEntries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PreparedUpdates {
    first: u32,
    count: u32,
}

/// The index of an [`Openings`] in [`ValidatedEntries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpeningsIndex(u32);

/// The index of a path in the [`ValidatedEntries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathIndex(u32);

/// The data that several openings have in common. They differ only in their slots and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Openings {
    pub(crate) origin: LocalOrigin,
    /// The path of the object if it is static. If there is a path, the opening has only one object.
    pub(crate) path: Option<Arc<str>>,
    pub(crate) list: ListIndex,
}

/// Everything in an opening except its slot, its name and its values, converted to the numbers of this
/// client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalOrigin {
    pub(crate) generation: NonZeroU32,
    /// The number of the class on this client.
    pub(crate) class: u16,
    pub(crate) archetype: u32,
    pub(crate) proxy: Proxy,
    pub(crate) parent: Option<ParentGap>,
}

/// A state of [`ValidatedEntries`]. [`ValidatedEntries::truncate`] removes everything that was added after
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntriesMark {
    entries: usize,
    prepared: usize,
    openings: usize,
    bodies: usize,
}

impl ValidatedEntries {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.prepared.clear();
        self.openings.clear();
        self.lists.begin_packet();
        self.paths.clear();
        self.bodies.clear();
        self.has_last_state = false;
    }

    /// Adds an update that is read by the recipe of its list. Its values begin at the bit position `at`.
    /// `is_alike` says whether the previous entry is an update with the same list.
    #[inline(always)]
    pub(crate) fn prepared(&mut self, slot: u32, list: ListIndex, is_alike: bool, at: usize) {
        match self.entries.last_mut() {
            Some(ValidatedEntry::Prepared { list: last, updates }) if is_alike && *last == list => {
                updates.count = updates.count.wrapping_add(1);
            }
            _ => {
                let updates = PreparedUpdates { first: self.prepared.len() as u32, count: 1 };
                self.entries.push(ValidatedEntry::Prepared { list, updates });
            }
        }
        self.prepared.push(PreparedUpdate { slot, at: at as u32 });
    }

    pub(crate) fn update(&mut self, slot: u32, list: ListIndex) {
        self.entries.push(ValidatedEntry::Update { slot, list });
    }

    /// Adds the openings of objects in consecutive slots. If `openings` equals that of the previous entry,
    /// both share one copy.
    pub(crate) fn open(&mut self, slots: Range<u32>, openings: Openings, at: Option<usize>) {
        if self.openings.last() != Some(&openings) {
            self.openings.push(openings);
        }
        self.entries.push(ValidatedEntry::Open {
            first: slots.start,
            objects: slots.len() as u32,
            openings: OpeningsIndex((self.openings.len() as u32).saturating_sub(1)),
            // The position 0 never has values, because each body begins with a head. So zero can mean `None`.
            at: at.and_then(|at| NonZeroU32::new(at as u32)),
        });
    }

    pub(crate) fn close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>) {
        let path = path.map(|path| {
            self.paths.push(path.to_owned());
            PathIndex((self.paths.len() as u32).saturating_sub(1))
        });
        self.entries.push(ValidatedEntry::Close { slot, reason, path });
    }

    /// Ends a body. Call this after its last entry was added.
    pub(crate) fn end_body(&mut self) {
        self.lists.end_body();
        self.bodies.push(self.entries.len());
    }

    /// Returns the entries of the body with this index. The packet's own body has the index 0.
    pub(crate) fn body(&self, number: usize) -> &[ValidatedEntry] {
        let end_of = |number: usize| self.bodies.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end_of);
        self.entries.get(start..end_of(number)).unwrap_or_default()
    }

    pub(crate) fn updates(&self, updates: PreparedUpdates) -> &[PreparedUpdate] {
        let PreparedUpdates { first, count } = updates;
        self.prepared.get(first as usize..first.saturating_add(count) as usize).unwrap_or_default()
    }

    pub(crate) fn openings(&self, openings: OpeningsIndex) -> Option<&Openings> {
        self.openings.get(openings.0 as usize)
    }

    pub(crate) fn path(&self, path: PathIndex) -> Option<&str> {
        self.paths.get(path.0 as usize).map(String::as_str)
    }

    /// Returns the current state, for [`truncate`](Self::truncate).
    pub(crate) fn mark(&self) -> EntriesMark {
        let Self { entries, prepared, openings, bodies, .. } = self;
        EntriesMark {
            entries: entries.len(),
            prepared: prepared.len(),
            openings: openings.len(),
            bodies: bodies.len(),
        }
    }

    pub(crate) fn truncate(&mut self, mark: EntriesMark) {
        self.entries.truncate(mark.entries);
        self.prepared.truncate(mark.prepared);
        self.openings.truncate(mark.openings);
        self.bodies.truncate(mark.bodies);
    }
}

#[cfg(test)]
mod tests {
    use repl_core::HandleSet;

    use super::*;
    use crate::client::lists::Wanted;

    /// Adds a property list of a class to the contents, and returns its index.
    fn list(contents: &mut ValidatedEntries, class: u16) -> ListIndex {
        let wanted = Wanted { class, handles: &HandleSet::up_to(1), is_of_several: false, is_alike: false };
        contents.lists.index_of(wanted, || 1, || None)
    }

    fn openings(archetype: u32, list: ListIndex) -> Openings {
        let generation = NonZeroU32::MIN;
        let origin = LocalOrigin { generation, class: 0, archetype, proxy: Proxy::default(), parent: None };
        Openings { origin, path: None, list }
    }

    /// Returns the slots of the updates in a body that are read by a recipe, grouped by entry.
    fn updated(contents: &ValidatedEntries, body: usize) -> Vec<Vec<u32>> {
        let slots = |updates| contents.updates(updates).iter().map(|update| update.slot).collect();
        let entries = contents.body(body).iter().filter_map(|entry| match *entry {
            ValidatedEntry::Prepared { updates, .. } => Some(slots(updates)),
            _ => None,
        });
        entries.collect()
    }

    #[test]
    fn updates_with_the_same_list_are_one_entry() {
        let mut contents = ValidatedEntries::default();
        let (one, other) = (list(&mut contents, 0), list(&mut contents, 1));
        contents.prepared(1, one, false, 10);
        contents.prepared(4, one, true, 20);
        contents.prepared(5, other, true, 30);
        contents.prepared(6, one, false, 40);
        contents.update(7, one);
        contents.prepared(8, one, true, 50);
        contents.prepared(9, one, true, 60);
        contents.end_body();
        contents.prepared(2, one, false, 10);
        contents.end_body();
        assert_eq!(updated(&contents, 0), [vec![1, 4], vec![5], vec![6], vec![8, 9]]);
        assert_eq!(updated(&contents, 1), [[2]], "each body has its own entries");
    }

    #[test]
    fn truncated_contents_are_those_at_the_mark() {
        let mut contents = ValidatedEntries::default();
        let list = list(&mut contents, 0);
        contents.prepared(3, list, false, 20);
        contents.end_body();
        let mark = contents.mark();
        contents.prepared(6, list, false, 30);
        contents.open(4..7, openings(0, list), None);
        contents.truncate(mark);
        contents.close(5, CloseReason::Relevancy, Some("a"));
        contents.prepared(7, list, false, 40);
        contents.end_body();
        assert_eq!(updated(&contents, 0), [[3]]);
        let [ValidatedEntry::Close { slot: 5, path: Some(path), .. }, _] = *contents.body(1) else {
            panic!("a closing")
        };
        assert_eq!(contents.path(path), Some("a"));
        assert_eq!(updated(&contents, 1), [[7]]);
        assert!(contents.body(2).is_empty());
    }

    #[test]
    fn openings_in_a_row_share_what_they_have_in_common() {
        let mut contents = ValidatedEntries::default();
        let list = list(&mut contents, 0);
        for (first, archetype) in [(1, 0), (4, 0), (7, 1), (9, 0)] {
            contents.open(first..first + 2, openings(archetype, list), Some(40));
        }
        contents.end_body();
        let known = contents.body(0).iter().map(|entry| match *entry {
            ValidatedEntry::Open { first, objects: 2, openings, at: Some(_) } => {
                (first, contents.openings(openings).map(|openings| openings.origin.archetype))
            }
            _ => panic!("{entry:?}"),
        });
        assert_eq!(known.collect::<Vec<_>>(), [(1, Some(0)), (4, Some(0)), (7, Some(1)), (9, Some(0))]);
        assert_eq!(contents.openings.len(), 3);
    }
}
