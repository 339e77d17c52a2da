//! Tracked objects: what a connection stores for an object while something of it is unsent or unacknowledged.
//!
//! *Invariant:* an object is not tracked if the client has it, everything was sent and acknowledged, and it
//! has the default view. Then one bit says that it is in step.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::{Changelist, HandleSet, Portions, PropertyIndex};

use crate::session::events::CloseReason;
use crate::transport::sequence::Sequence;

/// The phase of an object between server and client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The whole object must be sent: it was not sent yet, or the opening counts as lost. A lost opening may
    /// still have arrived.
    Unsent,
    /// The whole object was sent, and not acknowledged yet.
    Opening,
    /// The client has it.
    Open,
    /// It must be closed, or the close was sent.
    Closing(CloseReason),
}

/// Whether the client knows the current owner and role of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProxyNews {
    /// It knows them, or the opening will contain them.
    #[default]
    Settled,
    /// They must be sent. Only this packet and later ones can contain them.
    Unsent(Sequence),
    /// They were sent. The first packet is as above, the second is the last one that contains them.
    Sent(Sequence, Sequence),
}

/// The state of one object on one connection that is not in step.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) phase: Phase,
    /// The first packet that may have opened the object, or closed it if it is closing. Earlier packets
    /// carried it when it was open before.
    pub(crate) since: Sequence,
    /// The newest packet with the object's opening or close, or with a part of its blob. Packets are given up
    /// in the order of sending. So until this one is given up, the content of an earlier one need not be sent
    /// again.
    pub(crate) carried: Sequence,
    /// The position in the object's history from which on nothing was sent.
    pub(crate) position: Option<u64>,
    /// What the client lacks besides that: it was lost, or it was not sent because there was no room.
    pub(crate) pending: Changelist,
    /// What did not fit in earlier ticks, at most one entry for each collection or map. The next to send is
    /// first. `pending` is newer, except for lost changes, from which pruning removes what is outdated.
    pub(crate) waiting: Vec<Portions>,
    /// New array elements by the packet that carried them (R2). They are sent again with each change of their
    /// array until that packet, or a later one with them, is acknowledged. What was sent again is listed only
    /// for the newest packet.
    births: VecDeque<(Sequence, Changelist)>,
    /// How many of these contain more than items of collections.
    array_births: usize,
    /// The last packet that may have repeated births of an earlier packet.
    pub(crate) reborn: Option<Sequence>,
    /// Births are pruned when there are more entries than this.
    most_births: usize,
    /// Properties that the client had and may no longer see, with the frame in which that began. Zero: the
    /// client's value may be older than that.
    pub(crate) left: Vec<(PropertyIndex, u64)>,
    /// The blob that carries the object, if one does.
    pub(crate) blob: Option<u32>,
    /// Whether the client knows the object's current owner and role.
    pub(crate) proxy: ProxyNews,
    /// Bits of the last opening; zero if there was none.
    pub(crate) open_bits: usize,
    /// Whether an opening that may have arrived had items of collections. Then no later opening may empty
    /// these collections.
    pub(crate) opened_with_items: bool,
    /// Whether the object must be opened again once its close is acknowledged.
    pub(crate) reopen: bool,
    /// When its close was first sent.
    pub(crate) end_sent_at: Option<Duration>,
    /// About how many bytes this holds on the heap, when it was last measured.
    held_bytes: usize,
    /// Whether it must be measured again.
    is_stale: bool,
}

