//! Looks inside the packets that the client applies: counts their bits by class and property, and logs them.
//!
//! *Invariant:* only contents that are applied are counted and logged. A large update is counted in the
//! packet that completes it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, Epoch, Guid, Objects, Program};
use repl_link::parts::Sequence;

use super::Replicas;
use crate::inspect::survey::{Catalog, survey};
use crate::inspect::tree::Tree;
use crate::session::classes::ClassList;
use crate::telemetry;

impl Replicas {
    /// Counts and logs the packet that is applied next, and the large updates that it completes, if the
    /// configuration or the logger asks for this.
    pub(super) fn look_inside(
        &mut self,
        sequence: Sequence,
        body: &BitReader<'_>,
        blobs: &mut [(Sequence, BitWriter)],
    ) {
        if let Some(mut traffic) = self.traffic.take() {
            // A validated packet can be read to its end.
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
