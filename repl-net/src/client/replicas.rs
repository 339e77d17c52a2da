//! All objects of a client, with their classes. Validates and applies the bodies of packets.
//!
//! *Invariant:* a body is applied completely or not at all. A property never returns to a value that is older
//! than one it had (R1).

mod view;

use std::any::TypeId;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use repl_core::{
    BitReader, BitSlice, BitWriter, Checked, Guid, ObjectRef, Objects, Observer, ReferenceMap, Replicated,
};

use super::body::{BodyError, OpenHead, PropertyList, Visitor, walk};
use super::change_feed::ChangeFeed;
use super::departed::Departed;
use super::events::ClientEvents;
use super::mentions::Mentions;
use super::outcome::Outcome;
use super::replica::{Callback, ReceivedNotify, Replica, Subject, TypedReplica};
use super::slot_table::SlotTable;
use crate::session::classes::{ClassEntry, ClassList, assert_sole_name};
use crate::session::events::{ClientEvent, CloseReason};
use crate::session::traffic::Traffic;
use crate::transport::blob::MAX_BLOBS;
use crate::transport::reassembly::{Part, Reassembly};
use crate::transport::segment::PreviousLists;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::SlotSet;

/// An object whose references are being read again, because objects that they refer to came or went.
struct Rereading {
    slot: u32,
    class: u16,
    row: u32,
    /// The index of the object in `touched`.
    at: usize,
    /// The handle of the property that is being read again, or zero.
    handle: u32,
}

/// An object that the current packet changed.
#[derive(Debug)]
struct ChangedObject {
    slot: u32,
    is_new: bool,
    notified: Vec<ReceivedNotify>,
}

/// All classes and objects of a client.
pub(crate) struct Replicas {
    columns: Vec<Box<dyn Replica>>,
    by_type: HashMap<TypeId, u16>,
    pub(crate) classes: ClassList,
    slots: SlotTable,
    mentions: Mentions,
    reassembly: Reassembly,
    max_object_bytes: usize,
    pub(crate) traffic: Option<Traffic>,
    previous: PreviousLists,
    seen: SlotSet,
    /// The objects that the packet creates and removes, as far as the packet has been validated.
    outcome: Outcome,
    checked: Checked,
    touched: Vec<ChangedObject>,
    /// The guids of objects that the current packet created or removed.
    created_or_removed: Vec<Guid>,
    departed: Departed,
    /// The change feeds, by class. A class has one only if the user has asked for its changes.
    feeds: HashMap<u16, ChangeFeed>,
}

impl Replicas {
    pub(crate) fn new(max_objects: usize, max_object_bytes: usize, measure: bool) -> Self {
        Self {
            columns: Vec::new(),
            by_type: HashMap::new(),
            classes: ClassList::default(),
            slots: SlotTable::new(max_objects),
            mentions: Mentions::default(),
            reassembly: Reassembly::default(),
            max_object_bytes,
            traffic: measure.then(Traffic::default),
            previous: PreviousLists::default(),
            seen: SlotSet::up_to(max_objects),
            outcome: Outcome::new(max_objects),
            checked: Checked::new(),
            touched: Vec::new(),
            created_or_removed: Vec::new(),
            departed: Departed::default(),
            feeds: HashMap::new(),
        }
    }

    #[track_caller]
    pub(crate) fn register<T: Replicated>(&mut self) -> &mut TypedReplica<T> {
        let columns = &mut self.columns;
        let class = *self.by_type.entry(TypeId::of::<T>()).or_insert_with(|| {
            assert_sole_name::<T>(columns.iter().map(|column| column.program().layout()));
            columns.push(Box::new(TypedReplica::<T>::new()));
            (columns.len() as u16).saturating_sub(1)
        });
        let column = self.columns.get_mut(class as usize);
        let Some(column) = column.and_then(|column| column.as_any_mut().downcast_mut()) else {
            unreachable!("`by_type` names the column of the type");
        };
        column
    }

    /// Assigns a wire number to each class.
    pub(crate) fn number_classes(&mut self) {
        let entries =
            self.columns.iter().map(|column| ClassEntry::new(column.program().layout(), column.begin_sums()));
        self.classes = ClassList::new(entries);
        if let Some(traffic) = &mut self.traffic {
            traffic.set_layouts(self.columns.iter().map(|column| column.program().layout()));
        }
    }

    pub(crate) fn typed<T: Replicated>(&self) -> Option<&TypedReplica<T>> {
        self.columns.get(*self.by_type.get(&TypeId::of::<T>())? as usize)?.as_any().downcast_ref()
    }

