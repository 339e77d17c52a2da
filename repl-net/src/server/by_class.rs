//! Divides the objects of a tick that may have changed by their classes, so that several classes are compared
//! in parallel.
//!
//! *Invariant:* each object is compared by one thread only, and the findings of each class are in ascending
//! order of the slots.

use rayon::prelude::*;

use super::changes::Findings;
use super::column::Column;
use super::comparison::{Chosen, ClassComparison, ComparisonInputs};
use super::object::Object;
use super::occupant::Occupant;

/// With fewer objects than this, one thread is faster than several.
const LEAST: usize = 512;

/// Classes are compared in parallel only if at least this many objects are outside the largest class.
const LEAST_OTHERS: usize = 128;

/// One share for each class, by the number of the class.
#[derive(Debug, Default)]
pub(crate) struct ByClass(Vec<Share>);

/// The objects of one class that may have changed, and the findings of their comparison.
#[derive(Debug, Default)]
struct Share {
    slots: Vec<u32>,
    found: Findings,
    /// The slots and rows of the objects that changed.
    moved: Vec<(u32, u32)>,
}

impl ByClass {
    /// Sorts the slots in `queue` by the class of their objects. `classes` is the number of classes. Returns
    /// whether it is faster to compare several classes at the same time.
    pub(crate) fn divide(&mut self, queue: &[u32], occupants: &[Occupant], classes: usize) -> bool {
        if queue.len() < LEAST || classes < 2 || rayon::current_num_threads() < 2 {
            return false;
        }
        self.0.resize_with(classes, Share::default);
        self.0.iter_mut().for_each(|share| share.slots.clear());
        for &slot in queue {
            self.0[usize::from(occupants[slot as usize].class)].slots.push(slot);
        }
        let most = self.0.iter().map(|share| share.slots.len()).max().unwrap_or(0);
        queue.len() - most >= LEAST_OTHERS
    }

    /// Frees memory that no recent tick needed, and the lists of slots, which each tick fills anew.
    pub(crate) fn end_round(&mut self) {
        for Share { slots, found, moved, .. } in &mut self.0 {
            (*slots, *moved) = (Vec::new(), Vec::new());
            found.end_round();
        }
    }

    /// Compares the objects in `queue`, which were [divided](Self::divide).
    pub(crate) fn compare(
        &mut self,
        queue: &[u32],
        columns: &mut [Box<dyn Column>],
        objects: &mut [Object],
        inputs: ComparisonInputs<'_>,
    ) {
        let mut chosen: Vec<Vec<&mut Object>> = Vec::new();
        chosen.resize_with(columns.len(), Vec::new);
        let (mut objects, mut next) = (objects, 0);
        for &slot in queue {
            let Some((object, rest)) = objects[(slot - next) as usize..].split_first_mut() else { break };
            chosen[usize::from(inputs.occupants[slot as usize].class)].push(object);
            (objects, next) = (rest, slot + 1);
        }
        let classes = columns.par_iter_mut().zip(&mut self.0).zip(&mut chosen).enumerate();
        classes.for_each(|(class, ((column, share), chosen))| {
            let Share { slots, found, moved } = share;
            moved.clear();
            let (objects, moved) = (Chosen::Only(chosen), Some(moved));
            column.compare(class as u16, slots, &mut ClassComparison { inputs, objects, found, moved });
        });
    }

    pub(crate) fn found(&mut self) -> impl Iterator<Item = &mut Findings> {
        self.0.iter_mut().map(|share| &mut share.found)
    }

    /// Returns the slots and rows of the objects that changed, for each class.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (u16, &[(u32, u32)])> {
        (0..).zip(&self.0).map(|(class, share)| (class, share.moved.as_slice()))
    }
}
