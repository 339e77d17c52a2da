//! Comparing an object with its shadow: what differs is copied and listed (S60 to S63).
//!
//! Invariant: the shadow only ever holds values that have a form on the wire, so encoding from it does not fail (R3).

use crate::access::{Array, Leaf, Level, LevelMut, Slot};
use crate::bits::BitWriter;
use crate::changelist::{ArrayChanges, Changelist};
use crate::handles::HandleSet;
use crate::value::WriteError;

/// A value that has no form on the wire: its property keeps the last value that had one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The handle at the object's own level.
    pub handle: u32,
    /// What is wrong with the value.
    pub error: WriteError,
}

/// One comparison, and where its outcome goes.
pub(crate) struct Comparison<'a> {
    pub(crate) changes: &'a mut Changelist,
    pub(crate) refusals: &'a mut Vec<Refusal>,
    pub(crate) scratch: &'a mut Scratch,
}

/// Buffers for trying a value's form, kept between comparisons.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Handles that may have changed.
    pub(crate) candidates: HandleSet,
    live: BitWriter,
    shadow: BitWriter,
}

enum Outcome {
    Same,
    Changed,
    Refused(WriteError),
}

impl Comparison<'_> {
    /// Compares the handles in `scope`; lists and copies what differs.
    pub(crate) fn object(&mut self, live: Level<'_>, shadow: &mut LevelMut<'_>, scope: &HandleSet) {
        for handle in scope.iter() {
            match live.slot(handle) {
                Some(Slot::Leaf(leaf)) => match self.leaf(leaf, shadow, handle) {
                    Outcome::Same => {}
                    Outcome::Changed => self.changes.insert(handle),
                    Outcome::Refused(error) => self.refusals.push(Refusal { handle, error }),
                },
                Some(Slot::Array(array)) => {
                    if let Some(changes) = self.array(array, shadow, handle, handle) {
                        self.changes.insert_array(handle, changes);
                    }
                }
                None => {}
            }
        }
    }

    fn leaf(&mut self, live: Leaf<'_>, shadow: &mut LevelMut<'_>, handle: u32) -> Outcome {
        let Some(Slot::Leaf(old)) = shadow.as_level().slot(handle) else { return Outcome::Same };
        if live.identical(&old) {
            return Outcome::Same;
        }
        if live.must_be_tried() {
            self.scratch.live.clear();
            if let Err(error) = live.write(&mut self.scratch.live) {
                return Outcome::Refused(error);
            }
            if live.is_lossy() && self.scratch.same_as_shadow(old) {
                shadow.copy_leaf(handle, live);
                return Outcome::Same;
            }
        }
        shadow.copy_leaf(handle, live);
        Outcome::Changed
    }

    /// Compares an array below the object's property `property`; `None` if nothing changed.
    fn array(
        &mut self,
        live: Array<'_>,
        shadow: &mut LevelMut<'_>,
        handle: u32,
        property: u32,
    ) -> Option<ArrayChanges> {
        let Some(Slot::Array(old)) = shadow.as_level().slot(handle) else { return None };
        if live.same_bytes(&old) {
            return None;
        }
        let (len, max) = (live.len(), live.max_len() as usize);
        if len > max {
            self.refusals.push(Refusal { handle: property, error: WriteError::TooLong { len, max } });
            return None;
        }
        let old_len = shadow.resize(handle, len)?;
        let mut changes = ArrayChanges::count_only();
        for index in 0..len.min(old_len) {
            let (Some(live), Some(mut shadow)) = (live.element(index), shadow.element(handle, index)) else {
                continue;
            };
            self.element(live, &mut shadow, index as u32, property, &mut changes);
        }
        if len > old_len {
            changes.tail = old_len as u32;
            self.copy_elements(live, shadow, handle, old_len, property);
        }
        (len != old_len || !changes.is_count_only()).then_some(changes)
    }

    fn element(
        &mut self,
        live: Level<'_>,
        shadow: &mut LevelMut<'_>,
        index: u32,
        property: u32,
        changes: &mut ArrayChanges,
    ) {
        let first = index * live.handles();
        for (slot, handle) in live.slots().zip(1..) {
            let element_handle = first + handle - 1;
            match slot {
                Slot::Leaf(leaf) => match self.leaf(leaf, shadow, handle) {
                    Outcome::Same => {}
                    Outcome::Changed => changes.edits.insert(element_handle),
                    Outcome::Refused(error) => self.refusals.push(Refusal { handle: property, error }),
                },
                Slot::Array(array) => {
                    if let Some(nested) = self.array(array, shadow, handle, property) {
                        changes.edits.insert(element_handle);
                        if !nested.is_count_only() {
                            *changes.arrays.entry(element_handle) = nested;
                        }
                    }
                }
            }
        }
    }

    /// Copies a leaf of a new element; gives what is wrong with its value, also if it is the initial one.
    fn new_leaf(&mut self, live: Leaf<'_>, shadow: &mut LevelMut<'_>, handle: u32) -> Option<WriteError> {
        match self.leaf(live, shadow, handle) {
            Outcome::Same if live.must_be_tried() => {
                self.scratch.live.clear();
                live.write(&mut self.scratch.live).err()
            }
            Outcome::Same | Outcome::Changed => None,
            Outcome::Refused(error) => Some(error),
        }
    }

    /// Copies the elements of `live` from `first` on; a leaf without a form keeps its initial value, and the nearest one to that is sent.
    fn copy_elements(
        &mut self,
        live: Array<'_>,
        shadow: &mut LevelMut<'_>,
        handle: u32,
        first: usize,
        property: u32,
    ) {
        for index in first..live.len() {
            let (Some(live), Some(mut shadow)) = (live.element(index), shadow.element(handle, index)) else {
                continue;
            };
            for (slot, handle) in live.slots().zip(1..) {
                match slot {
                    Slot::Leaf(leaf) => {
                        if let Some(error) = self.new_leaf(leaf, &mut shadow, handle) {
                            self.refusals.push(Refusal { handle: property, error });
                        }
                    }
                    Slot::Array(array) if array.len() <= array.max_len() as usize => {
                        shadow.resize(handle, array.len());
                        self.copy_elements(array, &mut shadow, handle, 0, property);
                    }
                    Slot::Array(array) => {
                        let error = WriteError::TooLong { len: array.len(), max: array.max_len() as usize };
                        self.refusals.push(Refusal { handle: property, error });
                    }
                }
            }
        }
    }
}

/// Makes what stands at `handles` in `to` a copy of what stands there in `from`.
pub(crate) fn copy_slots(from: Level<'_>, to: &mut LevelMut<'_>, handles: impl Iterator<Item = u32>) {
    for handle in handles {
        match from.slot(handle) {
            Some(Slot::Leaf(leaf)) => to.copy_leaf(handle, leaf),
            Some(Slot::Array(array)) => {
                to.resize(handle, array.len());
                for index in 0..array.len() {
                    if let (Some(from), Some(mut to)) = (array.element(index), to.element(handle, index)) {
                        copy_slots(from, &mut to, 1..=from.handles());
                    }
                }
            }
            None => {}
        }
    }
}

impl Scratch {
    /// Whether `shadow` writes what was just written of the live value.
    fn same_as_shadow(&mut self, shadow: Leaf<'_>) -> bool {
        self.shadow.clear();
        shadow.write(&mut self.shadow).is_ok() && self.live == self.shadow
    }
}
