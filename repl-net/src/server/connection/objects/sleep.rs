//! The objects that sleep for one client, and the objects that are about to fall asleep (S207).
//!
//! *Invariant:* an object falls asleep only when every packet with something of it was acked or counts as
//! lost, and nothing of it waits to be sent.

use std::collections::VecDeque;

use repl_link::parts::Sequence;

use crate::body::slot_set::slots_of;
use crate::body::sparse_slots::SparseSlots;

/// Which objects sleep for one client, or are about to fall asleep.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    pub(super) asleep: SparseSlots,
    /// The objects of which the client may have been told that they sleep, and not yet that they are awake.
    pub(super) told_asleep: SparseSlots,
    /// The objects with partial dormancy that may sleep for this client.
    pub(super) chosen: SparseSlots,
    /// The objects of which a packet of this tick contains data, and that are not in the queue.
    sent_now: SparseSlots,
    /// The objects in the queue.
    pub(super) queued: SparseSlots,
    /// The objects in the queue that a packet has contained since they were put into the queue.
    sent_while_queued: SparseSlots,
    /// The objects that are about to fall asleep, each with the number of the next packet after the packets
    /// with its data. An object is in the queue at most once.
    queue: VecDeque<(Sequence, u32)>,
}

impl Sleep {
    /// Records that data of the objects of `mask` is sent, so that they are awake.
    pub(super) fn keep_awake(&mut self, word: usize, mask: u64) {
        self.asleep.remove_mask(word, mask);
        let queued = self.queued.word(word);
        self.sent_while_queued.insert_mask(word, mask & queued);
        self.sent_now.insert_mask(word, mask & !queued);
    }

    /// Removes an object that the client does not have any more.
    pub(super) fn forget(&mut self, slot: u32) {
        self.asleep.remove(slot);
        self.told_asleep.remove(slot);
        self.sent_now.remove(slot);
    }

    /// Drops everything about an object that was removed from the server.
    pub(super) fn forget_object(&mut self, slot: u32) {
        self.forget(slot);
        self.chosen.remove(slot);
    }

    /// Puts the objects that a packet of this tick contains into the queue. The next packet is `next`.
    pub(super) fn end_pass(&mut self, next: Sequence) {
        let Self { sent_now, queued, queue, .. } = self;
        for (word, mask) in sent_now.masks() {
            queued.insert_mask(word, mask);
            queue.extend(slots_of(word, mask).map(|slot| (next, slot)));
        }
        sent_now.clear();
    }

    /// Returns the next object in the queue that no packet in flight contains. All packets before `floor`
    /// have arrived or count as lost. If something of an object was sent while it was in the queue, it is not
    /// returned, but waits again.
    pub(super) fn next_quiet(&mut self, floor: Sequence) -> Option<u32> {
        while let Some(&(_, slot)) = self.queue.front().filter(|(sequence, _)| *sequence <= floor) {
            self.queue.pop_front();
            self.queued.remove(slot);
            if self.sent_while_queued.contains(slot) {
                self.sent_while_queued.remove(slot);
                self.sent_now.insert(slot);
            } else {
                return Some(slot);
            }
        }
        None
    }

    /// Returns whether no object is about to fall asleep.
    pub(super) fn is_at_rest(&self) -> bool {
        self.queue.is_empty() && self.sent_now.is_empty()
    }

    /// Returns about how many bytes the queue takes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.queue.capacity() * size_of::<(Sequence, u32)>()
    }
}
