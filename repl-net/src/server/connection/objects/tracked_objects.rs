//! The tracked objects of a connection by slot, and how much memory their states take.
//!
//! *Invariant:* each slot has at most one entry. The memory that an entry takes is measured again after each
//! change.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Duration;

use super::tracked::Tracked;

/// The list of entries is shrunk only if it is longer than this.
const LEAST_PLACES: usize = 8;

/// [`TrackedObjects::has_overdue_close`] examines all entries within this many calls.
const SEARCH_CALLS: usize = 256;

/// The tracked objects of a connection by slot.
#[derive(Debug, Default)]
pub(super) struct TrackedObjects {
    entries: Vec<Option<MeasuredObject>>,
    free: Vec<u32>,
    /// For each slot that has an entry, the index of the entry. A map is used because a list with an element
    /// for each slot would take too much memory for a client that sees a small part of a large world.
    at: HashMap<u32, u32, BuildHasherDefault<SlotHasher>>,
    /// Slots of entries that must be measured again. A slot may be in this list twice, and its entry may have
    /// been removed.
    stale: Vec<u32>,
    /// The approximate number of bytes that all measured entries take on the heap.
    held_bytes: usize,
    /// The entry at which the search for overdue closings (removals) continues.
    cursor: usize,
    /// The objects that are being closed, if a part of their closing has arrived since the search has last
    /// examined them.
    progressed: BTreeSet<u32>,
}

#[derive(Debug)]
struct MeasuredObject {
    slot: u32,
    tracked: Tracked,
    /// The approximate number of bytes that the entry took on the heap when it was last measured.
    held_bytes: usize,
    is_stale: bool,
}

const _: () =
    assert!(size_of::<Option<MeasuredObject>>() <= 264, "the description of `max_connection_bytes` says so");

/// Hashes slots. The server chooses the slots, so no client can make them collide.
#[derive(Debug, Default)]
struct SlotHasher(u64);

impl Hasher for SlotHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, slot: u32) {
        self.0 = (self.0 ^ u64::from(slot)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl TrackedObjects {
    fn place(&self, slot: u32) -> Option<usize> {
        Some(*self.at.get(&slot)? as usize)
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Tracked> {
        Some(&self.entries.get(self.place(slot)?)?.as_ref()?.tracked)
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Tracked> {
        let place = self.place(slot)?;
        let entry = self.entries.get_mut(place)?.as_mut()?;
        if !std::mem::replace(&mut entry.is_stale, true) {
            self.stale.push(slot);
        }
        Some(&mut entry.tracked)
    }

    /// Returns the entry of the tracked object in `slot`. If there is no entry, creates one with `make`.
    pub(super) fn entry(&mut self, slot: u32, make: impl FnOnce() -> Tracked) -> &mut Tracked {
        let place = *self.at.entry(slot).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.entries.push(None);
                self.entries.len() as u32 - 1
            })
        });
        let entry = self.entries[place as usize].get_or_insert_with(|| MeasuredObject {
            slot,
            tracked: make(),
            held_bytes: 0,
            is_stale: false,
        });
        if !std::mem::replace(&mut entry.is_stale, true) {
            self.stale.push(slot);
        }
        &mut entry.tracked
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<Tracked> {
        self.progressed.remove(&slot);
        let at = self.at.remove(&slot)?;
        self.free.push(at);
        let removed = self.entries.get_mut(at as usize)?.take()?;
        self.held_bytes -= removed.held_bytes;
        Some(removed.tracked)
    }

    /// Returns about how many bytes the entries take on the heap. Costs O(entries changed since the last
    /// call).
    pub(super) fn measure_memory(&mut self) -> usize {
        let Self { entries, at, stale, held_bytes, .. } = self;
        for slot in stale.drain(..) {
            let entry = at.get(&slot).and_then(|&at| entries.get_mut(at as usize));
            if let Some(entry) = entry.and_then(Option::as_mut) {
                *held_bytes -= entry.held_bytes;
                entry.held_bytes = entry.tracked.heap_bytes();
                *held_bytes += entry.held_bytes;
                entry.is_stale = false;
            }
        }
        *held_bytes
    }

    /// Records that a part of the closing (removal) of an object has arrived, if it is being closed.
    pub(super) fn close_progressed(&mut self, slot: u32) {
        if self.get(slot).is_some_and(Tracked::is_closing) {
            self.progressed.insert(slot);
        }
    }

    /// Returns whether the closing of any object was first sent, or first waited for calls, before `start`
    /// and is not acknowledged yet. If a part of a closing has arrived, its time begins again. Each call
    /// examines only some of the entries, and [`SEARCH_CALLS`] calls examine all of them.
    pub(super) fn has_overdue_close(&mut self, start: Duration, now: Duration) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let count = self.entries.len().div_ceil(SEARCH_CALLS);
        let begin = self.cursor.min(self.entries.len() - 1);
        let some = self.entries.iter_mut().skip(begin).take(count).flatten();
        let progressed = &mut self.progressed;
        let mut since = some.filter_map(|MeasuredObject { slot, tracked, .. }| {
            if progressed.remove(slot) {
                tracked.closing_since = Some(now);
            }
            tracked.closing_since
        });
        let is_overdue = since.any(|since| since < start);
        self.cursor = if begin + count < self.entries.len() { begin + count } else { 0 };
        is_overdue
    }

