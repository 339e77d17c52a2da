//! Random operations on an array, which cover all its methods.
//!
//! *Invariant:* all randomness comes from the generator of the run.

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Guid, ItemId};

use super::classes::{Bag, Item, Socket};

/// A type with random values and random changes.
pub(crate) trait Random: FastArrayItem + Clone + Default {
    fn random(dice: &mut Dice<'_>) -> Self;
    fn change(&mut self, dice: &mut Dice<'_>);
    /// Returns the number by which arrays are sorted.
    fn rank(&self) -> u32;
    /// Called after all values of two items were swapped: swaps the values back that identify the items.
    fn keep_apart(&mut self, other: &mut Self) {
        let _ = other;
    }
}

/// A random number generator, and the objects that references can point to.
pub(crate) struct Dice<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) guids: &'a [Guid],
    /// The first id of new arrays.
    pub(crate) first_id: ItemId,
}

impl Dice<'_> {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.rng.below(end.max(1) as u64) as usize
    }

    fn target(&mut self) -> ObjectRef<Bag> {
        let is_null = self.rng.chance(0.2);
        self.rng.pick(self.guids).filter(|_| !is_null).map_or(ObjectRef::NULL, |&guid| ObjectRef::new(guid))
    }

    fn array<T: Random>(&mut self, longest: usize) -> FastArray<T> {
        let mut array = FastArray::with_next_id(self.first_id);
        for _ in 0..self.below(longest + 1) {
            array.push(T::random(self));
        }
        array
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Random for $type {
            fn random(dice: &mut Dice<'_>) -> Self {
                dice.rng.next_u64() as $type
            }

            fn change(&mut self, dice: &mut Dice<'_>) {
                *self = if dice.rng.chance(0.1) { *self } else { Self::random(dice) };
            }

            fn rank(&self) -> u32 {
                u32::from(*self)
            }
        }
    )*};
}

numbers!(u8, u16, u32);

impl Random for Socket {
    fn random(dice: &mut Dice<'_>) -> Self {
        Self { gem: u8::random(dice), tags: dice.array(3) }
    }

    fn change(&mut self, dice: &mut Dice<'_>) {
        match dice.below(3) {
            0 => self.gem.change(dice),
            _ => mutate(&mut self.tags, 5, dice),
        }
    }

    fn rank(&self) -> u32 {
        self.gem.into()
    }
}

impl Random for Item {
    fn random(dice: &mut Dice<'_>) -> Self {
        let mut item = Self { kind: u32::random(dice), ..Self::default() };
        (0..dice.below(5)).for_each(|_| item.change(dice));
        item
    }

    fn change(&mut self, dice: &mut Dice<'_>) {
        match dice.below(8) {
            0 | 1 => self.name = "abc".repeat(dice.below(4)),
            2 => self.marks.push(u8::random(dice)),
            3 => self.marks.truncate(dice.below(3)),
            4 => self.target = dice.target(),
            5 => self.price += 1,
            _ => mutate(&mut self.sockets, 6, dice),
        }
    }

    fn rank(&self) -> u32 {
        self.kind
    }

    /// Swaps the kinds back, so that each item keeps its kind. So `replay` notices if a client confuses one
    /// item with another.
    fn keep_apart(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.kind, &mut other.kind);
    }
}

/// Makes a random change to an array. Usually the array remains shorter than `longest`.
pub(crate) fn mutate<T: Random>(array: &mut FastArray<T>, longest: usize, dice: &mut Dice<'_>) {
    let len = array.len();
    if len == 0 || len < longest && dice.rng.chance(0.25) {
        return grow(array, dice);
    }
    match dice.below(20) {
        0..9 => change(array, dice),
        9..12 => reorder(array, dice),
        12..19 => shrink(array, dice),
        _ => replace(array, longest, dice),
    }
}

fn grow<T: Random>(array: &mut FastArray<T>, dice: &mut Dice<'_>) {
    let at = dice.below(array.len() + 1);
    match dice.below(5) {
        0 => drop(array.insert(at, T::random(dice))),
        1 => {
            let items: Vec<T> = (0..dice.below(4)).map(|_| T::random(dice)).collect();
            array.extend(items);
        }
        2 => {
            let mut other: FastArray<T> = dice.array(3);
            array.append(&mut other);
        }
        _ => drop(array.push(T::random(dice))),
    }
}

