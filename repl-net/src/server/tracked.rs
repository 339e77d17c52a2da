//! What a connection keeps of an object while something is outstanding.
//!
//! Invariant: an object that the client has, of which everything was sent and acknowledged, and whose view is the common one, is not
//! tracked at all: a bit says that it is in step.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::{Changelist, HandleSet, Portions, PropertyIndex};

use crate::session::events::CloseReason;
use crate::transport::sequence::Sequence;

/// Where the object stands between server and client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is to be sent whole: it was not yet, or what was sent is held for lost and may have arrived all the same.
    Unsent,
    /// It was sent whole; no ack of that yet.
    Opening,
    /// The client has it.
    Open,
    /// It is to go, or gone.
    Closing(CloseReason),
}

/// Whether the client knows what an object is to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProxyNews {
    /// It knows, or the opening will tell it.
    #[default]
    Settled,
    /// To be sent; packets from this one on have it, if they have it at all.
    Unsent(Sequence),
    /// The same, and sent: the second is the last packet that has it.
    Sent(Sequence, Sequence),
}

/// An object with something outstanding on one connection.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) phase: Phase,
    /// The first packet that may have opened the object, or that may have closed it, if that is its phase: what earlier ones carried is of
    /// an earlier stay with the client.
    pub(crate) since: Sequence,
    /// The newest packet that carried its opening or its end, or a part of a blob of it. Packets are given up in the order in which they
    /// were sent, so until this one is, what an earlier one carried need not go again.
    pub(crate) carried: Sequence,
    /// Where in the object's history the connection fell behind.
    pub(crate) position: Option<u64>,
    /// What the client lacks beside that: lost, or not sent for want of room.
    pub(crate) pending: Changelist,
    /// What had no room in earlier ticks, one for each collection or map at most, the next to go first. All that is pending was found later, but for what
    /// was lost: of that, pruning takes what is overtaken.
    pub(crate) waiting: Vec<Portions>,
    /// New elements of arrays by the packet that carried them (R2); they go again with each change of their array until that packet, or a
    /// later one that carried them, is acknowledged.
    /// What went again stands with the newest packet alone.
    births: VecDeque<(Sequence, Changelist)>,
    /// How many of these are not of items alone.
    array_births: usize,
    /// The last packet that may carry births again which an earlier one carried.
    pub(crate) reborn: Option<Sequence>,
    /// With more births than this it is worth looking whether they are still there.
    most_births: usize,
    /// Properties that the client had and may not see any more: since which frame. Zero: what it has may be older than that.
    pub(crate) left: Vec<(PropertyIndex, u64)>,
    /// The blob that carries the object, while one does.
    pub(crate) blob: Option<u32>,
    /// Whether the client knows what the object is to it.
    pub(crate) proxy: ProxyNews,
    /// Bits of the last opening; zero if there was none.
    pub(crate) open_bits: usize,
    /// Whether an opening that may have arrived had items of collections: then none may empty these.
    pub(crate) opened_with_items: bool,
    /// Whether the object is to come back once its closing is acknowledged.
    pub(crate) reopen: bool,
    /// When its end was first sent.
    pub(crate) end_sent_at: Option<Duration>,
    /// About what this holds on the heap, as it was when it was last weighed.
    held_bytes: usize,
    /// Whether it is to be weighed again.
    is_stale: bool,
}

/// So many packets with births are not worth looking through.
const FEW_BIRTHS: usize = 64;

impl Tracked {
    pub(crate) fn new(slot: u32, generation: NonZeroU32, phase: Phase) -> Self {
        Self {
            slot,
            generation,
            phase,
            since: Sequence::default(),
            carried: Sequence::default(),
            position: None,
            pending: Changelist::new(),
            waiting: Vec::new(),
            births: VecDeque::new(),
            array_births: 0,
            reborn: None,
            most_births: FEW_BIRTHS,
            left: Vec::new(),
            blob: None,
            proxy: ProxyNews::Settled,
            open_bits: 0,
            opened_with_items: false,
            reopen: false,
            end_sent_at: None,
            held_bytes: 0,
            is_stale: false,
        }
    }

