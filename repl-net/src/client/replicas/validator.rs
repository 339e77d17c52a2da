//! Validates the entries in the body of a packet: each entry must be readable, and must belong to an object
//! that the entry can change.
//!
//! *Invariant:* validation changes no objects. An entry that was validated can be applied, whatever else the
//! packet contains.

use std::cell::Cell;
use std::sync::Arc;

use repl_core::{BitReader, Checked, Epoch, Guid, Objects, ReadError, ReferenceMap};

use super::Replicas;
use crate::client::body::{BodyError, OpenHead, PropertyList, Visitor};
use crate::client::contents::{Contents, LocalOrigin, Openings};
use crate::client::outcome::Outcome;
use crate::client::replica::Subject;
use crate::client::slot_table::SlotTable;
use crate::session::events::CloseReason;
use crate::transport::blob::MAX_BLOBS;
use crate::transport::reassembly::Part;
use crate::transport::segment::LEAST_RUN_BITS;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::SlotSet;

/// How references resolve while a packet is validated.
pub(super) enum Resolution {
    /// Every reference counts as a reference to an existing object, because it is not known yet which objects
    /// the packet creates and removes. The cell stores whether a decoder resolved a reference to an object
    /// that is missing.
    AnyObject(Cell<bool>),
    /// References resolve to the objects that exist after the packet.
    AfterPacket,
}

impl Resolution {
    pub(super) fn has_missed(&self) -> bool {
        matches!(self, Self::AnyObject(missed) if missed.get())
    }
}

pub(super) struct ResolvingObjects<'a> {
    pub(super) slots: &'a SlotTable,
    pub(super) resolution: &'a Resolution,
}

impl Objects for ResolvingObjects<'_> {
    fn epoch(&self) -> Epoch {
        self.slots.epoch()
    }

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

/// Whether the validator stores, skips or refuses fragments (parts of updates that are too large for one
/// packet).
pub(super) enum Parts<'a> {
    Take(&'a mut Vec<Part>),
    /// Skips the fragments, because they were already stored when the packet was validated for the first
    /// time.
    Skip,
    Refuse,
}

/// The visitor that validates the entries of a body. The validating visitor changes no objects.
pub(super) struct Validator<'a> {
    pub(super) references: ReferenceMap<'a>,
    pub(super) replicas: &'a Replicas,
    pub(super) stamp: Sequence,
    pub(super) seen: &'a mut SlotSet,
    pub(super) outcome: &'a mut Outcome,
    pub(super) checked: &'a mut Checked,
    pub(super) contents: &'a mut Contents,
    pub(super) parts: Parts<'a>,
}

impl Validator<'_> {
    /// Checks the slot of an entry: each object may occur in a packet only once, also counting the blobs that
    /// the packet completes. The packet must not be older than the last packet that updated the object.
    /// Because of these checks, each validated entry can be applied, independently of the other entries of
    /// the packet.
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
            return Err(BodyError::malformed(format_args!("slot {slot} stands twice in one packet")));
        }
        self.seen.insert(slot);
        Ok(())
    }

    /// Checks that an object with this origin and path can be opened in a slot, whatever its values are.
    fn check_opening(
        &mut self,
        slot: u32,
        origin: &LocalOrigin,
        path: Option<&str>,
    ) -> Result<(), BodyError> {
        let Replicas { slots, paths, .. } = self.replicas;
        let guid = Guid::new(slot, origin.generation);
        let Some(known) = slots.epoch().from_wire(guid) else {
            return Err(BodyError::malformed("a generation that is too great"));
        };
        if slots.torn_off.contains(known) {
            return Err(BodyError::malformed("an object that was torn off opens again"));
        }
        match (slots.generation(slot), slots.class_and_row(slot)) {
            (Some(_), _) if path != paths.path(slot, origin.generation).map(|path| &**path) => {
                Err(BodyError::malformed("an object with another path than before"))
            }
            (Some(generation), Some((class, _)))
                if (generation, class) == (origin.generation, origin.class) =>
            {
                Ok(())
            }
            (Some(_), _) => Err(BodyError::Malformed(format!("slot {slot} is taken by another object"))),
            (None, _) => {
                self.outcome.open(guid);
                Ok(())
            }
        }
    }
}

