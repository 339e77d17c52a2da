//! The backlog of a connection that cannot be sent everything in a tick: since when its objects wait, and
//! which of them are sent first (S189, S192, S193).
//!
//! *Invariant:* the age of an object that waits grows in each tick, until any data of the object is sent.
//! Each connection stores its own waiting objects, so a slow link of one client costs no time for the other
//! clients (W17).

use std::collections::BTreeMap;
use std::time::Duration;

use repl_core::ObjectRef;

use super::objects::View;
use crate::body::slot_set::{SlotSet, slots_of};
use crate::body::sparse_slots::SparseSlots;
use crate::server::cells::area::Position;
use crate::server::occupant::Occupant;
use crate::server::priority::{Viewer, owner_factor};
use crate::server::world::World;

/// How many bits an object is expected to take before the first object was sent.
const USUAL_BITS: f32 = 160.0;

/// The factor for the priority of an object of which the client must only be told that it sleeps. It is low,
/// because the client already has all values of the object.
const PRIORITY_OF_SLEEP: f32 = 0.125;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pause {
    pub(super) is_paused: bool,
    /// The time when the last pause ended.
    pub(super) ended_at: Duration,
}

impl Pause {
    /// Returns whether the connection was never paused.
    fn is_default(self) -> bool {
        !self.is_paused && self.ended_at.is_zero()
    }
}

/// The objects that wait for one connection, and the settings for when they are sent.
#[derive(Debug)]
pub(crate) struct Backlog {
    /// Since when each object waits. `None` if nothing has waited recently.
    pub(super) ages: Option<Ages>,
    pub(super) pause: Pause,
    directions: Vec<Position>,
    /// Whether the budget, the link or the memory limit has delayed something in the last tick. If so, the
    /// changes that are shared with other connections are also sent in the order of their priorities.
    pub(super) is_short: bool,
    /// Whether pending spawns (objects new to the client) are sent before other changes in the next tick in
    /// which anything is sent.
    pub(super) spawns_first: bool,
    /// How many objects waited at the end of the last tick because of the limits.
    pub(super) waiting_objects: usize,
    /// The approximate number of bits that each sent object took in recent ticks.
    pub(super) object_bits: f32,
    /// Whether fewer objects were sent in the last tick than `object_bits` predicted.
    pub(super) was_overestimated: bool,
    /// Whether fewer pending spawns were sent in the last tick than `object_bits` predicted.
    pub(super) spawns_overestimated: bool,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            ages: None,
            pause: Pause::default(),
            directions: Vec::new(),
            is_short: false,
            spawns_first: true,
            waiting_objects: 0,
            object_bits: USUAL_BITS,
            was_overestimated: false,
            spawns_overestimated: false,
        }
    }
}

impl Backlog {
    pub(super) fn directions(&self) -> &[Position] {
        &self.directions
    }

    pub(super) fn set_directions(&mut self, directions: &[Position]) {
        self.directions.clear();
        self.directions.extend_from_slice(directions);
    }

    /// Returns whether nothing waits, there are no view directions, and the connection was never paused.
    pub(super) fn is_default(&self) -> bool {
        self.waiting_objects == 0 && self.directions.is_empty() && self.pause.is_default()
    }

    /// Replaces `order` by the objects of `waiting`, each with its rank. Lower ranks are sent first. For the
    /// objects in `asleep`, the client must only be told that they sleep.
    pub(super) fn rank(
        &self,
        view: &View,
        waiting: &SparseSlots,
        asleep: Option<&SparseSlots>,
        world: &World,
        order: &mut Vec<u64>,
    ) {
        order.clear();
        let Some(ages) = &self.ages else { return };
        let ages = ages.of(waiting).map(|(slot, age)| {
            let is_asleep = asleep.is_some_and(|asleep| asleep.contains(slot));
            (slot, age as f32 * if is_asleep { PRIORITY_OF_SLEEP } else { 1.0 })
        });
        self.add_ranks(ages, view, world, order);
    }

    /// Adds to `order` the objects of `fresh`, each with its rank. They changed in this tick and have not
    /// waited before.
    pub(super) fn rank_fresh(&self, view: &View, fresh: &SlotSet, world: &World, order: &mut Vec<u64>) {
        self.add_ranks(fresh.iter().map(|slot| (slot, 1.0)), view, world, order);
    }

    fn add_ranks(
        &self,
        ages: impl Iterator<Item = (u32, f32)>,
        view: &View,
        world: &World,
        order: &mut Vec<u64>,
    ) {
        let priorities = &world.priorities;
        if !priorities.is_used() {
            order.extend(ages.map(|(slot, age)| rank(age * owner_factor(view.owns(slot)), slot)));
            return;
        }
        order.extend(ages.map(|(slot, age)| {
            let occupant = world.store.occupant(slot);
            let Occupant { class, row, alive, .. } = occupant;
            let is_owner = view.owns(slot);
            let priority = priorities.of(slot, class, is_owner, || {
                if !alive {
                    // The object was removed, so there are no values for the priority function. Only its
                    // closing waits.
                    return 1.0;
                }
                let viewer = Viewer {
                    object: ObjectRef::new(occupant.guid(slot)),
                    connection: view.id(),
                    is_owner,
                    viewpoints: view.viewpoints(),
                    directions: &self.directions,
                    groups: view.groups(),
                };
                world.store.column(class).prioritize(row, &viewer)
            });
            rank(age * priority, slot)
        }));
    }

    /// Returns how many objects probably fit into `bytes` bytes.
    pub(super) fn expected_count(&self, bytes: usize) -> usize {
        ((bytes.min(1 << 30) as u64 * 6) as f32 / self.object_bits) as usize
    }
}

/// At most this many blocks of times are kept without a check whether objects in their words still wait.
const SPARE_BLOCKS: usize = 32;

