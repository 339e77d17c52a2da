//! Receives the body of a packet in four steps: validates the whole body, applies it, reads references again,
//! and calls callbacks. If the packet contains the last state of an object that it removes, all removals are
//! applied after the callbacks, as if they were in a separate packet.
//!
//! *Invariant:* a body is applied completely or not at all. No callback runs before the whole packet was
//! validated. Notifies run only after all values were applied.

use std::cell::Cell;

use repl_core::{BitReader, BitWriter, Guid, ReadError, ReferenceMap};
use repl_link::parts::{Sequence, read_end};

use super::Replicas;
use super::applier::{Applier, Step};
use super::validator::{Parts, Resolution, ResolvingObjects, Validator};
use crate::body::asset_names::AssetNames;
use crate::body::removal::CloseReason;
use crate::body::walk::{BodyError, walk};
use crate::client::outcome::Outcome;
use crate::session::client_events::ClientEvents;

impl Replicas {
    /// Validates the body of a packet and applies it.
    ///
    /// `check_rest` checks the rest of the packet, which follows the body. It is called before anything is
    /// applied. It returns names (numbers and paths) of assets, which are stored before the body is applied.
    pub(crate) fn receive<'b>(
        &mut self,
        sequence: Sequence,
        stamp: Sequence,
        body: &BitReader<'b>,
        events: &mut ClientEvents,
        check_rest: impl FnOnce(&mut BitReader<'b>) -> Result<Vec<AssetNames>, ReadError>,
    ) -> Result<(), BodyError> {
        let mut parts = Vec::new();
        let first = Resolution::AnyObject(Cell::new(false));
        let mut reader = body.clone();
        self.begin().validate(sequence, stamp, &mut reader, Parts::Take(&mut parts), &first)?;
        let names = check_rest(&mut reader)?;
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
        self.take_names(names, events)?;
        std::mem::swap(&mut self.slots.outcome, &mut self.outcome);
        let may_differ = self.checked.has_asked() && self.slots.outcome.removes_any();
        let is_settled = !(first.has_missed() || may_differ);
        let validated =
            if is_settled { Ok(()) } else { self.validate_again(sequence, stamp, body, &mut blobs) };
        if validated.is_ok() {
            self.look_inside(sequence, body, &mut blobs);
            let mut apply = |this: &mut Self, step: Step| {
                this.apply(0, (stamp, step), &mut body.clone());
                for ((stamp, blob), number) in blobs.iter_mut().zip(1..) {
                    this.apply(number, (*stamp, step), &mut blob.as_slice().reader());
                }
            };
            if self.contents.has_last_state {
                apply(self, Step::Values);
                self.announce_closings();
                self.finish();
                apply(self, Step::Closings);
                self.created_or_removed.clear();
            } else {
                apply(self, Step::All);
            }
        }
        self.slots.outcome.clear();
        validated?;
        self.remove_torn_off_beyond(self.slots.len());
        self.remove_out_of_sight_beyond(self.max_out_of_sight, CloseReason::Relevancy);
        self.finish();
        Ok(())
    }

    /// Announces that the packet will remove objects: references to them are read again, although the objects
    /// still exist.
    fn announce_closings(&mut self) {
        let Self { slots, created_or_removed, .. } = self;
        let guid = |&slot: &u32| Some(Guid::new(slot, slots.generation(slot)?));
        created_or_removed.extend(slots.outcome.closed().iter().filter_map(guid));
        let ended = slots.outcome.ended().iter().filter_map(|&slot| slots.out_of_sight.in_slot(slot));
        created_or_removed.extend(ended.filter_map(|known| slots.epoch.to_wire(known)));
    }

    /// Drops everything that belongs to the previous packet.
    fn begin(&mut self) -> &mut Self {
        self.seen.clear();
        self.outcome.clear();
        self.checked.clear();
        self.contents.clear();
        self
    }

    /// Validates a packet a second time. This time, references resolve to the objects that exist after the
    /// packet was applied. It is necessary if decoders of the user have resolved references to objects that
    /// did not exist before the packet, or that the packet may remove.
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

    /// Validates an update that was sent in parts, after the packet with the last missing part has arrived.
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
            references: ReferenceMap::new(&objects).with_bases(&self.kept_bases),
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

    /// Applies those entries of a body that belong to a step. `number` is the index of the validated body.
    fn apply(&mut self, number: usize, (stamp, step): (Sequence, Step), reader: &mut BitReader<'_>) {
        let (contents, mut checked) = (std::mem::take(&mut self.contents), std::mem::take(&mut self.checked));
        let mut applier = Applier { replicas: self, stamp, checked: &mut checked, reader };
        contents.body(number).iter().for_each(|entry| applier.apply(*entry, &contents, step));
        (self.contents, self.checked) = (contents, checked);
    }
}
