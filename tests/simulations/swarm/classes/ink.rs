//! The source of random values for changes of objects.
//!
//! *Invariant:* all random numbers come from the run's generator.

use repl::sim::Rng;
use repl::{Guid, ObjectRef};

use super::Actor;

/// The sources of values for a change.
pub(crate) struct Ink<'a> {
    pub(crate) rng: &'a mut Rng,
    /// Returns a new secret for a property.
    pub(crate) canary: &'a mut dyn FnMut(usize) -> u128,
    /// Objects to refer to. Some no longer exist, and some are unknown to clients.
    pub(crate) guids: &'a [Guid],
}

impl Ink<'_> {
    pub(super) fn text(&mut self, longest: u64) -> String {
        let len = self.rng.below(longest + 1);
        (0..len).map(|_| *self.rng.pick(&['a', 'b', 'c', 'ä', '☂', 'z']).expect("letters")).collect()
    }

    pub(super) fn target(&mut self) -> ObjectRef<Actor> {
        let is_null = self.rng.chance(0.2);
        self.rng.pick(self.guids).filter(|_| !is_null).map_or(ObjectRef::NULL, |&guid| ObjectRef::new(guid))
    }
}

/// Adds, removes, moves or changes elements of a list.
pub(super) fn change_list<T: Default + Clone>(
    list: &mut Vec<T>,
    longest: usize,
    ink: &mut Ink<'_>,
    change: impl Fn(&mut T, &mut Ink<'_>),
) {
    let at = ink.rng.below(list.len() as u64 + 1) as usize;
    match ink.rng.below(8) {
        0 => list.truncate(at),
        1 => list.clear(),
        2 | 3 if list.len() < longest => list.insert(at, T::default()),
        4 if at < list.len() => drop(list.remove(at)),
        5 if list.len() + 3 <= longest => list.resize(list.len() + 3, T::default()),
        6 => list.rotate_left(at),
        _ => {}
    }
    let at = at.min(list.len().saturating_sub(1));
    if let Some(element) = list.get_mut(at) {
        change(element, ink);
    }
}
