//! All objects of a client, with their classes.
//!
//! *Invariant:* an object is in the column of its class and also in the table of slots, or in neither of
//! them.

mod applier;
mod assets;
mod effects;
mod inspection;
mod out_of_sight;
mod placed;
mod reception;
mod sessions;
mod torn_off;
mod updates;
mod validator;
mod view;

use std::any::TypeId;

use repl_core::{Checked, Epoch, Guid, HandleSet, ObjectRef, Objects, ReadRecipe, Replicated};
use repl_link::parts::ChannelTerms;

use super::departed::Departed;
use super::kept_bases::KeptBases;
use super::mentions::Mentions;
use super::outcome::Outcome;
use super::path_table::PathTable;
use super::replica::{ReceivedNotify, Replica, TypedReplica};
use super::slot_table::SlotTable;
use super::validated_entries::ValidatedEntries;
use crate::body::reassembly::Reassembly;
use crate::body::removal::CloseReason;
use crate::body::segment::PreviousLists;
use crate::body::slot_set::SlotSet;
use crate::inspect::traffic::Traffic;
use crate::session::classes::{ClassList, assert_sole_name};
use crate::session::config::ClientConfig;
use crate::session::type_map::TypeMap;
use crate::updates::queue::Updates;
use crate::updates::update::UpdateKind;

pub use placed::Placed;

/// An object that the current packet has created or changed, for its callbacks.
#[derive(Debug)]
struct ChangedObject {
    slot: u32,
    is_new: bool,
    notified: Vec<ReceivedNotify>,
}

impl ChangedObject {
    /// Returns the record of the object in `slot` and in the row `row` of `column`. The values of `handles`
    /// were already applied to it.
    fn of(column: &dyn Replica, (slot, row): (u32, u32), is_new: bool, handles: &HandleSet) -> Self {
        let mut notified = Vec::new();
        column.changed(row, handles, &mut notified);
        Self { slot, is_new, notified }
    }
}

/// All classes and objects of a client.
pub(crate) struct Replicas {
    columns: Vec<Box<dyn Replica>>,
    by_type: TypeMap<u16>,
    pub(crate) classes: ClassList,
    slots: SlotTable,
    pub(crate) paths: PathTable,
    mentions: Mentions,
    /// The values to which differences are applied.
    kept_bases: KeptBases,
    reassembly: Reassembly,
    max_object_bytes: usize,
    max_out_of_sight: usize,
    pub(crate) traffic: Option<Traffic>,
    /// Whether each update is applied by a walk over its class, without recipes (for tests).
    pub(crate) walks_only: bool,
    previous: PreviousLists,
    seen: SlotSet,
    /// The objects that the current packet creates and removes, as far as the packet was validated.
    outcome: Outcome,
    checked: Checked,
    /// The validated entries of the current packet.
    contents: ValidatedEntries,
    touched: Vec<ChangedObject>,
    /// The guids of objects that the current packet created or removed.
    created_or_removed: Vec<Guid>,
    departed: Departed,
    /// The updates that the user has not polled yet.
    updates: Updates,
}

impl Replicas {
    pub(crate) fn new(config: &ClientConfig) -> Self {
        let ClientConfig { max_objects, max_assets, max_object_bytes, max_out_of_sight, measure, .. } =
            *config;
        Self {
            columns: Vec::new(),
            by_type: TypeMap::default(),
            classes: ClassList::default(),
            slots: SlotTable::new(max_objects, max_assets),
            paths: PathTable::default(),
            mentions: Mentions::default(),
            kept_bases: KeptBases::default(),
            reassembly: Reassembly::default(),
            max_object_bytes,
            max_out_of_sight,
            traffic: measure.then(Traffic::default),
            walks_only: false,
            previous: PreviousLists::default(),
            seen: SlotSet::up_to(max_objects),
            outcome: Outcome::new(max_objects),
            checked: Checked::new(),
            contents: ValidatedEntries::default(),
            touched: Vec::new(),
            created_or_removed: Vec::new(),
            departed: Departed::default(),
            updates: Updates::default(),
        }
    }

    #[track_caller]
    pub(crate) fn register<T: Replicated>(&mut self) -> &mut TypedReplica<T> {
        let columns = &mut self.columns;
        let class = *self.by_type.entry(TypeId::of::<T>()).or_insert_with(|| {
            let mut known = columns.iter().map(|column| column.program().layout());
            assert_sole_name(T::LAYOUT.table(), &mut known);
            columns.push(Box::new(TypedReplica::<T>::new()));
            (columns.len() as u16).saturating_sub(1)
        });
        let column = self.columns.get_mut(class as usize);
        let Some(column) = column.and_then(|column| column.as_any_mut().downcast_mut()) else {
            unreachable!("`by_type` names the column of the type");
        };
        column
    }

