//! Counts the bits of the packets that the client applies, by class and property, and logs these packets.
//!
//! *Invariant:* contents are counted and logged only if they are applied. An update that was sent in parts is
//! counted when the packet with the last missing part has arrived.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, Epoch, Guid, Objects, Program};
use repl_link::parts::Sequence;

use super::Replicas;
use crate::inspect::survey::{Catalog, survey};
use crate::inspect::tree::Tree;
use crate::session::classes::ClassList;
use crate::telemetry;

impl Replicas {
    /// Counts and logs the packet that will be applied next, and the large updates that it completes, if the
    /// configuration or the logger wants this.
    pub(super) fn look_inside(
        &mut self,
        sequence: Sequence,
        body: &BitReader<'_>,
        blobs: &mut [(Sequence, BitWriter)],
    ) {
        if let Some(mut traffic) = self.traffic.take() {
            // The packet was validated, so reading it cannot fail.
            survey(sequence, &mut body.clone(), self, &mut traffic).ok();
            for (_, blob) in &mut *blobs {
                survey(sequence, &mut blob.as_slice().reader(), self, &mut traffic).ok();
            }
            self.traffic = Some(traffic);
        }
        if telemetry::wants_packets() {
            let mut tree = Tree::default();
            tree.add(sequence, &mut body.clone(), self);
            blobs
                .iter_mut()
                .for_each(|(_, blob)| _ = tree.add(sequence, &mut blob.as_slice().reader(), self));
            if !tree.is_empty() {
                telemetry::packet(None, sequence, &tree);
            }
        }
    }
}

impl Catalog for Replicas {
    fn classes(&self) -> &ClassList {
        &self.classes
    }

    fn program(&self, class: u16) -> Option<&Program> {
        Some(self.columns.get(usize::from(class))?.program())
    }

    fn archetypes(&self, class: u16) -> Option<u32> {
        Some(self.columns.get(usize::from(class))?.archetypes())
    }

    fn object(&self, slot: u32) -> Option<(Guid, u16)> {
        let (class, _) = self.slots.class_and_row(slot)?;
        Some((Guid::new(slot, self.slots.generation(slot)?), class))
    }

    fn epoch(&self) -> Epoch {
        self.slots.epoch()
    }

    fn name(&self, slot: u32) -> Option<&str> {
        self.paths.path(slot, self.slots.generation(slot)?).map(|path| &**path)
    }
}
