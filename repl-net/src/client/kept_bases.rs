//! The values that a client keeps to apply differences to them (R23).
//!
//! *Invariant:* of each property at most three values are kept: the base of the last difference, and the last
//! two that the server told the client to keep.

use repl_core::{DeltaBase, DeltaBases, ReceivedRendition, Revision};

use crate::body::by_property::ByProperty;

/// The values of one property that are kept, the oldest first.
type Kept = Vec<(Revision, DeltaBase)>;

const MOST_KEPT: usize = 3;

/// The values that a client keeps to apply differences to them.
#[derive(Debug, Default)]
pub(crate) struct KeptBases(ByProperty<Kept>);

impl KeptBases {
    /// Records what an update has said of the bases of a property.
    pub(crate) fn receive(&mut self, slot: u32, received: ReceivedRendition) {
        let kept = self.0.or_default((slot, received.handle));
        if let Some(used) = received.base.and_then(|base| kept.iter().position(|(of, _)| *of == base)) {
            kept.drain(..used);
        }
        let Some((revision, base)) = received.keeps else { return };
        kept.retain(|(of, _)| *of != revision);
        kept.push((revision, base));
        if kept.len() > MOST_KEPT {
            // The first one is the base of the last difference.
            kept.remove(1);
        }
    }

    /// Forgets the object in a slot.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.0.remove_object(slot);
    }
}

impl DeltaBases for KeptBases {
    fn base(&self, slot: u32, handle: u32, revision: Revision) -> Option<&DeltaBase> {
        let kept = self.0.get((slot, handle))?;
        kept.iter().find(|(of, _)| *of == revision).map(|(_, base)| base)
    }
}
