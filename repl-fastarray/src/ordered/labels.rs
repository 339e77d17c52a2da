//! Chooses labels for items of an ordered array. A label stands for the position of an item, and is sent to
//! clients.
//!
//! *Invariant:* every item that receives another label is also marked, so that the label is sent.

use std::ops::Range;

use repl_core::label::{Hint, Label};

use super::OrderedFastArray;
use super::relabel::relabel;
use crate::sequence::Key;

impl<T> OrderedFastArray<T> {
    /// Labels the items at `indices` with labels between the labels of their neighbours. `label_within`
    /// returns false and changes nothing if there are too few labels between the neighbours.
    pub(super) fn label_within(&mut self, indices: Range<usize>, hint: Hint) -> bool {
        let label = |at| self.items.get(at).map(|entry| &entry.label);
        let (before, after) = (indices.start.checked_sub(1).and_then(label), label(indices.end));
        let labels: Option<Vec<Label>> = match indices.len() {
            1 => Label::between(before, after, hint).map(|label| vec![label]),
            count => Label::run(before, after, count, hint).map(Iterator::collect),
        };
        let Some(labels) = labels else { return false };
        for (key, label) in self.keys(indices).into_iter().zip(labels) {
            self.give(key, label);
        }
        true
    }

    /// Labels the items at `indices` with labels between the labels of their neighbours. If there are too few
    /// short labels between the neighbours, items around them also receive new labels.
    pub(super) fn label_anyway(&mut self, indices: Range<usize>, hint: Hint) {
        let first = indices.start;
        let fits = self.label_within(indices.clone(), hint);
        if !fits || self.items.get(first).is_some_and(|entry| entry.label.is_long()) {
            self.make_room(indices);
        }
    }

    /// Relabels the items at `indices` and some items around them.
    pub(super) fn make_room(&mut self, indices: Range<usize>) {
        let mut keys = Vec::new();
        relabel(&mut self.items, indices, |entry| &mut entry.label, |key| keys.push(key));
        keys.into_iter().for_each(|key| self.touch(key));
    }

    /// Sets the label of an item. The item is marked if its label has changed.
    pub(super) fn give(&mut self, key: Key, label: Label) {
        if let Some(entry) = self.items.by_key_mut(key)
            && entry.label != label
        {
            entry.label = label;
            self.touch(key);
        }
    }
}
