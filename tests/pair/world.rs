//! An object with every kind of property, and random changes to it.
//!
//! *Invariant:* a change can reach any depth of the object, and every value stays within the limits of its
//! property.

use proptest::prelude::*;
use repl::{Guid, NetSerialize, ObjectRef, Replicated};

/// A nested struct. Its fields are properties of the object that contains it.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub(crate) struct Limb {
    pub(crate) health: u8,
    pub(crate) joints: Vec<u16>,
    pub(crate) label: Option<String>,
}

/// An enum, which is always sent whole.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub(crate) enum Mood {
    #[default]
    Calm,
    Angry {
        at: u16,
        words: Vec<String>,
    },
    Lost(Option<i8>),
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub(crate) struct World {
    pub(crate) alive: bool,
    #[replicated(range = -5..=900, saturate)]
    pub(crate) score: i16,
    pub(crate) name: String,
    pub(crate) limb: Limb,
    pub(crate) mood: Mood,
    pub(crate) numbers: Vec<u8>,
    #[replicated(max_len = 6)]
    pub(crate) limbs: Vec<Limb>,
    pub(crate) grid: Vec<Vec<(u8, bool)>>,
    pub(crate) maybe: Option<Option<Limb>>,
    pub(crate) pair: [Vec<i32>; 2],
    pub(crate) wide: u128,
    pub(crate) float: f64,
    #[replicated(quantize(step = 0.5, range = -10.0..=10.0, exact), saturate)]
    pub(crate) steps: Vec<f32>,
    pub(crate) target: ObjectRef<Self>,
    pub(crate) initial: char,
}

/// One random change: the property, the position in it, and the value.
pub(crate) type Change = (u8, u8, u16);

pub(crate) fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0..15_u8, any::<u8>(), any::<u16>()), 1..=most)
}

impl World {
    pub(crate) fn change(&mut self, (property, place, what): Change) {
        let text = || "ab ☂ defgh".chars().take(usize::from(what % 11)).collect::<String>();
        match property {
            0 => self.alive = what % 2 == 0,
            1 => self.score = what as i16,
            2 => self.name = text(),
            3 => self.limb.change(place, what),
            4 => {
                self.mood = match what % 3 {
                    0 => Mood::Calm,
                    1 => Mood::Angry { at: what, words: vec![text(); usize::from(place % 4)] },
                    _ => Mood::Lost((place % 2 == 0).then_some(what as i8)),
                }
            }
            5 => change_list(&mut self.numbers, place, |number| *number = what as u8),
            6 => change_list(&mut self.limbs, place, |limb| limb.change(what as u8, what >> 8)),
            7 => change_list(&mut self.grid, place, |row| {
                change_list(row, what as u8, |cell| *cell = ((what >> 8) as u8, what % 2 == 0));
            }),
            8 => match place % 4 {
                0 => self.maybe = None,
                1 => self.maybe = Some(None),
                _ => self.maybe.get_or_insert_default().get_or_insert_default().change(what as u8, what >> 8),
            },
            9 => {
                change_list(&mut self.pair[usize::from(what % 2)], place, |number| *number = i32::from(what))
            }
            10 => self.wide = u128::from(what) << (place % 112),
            11 => self.float = f64::from_bits(u64::from(what) << (place % 49)),
            12 => change_list(&mut self.steps, place, |step| *step = f32::from(what as i16) / 1000.0),
            13 => {
                let guid = std::num::NonZeroU32::new(what.into())
                    .map(|generation| Guid::new(place.into(), generation));
                self.target = guid.map_or(ObjectRef::NULL, ObjectRef::new);
            }
            _ => self.initial = char::from_u32(what.into()).unwrap_or('☂'),
        }
    }
}

impl Limb {
    fn change(&mut self, place: u8, what: u16) {
        match place % 3 {
            0 => self.health = what as u8,
            1 => change_list(&mut self.joints, what as u8, |joint| *joint = what),
            _ => self.label = (what & 3 > 0).then(|| "x".repeat(usize::from(what % 5))),
        }
    }
}

/// Adds, removes or changes an element of a list. The list never has more than six elements.
fn change_list<T: Default>(list: &mut Vec<T>, place: u8, change: impl FnOnce(&mut T)) {
    let (at, how) = (usize::from(place / 8) % (list.len() + 1), place % 8);
    match how {
        0 => list.truncate(at),
        1 | 2 if list.len() < 6 => list.insert(at, T::default()),
        3 if list.len() < 5 => list.extend([T::default(), T::default()]),
        4 if at < list.len() => drop(list.remove(at)),
        _ => {}
    }
    let at = at.min(list.len().saturating_sub(1));
    if let Some(element) = list.get_mut(at) {
        change(element);
    }
}
