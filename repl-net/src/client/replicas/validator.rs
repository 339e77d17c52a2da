//! Validates the entries in the body of a packet: each entry must be readable, and its object must be one
//! that the entry can create, change or remove.
//!
//! *Invariant:* validation changes no objects. If an entry is valid, it can be applied independently of the
//! other entries of the packet.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use repl_core::wire::read_handles;
use repl_core::{BitReader, Checked, Epoch, Guid, HandleSet, Objects, ReadError, ReferenceMap};
use repl_link::parts::Sequence;

use super::Replicas;
use crate::body::blob::MAX_BLOBS;
use crate::body::reassembly::Part;
use crate::body::removal::{CloseReason, ReadRemoval};
use crate::body::segment::LEAST_RUN_BITS;
use crate::body::slot_set::{SlotSet, masks_between};
use crate::body::walk::{BodyError, OpenHead, PropertyList, Visitor};
use crate::client::lists::Wanted;
use crate::client::outcome::Outcome;
use crate::client::replica::{Replica, Subject};
use crate::client::slot_table::SlotTable;
use crate::client::validated_entries::{LocalOrigin, Openings, ValidatedEntries};

/// How references resolve while a packet is validated.
pub(super) enum Resolution {
    /// Every reference counts as a reference to an existing object, because it is not known yet which objects
    /// the packet creates and removes. The cell stores whether a decoder has resolved a reference to a
    /// missing object.
    AnyObject(Cell<bool>),
    /// References resolve to the objects that will exist after the packet was applied.
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

/// What the validator does with fragments (parts of updates that are too large for one packet).
pub(super) enum Parts<'a> {
    Take(&'a mut Vec<Part>),
    /// The fragments are skipped, because the first validation of the packet has already stored them.
    Skip,
    Refuse,
}

pub(super) struct Validator<'a> {
    pub(super) references: ReferenceMap<'a>,
    pub(super) replicas: &'a Replicas,
    pub(super) stamp: Sequence,
    pub(super) seen: &'a mut SlotSet,
    pub(super) outcome: &'a mut Outcome,
    pub(super) checked: &'a mut Checked,
    pub(super) contents: &'a mut ValidatedEntries,
    pub(super) parts: Parts<'a>,
    /// The class, and the row in its column, of the object of the current update.
    pub(super) place: (u16, u32),
}

impl Validator<'_> {
    /// Checks the slot of an entry. Each object may occur only once in a packet, including the large updates
    /// that the packet completes. The packet must not be older than the newest packet that has updated the
    /// object. Therefore each valid entry can be applied independently of the other entries of the packet.
    ///
    /// Returns the class of the object in the slot, and its row.
    #[inline(always)]
    fn check(&mut self, slot: u32) -> Result<Option<(u16, u32)>, BodyError> {
        let slots = &self.replicas.slots;
        if slot as usize >= slots.len() {
            return Err(beyond_limit(slot, slots.len()));
        }
        let (is_stale, place) = slots.age_and_place(slot, self.stamp);
        if is_stale {
            return Err(BodyError::Stale);
        }
        if !self.seen.insert_new(slot) {
            return Err(seen_twice(slot));
        }
        Ok(place)
    }

    fn check_all(&mut self, slots: Range<u32>) -> Result<(), BodyError> {
        let masks = || masks_between(slots.start, slots.end);
        if self.replicas.slots.are_unused(&slots) && masks().all(|(at, mask)| self.seen.word(at) & mask == 0)
        {
            masks().for_each(|(at, mask)| self.seen.insert_mask(at, mask));
            return Ok(());
        }
        slots.into_iter().try_for_each(|slot| self.check(slot).map(drop))
    }

    /// Checks that objects with this origin (class, generation and so on) and path can be opened in the slots
    /// `slots`. Does not check their values. `new` is the number of empty slots at the beginning of `slots`.
    fn check_openings(
        &mut self,
        slots: Range<u32>,
        new: u32,
        origin: &LocalOrigin,
        path: Option<&str>,
    ) -> Result<(), BodyError> {
        let table = &self.replicas.slots;
        let first = Guid::new(slots.start, origin.generation);
        let is_known = table.epoch().from_wire(first).is_some();
        if new == slots.len() as u32 && is_known && table.torn_off.is_empty() && table.out_of_sight.is_empty()
        {
            self.outcome.open(first, new);
            return Ok(());
        }
        slots.into_iter().try_for_each(|slot| self.check_opening(slot, origin, path))
    }

    /// Checks that an object with this origin and path can be opened in one slot. Does not check its values.
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
            (None, _) if slots.out_of_sight.class(known).is_some_and(|class| class != origin.class) => {
                Err(BodyError::malformed("an object comes back as another class"))
            }
            (None, _) => {
                self.outcome.open(guid, 1);
                if slots.is_replaced(guid) {
                    slots.out_of_sight_below(slot).into_iter().for_each(|ended| self.outcome.end(ended));
                }
                Ok(())
            }
        }
    }
}

