//! The class of hoards: objects with fast arrays. Some are nested, are in an `Option`, contain references, or
//! are for the owner only.
//!
//! *Invariant:* a leaf is identified by the ids on its path, so the order of items does not matter.

use repl::{Callbacks, Condition, FastArray, FastArrayItem, ObjectRef, Replicated};

use super::actor::reference_bytes;
use super::ink::Ink;
use super::{Actor, Creature, Shown};
use crate::ledger::Leaves;

#[derive(FastArrayItem, Clone, Debug, Default)]
struct Jewel {
    carat: u8,
    maker: ObjectRef<Actor>,
    scratches: FastArray<u8>,
}

/// Fast arrays in every possible place.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Hoard {
    #[replicated]
    mark: u128,
    #[replicated]
    jewels: FastArray<Jewel>,
    #[replicated(condition = OwnerOnly)]
    stash: FastArray<u128>,
    #[replicated]
    chest: Option<FastArray<u16>>,
    #[replicated(condition = SkipOwner)]
    decoys: FastArray<u8>,
    shown: Shown,
    uid: u32,
}

tell!(Hoard);

/// Calls `each` with the items and their ids, ascending.
fn by_id<T>(array: &FastArray<T>, mut each: impl FnMut(usize, &T)) {
    let mut ids: Vec<_> = array.ids().to_vec();
    ids.sort_unstable();
    for id in ids {
        if let Some(item) = array.by_id(id) {
            each(id.number() as usize, item);
        }
    }
}

/// Adds, removes, moves or changes items.
fn change_items<T: FastArrayItem + Clone + Default>(
    array: &mut FastArray<T>,
    longest: usize,
    ink: &mut Ink<'_>,
    change: impl Fn(&mut T, &mut Ink<'_>),
) {
    let at = ink.rng.below(array.len() as u64 + 1) as usize;
    let new = |ink: &mut Ink<'_>| {
        let mut item = T::default();
        change(&mut item, ink);
        item
    };
    match ink.rng.below(14) {
        0 => array.clear(),
        1 => array.truncate(at),
        2..5 if array.len() < longest => {
            let item = new(ink);
            array.insert(at, item);
        }
        5 if at < array.len() => drop(array.remove(at)),
        6 if at < array.len() => drop(array.swap_remove(at)),
        7 => array.rotate_left(at),
        8 => array.reverse(),
        9 if array.len() + 3 <= longest => {
            for _ in 0..3 {
                let item = new(ink);
                array.push(item);
            }
        }
        // This is rare, because the model remembers each new id forever.
        10 if ink.rng.chance(0.2) => *array = array.clone(),
        11 => *array = Vec::from(std::mem::take(array)).into(),
        _ => {
            for mut item in array.iter_mut().skip(at).take(2) {
                change(&mut item, ink);
            }
        }
    }
}

impl Creature for Hoard {
    const CONDITIONS: &'static [Condition] =
        &[Condition::None, Condition::None, Condition::OwnerOnly, Condition::None, Condition::SkipOwner];

    const COLLECTIONS: &'static [usize] = &[1, 3];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.mark.to_le_bytes());
        leaves.property(1);
        by_id(&self.jewels, |id, jewel| {
            leaves.value(&[id], &[jewel.carat]);
            leaves.reference(&[id, 1], &reference_bytes(jewel.maker), &[], jewel.maker.guid());
            by_id(&jewel.scratches, |inner, scratch| leaves.value(&[id, 1 + inner], &[*scratch]));
        });
        leaves.property(2);
        by_id(&self.stash, |id, coin| leaves.value(&[id], &coin.to_le_bytes()));
        leaves.property(3);
        if let Some(chest) = &self.chest {
            leaves.value(&[], b"chest");
            by_id(chest, |id, coin| leaves.value(&[id], &coin.to_le_bytes()));
        }
        leaves.property(4);
        by_id(&self.decoys, |id, decoy| leaves.value(&[id], &[*decoy]));
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => change_items(&mut self.jewels, 12, ink, |jewel, ink| match ink.rng.below(3) {
                0 => jewel.carat = ink.rng.below(99) as u8,
                1 => jewel.maker = ink.target(),
                _ => change_items(&mut jewel.scratches, 5, ink, |scratch, ink| {
                    *scratch = ink.rng.below(9) as u8;
                }),
            }),
            2 => change_items(&mut self.stash, 6, ink, |coin, ink| *coin = (ink.canary)(property)),
            3 if ink.rng.chance(0.2) => self.chest = None,
            3 => change_items(self.chest.get_or_insert_default(), 40, ink, |coin, ink| {
                *coin = ink.rng.below(999) as u16;
            }),
            _ => change_items(&mut self.decoys, 8, ink, |decoy, ink| *decoy = ink.rng.below(9) as u8),
        }
    }

    fn grow(&mut self, ink: &mut Ink<'_>) {
        for _ in 0..ink.rng.below(24) {
            let carat = ink.rng.below(200) as u8;
            self.jewels.push(Jewel { carat, ..Jewel::default() });
        }
        let chest = self.chest.get_or_insert_default();
        chest.extend((0..ink.rng.below(24)).map(|item| item as u16));
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
