//! Where items were inserted last, so as to see who goes on there.
//!
//! *Invariant:* what is remembered only makes labels shorter; whatever it says, the order is right.

use crate::sequence::Key;
use repl_core::label::{Hint, Lean};

/// Places at which several users of an array may take turns and still each be seen to go on.
const PLACES: usize = 32;
/// Turns in a row after which another is expected.
const TURNS: u32 = 2;

/// The last places of insertion, the latest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    ends: Vec<End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    /// The item inserted last.
    key: Key,
    /// On which side of the one before that it was put; on neither, if the run only began.
    lean: Lean,
    /// How many items the run has since it last went on otherwise than expected.
    run: u32,
    /// Whether that was the other side than with the one before: then the run is expected to turn again.
    turned: bool,
}

impl End {
    /// Whether an item on this side of it turns the run.
    fn turns_to(self, side: Lean) -> bool {
        self.lean != Lean::Neither && self.lean != side
    }
}

impl Runs {
    /// No place yet.
    pub(crate) const fn new() -> Self {
        Self { ends: Vec::new() }
    }

    /// What is known of an item that is inserted between these neighbours.
    ///
    /// A run that turns is none, lest it use up the room between both its ends with every turn. If it turned the last times, the next item is
    /// expected between this one and the last, and this one is put away from the last.
    pub(crate) fn hint(&self, before: Option<Key>, after: Option<Key>) -> Hint {
        match (self.beside(before, after), before, after) {
            (Some((at, side)), ..) => {
                let end = self.ends[at];
                match end.turns_to(side) {
                    turns if turns == end.turned && (!turns || end.run >= TURNS) => {
                        Hint { lean: if turns { side.opposite() } else { side }, run: end.run }
                    }
                    false => Hint { lean: side, run: 0 },
                    true => Hint::NONE,
                }
            }
            (None, Some(_), None) => Hint { lean: Lean::Before, run: 0 },
            (None, None, Some(_)) => Hint { lean: Lean::After, run: 0 },
            _ => Hint::NONE,
        }
    }

    /// Notes that `count` items were inserted between these neighbours, the last of them, or the first of them if the hint was
    /// [`Lean::After`], with the key `key`.
    ///
    /// The item that a run went on from is forgotten, unless others may go on from it elsewhere: from the first one of a run to the other side, and
    /// from where a run turned as before.
    pub(crate) fn inserted(&mut self, before: Option<Key>, after: Option<Key>, key: Key, count: u32) {
        let new = match self.beside(before, after) {
            Some((at, side)) => {
                let end = self.ends[at];
                let turned = end.turns_to(side);
                if end.lean == Lean::Neither {
                    self.ends[at].lean = side.opposite();
                } else if !turned || end.turned {
                    self.ends.remove(at);
                }
                let run = if turned == end.turned { end.run.saturating_add(count) } else { count };
                End { key, lean: side, run, turned }
            }
            None => End { key, lean: Lean::Neither, run: count, turned: false },
        };
        self.ends.truncate(PLACES - 1);
        self.ends.insert(0, new);
    }

    /// Notes that an item is no more; a run that ended with it now ends with the one before it, which is asked for only then.
    pub(crate) fn removed(&mut self, key: Key, before: impl FnOnce() -> Option<Key>) {
        if let Some(at) = self.ends.iter().position(|end| end.key == key) {
            match before() {
                Some(before) => self.ends[at].key = before,
                None => {
                    self.ends.remove(at);
                }
            }
        }
    }

    /// Forgets all places.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
    }

    /// The latest place that is beside the one between these neighbours, and on which of its sides that is.
    fn beside(&self, before: Option<Key>, after: Option<Key>) -> Option<(usize, Lean)> {
        self.ends.iter().enumerate().find_map(|(at, end)| match Some(end.key) {
            key if key == before => Some((at, Lean::Before)),
            key if key == after => Some((at, Lean::After)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::Sequence;

    fn keys(count: usize) -> Vec<Key> {
        (0..count).collect::<Sequence<usize>>().keys_from(0).collect()
    }

    #[test]
    fn a_run_is_seen_from_its_second_item_on() {
        let [a, b, c, d] = keys(4)[..] else { unreachable!() };
        let mut runs = Runs::new();
        assert_eq!(runs.hint(Some(a), Some(b)).lean, Lean::Neither);
        runs.inserted(Some(a), Some(b), c, 1);
        assert_eq!(runs.hint(Some(c), Some(b)).lean, Lean::Before);
        assert_eq!(runs.hint(Some(a), Some(c)).lean, Lean::After);
        runs.inserted(Some(a), Some(c), d, 1);
        assert_eq!(runs.hint(Some(a), Some(d)).lean, Lean::After);
        assert_eq!(runs.hint(Some(d), Some(c)).lean, Lean::Neither, "it turned");
    }

    #[test]
    fn a_run_that_has_turned_twice_is_expected_to_turn_again() {
        let keys: Vec<Option<Key>> = keys(6).into_iter().map(Some).collect();
        let [left, right, a, b, c, d] = keys[..] else { unreachable!() };
        let mut runs = Runs::new();
        for (before, after, new) in [(left, right, a), (a, right, b), (a, b, c), (c, b, d)] {
            new.into_iter().for_each(|new| runs.inserted(before, after, new, 1));
        }
        assert_eq!(runs.hint(c, d).lean, Lean::Before, "away from the last");
        assert_eq!(runs.hint(d, b).lean, Lean::Before, "it goes on straight");
    }

    #[test]
    fn a_run_goes_on_where_it_began_and_where_it_turned() {
        let keys: Vec<Option<Key>> = keys(6).into_iter().map(Some).collect();
        let [left, right, a, b, c, d] = keys[..] else { unreachable!() };
        let mut runs = Runs::new();
        for (before, after, new) in [(left, right, a), (a, right, b), (left, a, c), (c, a, d)] {
            new.into_iter().for_each(|new| runs.inserted(before, after, new, 1));
        }
        assert_eq!(runs.hint(left, c).lean, Lean::After);
        assert_eq!(runs.hint(b, right).lean, Lean::Before);
    }

    #[test]
    fn the_ends_of_an_array_are_grown_away_from() {
        let [a, b] = keys(2)[..] else { unreachable!() };
        let runs = Runs::new();
        assert_eq!(runs.hint(None, None).lean, Lean::Neither);
        assert_eq!(runs.hint(Some(b), None).lean, Lean::Before);
        assert_eq!(runs.hint(None, Some(a)).lean, Lean::After);
    }

    #[test]
    fn several_take_turns_and_the_one_before_all_of_them_is_forgotten() {
        let keys = keys(PLACES + 1);
        let mut runs = Runs::new();
        keys.iter().for_each(|&key| runs.inserted(None, None, key, 1));
        assert_eq!(runs.hint(Some(keys[PLACES]), Some(keys[0])).lean, Lean::Before);
        assert_eq!(runs.hint(Some(keys[1]), Some(keys[0])).lean, Lean::Before);
        assert_eq!(runs.hint(Some(keys[0]), Some(keys[0])).lean, Lean::Neither);
    }

    #[test]
    fn taking_back_the_last_item_does_not_end_the_run() {
        let [a, b, c] = keys(3)[..] else { unreachable!() };
        let mut runs = Runs::new();
        runs.inserted(Some(a), None, b, 1);
        runs.removed(c, || unreachable!("it ends no run"));
        runs.removed(b, || Some(a));
        assert_eq!(runs.hint(Some(a), Some(c)).lean, Lean::Before);
        runs.removed(a, || None);
        assert_eq!(runs.hint(Some(a), Some(c)).lean, Lean::Neither);
    }
}
