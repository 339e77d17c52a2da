//! The data and the memory that a connection needs to send the packets of one tick.
//!
//! *Invariant:* only the reusable memory is kept from one tick to the next.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use repl_core::{BitWriter, Changelist, Rendition, WriteRecipe};
use repl_link::parts::Draft;

use super::copies::bases::ClientBases;
use crate::body::State;
use crate::body::growth::{Demand, shrink};
use crate::body::parent::PARENT_BITS;
use crate::body::role::PROXY_BITS;
use crate::body::slot_set::SlotSet;
use crate::server::broadcast::{Broadcast, Piece};
use crate::server::cells::strips::StripPlace;
use crate::server::world::{Unneeded, World};
use crate::session::classes::ClassList;

/// The greatest number of bits of an opening (first update) without its handles and values. Such an opening
/// consists of the origin of the object, and the number of objects in the run.
pub(super) const OPEN_BITS: usize = 64 + 32 + 64 + 3 + PROXY_BITS + PARENT_BITS;

/// The parts of the server that a connection uses when it sends the packets of a tick.
pub(crate) struct PassContext<'a> {
    pub(crate) world: &'a World,
    pub(crate) broadcast: &'a Broadcast,
    pub(crate) classes: &'a ClassList,
    pub(crate) scratch: &'a mut PassScratch,
    pub(crate) now: Duration,
    /// The timeout of the session: the shorter one of the server's and the client's timeouts.
    pub(crate) timeout: Duration,
}

impl PassContext<'_> {
    /// Records parts of an object that the connection no longer needs. They are freed after the passes of all
    /// connections.
    pub(super) fn free_later(&mut self, slot: u32, unneeded: impl IntoIterator<Item = Unneeded>) {
        self.scratch.unneeded.extend(unneeded.into_iter().map(|part| (slot, part)));
    }
}

/// Memory that all connections reuse in every tick.
#[derive(Debug, Default)]
pub(crate) struct PassScratch {
    /// The packet that is being filled.
    pub(super) draft: Box<Draft<State>>,
    pub(super) values: BitWriter,
    /// How those of the last values were written that are sent as differences, by their handles.
    pub(super) renditions: Vec<(u32, Rendition)>,
    /// The recipe with which values were last encoded separately for one connection. It is reused if the same
    /// properties are encoded again.
    recipe: WriteRecipe,
    /// The assets to which the values refer that were written for the connection in this pass.
    pub(super) named_assets: Vec<NonZeroU32>,
    pub(super) slots: Vec<u32>,
    /// How many elements of `slots` recent ticks needed.
    slots_demand: Demand,
    /// The objects in step (up to date, in the default view) whose changes of this tick were neither sent nor
    /// postponed yet. Empty unless limits of the connection delayed something in the last tick.
    pub(super) fresh: SlotSet,
    /// The top objects of the families (objects with their subobjects) whose openings or closings (removals)
    /// the connection does not send together in this pass.
    pub(super) large_families: BTreeSet<u32>,
    /// The objects that wait to be sent to a connection, as their ranks (sort keys).
    pub(super) order: Vec<u64>,
    pub(super) pieces: Vec<Piece>,
    /// The places of cells with objects that may be out of step (not up to date, or in another view).
    pub(super) may_be_out_of_step: Vec<StripPlace>,
    /// The entries of a table that are copied into packets.
    pub(super) runs: Vec<Range<u32>>,
    /// The parts of objects that connections no longer need. They are freed after the passes of all
    /// connections.
    pub(crate) unneeded: Vec<(u32, Unneeded)>,
    /// Objects for which the end of the pass checks whether they are in step now.
    pub(super) maybe_in_step: Vec<u32>,
}

impl PassScratch {
    /// Writes the values of the properties in a changelist to `values`, separately for one connection. If a
    /// hand-written serialiser refuses a value, removes its change from `list`. Returns the removed changes.
    pub(super) fn write_values(
        &mut self,
        slot: u32,
        list: &mut Changelist,
        bases: &ClientBases,
        world: &World,
    ) -> Changelist {
        let Self { values, recipe, named_assets, renditions, .. } = self;
        values.clear();
        bases.renditions(slot, list, world, renditions);
        values.set_renditions(renditions);
        let refused = world.store.write_values(slot, list, recipe, values);
        if !refused.is_empty() {
            renditions.retain(|(handle, _)| list.handles().contains(*handle));
        }
        named_assets.extend(values.named_assets());
        refused
    }

    /// Stores the list of slots until it is needed again.
    pub(super) fn store_slots(&mut self, slots: Vec<u32>) {
        self.slots_demand.note(slots.len());
        self.slots = slots;
    }

    /// Frees the memory for slots that was not needed recently: a client that joins needs it for all objects.
    pub(crate) fn end_round(&mut self) {
        self.named_assets = Vec::new();
        self.slots.clear();
        shrink(&mut self.slots, self.slots_demand.end_round(0));
    }
}
