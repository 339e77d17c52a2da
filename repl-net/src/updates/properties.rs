//! The properties in an update that was not polled yet, stored in little memory.
//!
//! *Invariant:* the memory is small if few bits of a packet name the properties, even if they have large
//! handles. It is never more than one bit for each property of the class.

use std::ops::RangeInclusive;

use repl_core::HandleSet;

/// The handles of properties.
#[derive(Clone, Debug)]
pub(super) enum Properties {
    /// Used if all handles are at most 64, which needs no allocation, or if there are many runs.
    Set(HandleSet),
    /// Ranges of consecutive handles, in ascending order.
    Runs(Box<[RangeInclusive<u32>]>),
}

impl Properties {
    pub(super) fn of(handles: &HandleSet) -> Self {
        if handles.heap_bytes() == 0 {
            return Self::Set(handles.clone());
        }
        let mut runs: Vec<RangeInclusive<u32>> = Vec::new();
        for handle in handles.iter() {
            match runs.last_mut().filter(|run| run.end().checked_add(1) == Some(handle)) {
                Some(run) => *run = *run.start()..=handle,
                None => runs.push(handle..=handle),
            }
        }
        if runs.len().saturating_mul(size_of::<RangeInclusive<u32>>()) > handles.heap_bytes() {
            return Self::Set(handles.clone());
        }
        Self::Runs(runs.into())
    }

    pub(super) fn add(&mut self, handles: &HandleSet) {
        match self {
            Self::Set(set) if handles.heap_bytes() == 0 => set.union(handles),
            _ => {
                let mut all = self.to_set();
                all.union(handles);
                *self = Self::of(&all);
            }
        }
    }

    pub(super) fn to_set(&self) -> HandleSet {
        match self {
            Self::Set(set) => set.clone(),
            Self::Runs(runs) => runs.iter().cloned().flatten().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_the_same_in_either_form() {
        let sets: [&[u32]; 6] =
            [&[], &[1], &[1, 2, 64], &[65], &[3, 64, 65, 66, 90, 4_096], &[63, 64, 65, 66, 67, 68]];
        for one in sets {
            let one: HandleSet = one.iter().copied().collect();
            assert_eq!(Properties::of(&one).to_set(), one);
            for other in sets {
                let other: HandleSet = other.iter().copied().collect();
                let mut both = Properties::of(&one);
                both.add(&other);
                let mut expected = one.clone();
                expected.union(&other);
                assert_eq!(both.to_set(), expected);
            }
        }
    }

    #[test]
    fn what_takes_few_bits_in_a_packet_takes_little_memory() {
        let all = HandleSet::up_to(65_535);
        let last: HandleSet = [65_535].into_iter().collect();
        for handles in [all, last] {
            let Properties::Runs(runs) = Properties::of(&handles) else { panic!("it is one run") };
            assert_eq!(runs.len(), 1);
        }
        let every_second: HandleSet = (1..4_096).step_by(2).collect();
        let Properties::Set(set) = Properties::of(&every_second) else { panic!("runs would be longer") };
        assert!(set.heap_bytes() <= 1_024);
    }
}