    /// Assigns to each class the number that identifies it on the wire.
    pub(crate) fn number_classes(&mut self, messages: impl Iterator<Item = ChannelTerms>) {
        let entries = self.columns.iter().map(|column| (column.program().layout(), column.begin_sums()));
        self.classes = ClassList::new(entries, messages);
        if let Some(traffic) = &mut self.traffic {
            traffic.set_layouts(self.columns.iter().map(|column| column.program().layout()));
        }
    }

    pub(crate) fn typed<T: Replicated>(&self) -> Option<&TypedReplica<T>> {
        self.columns.get(*self.by_type.get(&TypeId::of::<T>())? as usize)?.as_any().downcast_ref()
    }

    fn class_and_row_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<(u16, u32)> {
        let guid = self.slots.epoch().to_wire(object.guid()?)?;
        let is_in_slot = self.slots.generation(guid.slot()) == Some(guid.generation());
        is_in_slot.then(|| self.slots.class_and_row(guid.slot())).flatten()
    }

    pub(crate) fn objects(&self) -> &dyn Objects {
        &self.slots
    }

    /// Returns whether an object that does not exist on this client may still arrive. The argument is the
    /// object's guid on the wire.
    pub(crate) fn may_come(&self, guid: Guid) -> bool {
        self.slots.may_come(guid)
    }

    /// Removes the object in a slot, if there is one, and returns its guid on the wire. If the user has
    /// placed the object, the client keeps it as a placed object.
    fn close(&mut self, slot: u32, reason: CloseReason) -> Option<Guid> {
        let generation = self.slots.generation(slot)?;
        let (class, row) = self.slots.class_and_row(slot)?;
        let known = self.slots.known_in(slot)?;
        let placed = self.paths.bound_path(slot).cloned();
        let column = self.columns.get_mut(class as usize)?;
        let moved = match &placed {
            Some(path) => column.unbind(row, path.clone()),
            None => column.remove(row, known),
        };
        if let Some(moved) = moved {
            self.slots.set_row(moved, row);
        }
        if placed.is_none() {
            self.depart((known, class), self.parent_of(slot));
        }
        self.slots.close(slot, reason.may_return());
        self.paths.set_bound(slot, false);
        self.mentions.remove_object(slot);
        self.kept_bases.remove(slot);
        let what = placed.map_or(UpdateKind::Despawned(reason), UpdateKind::Unbound);
        if let Some(column) = self.columns.get(class as usize) {
            self.updates.push(ObjectRef::new(known), what, column.program());
        }
        Some(Guid::new(slot, generation))
    }

    /// Returns the parent of the object that the client has of a slot.
    fn parent_of(&self, slot: u32) -> Option<ObjectRef<()>> {
        let parent = self.slots.families.parent(slot)?;
        self.slots.kept_in(parent).map(ObjectRef::new)
    }

    /// Keeps a removed object of a class, so that the user can still read it. `parent` is its parent if it
    /// was a subobject. If a removed object with the same guid and another class can still be read, that
    /// object is dropped.
    fn depart(&mut self, (guid, class): (Guid, u16), parent: Option<ObjectRef<()>>) {
        if let Some(former) = self.departed.insert(guid, class, parent)
            && let Some(column) = self.columns.get_mut(former as usize)
        {
            column.release(guid);
        }
    }

    /// Returns the epoch: the number that was added to the generations in the references that the user has.
    pub(crate) fn epoch(&self) -> Epoch {
        self.slots.epoch
    }

    /// Returns what resolves references on the wire.
    pub(crate) fn resolver(&self) -> &impl Objects {
        &self.slots
    }

    /// Returns a recipe that reads the properties `handles`, or `None` if they must be read by a walk over
    /// the program of the class.
    fn recipe(&self, column: &dyn Replica, handles: &HandleSet) -> Option<ReadRecipe> {
        if self.walks_only { None } else { column.recipe(handles) }
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        Some(self.columns.get(self.classes.registered(class)?)?.program().handles())
    }

    fn archetypes_of(&self, class: u32) -> Option<u32> {
        Some(self.columns.get(self.classes.registered(class)?)?.archetypes())
    }
}
