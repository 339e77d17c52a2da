//! The state of each object for one client: whether the client has the object, which changes it lacks, and
//! how it sees the object. The *opening* of an object is its first update, its *closing* removes it.
//!
//! An object is *in step* with a client if three conditions hold: The client has it. The client sees it like
//! most clients. All of its data was sent, except for items of collections, and no lost data waits to be sent
//! again. The changes of an object in step are sent in shared segments and tables, and the connection stores
//! only a few bits for it. All other known objects are out of step. A tracked object can be in step too, for
//! example while new items of it are unacknowledged.
//!
//! *Invariant:* only methods of [`ObjectStates`] change the state of an object for a client. An object comes
//! into step only when its opening arrives, or in [`ObjectStates::update_step`]. [`ObjectStates::check`]
//! asserts that the sets agree about an object.

mod closings;
mod deciding;
mod endings;
mod joining;
mod known;
mod last_states;
mod new_elements;
mod outcomes;
mod paths;
mod paused;
mod sending;
mod sleep;
mod sleeping;
mod standings;
mod tear_offs;
#[cfg(test)]
mod tests;
mod tracked;
mod tracked_objects;
mod undecided;
mod verdicts;
mod view;
mod view_changes;

use std::sync::Arc;

use repl_core::__private::{preload, preload_all};
use repl_core::HandleSet;

pub(crate) use closings::Closed;
pub(crate) use endings::LastLack;
use joining::Joining;
pub(crate) use outcomes::LostOpening;
pub(crate) use sending::OpeningRemainder;
use sleep::Sleep;
use standings::Standings;
use tracked::AfterClosing;
pub(crate) use tracked::{Phase, ProxyState, Tracked};
use tracked_objects::TrackedObjects;
pub(crate) use view::View;

use crate::body::slot_set::{SlotSet, slots_of};
use crate::body::sparse_slots::SparseSlots;
use crate::server::cells::area::Ring;
use crate::server::cells::sight::Sight;
use crate::server::cells::strips::StripPlace;
use crate::server::cells::{Group, Home};
use crate::server::last_state::LastState;
use crate::server::world::World;
use repl_link::ConnectionId;
use repl_link::parts::Sequence;

/// The state of all objects for one client.
#[derive(Debug)]
pub(crate) struct ObjectStates {
    standings: Standings,
    /// Objects that are not known, although they are in cells in sight of the client, for example hidden
    /// objects. The set may contain other objects, too.
    unknown_in_sight: SparseSlots,
    /// The slot of the object whose blob (an update that is too large for one packet) began last.
    last_blob: u32,
    /// Whether any object has waited for the start of its blob (data in several parts) since the last check.
    blob_waits: bool,
    tracked: TrackedObjects,
    joining: Joining,
    view: View,
    /// The objects that sleep. `None` if no object that the client has may ever sleep.
    sleep: Option<Box<Sleep>>,
    /// The static objects whose paths the client knows. `None` before the client knows any path.
    known_paths: Option<Box<SparseSlots>>,
}

