//! Compares arrays with their shadows, and enums whose variants are sent field by field.
//!
//! *Invariant:* the shadow of an array gets new elements only if all their values have a wire form, and the
//! shadow of an enum gets another variant only if all values of this variant have one.

use std::ops::Range;

use crate::bits::WriteError;
use crate::changes::changelist::ArrayChanges;
use crate::diff::compare::{Comparison, Found};
use crate::ids::handles::HandleSet;
use crate::object::level::{Array, Level, LevelMut, Slot};

impl Comparison<'_> {
    /// Compares an array with its shadow. Returns `None` if nothing changed.
    // The function is not inlined, so that the code for leaves stays short. Most properties are leaves.
    #[inline(never)]
    pub(super) fn array(
        &mut self,
        array: Array<'_>,
        shadow: &mut LevelMut<'_>,
        handle: u32,
    ) -> Option<ArrayChanges> {
        let Some(Slot::Array(old)) = shadow.as_level().slot(handle) else { return None };
        if array.same_bytes(&old) {
            return None;
        }
        if array.is_variant() && array.count() != old.count() {
            return self.variant(array, shadow, handle);
        }
        let (len, max) = (array.count(), array.max_count() as usize);
        if len > max {
            self.refuse(None, WriteError::TooLong { len, max });
            return None;
        }
        let Range { start: old_len, end: len } = shadow.resize(handle, len)?;
        let mut changes = ArrayChanges::count_only();
        for index in 0..len.min(old_len) {
            let (Some(live), Some(mut shadow)) = (array.element(index), shadow.element(handle, index)) else {
                continue;
            };
            self.element(live, &mut shadow, array.step(index, 1), &mut changes);
        }
        let is_longer = len > old_len && self.copy_elements(array, shadow, handle, old_len);
        if is_longer {
            changes.tail = old_len as u32;
        } else if len > old_len {
            shadow.resize(handle, old_len);
        }
        (is_longer || len < old_len || !changes.is_count_only()).then_some(changes)
    }

    /// Copies an enum whose shadow has another variant. If a value of the new variant has no wire form,
    /// copies nothing, so that clients keep the old variant.
    fn variant(&mut self, live: Array<'_>, shadow: &mut LevelMut<'_>, handle: u32) -> Option<ArrayChanges> {
        let (known, fields) = (self.refusals.len(), live.element(0)?);
        let is_copied = shadow.replace(handle, live.count(), |mut shadow| {
            self.new_element(fields, &mut shadow, live.step(0, 1), &HandleSet::new());
            self.refusals.len() == known
        });
        is_copied?.then(ArrayChanges::whole)
    }

    /// Compares an element with its shadow. `first` is the element handle of its first property.
    fn element(
        &mut self,
        live: Level<'_>,
        shadow: &mut LevelMut<'_>,
        first: u32,
        changes: &mut ArrayChanges,
    ) {
        for (slot, handle) in live.slots().zip(1..) {
            let element_handle = first + handle - 1;
            match self.slot(slot, shadow, handle, element_handle) {
                Found::Same => continue,
                Found::Leaf => {}
                Found::Nested(nested) if nested.is_bare() => {}
                Found::Nested(nested) => changes.nested.set(element_handle, nested),
            }
            changes.edits.insert(element_handle);
        }
    }

    /// Copies the elements of `array` from index `first` on to the shadow. Returns whether all their values
    /// have a wire form. If not, the caller must remove the elements from the shadow, because otherwise
    /// clients would see an initial value that the server never had.
    pub(super) fn copy_elements(
        &mut self,
        array: Array<'_>,
        shadow: &mut LevelMut<'_>,
        handle: u32,
        first: usize,
    ) -> bool {
        let known = self.refusals.len();
        for index in first..array.len() {
            let (Some(live), Some(mut shadow)) = (array.element(index), shadow.element(handle, index)) else {
                continue;
            };
            let first = array.step(index, 1);
            self.new_element(live, &mut shadow, first, &HandleSet::new());
        }
        self.refusals.len() == known
    }
}
