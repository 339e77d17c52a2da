//! The class of signs: objects that refer to assets.
//!
//! *Invariant:* a sign refers only to assets of the list of all assets.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use repl::{AssetRef, Callbacks, Condition, Guid, Replicated};

use super::ink::{Ink, change_list};
use super::{Creature, Shown, leaves_of_list};
use crate::assets::ASSETS;
use crate::ledger::{Leaves, hash};

/// An object with references to assets in all kinds of fields.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Sign {
    #[replicated(notify = on_picture)]
    picture: AssetRef<()>,
    #[replicated]
    letters: Vec<AssetRef<()>>,
    #[replicated]
    number: u32,
    #[replicated(condition = OwnerOnly)]
    plate: AssetRef<()>,
    #[replicated]
    prices: BTreeMap<AssetRef<()>, u16>,
    shown: Shown,
    uid: u32,
}

tell!(Sign);

impl Sign {
    fn on_picture(&mut self, old: &AssetRef<()>) {
        self.shown.notifies.push((0, hash(&bytes(*old)), hash(&bytes(self.picture))));
    }
}

/// Returns the number of an asset. The null reference has no bytes.
fn bytes(asset: AssetRef<()>) -> Vec<u8> {
    asset.number().map_or(Vec::new(), |number| number.get().to_le_bytes().to_vec())
}

fn leaf(leaves: &mut Leaves, indices: &[usize], asset: AssetRef<()>) {
    leaves.reference(indices, &bytes(asset), &[], asset.number().map(Guid::asset));
}

fn pick(ink: &mut Ink<'_>) -> AssetRef<()> {
    NonZeroU32::new(ink.rng.below(ASSETS + 1) as u32).map_or(AssetRef::NULL, AssetRef::new)
}

impl Creature for Sign {
    const CONDITIONS: &'static [Condition] =
        &[Condition::None, Condition::None, Condition::None, Condition::OwnerOnly, Condition::None];
    const COLLECTIONS: &'static [usize] = &[4];

    fn leaves(&self, leaves: &mut Leaves) {
        leaf(leaves.property(0), &[], self.picture);
        leaves_of_list(leaves.property(1), &self.letters, |leaves, at, letter| leaf(leaves, &[at], *letter));
        leaves.property(2).value(&[], &self.number.to_le_bytes());
        leaf(leaves.property(3), &[], self.plate);
        leaves.property(4);
        for (asset, price) in &self.prices {
            if let Some(number) = asset.number() {
                leaves.entry(&[number.get() as usize], &price.to_le_bytes(), Guid::asset(number));
            }
        }
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.picture = pick(ink),
            1 if ink.rng.chance(0.01) => self.letters.resize_with(900, || pick(ink)),
            1 => change_list(&mut self.letters, 12, ink, |letter, ink| *letter = pick(ink)),
            2 => self.number = ink.rng.next_u64() as u32,
            3 => self.plate = pick(ink),
            _ => match NonZeroU32::new(ink.rng.below(ASSETS + 1) as u32).map(AssetRef::new) {
                Some(asset) if ink.rng.chance(0.7) => _ = self.prices.insert(asset, ink.rng.below(9) as u16),
                Some(asset) => _ = self.prices.remove(&asset),
                None => self.prices.clear(),
            },
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(0, hash(&bytes(self.picture)))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
