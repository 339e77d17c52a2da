//! The class of vaults: objects with push properties. The conditions of these properties are switched on and
//! off. Some of these properties start off.
//!
//! *Invariant:* each value that a switch may hide is a canary, except the level.

use repl::{Callbacks, Condition, Replicated};

use super::ink::{Ink, change_list};
use super::{Creature, Shown, leaves_of_list};
use crate::ledger::{Leaves, hash};

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Vault {
    #[replicated]
    mark: u128,
    #[replicated(condition = Custom, push)]
    code: u128,
    #[replicated(condition = Custom, starts_off, push)]
    plan: u128,
    #[replicated(condition = Dynamic, push)]
    route: u128,
    #[replicated(condition = Custom, starts_off)]
    note: u128,
    #[replicated(condition = Custom, push)]
    papers: Vec<u128>,
    #[replicated(condition = Custom, push, notify = on_level)]
    level: u16,
    #[replicated(push)]
    doors: u32,
    shown: Shown,
    uid: u32,
}

tell!(Vault);

impl Vault {
    fn on_level(&mut self, old: &u16) {
        self.shown.notifies.push((6, hash(&old.to_le_bytes()), hash(&self.level.to_le_bytes())));
    }
}

impl Creature for Vault {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::Custom,
        Condition::Custom,
        Condition::Dynamic,
        Condition::Custom,
        Condition::Custom,
        Condition::Custom,
        Condition::None,
    ];
    const PUSH: &'static [usize] = &[1, 2, 3, 5, 6, 7];
    const STARTS_OFF: &'static [usize] = &[2, 4];

    fn leaves(&self, leaves: &mut Leaves) {
        let canaries = [self.mark, self.code, self.plan, self.route, self.note];
        for (property, canary) in canaries.into_iter().enumerate() {
            leaves.property(property).value(&[], &canary.to_le_bytes());
        }
        leaves_of_list(leaves.property(5), &self.papers, |leaves, at, paper| {
            leaves.value(&[at], &paper.to_le_bytes());
        });
        leaves.property(6).value(&[], &self.level.to_le_bytes());
        leaves.property(7).value(&[], &self.doors.to_le_bytes());
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => self.code = (ink.canary)(property),
            2 => self.plan = (ink.canary)(property),
            3 => self.route = (ink.canary)(property),
            4 => self.note = (ink.canary)(property),
            5 => change_list(&mut self.papers, 5, ink, |paper, ink| *paper = (ink.canary)(5)),
            6 => self.level = ink.rng.below(50) as u16,
            _ => self.doors = ink.rng.next_u64() as u32,
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(6, hash(&self.level.to_le_bytes()))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
