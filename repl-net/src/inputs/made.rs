//! The inputs that a client has made.
//!
//! *Invariant:* the inputs are in ascending order of their ticks.

use std::collections::VecDeque;

use super::copies::MOST as MOST_COPIES;

/// The number of newest inputs that are stored, so that their ticks can be simulated again.
const KEPT: usize = 256;

#[derive(Debug)]
pub(crate) struct Made<T> {
    /// The inputs with their ticks, in ascending order of the ticks.
    inputs: VecDeque<(u64, T)>,
    /// For each of the newest bundles, the newest tick in it, in ascending order. (A bundle is the inputs in
    /// one packet.)
    sent: VecDeque<u64>,
    /// The number of ticks between the first and the last input that have no input.
    pub(crate) skipped: u64,
}

impl<T> Default for Made<T> {
    fn default() -> Self {
        Self { inputs: VecDeque::new(), sent: VecDeque::new(), skipped: 0 }
    }
}

impl<T> Made<T> {
    pub(crate) fn newest(&self) -> Option<u64> {
        self.inputs.back().map(|(tick, _)| *tick)
    }

    /// Adds the input for a tick, which must be after [`newest`](Self::newest).
    pub(crate) fn add(&mut self, tick: u64, input: T) {
        debug_assert!(self.newest() < Some(tick), "the ticks of inputs ascend");
        let gap = self.newest().map_or(0, |newest| tick.saturating_sub(newest).saturating_sub(1));
        self.skipped = self.skipped.saturating_add(gap);
        if self.inputs.len() == KEPT {
            self.inputs.pop_front();
        }
        self.inputs.push_back((tick, input));
    }

    pub(crate) fn get(&self, tick: u64) -> Option<&T> {
        let at = self.inputs.binary_search_by_key(&tick, |(tick, _)| *tick).ok()?;
        self.inputs.get(at).map(|(_, input)| input)
    }

    /// Returns the input for a tick. If the tick has no input, returns the last input before it.
    pub(crate) fn or_last(&self, tick: u64) -> Option<&T> {
        let end = self.inputs.partition_point(|(made, _)| *made <= tick);
        self.inputs.get(end.checked_sub(1)?).map(|(_, input)| input)
    }

    pub(crate) fn is_unsent(&self) -> bool {
        self.newest() > self.sent.back().copied()
    }

    /// Returns the newest inputs, in ascending order of their ticks: at most `most` inputs with consecutive
    /// ticks, which were each in fewer than `copies` bundles. The newest input is always included.
    pub(crate) fn newest_inputs(&self, copies: usize, most: usize) -> impl Iterator<Item = &(u64, T)> {
        let before = self.sent.iter().rev().nth(copies.saturating_sub(1)).copied();
        let newest = self.newest().unwrap_or(0);
        let follow = self.inputs.iter().rev().zip(0..most as u64);
        let count = follow
            .take_while(|((tick, _), behind)| {
                tick.checked_add(*behind) == Some(newest) && (Some(*tick) > before || *behind == 0)
            })
            .count();
        self.inputs.range(self.inputs.len().saturating_sub(count)..)
    }

    /// Records that a bundle with the newest inputs was sent.
    pub(crate) fn end_bundle(&mut self) {
        let Some(newest) = self.newest() else { return };
        if self.sent.len() == MOST_COPIES {
            self.sent.pop_front();
        }
        self.sent.push_back(newest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::bundle::MOST_INPUTS;

    /// Adds the inputs of one frame after another, and returns the ticks in the bundle after each frame.
    fn bundles(frames: &[&[u64]], copies: usize) -> Vec<Vec<u64>> {
        let mut made = Made::default();
        let bundle = |frame: &&[u64]| {
            frame.iter().for_each(|tick| made.add(*tick, ()));
            assert!(made.is_unsent());
            let ticks = made.newest_inputs(copies, MOST_INPUTS).map(|(tick, ())| *tick).collect();
            made.end_bundle();
            assert!(!made.is_unsent());
            ticks
        };
        frames.iter().map(bundle).collect()
    }

    #[test]
    fn each_input_is_in_so_many_bundles() {
        assert_eq!(bundles(&[&[5], &[6], &[7], &[8]], 2), [vec![5], vec![5, 6], vec![6, 7], vec![7, 8]]);
        assert_eq!(bundles(&[&[5], &[6], &[7]], 1), [[5], [6], [7]]);
    }

    #[test]
    fn inputs_that_were_made_at_once_stay_together() {
        assert_eq!(
            bundles(&[&[1, 2, 3], &[4, 5, 6], &[7]], 2),
            [vec![1, 2, 3], vec![1, 2, 3, 4, 5, 6], vec![4, 5, 6, 7]]
        );
    }

    #[test]
    fn a_bundle_ends_where_ticks_were_skipped_and_has_at_most_32_inputs() {
        assert_eq!(bundles(&[&[5], &[6, 20], &[21]], 3), [vec![5], vec![20], vec![20, 21]]);
        let many: Vec<u64> = (1..=40).collect();
        assert_eq!(bundles(&[&many], 2), [many[8..].to_vec()]);
    }

    #[test]
    fn the_last_256_inputs_are_kept() {
        let mut made = Made::default();
        (1..=300).for_each(|tick| made.add(tick, tick * 10));
        assert_eq!((made.get(44), made.get(45), made.get(300)), (None, Some(&450), Some(&3_000)));
        assert_eq!((made.newest(), made.get(301)), (Some(300), None));
        made.add(310, 3_100);
        assert_eq!(made.skipped, 9);
        assert_eq!(
            (made.or_last(44), made.or_last(309), made.or_last(310)),
            (None, Some(&3_000), Some(&3_100))
        );
    }
}
