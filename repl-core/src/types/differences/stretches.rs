//! Stretches of units that a new list has in common with an old one.
//!
//! The search takes linear time, apart from one sort. So it does not always find the shortest difference.
//!
//! *Invariant:* stretches are in the order of both lists, and do not overlap.
#![expect(clippy::arithmetic_side_effects, reason = "positions in lists of this process")]

use super::anchors::anchors;
use super::area::{Area, Stretch};
use super::window::Window;

/// If fewer units of a window are the same, the window is hopeless.
const HOPELESS: usize = 30;

/// How many windows between two anchors may be hopeless. After one more, the rest of the new list up to the
/// second anchor is sent whole.
const MOST_HOPELESS: usize = 8;

/// The stretches that were found so far.
struct Search<F> {
    is_same: F,
    window: Window,
    found: Vec<Stretch>,
}

/// Finds the stretches that two lists have in common. `is_same` compares a unit of the old list with one
/// of the new list. `hashes` returns hashes of the units in both parts of an area: equal units have
/// equal hashes.
pub(super) fn stretches(
    (old, new): (usize, usize),
    is_same: impl Fn(usize, usize) -> bool,
    hashes: impl FnOnce(Area) -> (Vec<u64>, Vec<u64>),
) -> Vec<Stretch> {
    let most = old.min(new);
    let before = (0..most).take_while(|&at| is_same(at, at)).count();
    let left = most - before;
    let after = (0..left).take_while(|&at| is_same(old - 1 - at, new - 1 - at)).count();
    let middle = Area { old: (before, old - after), new: (before, new - after) };
    let mut search = Search { is_same, window: Window::default(), found: Vec::new() };
    search.push(Stretch { old: 0, new: 0, len: before });
    search.find(middle, hashes);
    search.push(Stretch { old: old - after, new: new - after, len: after });
    search.found
}

impl<F: Fn(usize, usize) -> bool> Search<F> {
    fn push(&mut self, Stretch { old, new, len }: Stretch) {
        match self.found.last_mut() {
            Some(last) if last.ends() == (old, new) => last.len += len,
            _ if len > 0 => self.found.push(Stretch { old, new, len }),
            _ => {}
        }
    }

    /// Finds the stretches in an area: with one window if there are few edits, otherwise from anchor to
    /// anchor.
    fn find(&mut self, area: Area, hashes: impl FnOnce(Area) -> (Vec<u64>, Vec<u64>)) {
        if area.is_one_sided() {
            return;
        }
        if self.window.search(area, &self.is_same) == (area.old.1, area.new.1) {
            self.push_window();
            return;
        }
        let (old, new) = hashes(area);
        let mut left = area;
        for (old, new) in anchors(&old, &new) {
            left = self.find_anchor((area.old.0 + old, area.new.0 + new), left);
        }
        self.fill(left);
    }

    /// Finds the stretches in an area up to the end of the stretch around an anchor. Returns the rest of
    /// the area.
    fn find_anchor(&mut self, (old, new): (usize, usize), area: Area) -> Area {
        if old < area.old.0 || new < area.new.0 {
            return area; // a part of the stretch before
        }
        let Self { is_same, .. } = &*self;
        let (before, after) = area.split((old, new));
        let shorter = |area: Area| area.lens().0.min(area.lens().1);
        let back = (0..shorter(before)).take_while(|&at| is_same(old - 1 - at, new - 1 - at)).count();
        let on = (0..shorter(after)).take_while(|&at| is_same(old + at, new + at)).count();
        self.fill(area.split((old - back, new - back)).0);
        self.push(Stretch { old: old - back, new: new - back, len: back + on });
        after.split((old + on, new + on)).1
    }

    /// Finds the stretches in an area, one window after the other, until too many windows were hopeless.
    fn fill(&mut self, mut area: Area) {
        let mut hopeless = 0;
        while !area.is_one_sided() && hopeless <= MOST_HOPELESS {
            let end = self.window.search(area, &self.is_same);
            hopeless += usize::from(self.push_window() < HOPELESS);
            area = area.split(end).1;
        }
    }

