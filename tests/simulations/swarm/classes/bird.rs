//! The class of birds: objects with positions, which clients see only near their viewpoints.
//!
//! *Invariant:* positions are whole numbers, so their distances to viewpoints are exact.

use repl::{Callbacks, Condition, Replicated};

use super::ink::{Ink, change_list};
use super::{Creature, Shown, leaves_of_list};
use crate::ledger::{Leaves, hash};

/// How far birds and viewpoints are from zero, at most.
pub(crate) const EXTENT: i16 = 250;

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Bird {
    #[replicated(location)]
    place: [i16; 2],
    #[replicated]
    mark: u128,
    #[replicated(condition = OwnerOnly)]
    egg: u128,
    #[replicated]
    flock: Vec<u16>,
    #[replicated(notify = on_song)]
    song: u16,
    #[replicated(condition = NearOnly)]
    feathers: u128,
    shown: Shown,
    uid: u32,
}

tell!(Bird);

impl Bird {
    fn on_song(&mut self, old: &u16) {
        self.shown.notifies.push((4, hash(&old.to_le_bytes()), hash(&self.song.to_le_bytes())));
    }
}

impl Creature for Bird {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::None,
        Condition::OwnerOnly,
        Condition::None,
        Condition::None,
        Condition::NearOnly,
    ];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves_of_list(leaves.property(0), &self.place, |leaves, at, coordinate| {
            leaves.value(&[at], &coordinate.to_le_bytes());
        });
        leaves.property(1).value(&[], &self.mark.to_le_bytes());
        leaves.property(2).value(&[], &self.egg.to_le_bytes());
        leaves_of_list(leaves.property(3), &self.flock, |leaves, at, bird| {
            leaves.value(&[at], &bird.to_le_bytes());
        });
        leaves.property(4).value(&[], &self.song.to_le_bytes());
        leaves.property(5).value(&[], &self.feathers.to_le_bytes());
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => {
                // Most moves are short, so that birds cross from a cell to the next.
                let reach = if ink.rng.chance(0.8) { 20 } else { EXTENT };
                let at = ink.rng.below(2) as usize;
                let step = ink.rng.below(2 * reach as u64 + 1) as i16 - reach;
                self.place[at] = (self.place[at] + step).clamp(-EXTENT, EXTENT);
            }
            1 => self.mark = (ink.canary)(property),
            2 => self.egg = (ink.canary)(property),
            3 => change_list(&mut self.flock, 12, ink, |bird, ink| *bird = ink.rng.below(99) as u16),
            4 => self.song = ink.rng.below(50) as u16,
            _ => self.feathers = (ink.canary)(property),
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(4, hash(&self.song.to_le_bytes()))]
    }

    fn place(&self) -> Option<[f32; 2]> {
        Some(self.place.map(f32::from))
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
