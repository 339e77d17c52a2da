//! The class of golems: objects with enums whose variants are sent field by field.
//!
//! *Invariant:* the first leaf of an enum is the number of its variant. The leaves of a field are absent
//! while another variant is active.

use std::collections::BTreeMap;

use repl::{Callbacks, Condition, ObjectRef, Replicated};

use super::actor::reference_bytes;
use super::ink::{Ink, change_list};
use super::{Actor, Creature, Shown, leaves_of_list};
use crate::ledger::{Leaves, hash};

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
enum Mood {
    #[default]
    Still,
    Angry {
        since: u32,
        word: String,
    },
    Sad(u16, Vec<u8>),
}

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
enum Order {
    #[default]
    None,
    Follow {
        whom: ObjectRef<Actor>,
        secret: u128,
    },
    Search {
        places: Vec<ObjectRef<Actor>>,
        mood: Mood,
    },
    Say(u128),
}

/// An object with enums in every place.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Golem {
    #[replicated]
    mark: u128,
    #[replicated(notify = on_mood)]
    mood: Mood,
    #[replicated(condition = OwnerOnly)]
    order: Order,
    #[replicated]
    moods: Vec<Mood>,
    #[replicated]
    plan: Option<Order>,
    #[replicated]
    by_day: BTreeMap<u8, Mood>,
    shown: Shown,
    uid: u32,
}

tell!(Golem);

impl Golem {
    fn on_mood(&mut self, old: &Mood) {
        self.shown.notifies.push((1, old.hash(), self.mood.hash()));
    }
}

impl Mood {
    fn hash(&self) -> u64 {
        hash(format!("{self:?}").as_bytes())
    }

    /// Adds the leaves of a mood. Their first index is `at`.
    fn leaves(&self, at: usize, leaves: &mut Leaves) {
        match self {
            Self::Still => leaves.value(&[at, 0], b"still"),
            Self::Angry { since, word } => {
                leaves.value(&[at, 0], b"angry");
                leaves.value(&[at, 1], &since.to_le_bytes());
                leaves.value(&[at, 2], word.as_bytes());
            }
            Self::Sad(depth, tears) => {
                leaves.value(&[at, 0], b"sad");
                leaves.value(&[at, 3], &depth.to_le_bytes());
                leaves_of_list(leaves, tears, |leaves, tear, size| leaves.value(&[at, 4, tear], &[*size]));
            }
        }
    }

    fn change(&mut self, ink: &mut Ink<'_>) {
        if ink.rng.chance(0.4) {
            *self = match ink.rng.below(3) {
                0 => Self::Still,
                1 => Self::Angry { since: ink.rng.below(99) as u32, word: ink.text(9) },
                _ => Self::Sad(ink.rng.below(99) as u16, vec![1; ink.rng.below(9) as usize]),
            };
        }
        match (self, ink.rng.below(2)) {
            (Self::Still, _) => {}
            (Self::Angry { since, .. }, 0) => *since = ink.rng.below(9_999) as u32,
            (Self::Angry { word, .. }, _) => *word = ink.text(9),
            (Self::Sad(depth, _), 0) => *depth = ink.rng.below(9_999) as u16,
            (Self::Sad(_, tears), _) => {
                change_list(tears, 12, ink, |tear, ink| *tear = ink.rng.below(9) as u8)
            }
        }
    }
}

impl Order {
    fn leaves(&self, leaves: &mut Leaves) {
        let reference = |leaves: &mut Leaves, indices: &[usize], actor: ObjectRef<Actor>| {
            leaves.reference(indices, &reference_bytes(actor), &[], actor.guid());
        };
        match self {
            Self::None => leaves.value(&[], b"none"),
            Self::Follow { whom, secret } => {
                leaves.value(&[], b"follow");
                reference(leaves, &[1], *whom);
                leaves.value(&[2], &secret.to_le_bytes());
            }
            Self::Search { places, mood } => {
                leaves.value(&[], b"search");
                leaves_of_list(leaves, places, |leaves, at, place| reference(leaves, &[3, at], *place));
                mood.leaves(4, leaves);
            }
            Self::Say(secret) => {
                leaves.value(&[], b"say");
                leaves.value(&[5], &secret.to_le_bytes());
            }
        }
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        if ink.rng.chance(0.4) {
            *self = match ink.rng.below(4) {
                0 => Self::None,
                1 => Self::Follow { whom: ink.target(), secret: (ink.canary)(property) },
                2 => Self::Search { places: vec![ink.target()], mood: Mood::default() },
                _ => Self::Say((ink.canary)(property)),
            };
        }
        match (self, ink.rng.below(2)) {
            (Self::None, _) => {}
            (Self::Follow { whom, .. }, 0) => *whom = ink.target(),
            (Self::Follow { secret, .. }, _) | (Self::Say(secret), _) => *secret = (ink.canary)(property),
            (Self::Search { places, .. }, 0) => {
                change_list(places, 5, ink, |place, ink| *place = ink.target())
            }
            (Self::Search { mood, .. }, _) => mood.change(ink),
        }
    }
}

impl Creature for Golem {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::None,
        Condition::OwnerOnly,
        Condition::None,
        Condition::None,
        Condition::None,
    ];
    const COLLECTIONS: &'static [usize] = &[5];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], &self.mark.to_le_bytes());
        self.mood.leaves(0, leaves.property(1));
        self.order.leaves(leaves.property(2));
        leaves_of_list(leaves.property(3), &self.moods, |leaves, at, mood| mood.leaves(at, leaves));
        leaves.property(4);
        self.plan.iter().for_each(|plan| plan.leaves(leaves));
        leaves.property(5);
        self.by_day.iter().for_each(|(day, mood)| mood.leaves((*day).into(), leaves));
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => self.mark = (ink.canary)(property),
            1 => self.mood.change(ink),
            2 => self.order.change(property, ink),
            3 => change_list(&mut self.moods, 6, ink, Mood::change),
            4 if ink.rng.chance(0.2) => self.plan = None,
            4 => self.plan.get_or_insert_default().change(property, ink),
            _ if ink.rng.chance(0.3) => _ = self.by_day.remove(&(ink.rng.below(7) as u8)),
            _ => self.by_day.entry(ink.rng.below(7) as u8).or_default().change(ink),
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(1, self.mood.hash())]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