    fn class_and_row_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<(u16, u32)> {
        let guid = object.guid()?;
        self.slots.contains(guid).then(|| self.slots.class_and_row(guid.slot())).flatten()
    }

    pub(crate) fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.class_and_row_of(object).is_some()
    }

    pub(crate) fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        let (class, row) = self.class_and_row_of(object)?;
        self.columns.get(class as usize)?.as_any().downcast_ref::<TypedReplica<T>>()?.live.get(row as usize)
    }

    pub(crate) fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        let (class, row) = self.class_and_row_of(object)?;
        let column = self.columns.get_mut(class as usize)?.as_any_mut();
        column.downcast_mut::<TypedReplica<T>>()?.borrow_for_user(row)
    }

    /// Validates the body of a packet and applies it.
    pub(crate) fn receive(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        body: &BitReader<'_>,
        events: &mut ClientEvents,
    ) -> Result<(), BodyError> {
        let mut parts = Vec::new();
        let first = Resolution::AnyObject(Cell::new(false));
        self.begin().validate(sequence, stamp, &mut body.clone(), Parts::Take(&mut parts), &first)?;
        let mut blobs = Vec::new();
        for part in parts {
            let stamp = part.stamp;
            if let Some(mut blob) = self.reassembly.take(part, self.max_object_bytes)? {
                let (checked, outcome) = (self.checked.mark(), self.outcome.mark());
                match self.validate(sequence, stamp, &mut blob.as_slice().reader(), Parts::Refuse, &first) {
                    Ok(()) => blobs.push((stamp, blob)),
                    Err(BodyError::Stale) => {
                        self.checked.truncate(checked);
                        self.outcome.truncate(outcome);
                    }
                    Err(halt) => return Err(halt),
                }
            }
        }
        self.outcome.sort();
        std::mem::swap(&mut self.slots.outcome, &mut self.outcome);
        let may_differ = self.checked.has_asked() && self.slots.outcome.closes_any();
        let is_settled = !(first.has_missed() || may_differ);
        let validated =
            if is_settled { Ok(()) } else { self.validate_again(sequence, stamp, body, &mut blobs) };
        if validated.is_ok() {
            self.apply(sequence, stamp, &mut body.clone(), events);
            for (stamp, mut blob) in blobs {
                self.apply(sequence, stamp, &mut blob.as_slice().reader(), events);
            }
        }
        self.slots.outcome.clear();
        validated?;
        self.reread_references();
        self.run_callbacks();
        Ok(())
    }

    /// Drops the state that belongs to the previous packet.
    fn begin(&mut self) -> &mut Self {
        self.seen.clear();
        self.outcome.clear();
        self.checked.clear();
        self
    }

    /// Validates a packet a second time: now references resolve to the objects that exist after the packet.
    /// Necessary if decoders of the user asked for objects that do not exist before the packet or that it may
    /// remove.
    #[cold]
    fn validate_again(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        body: &BitReader<'_>,
        blobs: &mut [(Sequence, BitWriter)],
    ) -> Result<(), BodyError> {
        self.begin().validate(sequence, stamp, &mut body.clone(), Parts::Skip, &Resolution::AfterPacket)?;
        for (stamp, blob) in blobs {
            self.validate(
                sequence,
                *stamp,
                &mut blob.as_slice().reader(),
                Parts::Refuse,
                &Resolution::AfterPacket,
            )?;
        }
        self.outcome.sort();
        if self.outcome.is_same(&self.slots.outcome) {
            Ok(())
        } else {
            Err(malformed("what comes and goes depends on how references read"))
        }
    }

    /// Validates a body. Changes no objects.
    fn validate(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        reader: &mut BitReader<'_>,
        parts: Parts<'_>,
        resolution: &Resolution,
    ) -> Result<(), BodyError> {
        let (mut previous, mut seen) = (std::mem::take(&mut self.previous), std::mem::take(&mut self.seen));
        let mut checked = std::mem::take(&mut self.checked);
        let mut outcome = std::mem::replace(&mut self.outcome, Outcome::new(0));
        let objects = ResolvingObjects { slots: &self.slots, resolution };
        let mut visitor = Validator {
            references: ReferenceMap::new(&objects),
            replicas: self,
            stamp,
            seen: &mut seen,
            outcome: &mut outcome,
            checked: &mut checked,
            parts,
        };
        let result = walk(sequence, reader, &mut previous, &mut visitor);
        (self.previous, self.seen, self.outcome, self.checked) = (previous, seen, outcome, checked);
        result
    }

    /// Applies a validated body.
    fn apply(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        reader: &mut BitReader<'_>,
        events: &mut ClientEvents,
    ) {
        let mut previous = std::mem::take(&mut self.previous);
        let mut checked = std::mem::take(&mut self.checked);
        let mut visitor = Applier { replicas: self, stamp, events, checked: &mut checked };
        let result = walk(sequence, reader, &mut previous, &mut visitor);
        debug_assert_eq!(result, Ok(()), "a body that was validated");
        (self.previous, self.checked) = (previous, checked);
    }

    /// Reads all leaves again that refer to objects which the packet created or removed (S118, S120). O(these
    /// leaves): the server has sent the bits of each of them.
    fn reread_references(&mut self) {
        let Self { columns, slots, mentions, touched, created_or_removed, feeds, .. } = self;
        if created_or_removed.is_empty() {
            return;
        }
        let touched_index = std::cell::OnceCell::new();
        let mut rereading: Option<Rereading> = None;
        let (mut again, mut references) = (HashMap::new(), ReferenceMap::new(&*slots));
        mentions.each_of(created_or_removed, &mut |slot, path, bits| {
            let Some(&handle) = path.first() else { return };
            if rereading.as_ref().is_none_or(|known| known.slot != slot) {
                let Some((class, row)) = slots.class_and_row(slot) else { return };
                let index_touched =
                    || touched.iter().zip(0..).map(|(touched, at)| (touched.slot, at)).collect();
                let touched_index: &HashMap<u32, usize> = touched_index.get_or_init(index_touched);
                let at = touched_index.get(&slot).or_else(|| again.get(&slot)).copied();
                rereading = Some(Rereading { slot, class, row, at: at.unwrap_or(touched.len()), handle: 0 });
                if at.is_none() {
                    if let Some(column) = columns.get_mut(class as usize) {
                        column.call(row, Callback::PreNetReceive);
                    }
                    touched.push(ChangedObject { slot, is_new: false, notified: Vec::new() });
                }
                again.insert(slot, at.unwrap_or(touched.len().saturating_sub(1)));
            }
            let Some(known) = &mut rereading else { return };
            let Some(column) = columns.get_mut(known.class as usize) else { return };
            if known.handle != handle
                && let Some(touched) = touched.get_mut(known.at)
            {
                column.begin_reread(known.row, handle, &mut touched.notified);
                known.handle = handle;
                if let Some(feed) = feeds.get_mut(&known.class) {
                    feed.note_one(slot, handle);
                }
            }
            column.reread_leaf(known.row, path, bits, &mut references);
        });
        created_or_removed.clear();
        for (slot, at) in again {
            let Some((class, row)) = slots.class_and_row(slot) else { continue };
            if let (Some(column), Some(touched)) = (columns.get(class as usize), touched.get_mut(at)) {
                column.recheck_changed(row, &mut touched.notified);
            }
        }
    }

    /// Calls the callbacks of the user for all changed objects, in the order of S54.
    fn run_callbacks(&mut self) {
        for mut touched in self.touched.drain(..) {
            let Some((class, row)) = self.slots.class_and_row(touched.slot) else { continue };
            let Some(column) = self.columns.get_mut(class as usize) else { continue };
            column.finish_update(row);
            column.call(row, Callback::PostNetReceive);
            touched.notified.sort_unstable_by_key(|notified| notified.property);
            for notified in touched.notified.iter().filter(|notified| notified.is_due) {
                column.call(row, Callback::Notify(notified.property));
            }
            column.call(row, Callback::PostRepNotifies);
            if touched.is_new {
                column.call(row, Callback::PostNetInit);
            }
        }
    }

    fn close(&mut self, slot: u32) -> Option<Guid> {
        let generation = self.slots.generation(slot)?;
        let (class, row) = self.slots.class_and_row(slot)?;
        let guid = Guid::new(slot, generation);
        if let Some(moved) = self.columns.get_mut(class as usize)?.remove(row, guid) {
            self.slots.set_row(moved, row);
        }
        self.slots.set(slot, 0, 0, 0);
        self.mentions.remove_object(slot);
        self.departed.insert(guid, class);
        if let Some(feed) = self.feeds.get_mut(&class) {
            feed.forget(slot);
        }
        Some(guid)
    }

    fn wire_class(&self, slot: u32) -> Option<u32> {
        Some(self.classes.wire(self.slots.class_and_row(slot)?.0.into()))
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        Some(self.columns.get(self.classes.registered(class)?)?.program().handles())
    }
}

