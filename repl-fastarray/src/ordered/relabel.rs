//! Relabelling: changes the labels of items around an index at which no short label is free.
//!
//! *Invariant:* relabelling does not change the order of the items.

use std::ops::Range;

use crate::sequence::{Key, Sequence};
use repl_core::label::Label;

/// If no label is free at a position, this many items on each side of the position receive new labels at
/// first.
const FIRST_REACH: usize = 16;
/// The factor by which the range of relabelled items grows if too few labels are free in it.
const REACH_FACTOR: usize = 4;
/// The greatest number of digits of a new label while the range of relabelled items has its first size. Each
/// time the range of relabelled items grows, the new labels must be one digit shorter. Between two shorter
/// labels, more longer labels remain free.
const MAX_DIGITS: usize = 8;

/// Changes the labels of the items at `indices` and of items around them, so that labels are free at
/// `indices`. `relabel` calls `relabelled` with the key of each item that receives a new label. `relabel`
/// ignores the old labels of the items at `indices`.
///
/// The range of relabelled items grows until enough labels are free: it has about 32 items if labels of 8
/// digits are enough, 128 items if 7 digits are enough, and so on. The argument `label` returns the label of
/// an item. Costs O(n) in the worst case, O(log n) for each insertion on average.
pub(crate) fn relabel<T>(
    items: &mut Sequence<T>,
    indices: Range<usize>,
    label: impl Fn(&mut T) -> &mut Label,
    mut relabelled: impl FnMut(Key),
) {
    let (mut reach, mut digits) = (FIRST_REACH, MAX_DIGITS);
    let (range, labels) = loop {
        let range = indices.start.saturating_sub(reach)..items.len().min(indices.end.saturating_add(reach));
        let hot = indices.start - range.start..indices.end - range.start;
        let max = if range.len() == items.len() { Label::MAX_BYTES } else { digits };
        let before =
            range.start.checked_sub(1).and_then(|at| items.get_mut(at)).map(|item| label(item).clone());
        let after = items.get_mut(range.end).map(|item| label(item).clone());
        if let Some(labels) = Label::spread(before.as_ref(), after.as_ref(), range.len(), hot, max) {
            break (range, labels);
        }
        reach = reach.saturating_mul(REACH_FACTOR);
        digits = digits.saturating_sub(1);
    };
    let keys: Vec<Key> = items.keys_from(range.start).take(range.len()).collect();
    for (key, new) in keys.into_iter().zip(labels) {
        if let Some(item) = items.by_key_mut(key) {
            *label(item) = new;
            relabelled(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repl_core::label::Hint;

    /// Inserts `count` labels one after another. `choose` receives the current number of labels, and returns
    /// the index of the next label. Returns how many items were relabelled, and how often labels had to be
    /// changed.
    fn insert(count: usize, choose: impl Fn(usize) -> usize) -> (usize, usize) {
        let mut items: Sequence<Label> = Sequence::new();
        let (mut relabelled, mut times) = (0, 0);
        for _ in 0..count {
            let index = choose(items.len());
            let between = |items: &Sequence<Label>| {
                let before = index.checked_sub(1).and_then(|at| items.get(at));
                Label::between(before, items.get(index), Hint::NONE)
            };
            let new = between(&items).unwrap_or_else(|| {
                times += 1;
                relabel(&mut items, index..index, |label| label, |_| relabelled += 1);
                between(&items).expect("there is room now")
            });
            items.insert(index, new);
        }
        let labels: Vec<&Label> = items.iter().collect();
        assert!(labels.windows(2).all(|pair| pair[0] < pair[1]));
        (relabelled, times)
    }

    #[test]
    fn r13_there_is_always_room_and_the_order_stays() {
        for choose in [(|len| len / 2) as fn(usize) -> usize, |_| 0, |len| len, |len| len.saturating_sub(1)] {
            let (relabelled, times) = insert(10_000, choose);
            assert!(times > 0, "the test tries the worst indices");
            assert!(relabelled < 100_000, "{relabelled} new labels, {times} times");
        }
    }
}