/// The times since which objects wait, by slot. The times are stored in blocks, because the 64 slots of a
/// word often wait together.
#[derive(Debug, Default)]
pub(super) struct Ages {
    known: SparseSlots,
    /// For each word with members in `known`, the frames (numbers of ticks) since which they wait. Blocks of
    /// words without members may remain.
    since: BTreeMap<usize, Box<[u32; 64]>>,
    frame: u32,
}

impl Ages {
    /// Begins a tick. An object in one of the sets `waiting` that did not wait in the last tick waits from
    /// now on. An object in none of the sets no longer waits.
    pub(super) fn begin(&mut self, frame: u64, waiting: [&SparseSlots; 2]) {
        self.frame = frame as u32;
        let Self { known, since, frame } = self;
        let gone: Vec<(usize, u64)> = known
            .masks()
            .map(|(word, mask)| (word, mask & !(waiting[0].word(word) | waiting[1].word(word))))
            .filter(|(_, gone)| *gone != 0)
            .collect();
        gone.into_iter().for_each(|(word, gone)| known.remove_mask(word, gone));
        for (word, mask) in waiting.into_iter().flat_map(SparseSlots::masks) {
            let new = mask & !known.word(word);
            if new == 0 {
                continue;
            }
            let block = since.entry(word).or_insert_with(|| Box::new([0; 64]));
            slots_of(0, new).for_each(|bit| block[bit as usize] = *frame);
            known.insert_mask(word, new);
        }
        // Some blocks are kept, because objects in the same words often wait again in the next ticks.
        if since.len() > SPARE_BLOCKS && since.len() > 2 * known.masks().count() {
            since.retain(|&word, _| known.word(word) != 0);
        }
    }

    /// Returns the objects of `waiting`, each with the number of ticks for which it has waited, including
    /// this tick.
    fn of<'a>(&'a self, waiting: &'a SparseSlots) -> impl Iterator<Item = (u32, u32)> + 'a {
        waiting.masks().flat_map(move |(word, mask)| {
            let block = self.since.get(&word);
            slots_of(word, mask).map(move |slot| {
                let since = block.map_or(self.frame, |block| block[slot as usize % 64]);
                (slot, self.frame.wrapping_sub(since).wrapping_add(1))
            })
        })
    }

    /// Records that something of an object was sent in this tick. If more of the object waits, its age begins
    /// at zero again.
    pub(super) fn sent(&mut self, slot: u32) {
        if let Some(block) = self.since.get_mut(&(slot as usize / 64)) {
            block[slot as usize % 64] = self.frame.wrapping_add(1);
        }
    }
}

/// Returns a sort key that is lower for a greater priority, and for equal priorities lower for a lower slot.
/// The priority must be positive.
fn rank(priority: f32, slot: u32) -> u64 {
    u64::from(!priority.to_bits()) << 32 | u64::from(slot)
}

/// Moves the `count` lowest ranks to the front of `order`. The `sure` lowest of these are sorted by slot, and
/// the others by rank. Costs O(ranks) plus the time to sort `count` ranks.
pub(super) fn select(order: &mut [u64], sure: usize, count: usize) {
    if count < order.len() {
        order.select_nth_unstable(count);
    }
    let selected = &mut order[..count];
    if sure < count {
        selected.select_nth_unstable(sure);
    }
    let (first, rest) = selected.split_at_mut(sure);
    first.sort_unstable_by_key(|&rank| rank as u32);
    rest.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s193_what_waits_ages_in_each_tick_until_it_is_sent() {
        let (mut ages, mut waiting, none) = (Ages::default(), SparseSlots::default(), SparseSlots::default());
        [3, 64, 1_000].into_iter().for_each(|slot| waiting.insert(slot));
        ages.begin(u64::from(u32::MAX), [&waiting, &none]);
        waiting.insert(4);
        ages.begin(u64::from(u32::MAX) + 1, [&none, &waiting]);
        assert_eq!(ages.of(&waiting).collect::<Vec<_>>(), [(3, 2), (4, 1), (64, 2), (1_000, 2)]);
        ages.sent(64);
        waiting.remove(1_000);
        ages.begin(u64::from(u32::MAX) + 2, [&waiting, &none]);
        assert_eq!(ages.of(&waiting).collect::<Vec<_>>(), [(3, 3), (4, 2), (64, 1)]);
        (0..1_000).for_each(|word| waiting.insert(word * 64));
        ages.begin(u64::from(u32::MAX) + 3, [&waiting, &none]);
        assert!(ages.since.len() == 1_000);
        ages.begin(u64::from(u32::MAX) + 4, [&none, &none]);
        assert!(ages.since.is_empty(), "blocks without waiting slots are freed");
    }

    #[test]
    fn s189_the_greatest_products_are_selected_and_sorted_by_slot() {
        let mut order: Vec<u64> =
            (0..1_000).map(|slot| rank((slot * 7 % 1_000) as f32 + 0.5, slot)).collect();
        let mut expected: Vec<u32> = (0..1_000).collect();
        expected.sort_by_key(|slot| std::cmp::Reverse(slot * 7 % 1_000));
        expected.truncate(100);
        expected.sort_unstable();
        select(&mut order, 100, 200);
        let selected: Vec<u32> = order[..200].iter().map(|&rank| rank as u32).collect();
        assert_eq!(selected[..100], expected);
        assert!(selected[100..].is_sorted_by_key(|slot| std::cmp::Reverse(slot * 7 % 1_000)));
        let mut few = vec![rank(1.0, 2), rank(2.0, 9), rank(1.0, 1)];
        select(&mut few, 0, 3);
        assert_eq!(few.iter().map(|&rank| rank as u32).collect::<Vec<_>>(), [9, 1, 2]);
    }
}