impl Validator<'_> {
    /// Validates the values of a run of openings: objects that are opened in consecutive slots.
    fn validate_openings(
        &mut self,
        column: &dyn Replica,
        slots: Range<u32>,
        origin: &LocalOrigin,
        path: Option<&str>,
        (handles, reader): (&HandleSet, &mut BitReader<'_>),
    ) -> Result<(), BodyError> {
        let Self { references, replicas, checked, .. } = self;
        let (mark, mut slot) = (checked.mark(), slots.start);
        while slot < slots.end {
            let new = replicas.slots.count_empty(slot..slots.end);
            let subject = match (replicas.slots.class_and_row(slot), path) {
                (Some((_, row)), _) => Subject::Row(row),
                (None, Some(path)) if column.has_placed(path) => Subject::Placed(path),
                (None, _) => Subject::New { archetype: origin.archetype, objects: new },
            };
            references.begin_object(slot);
            column.validate(subject, handles, reader, references, checked).map_err(BodyError::malformed)?;
            slot = slot.saturating_add(new.max(1));
        }
        if !checked.rest_takes(mark, LEAST_RUN_BITS) {
            return Err(ReadError::OutOfRange.into());
        }
        Ok(())
    }
}

impl Validator<'_> {
    /// Validates the last state of a removed object that the client has. It has the form of an update.
    fn last_state(&mut self, slot: u32, reader: &mut BitReader<'_>) -> Result<(), BodyError> {
        let class = self.replicas.classes.wire(self.place.0.into());
        let count = self.replicas.handles_of(class).ok_or_else(no_such_class)?;
        let handles = read_handles(count, false, reader)?;
        self.update(slot, PropertyList { handles: &handles, head_bits: 0, is_alike: false }, reader)?;
        self.contents.has_last_state = true;
        Ok(())
    }

    /// Removes all subobjects of an object that is destroyed, the deepest ones first. If a subobject has its
    /// own entry in the packet, it is not removed here.
    fn close_below(&mut self, top: u32, reason: CloseReason) -> Result<(), BodyError> {
        let slots = &self.replicas.slots;
        let (mut below, mut above, mut next) = (Vec::new(), top, 0_usize);
        loop {
            for slot in slots.families.children(above) {
                if slots.age_and_place(slot, self.stamp).0 {
                    return Err(BodyError::Stale);
                }
                if self.seen.insert_new(slot) {
                    below.push(slot);
                }
            }
            let Some(&slot) = below.get(next) else { break };
            (above, next) = (slot, next.saturating_add(1));
        }
        for slot in below.into_iter().rev() {
            self.remove(slot, reason);
            self.contents.close(slot, reason, None);
        }
        Ok(())
    }

    /// Records that the packet removes the object in a slot, and ends objects out of sight.
    fn remove(&mut self, slot: u32, reason: CloseReason) {
        self.outcome.close(slot);
        let ended = self.replicas.slots.ended_by_removal(slot, reason);
        ended.into_iter().for_each(|slot| self.outcome.end(slot));
    }
}

#[cold]
fn beyond_limit(slot: u32, slots: usize) -> BodyError {
    BodyError::Malformed(format!("slot {slot} is over the limit of {slots} objects"))
}

#[cold]
fn seen_twice(slot: u32) -> BodyError {
    BodyError::Malformed(format!("slot {slot} stands twice in one packet"))
}

#[cold]
fn no_such_class() -> BodyError {
    BodyError::malformed("no such class")
}

#[cold]
fn empty_slot(slot: u32) -> BodyError {
    BodyError::Malformed(format!("update of slot {slot}, which is empty"))
}