impl Visitor for Validator<'_> {
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError> {
        self.check(slot)?;
        self.replicas
            .wire_class(slot)
            .ok_or_else(|| BodyError::malformed(format_args!("update of slot {slot}, which is empty")))
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        self.replicas.handles_of(class)
    }

    fn archetypes_of(&self, class: u32) -> Option<u32> {
        self.replicas.archetypes_of(class)
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
            self.replicas.slots.class_and_row(slot).ok_or_else(|| BodyError::malformed("an empty slot"))?;
        let column =
            self.replicas.columns.get(class as usize).ok_or_else(|| BodyError::malformed("no such class"))?;
        let Self { references, checked, contents, .. } = self;
        column.preload(row);
        let describe = || (column.program().handles(), column.direct_bits(list.handles));
        let index = contents.index_of(class, list.handles, describe);
        let position = reader.position();
        // A client that measures what it receives counts each property by itself.
        let direct_bits = if self.replicas.traffic.is_some() { None } else { contents.direct_bits(index) };
        if direct_bits.is_some_and(|bits| reader.skip_bits(bits).is_ok()) {
            contents.update(slot, index, list.head_bits, Some(position));
            return Ok(());
        }
        contents.update(slot, index, list.head_bits, None);
        column
            .validate(Subject::Row(row), list.handles, reader, references, checked)
            .map_err(BodyError::malformed)
    }

    fn open(
        &mut self,
        head: OpenHead<'_>,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        // A packet that is older than what the slots contain may name paths that its objects no longer have.
        for slot in head.slots.clone() {
            self.check(slot)?;
        }
        let class = self
            .replicas
            .classes
            .registered(head.class)
            .ok_or_else(|| BodyError::malformed("no such class"))?;
        let column = self.replicas.columns.get(class).ok_or_else(|| BodyError::malformed("no such class"))?;
        let path = match head.name {
            None if head.archetype >= column.archetypes() => {
                return Err(BodyError::Malformed(format!("archetype {} was not registered", head.archetype)));
            }
            None => None,
            Some(name) => {
                let path = self.replicas.paths.resolve(head.slots.start, head.generation, name);
                Some(path.ok_or_else(|| BodyError::malformed("a path that the object cannot have"))?)
            }
        };
        let OpenHead { slots, generation, archetype, proxy, .. } = head;
        let origin = LocalOrigin { generation, class: class as u16, archetype, proxy };
        for slot in slots.clone() {
            self.check_opening(slot, &origin, path)?;
        }
        let Self { references, replicas, checked, contents, outcome, .. } = self;
        let is_empty = |slot: &u32| replicas.slots.generation(*slot).is_none();
        let (mark, mut slot) = (checked.mark(), slots.start);
        while slot < slots.end {
            let new = (slot..slots.end).take_while(is_empty).count() as u32;
            let subject = match (replicas.slots.class_and_row(slot), path) {
                (Some((_, row)), _) => Subject::Row(row),
                (None, Some(path)) if column.has_placed(path) => Subject::Placed(path),
                (None, _) => Subject::New { archetype, objects: new },
            };
            column
                .validate(subject, list.handles, reader, references, checked)
                .map_err(BodyError::malformed)?;
            slot = slot.saturating_add(new.max(1));
        }
        if !checked.rest_takes(mark, LEAST_RUN_BITS) {
            return Err(ReadError::OutOfRange.into());
        }
        let path: Option<Arc<str>> = path.map(Arc::from);
        let is_new = is_empty(&slots.start);
        path.iter().filter(|_| is_new).for_each(|path| outcome.name(path.clone()));
        let describe = || (column.program().handles(), column.direct_bits(list.handles));
        let list_index = contents.index_of(origin.class, list.handles, describe);
        contents.open(slots, list.head_bits, Openings { origin, path, list: list_index });
        Ok(())
    }

    fn close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>) -> Result<(), BodyError> {
        self.check(slot)?;
        self.contents.close(slot, reason, path);
        if reason != CloseReason::TearOff {
            self.outcome.close(slot);
        }
        Ok(())
    }

    fn part(&mut self, part: Part) -> Result<(), BodyError> {
        match &mut self.parts {
            // A fragment that does not complete its blob fills the rest of the packet, so a packet has at
            // most one of them. The number of fragments that complete blobs is at most the number of blobs in
            // flight.
            Parts::Take(parts) if parts.len() > MAX_BLOBS => {
                return Err(BodyError::malformed("too many fragments"));
            }
            Parts::Take(parts) => parts.push(part),
            Parts::Skip => {}
            Parts::Refuse => return Err(BodyError::malformed("a blob within a blob")),
        }
        Ok(())
    }
}
