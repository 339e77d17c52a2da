//! Predicts where users insert the next items of an ordered array, so that labels stay short. For example,
//! somebody who types inserts each character after the previous character.
//!
//! *Invariant:* a prediction changes only the length of labels. The order of the items is correct even if the
//! prediction is wrong.

use crate::sequence::Key;
use repl_core::label::{Hint, Lean};

/// The number of insertion points that are remembered. So up to this number of users can take turns to insert
/// at different positions of an array, and each user's series of inserted items is still recognised.
const MAX_RUNS: usize = 32;
/// If the side on which a run of inserted items continues changes this many times in a row, the side is
/// expected to change again.
const EXPECTED_TURNS: u32 = 2;

/// The ends of recent runs of inserted items. The end of the latest run comes first. A run is a series of
/// items that were inserted next to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    ends: Vec<End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    /// The key of the item of the run that was inserted last.
    key: Key,
    /// Whether the last item was inserted before or after the previous item of the run. `lean` is `Neither`
    /// for the first item of a run.
    lean: Lean,
    /// How many items in a row were inserted at the position where the run was expected to continue.
    run: u32,
    /// Whether the last item changed the side on which the run of inserted items continues. If it did, the
    /// next item is expected to change the side again.
    turned: bool,
}

impl End {
    /// Returns whether the run of inserted items changes direction if the next item is inserted on this
    /// `side` of the last item.
    fn changes_side_for(self, side: Lean) -> bool {
        self.lean != Lean::Neither && self.lean != side
    }
}

impl Runs {
    /// Returns a hint for the label of an item that is inserted between the items `before` and `after`: the
    /// hint says on which side of the new item the next item is expected.
    ///
    /// Usually there is no hint for a run that changes direction, because with every change of direction,
    /// fewer labels remain free between the two ends of the run. If a run changed direction at each of the
    /// last [`EXPECTED_TURNS`] items, the next item is expected between the new item and the last item. A new
    /// item of such a run receives a label far from the label of the last item.
    pub(crate) fn hint(&self, before: Option<Key>, after: Option<Key>) -> Hint {
        match (self.run_beside(before, after), before, after) {
            (Some((at, side)), ..) => {
                let end = self.ends[at];
                match end.changes_side_for(side) {
                    turns if turns == end.turned && (!turns || end.run >= EXPECTED_TURNS) => {
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

    /// Records that `count` items were inserted between the items `before` and `after`. The argument `key` is
    /// the key of the last of the new items, or of the first of them if the hint was [`Lean::After`].
    ///
    /// Forgets the old end of the run of inserted items, unless another run may continue at this end. Another
    /// run may continue there in two cases: the old end is the first item of the run, so that another run may
    /// continue on its other side, or the run has just changed its direction, so that another run may
    /// continue in the old direction.
    pub(crate) fn inserted(&mut self, before: Option<Key>, after: Option<Key>, key: Key, count: u32) {
        let new = match self.run_beside(before, after) {
            Some((at, side)) => {
                let end = self.ends[at];
                let turned = end.changes_side_for(side);
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
        self.ends.truncate(MAX_RUNS - 1);
        self.ends.insert(0, new);
    }

    /// Records that an item was removed. If a run of items ended with the removed item, the run now ends with
    /// the item before the removed item. The argument `before` returns the item before the removed item, and
    /// is called only if a run ended with the removed item.
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

    /// Forgets all runs of inserted items.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
    }

    /// Returns the latest run of inserted items that ends at the item `before` or `after`, and the side of
    /// that end on which the new item is.
    fn run_beside(&self, before: Option<Key>, after: Option<Key>) -> Option<(usize, Lean)> {
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
        let mut runs = Runs::default();
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
        let mut runs = Runs::default();
        for (before, after, new) in [(left, right, a), (a, right, b), (a, b, c), (c, b, d)] {
            new.into_iter().for_each(|new| runs.inserted(before, after, new, 1));
        }
        assert_eq!(runs.hint(c, d).lean, Lean::Before, "away from the last");
        assert_eq!(runs.hint(d, b).lean, Lean::Before, "it goes on straight");
    }

    #[test]
    fn a_run_may_continue_where_it_began_and_where_it_turned() {
        let keys: Vec<Option<Key>> = keys(6).into_iter().map(Some).collect();
        let [left, right, a, b, c, d] = keys[..] else { unreachable!() };
        let mut runs = Runs::default();
        for (before, after, new) in [(left, right, a), (a, right, b), (left, a, c), (c, a, d)] {
            new.into_iter().for_each(|new| runs.inserted(before, after, new, 1));
        }
        assert_eq!(runs.hint(left, c).lean, Lean::After);
        assert_eq!(runs.hint(b, right).lean, Lean::Before);
    }

    #[test]
    fn the_ends_of_an_array_are_grown_away_from() {
        let [a, b] = keys(2)[..] else { unreachable!() };
        let runs = Runs::default();
        assert_eq!(runs.hint(None, None).lean, Lean::Neither);
        assert_eq!(runs.hint(Some(b), None).lean, Lean::Before);
        assert_eq!(runs.hint(None, Some(a)).lean, Lean::After);
    }

    #[test]
    fn several_take_turns_and_the_one_before_all_of_them_is_forgotten() {
        let keys = keys(MAX_RUNS + 1);
        let mut runs = Runs::default();
        keys.iter().for_each(|&key| runs.inserted(None, None, key, 1));
        assert_eq!(runs.hint(Some(keys[MAX_RUNS]), Some(keys[0])).lean, Lean::Before);
        assert_eq!(runs.hint(Some(keys[1]), Some(keys[0])).lean, Lean::Before);
        assert_eq!(runs.hint(Some(keys[0]), Some(keys[0])).lean, Lean::Neither);
    }

    #[test]
    fn taking_back_the_last_item_does_not_end_the_run() {
        let [a, b, c] = keys(3)[..] else { unreachable!() };
        let mut runs = Runs::default();
        runs.inserted(Some(a), None, b, 1);
        runs.removed(c, || unreachable!("it ends no run"));
        runs.removed(b, || Some(a));
        assert_eq!(runs.hint(Some(a), Some(c)).lean, Lean::Before);
        runs.removed(a, || None);
        assert_eq!(runs.hint(Some(a), Some(c)).lean, Lean::Neither);
    }
}