fn change<T: Random>(array: &mut FastArray<T>, dice: &mut Dice<'_>) {
    let at = dice.below(array.len());
    let id = array.id(at).expect("an id for each item");
    match dice.below(10) {
        0..3 => array[at].change(dice),
        3 => array.get_mut(at).expect("an item").change(dice),
        4 => drop(array.edit(id, |item| item.change(dice))),
        5 => {
            for mut item in array.iter_mut() {
                if item.rank() % 3 == 0 {
                    item.change(dice);
                }
            }
        }
        6 => array.mark(at),
        7 => array.mark_all(),
        8 => {
            array.unmarked_mut(at).expect("an item").change(dice);
            array.mark(at);
        }
        _ => {
            let mut guards = array.iter_mut();
            if let (Some(mut one), Some(mut other)) = (guards.next(), guards.nth(at)) {
                std::mem::swap(&mut *one, &mut *other);
                one.keep_apart(&mut other);
            }
        }
    }
}

fn reorder<T: Random>(array: &mut FastArray<T>, dice: &mut Dice<'_>) {
    let (at, other) = (dice.below(array.len()), dice.below(array.len()));
    match dice.below(6) {
        0 => array.sort_by_key(T::rank),
        1 => array.sort_unstable_by_key(T::rank),
        2 => array.reverse(),
        3 => array.rotate_left(at),
        4 => array.rotate_right(at),
        _ => array.swap(at, other),
    }
}

fn shrink<T: Random>(array: &mut FastArray<T>, dice: &mut Dice<'_>) {
    let (len, at) = (array.len(), dice.below(array.len()));
    let id = array.id(at).expect("an id for each item");
    match dice.below(12) {
        0..2 => drop(array.remove(at)),
        2..4 => drop(array.swap_remove(at)),
        4 => drop(array.remove_by_id(id)),
        5 => drop(array.pop()),
        6 => array.truncate(len - len.min(2)),
        7 => drop(array.drain(at..len.min(at + 3))),
        8 => array.retain(|item| item.rank() % 4 != 0),
        9 => array.retain_mut(|item| {
            if item.rank() % 5 == 0 {
                item.change(dice);
            }
            item.rank() % 5 != 1
        }),
        10 => {
            let item = array.remove(at);
            array.push(item);
        }
        _ if dice.rng.chance(0.3) => array.clear(),
        _ => {}
    }
}

fn replace<T: Random>(array: &mut FastArray<T>, longest: usize, dice: &mut Dice<'_>) {
    match dice.below(4) {
        0 => *array = dice.array(longest),
        1 => *array = array.clone(),
        2 if dice.rng.chance(0.5) => {
            let source: FastArray<T> = dice.array(longest);
            array.clone_from(&source);
        }
        2 => *array = Vec::from(std::mem::take(array)).into(),
        _ => {
            let taken = std::mem::take(array);
            *array = taken;
        }
    }
}

/// Makes a random change to one of the arrays of an object.
pub(crate) fn change_bag(bag: &mut Bag, longest: usize, dice: &mut Dice<'_>) {
    match dice.below(16) {
        0..5 => mutate(&mut bag.items, longest, dice),
        5 => mutate(&mut bag.spare, longest, dice),
        6 => std::mem::swap(&mut bag.items, &mut bag.spare),
        7 | 8 => mutate(&mut bag.hand.cards, longest, dice),
        9 => bag.hand.held = dice.below(9) as u8,
        10 => match dice.below(3) {
            0 => bag.maybe = None,
            _ => {
                mutate(bag.maybe.get_or_insert_with(|| FastArray::with_next_id(dice.first_id)), longest, dice)
            }
        },
        11 | 12 => mutate(&mut bag.secret, longest, dice),
        13 | 14 => mutate(&mut bag.numbers, longest, dice),
        _ => match dice.below(4) {
            0 => bag.rows.push(dice.array(4)),
            1 => drop(bag.rows.pop()),
            2 if !bag.rows.is_empty() => {
                let mid = dice.below(bag.rows.len());
                bag.rows.rotate_left(mid);
            }
            _ => {
                let at = dice.below(bag.rows.len());
                if let Some(row) = bag.rows.get_mut(at) {
                    mutate(row, longest, dice);
                }
            }
        },
    }
}