    /// An object that the client is to get, in the packet `since` or a later one.
    pub(crate) fn unsent(slot: u32, generation: NonZeroU32, since: Sequence) -> Self {
        Self { since, ..Self::new(slot, generation, Phase::Unsent) }
    }

    /// Whether the client has everything it may see, or will have by what is under way, so that changes can be sent as to most others; items of
    /// collections that are not acked are watched over item by item.
    pub(crate) fn is_settled(&self) -> bool {
        self.phase == Phase::Open
            && !self.lacks_something()
            && self.array_births == 0
            && self.blob.is_none()
            && self.proxy == ProxyNews::Settled
    }

    /// Whether the client is still to be sent something that changed.
    pub(crate) fn lacks_something(&self) -> bool {
        self.lacks_values() || matches!(self.proxy, ProxyNews::Unsent(_))
    }

    /// Whether the client is still to be sent values.
    pub(crate) fn lacks_values(&self) -> bool {
        self.position.is_some() || !self.pending.is_empty() || !self.waiting.is_empty()
    }

    /// Whether something that came into being is still to be sent.
    pub(crate) fn lacks_births(&self) -> bool {
        self.pending.has_births() || !self.waiting.is_empty()
    }

    /// The oldest packet from `floor` on with something that came into being and is not acked. Of older packets all that was lost is
    /// pending again, or gone.
    pub(crate) fn oldest_birth(&self, floor: Sequence) -> Option<Sequence> {
        self.births.iter().map(|(sequence, _)| *sequence).find(|sequence| *sequence >= floor)
    }

    /// Forgets what was to be sent, as far as these properties are concerned.
    pub(crate) fn drop_pending(&mut self, handles: &HandleSet) {
        self.pending.remove(handles);
        self.waiting.retain(|portions| !portions.is_in(handles));
    }

    /// Whether there is nothing to remember but that it is settled.
    pub(crate) fn is_plain(&self) -> bool {
        self.left.is_empty() && self.births.is_empty()
    }

    /// Whether anything that came into being is not acked.
    pub(crate) fn has_births(&self) -> bool {
        !self.births.is_empty()
    }

    /// Whether `list` changes what came into being and is not acked, so that it must go whole (R2).
    pub(crate) fn touches_births(&self, list: &Changelist) -> bool {
        self.births.iter().any(|(_, births)| list.touches_births(births))
    }

    /// Remembers what came into being in a list that the packet `sequence` carries, later than those before. What goes again counts as
    /// arrived with the newest packet that carries it, so it is kept once.
    pub(crate) fn add_births(&mut self, sequence: Sequence, births: Changelist) {
        if self.births.iter().any(|(_, earlier)| earlier.may_meet(&births)) {
            self.reborn = Some(sequence);
        }
        self.births.iter_mut().for_each(|(_, earlier)| earlier.births_arrived(&births));
        self.births.push_back((sequence, births));
        self.count_births();
    }

    /// Drops what is empty, and counts.
    fn count_births(&mut self) {
        self.births.retain(|(_, births)| !births.is_empty());
        self.array_births = self.births.iter().filter(|(_, births)| !births.births_are_of_items()).count();
    }

    /// Whether there are so many births that some may be of what is gone.
    pub(crate) fn births_are_many(&self) -> bool {
        self.births.len() > self.most_births
    }

    /// Prunes the births of what is gone: it need not arrive.
    pub(crate) fn prune_births(&mut self, mut prune: impl FnMut(&mut Changelist)) {
        for (_, births) in &mut self.births {
            prune(births);
            *births = births.births();
        }
        self.count_births();
        self.most_births = FEW_BIRTHS.max(2 * self.births.len());
    }