/// How references resolve while a packet is validated.
enum Resolution {
    /// Every reference resolves, because it is not known yet which objects the packet creates and removes.
    /// The cell stores whether any object was missing.
    AnyObject(Cell<bool>),
    /// References resolve to the objects that exist after the packet.
    AfterPacket,
}

impl Resolution {
    fn has_missed(&self) -> bool {
        matches!(self, Self::AnyObject(missed) if missed.get())
    }
}

struct ResolvingObjects<'a> {
    slots: &'a SlotTable,
    resolution: &'a Resolution,
}

impl Objects for ResolvingObjects<'_> {
    fn contains(&self, guid: Guid) -> bool {
        let is_there = self.slots.contains(guid);
        match self.resolution {
            Resolution::AnyObject(missed) => {
                missed.set(missed.get() || !is_there);
                true
            }
            Resolution::AfterPacket => is_there,
        }
    }
}

/// What the validator does with fragments of blobs.
enum Parts<'a> {
    Take(&'a mut Vec<Part>),
    /// Skips the fragments, because the first validation has taken them.
    Skip,
    Refuse,
}

/// The visitor that validates the entries of a body. The visitor changes no objects.
struct Validator<'a> {
    references: ReferenceMap<'a>,
    replicas: &'a Replicas,
    stamp: Sequence,
    seen: &'a mut SlotSet,
    outcome: &'a mut Outcome,
    checked: &'a mut Checked,
    parts: Parts<'a>,
}

