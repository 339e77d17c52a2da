//! The class of packs: objects with arrays of every kind, and with arrays within arrays.
//!
//! *Invariant:* all arrays stay short, so a single change always fits into a packet.

use repl::{Callbacks, Condition, ObjectRef, Replicated};

use super::actor::{Actor, reference_bytes};
use super::ink::{Ink, change_list};
use super::{Creature, Shown, leaves_of_list};
use crate::ledger::{Leaves, hash};

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Limb {
    health: u8,
    joints: Vec<u16>,
    label: Option<String>,
}

impl Limb {
    fn leaves(&self, at: usize, leaves: &mut Leaves) {
        leaves.value(&[at], b"limb");
        leaves.value(&[at, 1], &[self.health]);
        leaves_of_list(leaves, &self.joints, |leaves, joint, value| {
            leaves.value(&[at, 2, joint + 1], &value.to_le_bytes())
        });
        if let Some(label) = &self.label {
            leaves.value(&[at, 3], label.as_bytes());
        }
    }

    fn change(&mut self, ink: &mut Ink<'_>) {
        match ink.rng.below(3) {
            0 => self.health = ink.rng.below(256) as u8,
            1 => change_list(&mut self.joints, 4, ink, |joint, ink| *joint = ink.rng.below(9) as u16),
            _ => self.label = ink.rng.chance(0.7).then(|| ink.text(4)),
        }
    }
}

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Pack {
    #[replicated]
    mark: u128,
    #[replicated(notify = on_items)]
    items: Vec<u16>,
    #[replicated]
    nested: Vec<Vec<u8>>,
    #[replicated]
    limbs: Vec<Limb>,
    #[replicated]
    maybe: Option<Limb>,
    #[replicated(condition = OwnerOnly)]
    stash: Vec<u128>,
    #[replicated]
    targets: Vec<ObjectRef<Actor>>,
    #[replicated(condition = SkipOwner)]
    words: [String; 2],
    shown: Shown,
    uid: u32,
}

tell!(Pack);

impl Pack {
    #[expect(clippy::ptr_arg, reason = "a notify gets a reference to the field's own type")]
    fn on_items(&mut self, old: &Vec<u16>) {
        self.shown.notifies.push((1, items_hash(old), items_hash(&self.items)));
    }
}

fn items_hash(items: &[u16]) -> u64 {
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    hash(&bytes)
}

impl Creature for Pack {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::OwnerOnly,
        Condition::None,
        Condition::SkipOwner,
    ];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.mark.to_le_bytes());
        leaves_of_list(leaves.property(1), &self.items, |leaves, at, item| {
            leaves.value(&[at], &item.to_le_bytes())
        });
        leaves_of_list(leaves.property(2), &self.nested, |leaves, at, row| {
            leaves.value(&[at], b"row");
            leaves_of_list(leaves, row, |leaves, cell, value| leaves.value(&[at, cell + 1], &[*value]));
        });
        leaves_of_list(leaves.property(3), &self.limbs, |leaves, at, limb| limb.leaves(at, leaves));
        leaves.property(4);
        if let Some(limb) = &self.maybe {
            limb.leaves(0, leaves);
        }
        leaves_of_list(leaves.property(5), &self.stash, |leaves, at, item| {
            leaves.value(&[at], &item.to_le_bytes())
        });
        leaves_of_list(leaves.property(6), &self.targets, |leaves, at, target| {
            leaves.reference(&[at], &reference_bytes(*target), &[], target.guid());
        });
        leaves_of_list(leaves.property(7), &self.words, |leaves, at, word| {
            leaves.value(&[at], word.as_bytes())
        });
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => change_list(&mut self.items, 24, ink, |item, ink| *item = ink.rng.below(50) as u16),
            2 => change_list(&mut self.nested, 5, ink, |row, ink| {
                change_list(row, 5, ink, |cell, ink| *cell = ink.rng.below(9) as u8);
            }),
            3 => change_list(&mut self.limbs, 5, ink, Limb::change),
            4 if ink.rng.chance(0.4) => self.maybe = None,
            4 => self.maybe.get_or_insert_default().change(ink),
            5 => change_list(&mut self.stash, 4, ink, |item, ink| *item = (ink.canary)(property)),
            6 => change_list(&mut self.targets, 4, ink, |target, ink| *target = ink.target()),
            _ => {
                let at = ink.rng.below(2) as usize;
                self.words[at] = ink.text(9);
            }
        }
    }

    fn grow(&mut self, ink: &mut Ink<'_>) {
        self.items.extend((0..ink.rng.below(40)).map(|item| item as u16));
        self.nested.push(vec![7; ink.rng.below(30) as usize]);
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(1, items_hash(&self.items))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
