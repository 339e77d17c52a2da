//! Receives the body of a packet in four steps: validates all of the body, applies all of it, reads
//! references again, and calls callbacks.
//!
//! *Invariant:* a body is applied completely or not at all. No callback runs before the whole packet was
//! validated. Notifies run only after all of it was applied.

use std::cell::Cell;
use std::collections::HashMap;

use repl_core::{BitReader, BitWriter, ReadError, ReferenceMap};

use super::applier::Applier;
use super::validator::{Parts, Resolution, ResolvingObjects, Validator};
use super::{ChangedObject, Replicas};
use crate::client::body::{BodyError, walk};
use crate::client::events::ClientEvents;
use crate::client::outcome::Outcome;
use crate::client::replica::Callback;
use crate::transport::packet::read_end;
use crate::transport::sequence::Sequence;

/// An object with references that are being read again, because the objects of the references appeared or
/// disappeared.
struct Rereading {
    slot: u32,
    class: u16,
    row: u32,
    /// The index of this object in `touched`.
    at: usize,
    /// The handle of the property that is being read again, or zero if no property is being read.
    handle: u32,
}

impl Replicas {
    /// Validates the body of a packet and applies it.
    ///
    /// `check_rest` is called before anything is applied. The argument `check_rest` checks the rest of the
    /// packet, which follows the segments of the body.
    pub(crate) fn receive<'b>(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        body: &BitReader<'b>,
        events: &mut ClientEvents,
        check_rest: impl FnOnce(&mut BitReader<'b>) -> Result<(), ReadError>,
    ) -> Result<(), BodyError> {
        let mut parts = Vec::new();
        let first = Resolution::AnyObject(Cell::new(false));
        let mut reader = body.clone();
        self.begin().validate(sequence, stamp, &mut reader, Parts::Take(&mut parts), &first)?;
        check_rest(&mut reader)?;
        let mut blobs = Vec::new();
        for part in parts {
            let stamp = part.head.stamp;
            if let Some(mut blob) = self.reassembly.take(part, self.max_object_bytes)? {
                let (checked, outcome) = (self.checked.mark(), self.outcome.mark());
                let contents = self.contents.mark();
                match self.validate_blob(sequence, stamp, &mut blob, &first) {
                    Ok(()) => blobs.push((stamp, blob)),
                    Err(BodyError::Stale) => {
                        self.checked.truncate(checked);
                        self.outcome.truncate(outcome);
                        self.contents.truncate(contents);
                    }
                    Err(halt) => return Err(halt),
                }
            }
        }
        self.outcome.sort();
        if self.outcome.has_path_twice() {
            return Err(BodyError::malformed("two objects with the same path"));
        }
        std::mem::swap(&mut self.slots.outcome, &mut self.outcome);
        let may_differ = self.checked.has_asked() && self.slots.outcome.closes_any();
        let is_settled = !(first.has_missed() || may_differ);
        let validated =
            if is_settled { Ok(()) } else { self.validate_again(sequence, stamp, body, &mut blobs) };
        if validated.is_ok() {
            self.apply(0, stamp, &mut body.clone(), events);
            for ((stamp, mut blob), number) in blobs.into_iter().zip(1..) {
                self.apply(number, stamp, &mut blob.as_slice().reader(), events);
            }
        }
        self.slots.outcome.clear();
        validated?;
        self.remove_torn_off_beyond(self.slots.len(), events);
        self.reread_references();
        self.run_callbacks();
        Ok(())
    }

    /// Drops the state that belongs to the previous packet.
    fn begin(&mut self) -> &mut Self {
        self.seen.clear();
        self.outcome.clear();
        self.checked.clear();
        self.contents.clear();
        self
    }

    /// Validates a packet a second time. In the second validation, references resolve to the objects that
    /// exist after the packet was applied. A second validation is necessary if decoders of the user resolved
    /// references to objects that do not exist before the packet or that the packet may remove.
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
            self.validate_blob(sequence, *stamp, blob, &Resolution::AfterPacket)?;
        }
        self.outcome.sort();
        if self.outcome.is_same(&self.slots.outcome) {
            Ok(())
        } else {
            Err(BodyError::malformed("what comes and goes depends on how references read"))
        }
    }

    /// Validates an update that was sent as a blob. The packet contains the last missing part of the blob.
    fn validate_blob(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        blob: &mut BitWriter,
        resolution: &Resolution,
    ) -> Result<(), BodyError> {
        let mut reader = blob.as_slice().reader();
        self.validate(sequence, stamp, &mut reader, Parts::Refuse, resolution)?;
        Ok(read_end(&mut reader)?)
    }

    /// Validates the segments of a body. The validation changes no objects.
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
        let mut contents = std::mem::take(&mut self.contents);
        let objects = ResolvingObjects { slots: &self.slots, resolution };
        let mut visitor = Validator {
            references: ReferenceMap::new(&objects),
            replicas: self,
            stamp,
            seen: &mut seen,
            outcome: &mut outcome,
            checked: &mut checked,
            contents: &mut contents,
            parts,
            place: (0, 0),
        };
        let result = walk(sequence, reader, &mut previous, &mut visitor);
        contents.end_body();
        (self.previous, self.seen, self.outcome) = (previous, seen, outcome);
        (self.checked, self.contents) = (checked, contents);
        result
    }

    /// Applies the body with this number, which was validated.
    fn apply(
        &mut self,
        number: usize,
        stamp: Sequence,
        reader: &mut BitReader<'_>,
        events: &mut ClientEvents,
    ) {
        let (contents, mut checked) = (std::mem::take(&mut self.contents), std::mem::take(&mut self.checked));
        let mut applier = Applier { replicas: self, stamp, events, checked: &mut checked, reader };
        contents.body(number).iter().for_each(|entry| applier.apply(*entry, &contents));
        (self.contents, self.checked) = (contents, checked);
    }

    /// Reads all leaves (single values) again that refer to objects which the packet created or removed
    /// (S118, S120). Costs O(leaves that are read again). The server has sent each leaf that is read again
    /// before.
    pub(super) fn reread_references(&mut self) {
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
    pub(super) fn run_callbacks(&mut self) {
        for mut touched in self.touched.drain(..) {
            let Some((class, row)) = self.slots.class_and_row(touched.slot) else { continue };
            let Some(column) = self.columns.get_mut(class as usize) else { continue };
            if touched.is_new {
                column.call(row, Callback::Opened);
            }
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
}
