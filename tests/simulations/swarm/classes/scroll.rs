//! The class of scrolls: objects whose properties are sent as differences.
//!
//! *Invariant:* each value that a condition may hide is a canary.

use repl::{
    BitReader, BitWriter, Callbacks, Condition, ObjectRef, ReadError, ReferenceMap, Replicated, WriteError,
};

use super::actor::reference_bytes;
use super::ink::{Ink, change_list};
use super::{Actor, Creature, Shown, leaves_of_list};
use crate::ledger::{Leaves, hash};

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(callbacks)]
pub(crate) struct Scroll {
    #[replicated(delta, notify = on_text)]
    text: String,
    #[replicated(delta)]
    numbers: Vec<u16>,
    #[replicated(delta)]
    heroes: Vec<ObjectRef<Actor>>,
    #[replicated(condition = OwnerOnly, delta)]
    plans: Vec<u128>,
    #[replicated(condition = Custom, delta)]
    papers: Vec<u128>,
    #[replicated(delta = holes)]
    holes: Vec<bool>,
    #[replicated]
    seal: u8,
    shown: Shown,
    uid: u32,
}

tell!(Scroll);

impl Scroll {
    fn on_text(&mut self, old: &String) {
        self.shown.notifies.push((0, hash(old.as_bytes()), hash(self.text.as_bytes())));
    }
}

/// Holes of a scroll: a difference names those that are new or mended.
mod holes {
    use super::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(super) const NAME: &str = "holes";
    pub(super) type State = Box<[bool]>;

    pub(super) fn state(value: &[bool]) -> State {
        value.into()
    }

    pub(super) fn write(base: &[bool], value: &[bool], writer: &mut BitWriter) -> Result<(), WriteError> {
        if base.len() != value.len() {
            return Err(WriteError::Other("a scroll of another length"));
        }
        for at in (0..base.len()).filter(|&at| base[at] != value[at]) {
            writer.write_flag(true);
            writer.write_bits(at as u64, 16);
        }
        writer.write_flag(false);
        Ok(())
    }

    pub(super) fn read(
        base: &[bool],
        reader: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<Vec<bool>, ReadError> {
        let mut holes = base.to_vec();
        while reader.read_flag()? {
            let hole = holes.get_mut(reader.read_bits(16)? as usize).ok_or(ReadError::OutOfRange)?;
            *hole = !*hole;
        }
        Ok(holes)
    }
}

/// Writes, deletes or replaces a part of a text.
fn edit(text: &mut String, ink: &mut Ink<'_>) {
    let boundary = |text: &String, at: u64| (0..=at as usize).rev().find(|&at| text.is_char_boundary(at));
    let start = boundary(text, ink.rng.below(text.len() as u64 + 1)).unwrap_or(0);
    let longest = ink.rng.below(12).min((text.len() - start) as u64);
    let end = boundary(text, start as u64 + longest).unwrap_or(start).max(start);
    let new = if ink.rng.chance(0.1) { ink.text(200) } else { ink.text(3) };
    if text.len() < 3_000 || new.len() <= end - start {
        text.replace_range(start..end, &new);
    }
}

impl Creature for Scroll {
    const CONDITIONS: &'static [Condition] = &[
        Condition::None,
        Condition::None,
        Condition::None,
        Condition::OwnerOnly,
        Condition::Custom,
        Condition::None,
        Condition::None,
    ];

    fn leaves(&self, leaves: &mut Leaves) {
        leaves.property(0).value(&[], self.text.as_bytes());
        leaves_of_list(leaves.property(1), &self.numbers, |leaves, at, number| {
            leaves.value(&[at], &number.to_le_bytes());
        });
        leaves_of_list(leaves.property(2), &self.heroes, |leaves, at, hero| {
            leaves.reference(&[at], &reference_bytes(*hero), &reference_bytes(ObjectRef::NULL), hero.guid());
        });
        for (property, list) in [(3, &self.plans), (4, &self.papers)] {
            leaves_of_list(leaves.property(property), list, |leaves, at, paper| {
                leaves.value(&[at], &paper.to_le_bytes());
            });
        }
        leaves_of_list(leaves.property(5), &self.holes, |leaves, at, hole| {
            leaves.value(&[at], &[(*hole).into()])
        });
        leaves.property(6).value(&[], &[self.seal]);
    }

    fn change(&mut self, property: usize, ink: &mut Ink<'_>) {
        match property {
            0 => edit(&mut self.text, ink),
            1 if ink.rng.chance(0.01) => self.numbers.resize_with(900, || ink.rng.below(1_000) as u16),
            1 => change_list(&mut self.numbers, 60, ink, |number, ink| *number = ink.rng.below(1_000) as u16),
            2 => change_list(&mut self.heroes, 20, ink, |hero, ink| *hero = ink.target()),
            3 => change_list(&mut self.plans, 6, ink, |paper, ink| *paper = (ink.canary)(3)),
            4 => change_list(&mut self.papers, 6, ink, |paper, ink| *paper = (ink.canary)(4)),
            5 if self.holes.is_empty() => self.holes.resize(64, false),
            5 => {
                let at = ink.rng.below(self.holes.len() as u64) as usize;
                self.holes[at] ^= true;
            }
            _ => self.seal = ink.rng.below(9) as u8,
        }
    }

    fn notified(&self) -> Vec<(usize, u64)> {
        vec![(0, hash(self.text.as_bytes()))]
    }

    fn shown(&mut self) -> &mut Shown {
        &mut self.shown
    }

    fn uid(&mut self) -> &mut u32 {
        &mut self.uid
    }
}
