//! Room for labels where none is left.
//!
//! *Invariant:* giving new labels moves no item.

use std::ops::Range;

use crate::sequence::{Key, Sequence};
use repl_core::label::Label;

/// Items on each side of a full place that get new labels at first.
const REACH: usize = 16;
/// Digits that the new labels have at most, unless all items get new ones.
const DIGITS: usize = Label::MAX_BYTES / 2;

/// Gives new labels to the items at `places` and around them, so that others fit in there, and tells `relabelled` whose they are. What
/// the items at `places` themselves have for labels does not matter.
///
/// As few as leave room: from 32 on, twice as many until labels of half the length do. `label` gives the label of an item. O(n) at worst.
pub(crate) fn relabel<T>(
    items: &mut Sequence<T>,
    places: Range<usize>,
    label: impl Fn(&mut T) -> &mut Label,
    mut relabelled: impl FnMut(Key),
) {
    let mut reach = REACH;
    let (range, labels) = loop {
        let range = places.start.saturating_sub(reach)..items.len().min(places.end.saturating_add(reach));
        let all = range.len() == items.len();
        let before =
            range.start.checked_sub(1).and_then(|at| items.get_mut(at)).map(|item| label(item).clone());
        let after = items.get_mut(range.end).map(|item| label(item).clone());
        // They are evenly spread, so none has many digits more than the last.
        match Label::spread(before.as_ref(), after.as_ref(), range.len()) {
            Some(labels) if all || labels.clone().all(|label| label.as_bytes().len() <= DIGITS) => {
                break (range, labels);
            }
            _ => reach = reach.saturating_mul(2),
        }
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

    /// Inserts at the place that `place` gives for a length, `count` times, and gives how many were relabelled, and how often.
    fn insert(count: usize, place: impl Fn(usize) -> usize) -> (usize, usize) {
        let mut items: Sequence<Label> = Sequence::new();
        let (mut relabelled, mut times) = (0, 0);
        for _ in 0..count {
            let index = place(items.len());
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
        for place in [(|len| len / 2) as fn(usize) -> usize, |_| 0, |len| len, |len| len.saturating_sub(1)] {
            let (relabelled, times) = insert(10_000, place);
            assert!(times > 0, "the test tries the worst places");
            assert!(relabelled < 100_000, "{relabelled} new labels, {times} times");
        }
    }
}
