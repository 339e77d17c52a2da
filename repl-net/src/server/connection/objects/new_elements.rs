//! New elements of the arrays, fast arrays and maps of one object that a client has not acknowledged.
//!
//! *Invariant:* a new element is recorded only for the newest packet that contains it.

use std::collections::VecDeque;

use repl_core::{Changelist, HandleSet};
use repl_link::parts::Sequence;

/// With at most this many entries, a search for removed elements would cost more than it frees.
const FEW_ENTRIES: usize = 64;

/// The unacknowledged new elements of one object, by the packet that contains them (R2). New elements are
/// sent again with each change of their array, until the client acknowledges this packet or a later packet
/// with the same elements.
#[derive(Debug)]
pub(crate) struct NewElements {
    entries: VecDeque<(Sequence, Changelist)>,
    /// The number of entries that contain new elements of arrays.
    arrays: usize,
    /// The newest packet with new elements that an earlier packet may also contain.
    pub(super) repeated: Option<Sequence>,
    /// When there are more entries than this number, elements that were removed from the object are dropped.
    most: usize,
}

impl Default for NewElements {
    fn default() -> Self {
        Self { entries: VecDeque::new(), arrays: 0, repeated: None, most: FEW_ENTRIES }
    }
}

impl NewElements {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether all new elements are items of collections or entries of maps. Items and entries are
    /// tracked individually.
    pub(super) fn are_items(&self) -> bool {
        self.arrays == 0
    }

    pub(super) fn are_in(&self, handles: &HandleSet) -> bool {
        self.entries.iter().any(|(_, elements)| elements.handles().intersects(handles))
    }

    /// Returns whether there are so many entries that some of their elements have probably been removed from
    /// the object.
    pub(super) fn are_many(&self) -> bool {
        self.entries.len() > self.most
    }

    /// Returns the oldest packet from `floor` on that contains new elements. New elements in lost packets
    /// before `floor` are pending again, or were removed.
    pub(super) fn oldest(&self, floor: Sequence) -> Option<Sequence> {
        self.entries.iter().map(|(sequence, _)| *sequence).find(|sequence| *sequence >= floor)
    }

    /// Returns whether the changelist `list` changes any of the new elements, so that these elements must be
    /// sent whole (R2).
    pub(super) fn are_changed_by(&self, list: &Changelist) -> bool {
        self.entries.iter().any(|(_, elements)| list.touches_new_elements(elements))
    }

    /// Adds the new elements that the packet `sequence` contains. The packet `sequence` must be newer than
    /// all packets that were added before.
    pub(super) fn sent(&mut self, sequence: Sequence, elements: Changelist) {
        if self.entries.iter().any(|(_, earlier)| earlier.may_meet(&elements)) {
            self.repeated = Some(sequence);
        }
        self.entries.iter_mut().for_each(|(_, earlier)| earlier.new_elements_arrived(&elements));
        self.entries.push_back((sequence, elements));
        self.count();
    }

    /// Records that the packet `sequence`, which contains the changelist `list`, has arrived. The arrival of
    /// the packet also shows that all earlier new elements of each array in the changelist have arrived. For
    /// each collection in the changelist, the arrival shows only that the listed items have arrived.
    pub(super) fn arrived(&mut self, sequence: Sequence, list: &Changelist) {
        let end = self.entries.partition_point(|(carried, _)| *carried <= sequence);
        self.entries.iter_mut().take(end).for_each(|(_, elements)| elements.new_elements_arrived(list));
        self.count();
    }

    /// Drops new elements that were removed from the object, because the client no longer needs them.
    pub(super) fn prune(&mut self, mut prune: impl FnMut(&mut Changelist)) {
        for (_, elements) in &mut self.entries {
            prune(elements);
            *elements = elements.new_elements();
        }
        self.count();
        self.most = FEW_ENTRIES.max(2 * self.entries.len());
    }

    /// Drops empty entries, and counts the remaining entries again.
    fn count(&mut self) {
        self.entries.retain(|(_, elements)| !elements.is_empty());
        self.arrays = self.entries.iter().filter(|(_, elements)| !elements.new_elements_are_items()).count();
    }

    /// Adds the unacknowledged new elements to the changes of their arrays in the changelist `list`.
    pub(crate) fn extend(&self, list: &mut Changelist) {
        match self.entries.len() {
            0 => {}
            1 => self.entries.iter().for_each(|(_, elements)| list.extend_new_elements(elements)),
            _ => {
                let elements = self.entries.iter().map(|(_, elements)| elements.clone()).collect();
                list.extend_new_elements(&Changelist::merged(elements));
            }
        }
    }

    /// Returns about how many bytes the new elements take on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let lists = self.entries.iter().map(|(_, elements)| elements.heap_bytes());
        self.entries.capacity() * size_of::<(Sequence, Changelist)>() + lists.sum::<usize>()
    }
}
