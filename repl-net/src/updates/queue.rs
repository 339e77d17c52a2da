//! The queue of the updates that the user of a client, or of a host (a player in the server's process), has
//! not polled yet.
//!
//! *Invariant:* updates are polled in the order of the packets. Within a packet, a new object comes before
//! its subobjects. Even if nobody polls, the number of entries is limited: it is at most [`LEAST`], or a
//! small multiple of the number of objects whose updates are needed, whichever is greater. Nothing is
//! recorded before the first poll.

use std::collections::{HashMap, HashSet, VecDeque};

use repl_core::{Guid, HandleSet, ObjectRef, Program};
use repl_link::parts::ROUND_TICKS;

use super::entry::Entry;
use super::properties::Properties;
use super::thinner::thinned;
use super::update::{Update, UpdateKind};
use crate::body::forest::{Depths, Forest};
use crate::body::growth::Demand;
use crate::body::sparse_slots::SparseSlots;

/// If the queue has at most this many entries, no update is dropped.
pub(super) const LEAST: usize = 1_024;

/// The updates that were not polled yet.
#[derive(Debug, Default)]
pub(crate) struct Updates {
    queue: VecDeque<Entry>,
    is_recording: bool,
    /// The server's tick in which the current packet (or the previous one, between two packets) was made.
    tick: u64,
    /// The length of the queue when the current packet began.
    start: usize,
    /// Whether the current packet may have opened subobjects, which must come after their parents.
    has_subobjects: bool,
    /// Whether references of an object were read again in the current packet. This change is merged with
    /// other changes of the object.
    has_reread: bool,
    /// If the queue has more entries than this, updates that are no longer needed are dropped.
    limit: usize,
    /// Whether the queue may contain updates that are no longer needed.
    has_outdated: bool,
    /// The removed objects whose removal no update will report.
    unreported: Vec<ObjectRef<()>>,
    /// The length of the queue in the last rounds, from which it computes how much memory to free.
    demand: Demand,
    /// The tick of the server at which this round ends (see [`ROUND_TICKS`]).
    round_end: u64,
}