/// At most this many birth entries are not worth pruning.
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

    /// An object that the client must receive, in the packet `since` or a later one.
    pub(crate) fn unsent(slot: u32, generation: NonZeroU32, since: Sequence) -> Self {
        Self { since, ..Self::new(slot, generation, Phase::Unsent) }
    }

    /// Whether the client has everything that it may see, or will have it when packets in flight arrive, so
    /// that it can use shared segments. Items of collections may be unacknowledged: they are tracked one by
    /// one.
    pub(crate) fn is_settled(&self) -> bool {
        self.phase == Phase::Open
            && !self.lacks_something()
            && self.array_births == 0
            && self.blob.is_none()
            && self.proxy == ProxyNews::Settled
    }

    /// Whether something that changed must still be sent to the client.
    pub(crate) fn lacks_something(&self) -> bool {
        self.lacks_values() || matches!(self.proxy, ProxyNews::Unsent(_))
    }

    /// Whether values must still be sent to the client.
    pub(crate) fn lacks_values(&self) -> bool {
        self.position.is_some() || !self.pending.is_empty() || !self.waiting.is_empty()
    }

    /// Whether new elements must still be sent.
    pub(crate) fn lacks_births(&self) -> bool {
        self.pending.has_births() || !self.waiting.is_empty()
    }

    /// The oldest packet from `floor` on with new elements that are not acknowledged. The lost elements of
    /// older packets are pending again, or were removed.
    pub(crate) fn oldest_birth(&self, floor: Sequence) -> Option<Sequence> {
        self.births.iter().map(|(sequence, _)| *sequence).find(|sequence| *sequence >= floor)
    }

    /// Removes these properties from what must be sent.
    pub(crate) fn drop_pending(&mut self, handles: &HandleSet) {
        self.pending.remove(handles);
        self.waiting.retain(|portions| !portions.is_in(handles));
    }

    /// Whether this stores nothing but that the object is settled.
    pub(crate) fn is_plain(&self) -> bool {
        self.left.is_empty() && self.births.is_empty()
    }

    /// Whether any new elements are not acknowledged.
    pub(crate) fn has_births(&self) -> bool {
        !self.births.is_empty()
    }

    /// Whether `list` changes new elements that are not acknowledged, so that they must be sent whole (R2).
    pub(crate) fn touches_births(&self, list: &Changelist) -> bool {
        self.births.iter().any(|(_, births)| list.touches_births(births))
    }

    /// Stores the new elements of a list that the packet `sequence` carries; it is newer than all before.
    /// What is sent again is stored only for the newest packet, whose arrival counts for it.
    pub(crate) fn add_births(&mut self, sequence: Sequence, births: Changelist) {
        if self.births.iter().any(|(_, earlier)| earlier.may_meet(&births)) {
            self.reborn = Some(sequence);
        }
        self.births.iter_mut().for_each(|(_, earlier)| earlier.births_arrived(&births));
        self.births.push_back((sequence, births));
        self.count_births();
    }

    /// Drops empty entries, and counts.
    fn count_births(&mut self) {
        self.births.retain(|(_, births)| !births.is_empty());
        self.array_births = self.births.iter().filter(|(_, births)| !births.births_are_of_items()).count();
    }

    /// Whether there are so many entries that some may be of elements that were removed.
    pub(crate) fn births_are_many(&self) -> bool {
        self.births.len() > self.most_births
    }

    /// Drops the births of elements that were removed: they need not arrive.
    pub(crate) fn prune_births(&mut self, mut prune: impl FnMut(&mut Changelist)) {
        for (_, births) in &mut self.births {
            prune(births);
            *births = births.births();
        }
        self.count_births();
        self.most_births = FEW_BIRTHS.max(2 * self.births.len());
    }

    /// Adds the unacknowledged new elements to the arrays in `list`.
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

    /// Notes that the packet `sequence` arrived with `list`. For each array in it, all new elements up to
    /// then arrived; for each collection, the items in it.
    pub(crate) fn births_arrived(&mut self, sequence: Sequence, list: &Changelist) {
        let end = self.births.partition_point(|(carried, _)| *carried <= sequence);
        self.births.iter_mut().take(end).for_each(|(_, births)| births.births_arrived(list));
        self.count_births();
    }

    /// About how many bytes this holds on the heap. O(properties).
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

    /// The frame since which the client has not seen a property; zero if unknown.
    pub(crate) fn left_at(&self, property: PropertyIndex) -> u64 {
        self.left.iter().find(|(left, _)| *left == property).map_or(0, |(_, frame)| *frame)
    }

    /// Stores that the client may no longer see a property, or that its value is outdated.
    pub(crate) fn set_left(&mut self, property: PropertyIndex, frame: u64) {
        match self.left.iter_mut().find(|(left, _)| *left == property) {
            Some((_, known)) => *known = frame.min(*known),
            None => self.left.push((property, frame)),
        }
    }
}

/// An entry list of this length or less is never shrunk.
const LEAST_PLACES: usize = 8;

/// The tracked objects of a connection by slot.
#[derive(Debug, Default)]
pub(crate) struct TrackedObjects {
    entries: Vec<Option<Tracked>>,
    free: Vec<u32>,
    /// By slot, the index of its entry plus one; zero for none.
    at: Vec<u32>,
    /// Slots of entries to be measured again. Some may be removed or listed twice.
    stale: Vec<u32>,
    /// About how many bytes all measured entries hold on the heap.
    held_bytes: usize,
    /// The entry at which the search for overdue closes continues.
    cursor: usize,
}

/// [`TrackedObjects::has_overdue_end`] looks at all entries within this many calls.
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

    /// Notes that the close of an object was sent in the packet `sequence`.
    pub(crate) fn end_sent(&mut self, slot: u32, sequence: Sequence, now: Duration) {
        let place = self.at.get(slot as usize).and_then(|at| at.checked_sub(1));
        let entry = place.and_then(|at| self.entries.get_mut(at as usize));
        if let Some(tracked) = entry.and_then(Option::as_mut) {
            tracked.carried = sequence;
            tracked.end_sent_at.get_or_insert(now);
        }
    }

    /// About how many bytes the entries hold on the heap: what clients lack, and unacknowledged new elements.
    /// O(entries changed since the last call).
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

    /// Whether the close of some object was first sent before `start`. Each call looks at some entries only,
    /// and [`SEARCH_CALLS`] calls at all.
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

    /// The entry of `slot`. If there is none, it is created with the phase `Open`.
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

    /// Frees the memory of removed entries, if they are the majority. Then it takes O(entries).
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