impl Visitor for Validator<'_> {
    #[inline(always)]
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError> {
        self.place = self.check(slot)?.ok_or_else(|| empty_slot(slot))?;
        Ok(self.replicas.classes.wire(self.place.0.into()))
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

    #[inline(always)]
    fn update_alike(&mut self, slot: u32, reader: &mut BitReader<'_>) -> bool {
        let Some((list, recipe)) = self.contents.lists.last() else { return false };
        let at = reader.position();
        if !recipe.check(1, reader) {
            reader.rewind(at);
            return false;
        }
        self.contents.prepared(slot, list, true, at);
        let (class, row) = self.place;
        if let Some(column) = self.replicas.columns.get(class as usize) {
            column.preload(row);
        }
        true
    }

    #[inline(never)]
    fn update(
        &mut self,
        slot: u32,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let (class, row) = self.place;
        let Some(column) = self.replicas.columns.get(class as usize) else { return Err(no_such_class()) };
        column.preload(row);
        let PropertyList { handles, is_alike, .. } = list;
        let (count, recipe) = (|| column.program().handles(), || self.replicas.recipe(&**column, handles));
        let wanted = Wanted { class, handles, is_of_several: false, is_alike };
        let index = self.contents.lists.index_of(wanted, count, recipe);
        if let Some(recipe) = self.contents.lists.recipe(index) {
            let at = reader.position();
            if recipe.check(1, reader) {
                self.contents.prepared(slot, index, is_alike, at);
                return Ok(());
            }
            reader.rewind(at);
        }
        // The recipe has refused the values. This walk returns the error that says why.
        let Self { references, checked, .. } = self;
        references.begin_object(slot);
        let subject = Subject::Row(row);
        column.validate(subject, handles, reader, references, checked).map_err(BodyError::malformed)?;
        self.contents.update(slot, index);
        Ok(())
    }

    fn open(
        &mut self,
        head: OpenHead<'_>,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        // First check that the packet is not older than the objects in these slots. An older packet may
        // contain paths that the objects no longer have.
        self.check_all(head.slots.clone())?;
        let class = self.replicas.classes.registered(head.class).ok_or_else(no_such_class)?;
        let column = self.replicas.columns.get(class).ok_or_else(no_such_class)?;
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
        let OpenHead { slots, generation, archetype, proxy, parent, .. } = head;
        let origin = LocalOrigin { generation, class: class as u16, archetype, proxy, parent };
        let new = self.replicas.slots.count_empty(slots.clone());
        self.check_openings(slots.clone(), new, &origin, path)?;
        let PropertyList { handles, is_alike, .. } = list;
        let (count, recipe) = (|| column.program().handles(), || self.replicas.recipe(&**column, handles));
        let is_of_several = slots.len() > 1;
        let wanted = Wanted { class: origin.class, handles, is_of_several, is_alike };
        let index = self.contents.lists.index_of(wanted, count, recipe);
        let recipe = self.contents.lists.recipe(index);
        let recipe = recipe.filter(|recipe| !is_of_several || recipe.least_bits() >= LEAST_RUN_BITS);
        let start = reader.position();
        let at = if recipe.is_some_and(|recipe| recipe.check(slots.len() as u32, reader)) {
            Some(start)
        } else {
            // The recipe has refused the values. This walk returns the error that says why.
            reader.rewind(start);
            self.validate_openings(&**column, slots.clone(), &origin, path, (handles, reader))?;
            None
        };
        let path: Option<Arc<str>> = path.map(Arc::from);
        path.iter().filter(|_| new > 0).for_each(|path| self.outcome.name(path.clone()));
        self.contents.open(slots, Openings { origin, path, list: index }, at);
        Ok(())
    }

    fn close(
        &mut self,
        slot: u32,
        removal: &ReadRemoval,
        _: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let place = self.check(slot)?;
        let &ReadRemoval { reason, ref path, last_state_bits } = removal;
        match (place, last_state_bits) {
            (Some(place), Some(_)) => {
                self.place = place;
                self.last_state(slot, reader)?;
            }
            // The client does not have the object, because it never received it or has already removed it.
            (None, Some(bits)) => reader.skip_bits(bits)?,
            (_, None) => {}
        }
        if reason.is_destruction() {
            self.close_below(slot, reason)?;
        }
        if !reason.keeps_object() {
            self.remove(slot, reason);
        }
        self.contents.close(slot, reason, path.as_deref());
        Ok(())
    }

    fn part(&mut self, part: Part) -> Result<(), BodyError> {
        match &mut self.parts {
            // If a fragment does not complete its update, it fills the rest of the packet, so a packet has at
            // most one such fragment. Each of the other fragments completes one of the at most `MAX_BLOBS`
            // updates in flight.
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