    /// Adds the new elements that are not acknowledged to the arrays in `list`.
    pub(crate) fn extend_births(&self, list: &mut Changelist) {
        match self.births.len() {
            0 => {}
            1 => self.births.iter().for_each(|(_, births)| list.extend_births(births)),
            _ => {
                let births = self.births.iter().map(|(_, births)| births.clone()).collect();
                list.extend_births(&Changelist::merged(births));
            }
        }
    }

    /// The packet `sequence` arrived, with `list`: for the arrays in it, so did all new elements up to then; of collections, its items.
    pub(crate) fn births_arrived(&mut self, sequence: Sequence, list: &Changelist) {
        let end = self.births.partition_point(|(carried, _)| *carried <= sequence);
        self.births.iter_mut().take(end).for_each(|(_, births)| births.births_arrived(list));
        self.count_births();
    }

    /// About what this holds on the heap. O(properties).
    fn weigh(&self) -> usize {
        let waiting = self.waiting.iter().map(Portions::heap_bytes);
        let births = self.births.iter().map(|(_, births)| births.heap_bytes());
        self.pending.heap_bytes()
            + self.waiting.capacity() * size_of::<Portions>()
            + waiting.sum::<usize>()
            + self.births.capacity() * size_of::<(Sequence, Changelist)>()
            + births.sum::<usize>()
            + self.left.capacity() * size_of::<(PropertyIndex, u64)>()
    }

    fn mark_stale(&mut self, stale: &mut Vec<u32>) {
        if !self.is_stale {
            self.is_stale = true;
            stale.push(self.slot);
        }
    }

    /// Since when the connection has not seen a property; zero if it never has.
    pub(crate) fn left_at(&self, property: PropertyIndex) -> u64 {
        self.left.iter().find(|(left, _)| *left == property).map_or(0, |(_, frame)| *frame)
    }

    /// Notes that a property has left sight, or what the client has of it.
    pub(crate) fn set_left(&mut self, property: PropertyIndex, frame: u64) {
        match self.left.iter_mut().find(|(left, _)| *left == property) {
            Some((_, known)) => *known = frame.min(*known),
            None => self.left.push((property, frame)),
        }
    }
}

/// Places that are not worth giving back.
const LEAST_PLACES: usize = 8;

/// The tracked objects of a connection by slot.
#[derive(Debug, Default)]
pub(crate) struct TrackedObjects {
    entries: Vec<Option<Tracked>>,
    free: Vec<u32>,
    /// By slot, one more than the place of its entry; zero for none.
    at: Vec<u32>,
    /// Slots of entries that may hold more or less since they were weighed; some may be gone, or stand here twice.
    stale: Vec<u32>,
    /// About what all entries hold on the heap, as far as they were weighed.
    held_bytes: usize,
    /// The entry at which the search for overdue ends goes on.
    cursor: usize,
}

/// In so many calls [`TrackedObjects::has_overdue_end`] has seen all entries.
const SEARCH_CALLS: usize = 256;