impl Updates {
    /// Returns whether updates are recorded.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Begins to record updates. Returns `false` if they were already recorded.
    pub(crate) fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.is_recording, true)
    }

    /// Begins a packet that the server made in the tick `tick`. If the packet arrives after a newer packet,
    /// `tick` is `None`, and the previous tick is used. So the ticks of updates never go back.
    pub(crate) fn begin_packet(&mut self, tick: Option<u64>) {
        (self.start, self.has_subobjects) = (self.queue.len(), false);
        self.tick = self.tick.max(tick.unwrap_or(0));
        if self.queue.is_empty() {
            self.limit = LEAST;
            if self.tick >= self.round_end {
                self.round_end = self.tick.saturating_add(ROUND_TICKS);
                self.queue.shrink_to(self.demand.end_round(0));
            }
        }
    }

    /// Begins a session. Its server may be another one, which counts its ticks from zero.
    pub(crate) fn begin_session(&mut self) {
        (self.tick, self.round_end) = (0, 0);
    }

    /// Ends a packet: moves parents before their new subobjects, and drops updates that are no longer needed
    /// if the queue is long. `families` contains the parents of all objects. `is_there` returns whether an
    /// object exists.
    pub(crate) fn end_packet(&mut self, families: &Forest, is_there: impl Fn(Guid) -> bool) {
        if std::mem::take(&mut self.has_reread) {
            self.join_changes();
        }
        if std::mem::take(&mut self.has_subobjects) {
            self.sort_families(families, is_there);
        }
        self.keep_short();
        self.demand.note(self.queue.len());
    }

    /// Sorts the updates of the packet. First come the updates of objects that no longer exist, in their
    /// previous order. Then come new objects, each before its subobjects. Changes come last, because a
    /// changed object may refer to a new object. An object that no longer changes, because it is out of sight
    /// or torn off, is reported as such after its last change, or directly after it was reported as new.
    fn sort_families(&mut self, families: &Forest, is_there: impl Fn(Guid) -> bool) {
        let mut packet = self.queue.split_off(self.start.min(self.queue.len()));
        let mut came = SparseSlots::default();
        let arrivals = packet.iter().filter(|entry| entry.what.is_arrival());
        arrivals.flat_map(Entry::slots).for_each(|slot| came.insert(slot));
        let mut depths = Depths::among(families, came);
        packet.make_contiguous().sort_by_cached_key(|entry| {
            match entry.objects.0.guid().filter(|guid| is_there(*guid)) {
                None => 0,
                Some(_) if entry.what == UpdateKind::Changed => u32::MAX,
                Some(guid) if entry.what.ends_changes() && !depths.counts(guid.slot()) => u32::MAX,
                Some(guid) => depths.of(guid.slot()).saturating_add(1),
            }
        });
        self.queue.append(&mut packet);
    }

    /// Records that `count` objects with the generation of `first` were created in consecutive slots,
    /// beginning at `first`.
    pub(crate) fn spawned(&mut self, first: Guid, count: u32, class: &Program) {
        // This does not set `has_outdated`, because a new object makes no earlier update unnecessary.
        self.record((ObjectRef::new(first), count), UpdateKind::Spawned, class, &all_of(class));
    }

    /// Does the same as [`spawned`](Self::spawned) for subobjects.
    pub(crate) fn spawned_below(&mut self, first: Guid, count: u32, class: &Program) {
        self.has_subobjects = true;
        let all = all_of(class);
        for offset in 0..count {
            let object = ObjectRef::new(after(first, offset));
            self.record((object, 1), UpdateKind::Spawned, class, &all);
        }
    }

    /// Records that properties of `count` objects with the generation of `first` arrived. The objects are in
    /// consecutive slots, beginning at `first`. `handles` may be empty if an object that the client already
    /// has was opened again.
    pub(crate) fn changed(&mut self, (first, count): (Guid, u32), class: &Program, handles: &HandleSet) {
        if handles.is_empty() {
            return;
        }
        let objects = (ObjectRef::new(first), count);
        let last = self.queue.range_mut(self.start.min(self.queue.len())..).next_back();
        let is_same = |last: &&mut Entry| last.objects == objects && last.what == UpdateKind::Changed;
        match last.filter(is_same) {
            Some(last) => last.properties.add(handles),
            None => {
                self.record(objects, UpdateKind::Changed, class, handles);
                self.has_outdated = true;
            }
        }
    }

    /// Records that the references of an object were resolved again, because an object was created or
    /// removed.
    pub(crate) fn reread(&mut self, guid: Guid, class: &Program, handles: &HandleSet) {
        self.changed((guid, 1), class, handles);
        self.has_reread = true;
    }

    /// Merges all changes of an object in the packet into its last change. So a change comes after the new
    /// objects to which the changed object refers. Changes of objects that are new in this packet are
    /// dropped.
    fn join_changes(&mut self) {
        let packet = self.queue.split_off(self.start.min(self.queue.len()));
        let before = std::mem::replace(&mut self.queue, packet);
        let mut entries = Vec::with_capacity(self.queue.len());
        entries.extend(std::iter::from_fn(|| self.pop_entry()));
        let came = entries.iter().filter(|entry| entry.what.is_arrival()).map(|entry| entry.objects.0);
        let came: HashSet<ObjectRef<()>> = came.collect();
        // For each object, its last change, as the number of entries from this change to the end of the
        // packet.
        let mut last = HashMap::with_capacity(entries.len());
        for entry in entries.into_iter().rev() {
            let object = entry.objects.0;
            if entry.what == UpdateKind::Changed {
                if came.contains(&object) {
                    continue;
                }
                let after = *last.entry(object).or_insert(self.queue.len());
                let at = self.queue.len().checked_sub(after).and_then(|at| at.checked_sub(1));
                if let Some(later) = at.and_then(|at| self.queue.get_mut(at)) {
                    later.properties.add(&entry.properties.to_set());
                    continue;
                }
            }
            self.queue.push_front(entry);
        }
        let mut joined = std::mem::replace(&mut self.queue, before);
        self.queue.append(&mut joined);
    }

    /// Records an update of one object. The kind may be any except [spawned](Self::spawned) and
    /// [changed](Self::changed). The object may be null for [`UpdateKind::PathDestroyed`].
    pub(crate) fn push(&mut self, object: ObjectRef<()>, what: UpdateKind, class: &Program) {
        if !self.is_recording && matches!(what, UpdateKind::Despawned(_)) {
            self.unreported.push(object);
        }
        self.has_subobjects |= what == UpdateKind::BackInSight;
        let handles = if what.is_arrival() { all_of(class) } else { HandleSet::new() };
        self.record((object, 1), what, class, &handles);
        self.has_outdated = true;
    }

    fn record(
        &mut self,
        objects: (ObjectRef<()>, u32),
        what: UpdateKind,
        class: &Program,
        handles: &HandleSet,
    ) {
        if self.is_recording {
            let (tick, layout, properties) = (self.tick, class.layout(), Properties::of(handles));
            self.queue.push_back(Entry { tick, objects, what, layout, properties });
        }
    }

    /// If the queue is long, drops updates that are no longer needed.
    fn keep_short(&mut self) {
        if self.queue.len() > self.limit.max(LEAST) {
            if std::mem::take(&mut self.has_outdated) {
                self.thin_out();
            }
            self.limit = self.queue.len().saturating_mul(2);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// Removes the next update. If it is an update of several objects, removes only its first object from it.
    fn pop_entry(&mut self) -> Option<Entry> {
        let first = self.queue.front_mut()?;
        let (object, count) = first.objects;
        let Some(guid) = object.guid().filter(|_| count > 1) else { return self.queue.pop_front() };
        let one = Entry { objects: (object, 1), ..first.clone() };
        first.objects = (ObjectRef::new(after(guid, 1)), count.saturating_sub(1));
        Some(one)
    }

    pub(crate) fn pop(&mut self) -> Option<Update> {
        let Entry { tick, objects: (object, _), what, layout, properties } = self.pop_entry()?;
        Some(Update::new((tick, object), what, (layout, properties.to_set())))
    }

    /// Drops the updates of an object that the user has removed. If the client had already lost and received
    /// the object before, that removal is still reported. Costs O(waiting updates).
    pub(crate) fn forget(&mut self, removed: ObjectRef<()>) {
        if !self.queue.iter().any(|entry| entry.has(removed)) {
            return;
        }
        let entries: Vec<Entry> = std::iter::from_fn(|| self.pop_entry()).collect();
        let is_end = |entry: &Entry| entry.objects.0 == removed && entry.what.is_departure();
        let told = entries.iter().rposition(is_end).map_or(0, |end| end.saturating_add(1));
        let entries = entries.into_iter().enumerate();
        let left = entries.filter(|(at, entry)| *at < told || entry.objects.0 != removed);
        self.queue.extend(left.map(|(_, entry)| entry));
    }

    /// Removes and returns the removed objects whose removal no update will report. An object is returned
    /// once for each of its removals.
    pub(crate) fn take_unreported(&mut self) -> Vec<ObjectRef<()>> {
        std::mem::take(&mut self.unreported)
    }

    /// Drops the updates that are no longer needed.
    pub(super) fn thin_out(&mut self) {
        let entries = std::iter::from_fn(|| self.pop_entry()).collect();
        let (left, mut unreported) = thinned(entries);
        self.queue = left.into();
        self.unreported.append(&mut unreported);
    }
}

fn all_of(class: &Program) -> HandleSet {
    HandleSet::up_to(class.handles())
}

/// Returns the guid of the object in the slot `offset` slots after `first`, with the same generation.
fn after(first: Guid, offset: u32) -> Guid {
    Guid::new(first.slot().saturating_add(offset), first.generation())
}
