//! The values that a client keeps to apply differences to them (R23).
//!
//! *Invariant:* of each property at most three values are kept: the base of the last difference, and the last
//! two that the server told the client to keep.

use std::collections::BTreeMap;

use repl_core::{Base, Bases, ReceivedRendition, Revision};

/// The values of one property that are kept, the oldest first.
type Kept = Vec<(Revision, Base)>;

/// At most so many values of a property are kept.
const MOST_KEPT: usize = 3;

/// The values that a client keeps, by the slots of objects and the handles of properties.
#[derive(Debug, Default)]
pub(crate) struct KeptBases(BTreeMap<(u32, u32), Kept>);

impl KeptBases {
    /// Records what an update has said of the bases of a property. `base` returns what is kept of its value.
    pub(crate) fn receive(
        &mut self,
        slot: u32,
        received: ReceivedRendition,
        base: impl FnOnce() -> Option<Base>,
    ) {
        let kept = self.0.entry((slot, received.handle)).or_default();
        if let Some(used) =
            received.base.and_then(|base| kept.iter().position(|(revision, _)| *revision == base))
        {
            kept.drain(..used);
        }
        let Some((revision, base)) = received.keeps.zip(base()) else { return };
        kept.retain(|(of, _)| *of != revision);
        kept.push((revision, base));
        if kept.len() > MOST_KEPT {
            // The first one is the base of the last difference.
            kept.remove(1);
        }
    }

    /// Forgets the object in a slot.
    pub(crate) fn remove(&mut self, slot: u32) {
        if !self.0.is_empty() {
            self.0.retain(|(of, _), _| *of != slot);
        }
    }
}

impl Bases for KeptBases {
    fn base(&self, slot: u32, handle: u32, revision: Revision) -> Option<&Base> {
        let kept = self.0.get(&(slot, handle))?;
        kept.iter().find(|(of, _)| *of == revision).map(|(_, base)| base)
    }
}