impl ObjectStates {
    pub(super) fn new(id: ConnectionId, is_replay: bool) -> Self {
        Self {
            standings: Standings::default(),
            unknown_in_sight: SparseSlots::default(),
            last_blob: 0,
            blob_waits: false,
            tracked: TrackedObjects::default(),
            joining: Joining::new(),
            view: View::new(id, is_replay),
            sleep: None,
            known_paths: None,
        }
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Preloads the sets that every tick reads, without their members.
    pub(super) fn preload_sets(&self) {
        preload_all(self.standings.out_of_step());
    }

    /// Preloads the sets that every pass reads, without their members.
    pub(super) fn preload_pass(&self) {
        self.standings.preload();
        preload_all(&self.unknown_in_sight);
        preload_all(&self.tracked);
        preload(&self.joining);
        preload(&self.view.sight);
        preload(&self.last_blob);
    }

    /// Preloads the lists that every pass reads. The argument `reads_known` says whether the known objects
    /// are among them.
    pub(super) fn preload_lists(&self, reads_known: bool) {
        if reads_known {
            self.standings.known().preload();
        }
        self.view.sight.iter().for_each(|sight| preload_all(&**sight));
    }

    /// Preloads the memory to which the lists point. This reads the memory that
    /// [`preload_lists`](Self::preload_lists) has preloaded, so call it only after that memory has had time
    /// to arrive.
    pub(super) fn preload_next(&self) {
        self.view.sight.iter().for_each(|sight| preload_all(sight.spans()));
    }

    /// Returns whether the client may have an object now, as [`View::sees`] decides. If an object is torn
    /// off, the clients that saw it at that moment see it until they have its last state, unless it or an
    /// object above it is hidden from them. A client does not see a paused object of which it was sent
    /// nothing yet. The argument `ring` is what [`View::ring_of`] returns.
    pub(crate) fn sees(&self, world: &World, slot: u32, ring: Option<Ring>) -> bool {
        if self.view.is_tearing_off(slot) {
            let mut above = std::iter::successors(Some(slot), |&slot| world.subobjects.parent(slot));
            return !above.any(|slot| self.view.hidden.contains(slot));
        }
        self.view.sees(world, slot, ring, |slot| self.is_expected(slot) && !self.is_leaving(slot))
            && !self.waits_for_pause(world, slot)
    }

    /// Returns whether the client does not receive an object, because this object or an object to which it is
    /// attached is paused, and nothing of the paused object was sent yet.
    fn waits_for_pause(&self, world: &World, slot: u32) -> bool {
        let waits = |slot: u32| self.view.is_paused(world, slot) && !self.was_begun(slot);
        self.view.has_pauses(world) && world.cells.carriers(slot).any(waits)
    }

    /// Returns whether data of an object was sent, and the client is not about to remove the object.
    fn was_begun(&self, slot: u32) -> bool {
        let is_unsent =
            self.is_waiting_spawn(slot) || self.tracked.get(slot).is_some_and(Tracked::is_untouched);
        self.is_known(slot) && !is_unsent && !self.is_closed_unacked(slot) && !self.is_leaving(slot)
    }

    /// Returns the sight of the client, so that the caller can change it. The caller must then show or remove
    /// the objects that came into sight or went out of sight.
    pub(super) fn sight_mut(&mut self) -> &mut Sight {
        self.view.sight.get_or_insert_default()
    }

    pub(super) fn is_in(&self, group: Group) -> bool {
        self.view.is_in(group)
    }

    /// Removes and returns the sight of the client.
    pub(super) fn take_sight(&mut self) -> Option<Box<Sight>> {
        self.view.sight.take()
    }

    /// Returns the handles of an object that an opening (first update) for this client would contain if it
    /// were sent now.
    pub(super) fn opening_mask(&self, world: &World, slot: u32) -> HandleSet {
        if self.tracked.get(slot).is_some_and(|tracked| tracked.arrived_late) {
            return self.mask(world, slot);
        }
        self.view.opening_mask(world, slot)
    }

    /// Returns the handles of an object that may be sent to the client now: the handles that the client may
    /// see, and the collections whose items did not fit into an opening. Such a collection is not sent if
    /// even an opening may not contain it now.
    pub(super) fn mask(&self, world: &World, slot: u32) -> HandleSet {
        let mut mask = self.view.mask(world, slot);
        if let Some(owed) = self.tracked.get(slot).and_then(|tracked| tracked.owed.as_ref()) {
            let mut visible = self.view.opening_mask(world, slot);
            visible.intersect(owed);
            mask.union(&visible);
        }
        mask
    }

    /// Returns the state of a tracked object.
    pub(super) fn get(&self, slot: u32) -> Option<&Tracked> {
        self.tracked.get(slot)
    }

    /// Returns whether the client has an object, is receiving it, or must still remove it.
    pub(super) fn is_known(&self, slot: u32) -> bool {
        self.standings.known().contains(slot)
    }

    /// Returns the lowest slot in which the client has no object.
    pub(super) fn first_unknown(&self) -> u32 {
        self.standings.known().first_absent()
    }

    /// Returns whether the client has everything of an object and sees it in the default view, so that shared
    /// segments can update it.
    #[inline]
    pub(super) fn is_in_step(&self, slot: u32) -> bool {
        self.standings.is_in_step(slot)
    }

    /// Returns whether the client may not see an object now, so that the next tick closes it.
    pub(super) fn is_leaving(&self, slot: u32) -> bool {
        self.view.undecided().is_some_and(|undecided| undecided.leaving.contains(slot))
    }

    pub(super) fn last_state(&self, slot: u32) -> Option<&Arc<LastState>> {
        self.view.last_states()?.get(slot)
    }

    pub(super) fn is_pending_spawn(&self, slot: u32) -> bool {
        self.standings.is_pending(slot)
    }

    /// Returns whether an object is a plain removal: only a closing without other data must be sent for it.
    pub(crate) fn is_removed_plainly(&self, slot: u32) -> bool {
        self.standings.plain_removals().contains(slot)
    }

    /// Returns whether the client has an object or is receiving it, so that changes of the object must be
    /// sent.
    pub(super) fn takes_changes(&self, slot: u32) -> bool {
        let phase = self.tracked.get(slot).map_or(Phase::Open, |tracked| tracked.phase);
        let is_here = self.standings.known().contains(slot) && !self.is_removed_plainly(slot);
        is_here && matches!(phase, Phase::Open | Phase::Opening)
    }

    /// Returns whether the client has acknowledged that it has received an object.
    pub(super) fn has_arrived(&self, slot: u32) -> bool {
        let is_open = self.tracked.get(slot).is_none_or(|tracked| tracked.phase == Phase::Open);
        let is_partly_here = self.standings.is_pending(slot) || self.is_removed_plainly(slot);
        self.standings.known().contains(slot) && is_open && !is_partly_here
    }

    /// Returns whether the client lacks an object, or may lack it, and an opening (first update) may be sent.
    pub(super) fn is_to_arrive(&self, slot: u32) -> bool {
        self.is_waiting_spawn(slot)
            || self.is_expected(slot) && !self.has_arrived(slot) && !self.is_closed_unacked(slot)
    }

    pub(super) fn is_closed_unacked(&self, slot: u32) -> bool {
        self.tracked.get(slot).is_some_and(Tracked::is_closing) || self.is_removed_plainly(slot)
    }

    /// Returns whether the client has an object or will receive it.
    pub(super) fn is_expected(&self, slot: u32) -> bool {
        let is_lost = self
            .tracked
            .get(slot)
            .is_some_and(|tracked| tracked.is_closing() && tracked.after_closing != AfterClosing::Reopen);
        self.standings.known().contains(slot) && !is_lost && !self.is_removed_plainly(slot)
    }

    /// Returns whether all objects in `slots`, which exist, are in step (up to date, in the default view)
    /// with this connection. `spawned` is the number of objects that were spawned so far.
    #[inline]
    pub(super) fn are_in_step(&self, slots: &SlotSet, spawned: u64) -> bool {
        let (known, out_of_step) = (self.standings.known(), self.standings.out_of_step());
        known.include(slots, spawned) && out_of_step.masks_in(slots).next().is_none()
    }

    /// Checks whether the client has all objects that exist, and stores the result, as
    /// [`Standings::find_complete`] describes.
    pub(super) fn find_complete(&mut self, alive: &SlotSet, spawned: u64) {
        self.standings.find_complete(alive, spawned);
    }

    /// Replaces `may_be_out_of_step` by the places of the cells of those objects in `changed` that may be out
    /// of step (not up to date, or in another view). All other objects in near cells are in step.
    pub(super) fn cells_out_of_step(
        &self,
        world: &World,
        changed: &SlotSet,
        may_be_out_of_step: &mut Vec<StripPlace>,
    ) {
        may_be_out_of_step.clear();
        let unknown = self.unknown_in_sight.masks_in(changed);
        for (word, mask) in self.standings.out_of_step().masks_in(changed).chain(unknown) {
            may_be_out_of_step
                .extend(slots_of(word, mask).filter_map(|slot| world.cells.place_in_sight(slot)));
        }
        may_be_out_of_step.sort_unstable();
    }

    /// Returns the objects among the 64 slots of a word that are in step, as a bit mask.
    #[inline]
    pub(super) fn in_step_in(&self, word: usize) -> u64 {
        self.standings.in_step_in(word)
    }

    /// Returns whether nothing must be encoded separately for this client, except pending spawns (objects new
    /// to the client).
    pub(super) fn has_nothing_to_send(&self) -> bool {
        self.standings.to_send().is_empty()
    }

    /// Returns whether nothing must be sent, and no object is about to fall asleep or to be torn off.
    pub(super) fn is_at_rest(&self) -> bool {
        self.has_nothing_to_send()
            && !self.has_waiting_spawns()
            && self.sleep.as_ref().is_none_or(|sleep| sleep.is_at_rest())
            && !self.view.tears_off()
    }

    /// Returns whether an object is a pending spawn that was not sent yet.
    #[inline]
    pub(super) fn is_waiting_spawn(&self, slot: u32) -> bool {
        self.standings.unsent().contains(slot)
    }

    pub(super) fn has_waiting_spawns(&self) -> bool {
        !self.standings.unsent().is_empty()
    }

    pub(super) fn waiting_spawns(&self) -> impl Iterator<Item = u32> {
        self.standings.unsent().iter()
    }

    /// Returns the objects that need their opening (first update) again with each change. Their opening was
    /// sent, but is not acked yet, and is [small](Tracked::repeats_opening). Costs O(known objects that are
    /// out of step).
    pub(super) fn repeated_openings(&self) -> impl Iterator<Item = u32> {
        let (out_of_step, unsent) = (self.standings.out_of_step(), self.standings.unsent());
        let sent = out_of_step.masks().flat_map(|(word, mask)| slots_of(word, mask & !unsent.word(word)));
        sent.filter(move |&slot| {
            self.standings.is_pending(slot)
                || self.tracked.get(slot).is_some_and(|tracked| tracked.repeats_opening())
        })
    }

    /// Returns about how many bytes the states of tracked objects take on the heap. Costs O(objects changed
    /// since the last call).
    #[inline]
    pub(super) fn measure_memory(&mut self) -> usize {
        self.tracked.measure_memory()
            + self.sleep.as_ref().map_or(0, |sleep| sleep.heap_bytes())
            + self.view.last_states().map_or(0, |states| states.held_bytes())
            + self.view.ends_told_bytes()
            + self.view.verdicts.as_ref().map_or(0, |verdicts| verdicts.seen.heap_bytes())
    }

    /// Returns whether all objects that existed when the client connected have arrived. The caller states
    /// that all packets before `floor` were acknowledged or counted as lost, and that `next` is the next
    /// packet to send. Costs O(objects that have not arrived).
    pub(super) fn has_joined(&mut self, floor: Sequence, next: Sequence) -> bool {
        self.joining.is_over(&self.standings, &self.tracked, floor, next)
    }

    /// Begins the session for the objects of the mask `alive`. The client sees only the objects in `seen`.
    /// The openings of the objects in `statics` are never shared, because they have paths. Returns the
    /// objects that are sent as pending spawns, and the objects that must be [shown](Self::show) one by one.
    pub(super) fn begin(&mut self, word: usize, alive: u64, seen: u64, statics: u64) -> (u64, u64) {
        let shown = alive & seen;
        self.joining.begin(word, shown);
        let spawns = shown & self.view.default_openings_in(word) & !statics;
        self.standings.begin(word, spawns);
        (spawns, shown & !spawns)
    }

    /// Begins to send an object to the client, in the packet `since` or a later packet. The argument
    /// `is_static` says whether the object has a path, so that its opening is never shared, and `is_newborn`
    /// whether no packet has contained anything of it. Returns `false` if the client has the object already,
    /// or must still remove it.
    pub(super) fn show(&mut self, slot: u32, since: Sequence, is_static: bool, is_newborn: bool) -> bool {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && tracked.is_closing()
        {
            tracked.after_closing = AfterClosing::Reopen;
            return false;
        }
        if self.standings.known().contains(slot) {
            return false;
        }
        self.unknown_in_sight.remove(slot);
        let may_be_pending = !is_static && self.view.is_default_opening(slot);
        if !self.standings.show(slot, may_be_pending, is_newborn) {
            self.tracked.entry(slot, || Tracked { phase: Phase::Unsent, since, ..Tracked::default() });
        }
        self.check(slot);
        true
    }

    /// Begins to send an object that was just spawned, and that all clients see alike. Returns `false` and
    /// changes nothing if this client has settings of its own for objects.
    #[inline]
    pub(super) fn show_newborn(&mut self, world: &World, slot: u32) -> bool {
        let is_default =
            self.view.shares_openings() && self.view.is_plain(slot) && !self.view.is_hidden(world, slot);
        if is_default {
            let is_pending = self.standings.show(slot, true, true);
            debug_assert!(is_pending, "what is newborn is new to the client");
            self.check(slot);
        }
        is_default
    }

    /// Records that an object is no longer hidden from the client. If the session has begun, the caller must
    /// [show](Self::show) the object.
    pub(super) fn unhide(&mut self, slot: u32) {
        self.view.hidden.remove(slot);
    }

    /// Records whether an object that the client must not have is in a cell in sight of the client.
    pub(super) fn set_unknown_in_sight(&mut self, slot: u32, is_in_sight: bool) {
        self.unknown_in_sight.set(slot, is_in_sight);
    }

    /// Fills `unknown_in_sight` at the start of the session, with the objects in cells in sight that are not
    /// known.
    pub(super) fn find_unknown_in_sight(&mut self, world: &World) {
        let cells = self.view.sight.iter().flat_map(|sight| sight.cells());
        let in_sight = cells.filter(|(_, ring)| *ring == Ring::InSight);
        let members = in_sight.flat_map(|(cell, _)| world.cells.members(cell));
        for &slot in members.filter(|slot| !self.standings.known().contains(**slot)) {
            self.unknown_in_sight.insert(slot);
        }
    }

    /// Records that the client receives the shared data of an object, so that the cell of the object is open.
    pub(super) fn open_cell(&mut self, world: &World, slot: u32) {
        if let (Home::Cell(cell), Some(sight)) = (world.cells.home(slot), &mut self.view.sight) {
            sight.open(&world.cells, cell);
        }
    }

    /// Records that data of an object must be sent, encoded separately for this client, not in shared
    /// segments or tables.
    pub(super) fn must_send(&mut self, slot: u32) {
        self.standings.must_send(slot);
    }

    /// Makes an object tracked, for example a pending spawn (an object new to the client). The object must be
    /// known: the client has it, is receiving it, or must still remove it. Returns the state of the object.
    fn track(&mut self, slot: u32) -> &mut Tracked {
        debug_assert!(self.standings.known().contains(slot), "tracked objects are known");
        let phase = self.standings.track(slot);
        self.tracked.entry(slot, || {
            let (phase, is_opening) = (phase.unwrap_or_default(), phase == Some(Phase::Opening));
            // The openings of pending spawns are small, and their exact sizes are not stored. One bit stands
            // for any small size.
            Tracked {
                phase,
                open_bits: is_opening.into(),
                opened_with_items: is_opening,
                ..Tracked::default()
            }
        })
    }

    /// Decides whether an object is in step (up to date, in the default view), and whether it must still be
    /// tracked. Call `update_step` only when nothing that can be sent waits for this object.
    pub(super) fn update_step(&mut self, slot: u32) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.drop_arrived_owed();
        }
        let tracked = self.tracked.get(slot);
        let is_up_to_date = match tracked {
            Some(tracked) => tracked.is_up_to_date(),
            None => self.has_arrived(slot),
        };
        let is_plain = tracked.is_some_and(Tracked::is_plain);
        let has_new_elements = tracked.is_some_and(|tracked| !tracked.new_elements.is_empty());
        self.standings.settle(slot, is_up_to_date && self.view.is_shared(slot), has_new_elements);
        if is_up_to_date && is_plain {
            self.tracked.remove(slot);
        }
        self.check(slot);
    }

    /// Forgets the slots in which the client has removed objects. Call this only when no packet is in flight
    /// and late acks have no effect any more: then no packet can be about the removed objects.
    pub(super) fn forget_used_slots(&mut self) {
        self.standings.forget_used();
    }

    /// Does the same as [`forget_used_slots`](Self::forget_used_slots) for objects that the client removed
    /// long ago, as [`Standings::forget_used_before`] describes.
    pub(super) fn forget_used_before(&mut self, floor: Sequence, next: Sequence) -> Option<Sequence> {
        self.standings.forget_used_before(floor, next)
    }

    /// Frees memory that was not needed recently.
    pub(super) fn end_round(&mut self) {
        self.tracked.end_round();
        self.standings.end_round();
        self.unknown_in_sight.shrink();
    }

    /// Asserts that the sets in `ObjectStates` agree about one object.
    fn check(&self, slot: u32) {
        if !cfg!(debug_assertions) {
            return;
        }
        let (known, in_step) = (self.is_known(slot), self.is_in_step(slot));
        let (pending, is_shared) = (self.is_pending_spawn(slot), self.view.is_shared(slot));
        match self.tracked.get(slot) {
            Some(tracked) => {
                assert!(known && !pending, "it is tracked, so it is known and no pending spawn");
                assert!(!in_step || is_shared && tracked.is_up_to_date(), "what is in step lacks nothing");
                let has_blob = tracked.blob.is_some() && self.last_state(slot).is_none();
                let has_more = tracked.lacks_values() || has_blob;
                assert!(!tracked.is_closing() || !has_more, "only a last state is sent of what is closing");
            }
            None if known && !pending && !self.is_removed_plainly(slot) => {
                assert_eq!(in_step, is_shared, "what has arrived is in step, if the view is the default");
            }
            None => assert!(!in_step, "what has not arrived is out of step"),
        }
        let leaves = !self.is_expected(slot) || self.is_leaving(slot);
        assert!(!self.view.hidden.contains(slot) || !known || leaves, "what is hidden leaves or is closed");
        let has_elements = self.standings.with_new_elements().contains(slot);
        assert!(!has_elements || self.tracked.get(slot).is_some(), "new elements are of tracked objects");
    }
}
