//! The last state of an object that is removed from the server. It contains the values that some clients do
//! not have yet.
//!
//! The values are encoded when the object is removed, because its row does not exist afterwards. They never
//! change, so the same bits are sent again after a loss. Connections that lack the same properties share one
//! last state.
//!
//! *Invariant:* a last state has only properties that the client could see when the object was removed.

use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::wire::write_handles;
use repl_core::{BitSlice, BitWriter, Changelist, WriteRecipe};

use super::cells::area::Ring;
use super::cells::rule::Rule;
use super::cells::{Group, Relevancy};
use super::world::World;

/// The last state of an object, in the form in which it is sent to clients.
#[derive(Debug)]
pub(crate) struct LastState {
    /// The handles and values, encoded.
    bytes: Box<[u8]>,
    bits: usize,
    groups: Arc<Groups>,
    named_assets: Box<[NonZeroU32]>,
}

/// The groups because of which clients see an object, as relevancies that are only about groups.
#[derive(Debug, Default)]
struct Groups {
    /// From the relevancy of the object, and from the relevancy of the objects to which it is attached. The
    /// owner of the object need not be a member.
    of_relevancy: Vec<Relevancy>,
    /// From the audience of the object, and from the audiences of the objects to which it is attached.
    of_audience: Vec<Relevancy>,
}

impl LastState {
    pub(crate) fn as_slice(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bits).unwrap_or_default()
    }

    /// Returns whether a client that has left `group` may not see the object any more. `is_in` says in which
    /// groups the client still is, and `is_owner` whether it owns the object.
    pub(crate) fn needs_group(&self, group: Group, is_in: impl Fn(Group) -> bool, is_owner: bool) -> bool {
        let of_part = |part: &Relevancy| match part {
            Relevancy::Group(group) => is_in(*group).then_some(Ring::InSight),
            _ => None,
        };
        let is_lost =
            |relevancy: &Relevancy| relevancy.names_group(group) && relevancy.ring(&of_part).is_none();
        self.groups.of_audience.iter().any(is_lost)
            || !is_owner && self.groups.of_relevancy.iter().any(is_lost)
    }

    pub(crate) fn named_assets(&self) -> &[NonZeroU32] {
        &self.named_assets
    }

    /// Returns about how many bytes the state takes.
    pub(crate) fn held_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.len() + size_of_val(&*self.named_assets)
    }
}

pub(crate) struct LastFamily {
    /// The slots of the objects that exist. Parents come before their subobjects.
    pub(crate) slots: Vec<u32>,
    /// The last changes of the objects in `slots`, in the same order.
    pub(crate) objects: Vec<LastChanges>,
    /// The slots of subobjects that were removed before, but that some clients may still have.
    pub(crate) leaving: Vec<u32>,
}

impl LastFamily {
    /// Compares an object that is about to be removed, and its subobjects, for the last time.
    pub(crate) fn of(world: &mut World, slot: u32) -> Self {
        let is_alive = |slot: &u32| world.store.occupant(*slot).alive;
        let (slots, leaving): (Vec<u32>, Vec<u32>) =
            world.subobjects.with_descendants(slot).into_iter().partition(is_alive);
        let objects = slots.iter().map(|&slot| LastChanges::of(world, slot)).collect();
        Self { slots, objects, leaving }
    }
}

/// The last changes of an object that is being removed, and the last states that were encoded for its
/// clients.
pub(crate) struct LastChanges {
    /// The properties that have changed since the last tick.
    pub(crate) changes: Changelist,
    /// Whether the object has changed since it was spawned.
    pub(crate) has_changed: bool,
    /// Whether clients that have the object must only be told of its removal: the object never changed since
    /// it was spawned, has no properties with conditions, and has no path.
    pub(crate) is_plain: bool,
    pub(crate) slot: u32,
    /// The number of connections that still need the slot, until their clients have acknowledged the removal
    /// of the object.
    pub(crate) holders: u32,
    /// The groups of the object. They are found when the first state is encoded.
    groups: Option<Arc<Groups>>,
    /// The last states that were encoded so far, each with the changelist that it was encoded for.
    encoded: Vec<(Changelist, Arc<LastState>)>,
}

impl LastChanges {
    /// Compares an object that is about to be removed, for the last time.
    pub(crate) fn of(world: &mut World, slot: u32) -> Self {
        let changes = world.compare_last(slot);
        let has_changed = !changes.is_empty() || world.changes.has_ever_changed(slot);
        let is_static = world.paths.is_static(slot);
        let is_plain = !has_changed && !is_static && !world.store.conditions(slot).is_conditional();
        Self { changes, has_changed, is_plain, slot, holders: 0, groups: None, encoded: Vec::new() }
    }

    /// Returns the last state with the properties in a changelist, or `None` if none of these properties can
    /// be sent.
    pub(crate) fn encode(&mut self, world: &World, mut list: Changelist) -> Option<Arc<LastState>> {
        if let Some((_, state)) = self.encoded.iter().find(|(known, _)| *known == list) {
            return Some(Arc::clone(state));
        }
        let key = list.clone();
        let (mut values, mut writer) = (BitWriter::new(), BitWriter::new());
        world.store.write_values(self.slot, &mut list, &mut WriteRecipe::default(), &mut values);
        if list.is_empty() {
            return None;
        }
        let count = world.store.column_of(self.slot).program().handles();
        write_handles(list.handles(), count, false, &mut writer);
        writer.append(values.as_slice());
        let groups = self.groups.get_or_insert_with(|| groups_of(world, self.slot));
        let (bits, groups) = (writer.bit_len(), Arc::clone(groups));
        let named_assets = values.named_assets().into();
        let state = Arc::new(LastState { bytes: writer.into_bytes().into(), bits, groups, named_assets });
        self.encoded.push((key, Arc::clone(&state)));
        Some(state)
    }
}

fn groups_of(world: &World, slot: u32) -> Arc<Groups> {
    let mut groups = Groups::default();
    for carrier in world.cells.carriers(slot) {
        match world.cells.rule(carrier) {
            Rule::Group(group) => groups.of_relevancy.push(group.into()),
            rule => {
                let combination = world.cells.combination(rule);
                groups.of_relevancy.extend(combination.and_then(Relevancy::of_groups));
            }
        }
        let audience = world.audiences.get(&carrier);
        groups.of_audience.extend(audience.and_then(Relevancy::of_groups));
    }
    Arc::new(groups)
}