impl Validator<'_> {
    /// Checks the slot of an entry: each object may be in a packet only once, including the blobs that the
    /// packet completes. And the packet must not be older than the state of the object. So each validated
    /// entry can be applied, whatever else the packet contains.
    fn check(&mut self, slot: u32) -> Result<(), BodyError> {
        let slots = &self.replicas.slots;
        if slot as usize >= slots.len() {
            return Err(BodyError::Malformed(format!(
                "slot {slot} is over the limit of {} objects",
                slots.len()
            )));
        }
        if slots.is_stale(slot, self.stamp) {
            return Err(BodyError::Stale);
        }
        if self.seen.contains(slot) {
            return Err(BodyError::Malformed(format!("slot {slot} stands twice in one packet")));
        }
        self.seen.insert(slot);
        Ok(())
    }
}

fn malformed(error: impl std::fmt::Display) -> BodyError {
    BodyError::Malformed(error.to_string())
}

impl Visitor for Validator<'_> {
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError> {
        self.check(slot)?;
        self.replicas
            .wire_class(slot)
            .ok_or_else(|| BodyError::Malformed(format!("update of slot {slot}, which is empty")))
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        self.replicas.handles_of(class)
    }

    fn classes(&self) -> u32 {
        self.replicas.classes.len()
    }

    fn update(
        &mut self,
        slot: u32,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let (class, row) =
            self.replicas.slots.class_and_row(slot).ok_or_else(|| malformed("an empty slot"))?;
        let column = self.replicas.columns.get(class as usize).ok_or_else(|| malformed("no such class"))?;
        let Self { references, checked, .. } = self;
        column.validate(Subject::Row(row), list.handles, reader, references, checked).map_err(malformed)
    }

    fn open(
        &mut self,
        head: OpenHead,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        self.check(head.slot)?;
        let class = self.replicas.classes.registered(head.class).ok_or_else(|| malformed("no such class"))?;
        let column = self.replicas.columns.get(class).ok_or_else(|| malformed("no such class"))?;
        if !column.has_archetype(head.archetype) {
            return Err(BodyError::Malformed(format!("archetype {} was not registered", head.archetype)));
        }
        let subject = match self.replicas.slots.generation(head.slot) {
            None => {
                self.outcome.open(Guid::new(head.slot, head.generation));
                Subject::Archetype(head.archetype)
            }
            Some(generation) => match self.replicas.slots.class_and_row(head.slot) {
                Some((known, row)) if known as usize == class && generation == head.generation => {
                    Subject::Row(row)
                }
                _ => {
                    return Err(BodyError::Malformed(format!(
                        "slot {} is taken by another object",
                        head.slot
                    )));
                }
            },
        };
        let Self { references, checked, .. } = self;
        column.validate(subject, list.handles, reader, references, checked).map_err(malformed)
    }

    fn close(&mut self, slot: u32, _: CloseReason) -> Result<(), BodyError> {
        self.check(slot)?;
        self.outcome.close(slot);
        Ok(())
    }

    fn part(&mut self, part: Part) -> Result<(), BodyError> {
        match &mut self.parts {
            // A fragment that does not complete its blob fills the rest of the packet, so a packet has at
            // most one of them. Fragments that complete blobs are at most as many as blobs in flight.
            Parts::Take(parts) if parts.len() > MAX_BLOBS => return Err(malformed("too many fragments")),
            Parts::Take(parts) => parts.push(part),
            Parts::Skip => {}
            Parts::Refuse => return Err(malformed("a blob within a blob")),
        }
        Ok(())
    }
}