    /// Adds the stretches of the window. Returns how many units they have.
    fn push_window(&mut self) -> usize {
        let found = self.window.take();
        found.iter().for_each(|stretch| self.push(*stretch));
        found.iter().map(|stretch| stretch.len).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// Returns the stretches of two lists, and how many units were compared.
    fn found(old: &[u32], new: &[u32]) -> (Vec<Stretch>, usize) {
        let compared = Cell::new(0);
        let is_same = |one: usize, other: usize| {
            compared.set(compared.get() + 1);
            old[one] == new[other]
        };
        let hashes =
            |list: &[u32], (start, end)| list[start..end].iter().map(|unit| u64::from(*unit)).collect();
        let found =
            stretches((old.len(), new.len()), is_same, |area| (hashes(old, area.old), hashes(new, area.new)));
        (found, compared.get())
    }

    /// Returns how many units the stretches have, which must be the same in both lists and in order.
    fn checked(old: &[u32], new: &[u32]) -> usize {
        let (mut end, mut sum) = ((0, 0), 0);
        for stretch in found(old, new).0 {
            assert!(stretch.old >= end.0 && stretch.new >= end.1 && stretch.len > 0, "{stretch:?}");
            let ends = stretch.ends();
            assert_eq!(old[stretch.old..ends.0], new[stretch.new..ends.1]);
            (end, sum) = (ends, sum + stretch.len);
        }
        sum
    }

    /// The length of the longest common subsequence.
    fn longest(old: &[u32], new: &[u32]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for one in old {
            let mut corner = 0;
            for (at, other) in new.iter().enumerate() {
                let here = if one == other { corner + 1 } else { row[at].max(row[at + 1]) };
                corner = std::mem::replace(&mut row[at + 1], here);
            }
        }
        row[new.len()]
    }

    /// Random numbers below `end`.
    fn random(len: usize, end: u32, seed: u32) -> Vec<u32> {
        let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        std::iter::successors(Some(seed), next).map(|state| (state >> 8) % end).skip(1).take(len).collect()
    }

    proptest! {
        #[test]
        fn few_edits_are_found_exactly(
            old in proptest::collection::vec(0_u32..4, 0..20),
            new in proptest::collection::vec(0_u32..4, 0..20),
        ) {
            prop_assert_eq!(checked(&old, &new), longest(&old, &new));
        }

        #[test]
        fn stretches_are_the_same_in_both_lists(seed: u32, end in 1_u32..500, len in 0_usize..200) {
            checked(&random(len, end, seed), &random(200, end, seed ^ 0x5555));
        }
    }

    #[test]
    fn inserted_blocks_and_many_replaced_units_hide_nothing() {
        let old = random(10_000, 26, 1);
        let mut new = old.clone();
        new.splice(2_000..2_000, random(3_000, 26, 2));
        new.splice(8_000..8_500, random(100, 26, 3));
        assert!(checked(&old, &new) >= 9_450);
        let mut new = old.clone();
        new.iter_mut().step_by(10).for_each(|unit| *unit += 100);
        assert!(checked(&old, &new) >= 8_900);
    }

    #[test]
    fn blocks_are_found_between_insertions_that_are_longer_than_a_window() {
        let old = random(9_000, 1 << 20, 1);
        let insert = |(block, seed): (&[u32], u32)| [&random(50, 1 << 20, seed), block].concat();
        let new: Vec<u32> = old.chunks(30).zip(2..).flat_map(insert).collect();
        assert_eq!(checked(&old, &new), 9_000);
    }

    #[test]
    fn the_larger_one_of_two_blocks_that_changed_places_is_found() {
        let (small, large) = (random(4_000, 1 << 20, 1), random(6_000, 1 << 20, 2));
        assert_eq!(checked(&[&*large, &small].concat(), &[&*small, &large].concat()), 6_000);
    }

    #[test]
    fn blocks_that_occur_twice_are_found_by_what_is_between_them() {
        let (block, between) = (random(1_000, 1 << 20, 1), random(500, 1 << 20, 2));
        let old = [&*block, &between, &block].concat();
        let new = [&random(100, 1 << 20, 3), &*old, &random(100, 1 << 20, 4)].concat();
        assert_eq!(checked(&old, &new), 2_500);
    }

    #[test]
    fn units_that_occur_before_and_after_a_removed_block_belong_to_one_stretch() {
        let [before, removed, after] = [1, 2, 3].map(|seed| random(1_000, 1 << 20, seed));
        let twice = random(5, 1 << 20, 4);
        let old = [&[1], &*before, &twice, &removed, &twice, &after, &[2]].concat();
        let new = [&[3], &*before, &twice, &after, &[4]].concat();
        assert_eq!(checked(&old, &new), 2_005);
    }

    #[test]
    fn many_windows_follow_each_other_where_no_row_occurs_in_both_lists() {
        let old = random(10_000, 26, 1);
        let mut new = old.clone();
        new.iter_mut().step_by(5).for_each(|unit| *unit += 100);
        let same = checked(&old, &new);
        assert!(same >= 7_900, "{same} units");
    }

    #[test]
    fn units_between_many_equal_ones_are_found() {
        let old = vec![0; 5_000];
        let mut new = old.clone();
        new.insert(4_000, 1);
        new.insert(1_000, 1);
        assert_eq!(checked(&old, &new), 5_000);
        assert_eq!(found(&old, &new).0.len(), 3);
    }

    #[test]
    fn lists_of_any_contents_are_compared_in_linear_time() {
        const LEN: usize = 6_000;
        for end in [1, 2, 4, 26, 1_000, 1 << 20] {
            let old = random(LEN, end, 7);
            let reversed = old.iter().rev().copied().collect();
            for new in [random(LEN, end, 8), random(LEN / 3, end, 9), reversed] {
                let (_, compared) = found(&old, &new);
                assert!(compared < LEN * 20, "{compared} comparisons of units below {end}");
            }
        }
    }
}
