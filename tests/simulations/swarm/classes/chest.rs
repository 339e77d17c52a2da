//! The class of chests: objects that are larger than a packet.
//!
//! *Invariant:* each value that only the owner may see is a canary, except elements of the array that were
//! never written.

use repl::{Callbacks, Condition, Replicated};

use super::ink::{Ink, change_list};
use super::{Creature, Shown, leaves_of_list};
use crate::ledger::Leaves;

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Chest {
    #[replicated]
    mark: u128,
    #[replicated]
    cells: Vec<u64>,
    #[replicated]
    text: String,
    #[replicated(condition = OwnerOnly)]
    treasure: Vec<u128>,
    #[replicated]
    lid: bool,
    shown: Shown,
    uid: u32,
}

tell!(Chest);

impl Creature for Chest {
    const CONDITIONS: &'static [Condition] =
        &[Condition::None, Condition::None, Condition::None, Condition::OwnerOnly, Condition::None];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.mark.to_le_bytes());
        leaves_of_list(leaves.property(1), &self.cells, |leaves, at, cell| {
            leaves.value(&[at], &cell.to_le_bytes())
        });
        leaves.property(2).value(&[], self.text.as_bytes());
        leaves_of_list(leaves.property(3), &self.treasure, |leaves, at, item| {
            leaves.value(&[at], &item.to_le_bytes())
        });
        leaves.property(4).value(&[], &[self.lid.into()]);
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => {
                let len = ink.rng.below(300) as usize;
                if ink.rng.chance(0.3) {
                    self.cells.resize_with(len, || ink.rng.next_u64());
                } else {
                    change_list(&mut self.cells, 300, ink, |cell, ink| *cell = ink.rng.next_u64());
                }
            }
            2 if ink.rng.chance(0.5) => self.text = ink.text(30),
            2 => self.text = ink.text(1_300),
            3 => {
                let len = ink.rng.below(150) as usize;
                let Ink { rng, canary, .. } = ink;
                if rng.chance(0.5) {
                    self.treasure.resize_with(len, || canary(property));
                } else {
                    change_list(&mut self.treasure, 150, ink, |item, ink| *item = (ink.canary)(property));
                }
            }
            _ => self.lid = !self.lid,
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        Vec::new()
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