/// The visitor that applies validated entries.
struct Applier<'a> {
    replicas: &'a mut Replicas,
    stamp: Sequence,
    events: &'a mut ClientEvents,
    checked: &'a mut Checked,
}

impl Applier<'_> {
    fn values(
        &mut self,
        slot: u32,
        is_new: bool,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let Replicas { columns, slots, mentions, traffic, touched, feeds, .. } = &mut *self.replicas;
        let (class, row) = slots.class_and_row(slot).ok_or_else(|| malformed("an empty slot"))?;
        let column = columns.get_mut(class as usize).ok_or_else(|| malformed("no such class"))?;
        slots.stamp(slot, self.stamp);
        column.call(row, Callback::PreNetReceive);
        if let Some(traffic) = traffic {
            traffic.object(class, is_new, list.head_bits);
        }
        let mut references = ReferenceMap::new(slots);
        let mut record = Record { slot, class, mentions, traffic: traffic.as_mut() };
        column.apply(row, list.handles, self.checked.take(reader), &mut references, &mut record);
        let mut notified = Vec::new();
        column.changed(row, list.handles, &mut notified);
        if let Some(feed) = feeds.get_mut(&class) {
            feed.note(slot, is_new, list.handles);
        }
        touched.push(ChangedObject { slot, is_new, notified });
        Ok(())
    }
}

/// Records the references and the traffic of one object while an update of it is applied.
struct Record<'a> {
    slot: u32,
    class: u16,
    mentions: &'a mut Mentions,
    traffic: Option<&'a mut Traffic>,
}

impl Observer for Record<'_> {
    fn property(&mut self, handle: u32, bits: usize) {
        if let Some(traffic) = &mut self.traffic {
            traffic.property(self.class, handle, bits);
        }
    }

    fn plain(&mut self, path: &[u32]) {
        self.mentions.remove_leaf(self.slot, path);
    }

    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>) {
        self.mentions.set(self.slot, path, guids, bits);
    }

    fn cut(&mut self, path: &[u32], steps: Range<u32>) {
        self.mentions.cut(self.slot, path, steps);
    }
}

impl Visitor for Applier<'_> {
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError> {
        self.replicas.wire_class(slot).ok_or_else(|| malformed("an empty slot"))
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        self.replicas.handles_of(class)
    }

    fn classes(&self) -> u32 {
        self.replicas.classes.len()
    }

    fn update(
        &mut self,
        slot: u32,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        self.values(slot, false, list, reader)
    }

    fn open(
        &mut self,
        head: OpenHead,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let is_new = self.replicas.slots.generation(head.slot).is_none();
        if is_new {
            let class =
                self.replicas.classes.registered(head.class).ok_or_else(|| malformed("no such class"))?;
            let column = self.replicas.columns.get_mut(class).ok_or_else(|| malformed("no such class"))?;
            let row = column.insert(head.slot, head.archetype);
            self.replicas.slots.set(head.slot, head.generation.get(), class as u16, row);
            let guid = Guid::new(head.slot, head.generation);
            self.replicas.created_or_removed.push(guid);
            self.events.push(ClientEvent::Spawned(ObjectRef::new(guid)));
        }
        if self.replicas.slots.set_proxy(head.slot, head.proxy) && !is_new {
            let guid = Guid::new(head.slot, head.generation);
            self.events.push(ClientEvent::RoleChanged(ObjectRef::new(guid)));
        }
        self.values(head.slot, is_new, list, reader)
    }

    fn close(&mut self, slot: u32, reason: CloseReason) -> Result<(), BodyError> {
        self.replicas.slots.stamp(slot, self.stamp);
        if let Some(guid) = self.replicas.close(slot) {
            self.replicas.created_or_removed.push(guid);
            self.events.push(ClientEvent::Despawned(ObjectRef::new(guid), reason));
        }
        Ok(())
    }

    fn part(&mut self, _: Part) -> Result<(), BodyError> {
        Ok(())
    }
}