    /// Frees the memory of removed entries if most of the entries were removed. A call that frees memory
    /// takes O(entries).
    pub(super) fn end_round(&mut self) {
        let Self { entries, free, at, stale, .. } = self;
        if stale.capacity() > 4 * stale.len() {
            stale.shrink_to(2 * stale.len());
        }
        if at.is_empty() {
            *at = HashMap::default();
        }
        if entries.len() <= LEAST_PLACES.max(4 * (entries.len() - free.len())) {
            return;
        }
        entries.retain(Option::is_some);
        entries.shrink_to_fit();
        *free = Vec::new();
        *at = entries.iter().flatten().zip(0..).map(|(entry, place)| (entry.slot, place)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_ids_are_found_after_others_were_removed() {
        let mut objects = TrackedObjects::default();
        let open_bits = |slot: u32| slot as usize;
        let open = |objects: &mut TrackedObjects, slot: u32| {
            objects.entry(slot, || Tracked { open_bits: open_bits(slot), ..Tracked::default() });
        };
        (0..500).for_each(|slot| open(&mut objects, slot));
        let stays = |slot: u32| slot % 100 == 37;
        (0..500).filter(|&slot| !stays(slot)).for_each(|slot| drop(objects.remove(slot)));
        objects.end_round();
        assert_eq!((objects.entries.len(), objects.free.len()), (5, 0));
        open(&mut objects, 3);
        for slot in 0..500 {
            let found = objects.get(slot).map(|tracked| tracked.open_bits);
            assert_eq!(found, (stays(slot) || slot == 3).then_some(open_bits(slot)));
        }
        objects.end_round();
        assert_eq!(objects.entries.len(), 6, "most are in use");
    }

    #[test]
    fn r17_an_old_close_is_found_wherever_it_is_within_a_few_hundred_calls() {
        let times = [1, 2, 3].map(Duration::from_secs);
        for (count, old) in [(1, 0), (3, 2), (255, 254), (256, 255), (257, 256), (1_000, 400), (1_000, 999)] {
            let mut objects = TrackedObjects::default();
            for slot in 0..count {
                let closing_since = Some(times[usize::from(slot != old)]);
                objects.entry(slot, || Tracked { closing_since, ..Tracked::default() });
            }
            let found = |objects: &mut TrackedObjects, start| {
                (0..SEARCH_CALLS).filter(|_| objects.has_overdue_close(start, times[2])).count()
            };
            assert_eq!(found(&mut objects, times[0]), 0, "no close is older than this");
            assert!(found(&mut objects, times[1]) > 0, "{old} of {count}");
            objects.remove(old);
            assert_eq!(found(&mut objects, times[1]), 0);
        }
    }

    #[test]
    fn the_memory_of_removed_entries_does_not_count() {
        let mut objects = TrackedObjects::default();
        for slot in 0..10 {
            objects.entry(slot, || Tracked { left: Vec::with_capacity(100), ..Tracked::default() });
        }
        let all = objects.measure_memory();
        assert!(all > 0 && all.is_multiple_of(10));
        // One entry is changed before it is measured, one after it was measured, and the others are not
        // changed.
        objects.get_mut(3).into_iter().for_each(|tracked| tracked.left = Vec::new());
        assert_eq!(objects.measure_memory(), all / 10 * 9);
        objects.get_mut(4);
        objects.remove(4);
        assert_eq!(objects.measure_memory(), all / 10 * 8);
        (0..10).for_each(|slot| _ = objects.remove(slot));
        assert_eq!(objects.measure_memory(), 0);
    }
}