impl TrackedObjects {
    pub(crate) fn get(&self, slot: u32) -> Option<&Tracked> {
        let at = self.at.get(slot as usize)?.checked_sub(1)?;
        self.entries.get(at as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Tracked> {
        let Self { entries, at, stale, .. } = self;
        let at = at.get(slot as usize)?.checked_sub(1)?;
        let tracked = entries.get_mut(at as usize)?.as_mut()?;
        tracked.mark_stale(stale);
        Some(tracked)
    }

    /// The end of an object is sent, in the packet `sequence`.
    pub(crate) fn end_sent(&mut self, slot: u32, sequence: Sequence, now: Duration) {
        let place = self.at.get(slot as usize).and_then(|at| at.checked_sub(1));
        let entry = place.and_then(|at| self.entries.get_mut(at as usize));
        if let Some(tracked) = entry.and_then(Option::as_mut) {
            tracked.carried = sequence;
            tracked.end_sent_at.get_or_insert(now);
        }
    }

    /// About how many bytes on the heap the entries hold: what they lack, and what is not acknowledged of what came into being. O(entries that
    /// were changed since it was last asked).
    #[inline]
    pub(crate) fn weigh(&mut self) -> usize {
        if !self.stale.is_empty() {
            self.weigh_stale();
        }
        self.held_bytes
    }

    fn weigh_stale(&mut self) {
        let Self { entries, at, stale, held_bytes, .. } = self;
        for slot in stale.drain(..) {
            let place = at.get(slot as usize).and_then(|at| at.checked_sub(1));
            let entry = place.and_then(|at| entries.get_mut(at as usize));
            if let Some(tracked) = entry.and_then(Option::as_mut) {
                *held_bytes -= tracked.held_bytes;
                tracked.held_bytes = tracked.weigh();
                *held_bytes += tracked.held_bytes;
                tracked.is_stale = false;
            }
        }
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the end of some object was first sent before `start`. It looks at some entries only, and at all in [`SEARCH_CALLS`] calls.
    pub(crate) fn has_overdue_end(&mut self, start: Duration) -> bool {
        if self.is_empty() {
            return false;
        }
        let count = self.entries.len().div_ceil(SEARCH_CALLS);
        let begin = self.cursor.min(self.entries.len() - 1);
        let some = self.entries.iter().skip(begin).take(count).flatten();
        let mut ends = some.filter_map(|tracked| tracked.end_sent_at);
        let is_overdue = ends.any(|sent_at| sent_at < start);
        self.cursor = if begin + count < self.entries.len() { begin + count } else { 0 };
        is_overdue
    }

    /// The entry of `slot`, new and open if there was none.
    pub(crate) fn open(&mut self, slot: u32, generation: NonZeroU32) -> &mut Tracked {
        self.entry(slot, || Tracked::new(slot, generation, Phase::Open))
    }

    pub(crate) fn entry(&mut self, slot: u32, make: impl FnOnce() -> Tracked) -> &mut Tracked {
        if self.at.len() <= slot as usize {
            self.at.resize(slot as usize + 1, 0);
        }
        let place = &mut self.at[slot as usize];
        if *place == 0 {
            let at = self.free.pop().unwrap_or_else(|| {
                self.entries.push(None);
                self.entries.len() as u32 - 1
            });
            *place = at + 1;
        }
        let tracked = self.entries[*place as usize - 1].get_or_insert_with(make);
        tracked.mark_stale(&mut self.stale);
        tracked
    }

    /// Gives back the places of entries that are gone, if those are most. O(places), if it does.
    pub(crate) fn end_round(&mut self) {
        let Self { entries, free, at, stale, .. } = self;
        if stale.capacity() > 4 * stale.len() {
            stale.shrink_to(2 * stale.len());
        }
        if entries.len() <= LEAST_PLACES.max(4 * (entries.len() - free.len())) {
            return;
        }
        entries.retain(Option::is_some);
        entries.shrink_to_fit();
        *free = Vec::new();
        for (tracked, place) in entries.iter().flatten().zip(1..) {
            at[tracked.slot as usize] = place;
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<Tracked> {
        let place = self.at.get_mut(slot as usize)?;
        let at = std::mem::take(place).checked_sub(1)?;
        self.free.push(at);
        let removed = self.entries.get_mut(at as usize)?.take()?;
        self.held_bytes -= removed.held_bytes;
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_left_are_found_after_the_places_of_the_others_went() {
        let mut objects = TrackedObjects::default();
        (0..500).for_each(|slot| _ = objects.open(slot, NonZeroU32::MIN));
        let stays = |slot: u32| slot % 100 == 37;
        (0..500).filter(|&slot| !stays(slot)).for_each(|slot| drop(objects.remove(slot)));
        objects.end_round();
        assert_eq!((objects.entries.len(), objects.free.len()), (5, 0));
        objects.open(3, NonZeroU32::MIN);
        for slot in 0..500 {
            let found = objects.get(slot).map(|tracked| tracked.slot);
            assert_eq!(found, (stays(slot) || slot == 3).then_some(slot));
        }
        objects.end_round();
        assert_eq!(objects.entries.len(), 6, "most are in use");
    }
}
