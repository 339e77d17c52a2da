//! The class of dots: objects with very little data and no conditions.
//!
//! *Invariant:* all clients may see all properties of a dot.

use repl::{Callbacks, Condition, Replicated};

use super::ink::Ink;
use super::{Creature, Shown};
use crate::ledger::{Leaves, hash};

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Dot {
    #[replicated(notify = on_x)]
    x: u8,
    #[replicated]
    mark: u128,
    shown: Shown,
    uid: u32,
}

tell!(Dot);

impl Dot {
    fn on_x(&mut self, old: &u8) {
        self.shown.notifies.push((0, hash(&[*old]), hash(&[self.x])));
    }
}

impl Creature for Dot {
    const CONDITIONS: &'static [Condition] = &[Condition::None, Condition::None];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &[self.x]);
        leaves.property(1).value(&[], &self.mark.to_le_bytes());
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.x = ink.rng.below(16) as u8,
            _ => self.mark = (ink.canary)(property),
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(0, hash(&[self.x]))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
