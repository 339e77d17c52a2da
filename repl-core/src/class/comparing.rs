//! How a server compares an object with its shadow.
//!
//! *Invariant:* an object and its shadow belong to the same class, so each property is compared with the same
//! property of the shadow.

use super::Class;
use super::tables::Tables;
use crate::changes::changelist::Changelist;
use crate::diff::compare::{Comparison, Scratch};
use crate::diff::refusal::Refusal;
use crate::ids::handles::HandleSet;
use crate::object::collections::{Renumber, VisitCollections};
use crate::object::copy::copy_whole;
use crate::object::equality::{Answer, differs};
use crate::object::level::Level;
use crate::object::plain_values::Differences;
use crate::object::scan::{preload_strings, push_seen, scan};
use crate::schema::plan::Planned;
use crate::schema::replicated::Replicated;

/// The data about an object that a comparison reads and updates.
#[derive(Debug)]
pub struct Shadow<'a, T> {
    /// The values that the server sends to clients.
    pub values: &'a mut T,
    /// The seen bytes of the object: the bytes of its quantised values at the last comparison. The length is
    /// [`Class::seen_bytes`]. If the slice is empty, the quantised values are compared with the values of the
    /// shadow. This takes longer while a value stays near the border of a quantisation step.
    pub seen: &'a mut [u8],
    /// Whether the object is compared for the first time. In the first comparison, each quantised value gets
    /// its nearest step, whatever the step of its initial value is.
    pub is_new: bool,
}

impl<T: Replicated> Class<T> {
    /// Returns a shadow with the replicated values of `archetype`, an object with the initial values of new
    /// objects. The first comparison of a new object compares the object with this shadow.
    #[must_use]
    pub fn shadow_of(&self, archetype: &T) -> T {
        let mut shadow = T::initial();
        copy_whole(self.level(archetype), &mut self.level_mut(&mut shadow));
        shadow
    }

    /// Returns the number of the seen bytes of an object: the size of all its quantised values that are not
    /// `exact`. Values in arrays, collections and maps have no seen bytes. An object has no seen bytes if it
    /// is larger than 16 KiB, or has more than 32 stretches of such values or of other plain memory.
    #[inline]
    #[must_use]
    pub fn seen_bytes(&self) -> usize {
        const { T::WHOLE.seen_bytes() }
    }

    /// Adds the seen bytes of a new object to the end of a list.
    #[inline]
    pub fn push_seen(&self, shadow: &T, seen: &mut Vec<u8>) {
        push_seen(shadow, seen);
    }

    /// Compares each object of a column (objects of one class in a slice) with its shadow. Compares only the
    /// properties that ordinary updates compare. Calls `found` with the index of each object that differs.
    /// First compares the stretches of plain memory, eight objects at a time, and then the other properties
    /// by their commands in the program. Costs about as much as a `memcmp` of the objects if all properties
    /// are plain memory, and 1.6 to 2.4 times as much if one property is a `String`.
    ///
    /// `seen` contains the seen bytes of all objects, one after another. If `seen` is empty, the scan also
    /// finds unchanged objects that have a value near the border of a quantisation step.
    pub fn scan(&self, live: &[T], shadow: &[T], seen: &[u8], mut found: impl FnMut(usize)) {
        if const { T::PLAN.has_rest() } {
            // Without seen bytes, each object gets an empty slice.
            let seen = seen.chunks_exact(self.seen_bytes().max(1)).chain(std::iter::repeat(&[][..]));
            for (at, ((live, shadow), seen)) in live.iter().zip(shadow).zip(seen).enumerate() {
                if self.differs(live, shadow, seen) {
                    found(at);
                }
            }
        } else {
            scan(live, shadow, seen, found);
        }
    }

    /// Returns whether one object differs from its shadow in the properties that ordinary updates compare.
    /// `seen` contains the seen bytes of the object, or is empty.
    #[must_use]
    pub fn differs(&self, live: &T, shadow: &T, seen: &[u8]) -> bool {
        let mut differs = false;
        scan(std::slice::from_ref(live), std::slice::from_ref(shadow), seen, |_| differs = true);
        differs || (const { T::PLAN.has_rest() } && self.rest_differs(live, shadow))
    }

    /// Returns whether a [comparison](Self::compare) of an object with this shadow would find no change in
    /// the properties of `scope`. If the result is true, quantised values may still differ by less than a
    /// step. Costs a copy and a comparison of these properties.
    #[must_use]
    pub fn would_send_nothing(&self, live: &T, shadow: &T, scope: &HandleSet) -> bool {
        let mut values = T::initial();
        self.copy(shadow, &mut values, scope);
        let (mut changes, mut refusals, mut scratch) =
            (Changelist::default(), Vec::new(), Scratch::default());
        self.compare(live, &mut values, scope, &mut changes, &mut refusals, &mut scratch);
        changes.is_empty() && refusals.is_empty()
    }

    fn rest_differs(&self, live: &T, shadow: &T) -> bool {
        let (live, shadow) = (self.level(live), self.level(shadow));
        let conditions = &self.tables.conditions;
        let handles = [conditions.not_scanned(), conditions.marks_itself()];
        handles.into_iter().any(|handles| any_differs(live, shadow, handles))
    }

    /// Returns the handles of the `push` properties with a touched fast array. A fast array is touched if it
    /// was written to since its last comparison with the shadow, or if it was replaced by another fast array.
    /// Such a `push` property counts as marked. Costs O(1) for each fast array in a `push` property.
    #[must_use]
    pub fn touched(&self, live: &T, shadow: &T) -> HandleSet {
        self.tables.touched(self.level(live), self.level(shadow))
    }

    /// Prefetches the memory that the values of an object point to, before it is [compared](Self::compare).
    #[inline]
    pub fn preload(&self, object: &T) {
        preload_strings(object);
    }

    /// Compares the properties in `scope` with the shadow. Copies the values that differ to the shadow, and
    /// adds them to `changes`. A value without a wire form is not copied, and is added to `refusals`. Costs
    /// O(bytes of plain memory), plus O(1) for each other handle in `scope`, plus O(elements) for arrays.
    ///
    /// A quantised value without `exact` counts as the same while it differs from the step of the shadow by
    /// at most ¾ of a step.
    #[inline]
    pub fn compare(
        &self,
        live: &T,
        shadow: &mut T,
        scope: &HandleSet,
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    ) {
        let shadow = Shadow { values: shadow, seen: &mut [], is_new: false };
        self.compare_seen(live, shadow, scope, changes, refusals, scratch);
    }

    /// Does the same as [`compare`](Self::compare) for an object in a slice that is [scanned](Self::scan),
    /// and also updates the seen bytes of the object.
    #[inline]
    pub fn compare_seen(
        &self,
        live: &T,
        shadow: Shadow<'_, T>,
        scope: &HandleSet,
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    ) {
        let differences = &mut Differences { scope, copied: &mut changes.handles, left: &mut scratch.left };
        self.places.compare(live, shadow.values, shadow.seen, differences);
        if !scratch.left.is_empty() {
            self.compare_left(live, shadow, changes, refusals, scratch);
        }
    }

    /// Compares a few marked properties, and copies the values that differ to the shadow. Returns the handles
    /// of these values, in the form of [`HandleSet::first_word`]. Returns `None` and copies nothing if a
    /// marked handle is above 64, or if a marked property needs [`compare_seen`](Self::compare_seen): it is
    /// not plain memory, may have no wire form, or has seen bytes. Costs O(marked properties).
    #[inline]
    pub fn copy_marked(&self, live: &T, shadow: &mut T, marked: &HandleSet) -> Option<u64> {
        self.places.copy_few(live, shadow, marked)
    }

    /// Does the same as [`compare_seen`](Self::compare_seen) for the properties that are compared in every
    /// tick, in fewer steps. `shadow` is the server's copy of the object with the values of its last
    /// comparison, and `seen` contains its [seen bytes](Shadow::seen). The object must not be
    /// [new](Shadow::is_new). Call it only for classes whose properties are all compared in every tick. In
    /// other classes it may miss changes.
    #[inline(always)]
    pub fn compare_ordinary(
        &self,
        live: &T,
        shadow: &mut T,
        seen: &mut [u8],
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    ) {
        self.places.compare_ordinary(live, shadow, seen, &mut changes.handles, &mut scratch.left);
        if !scratch.left.is_empty() {
            self.compare_left(
                live,
                Shadow { values: shadow, seen, is_new: false },
                changes,
                refusals,
                scratch,
            );
        }
    }

    /// Compares the properties in `scratch.left` by their commands in the program, and removes them from
    /// `scratch.left`.
    // This function is not inlined, so that the code for plain memory stays short.
    #[inline(never)]
    fn compare_left(
        &self,
        live: &T,
        shadow: Shadow<'_, T>,
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    ) {
        let Shadow { values, seen, is_new } = shadow;
        let known = refusals.len();
        scratch.comparisons = scratch.comparisons.saturating_add(1);
        let mut left = std::mem::take(&mut scratch.left);
        let mut comparison = Comparison { sizes: &self.tables.sizes.items, is_new, refusals, scratch };
        let by_command = Some(self.places.by_command());
        comparison.level(self.level(live), &mut self.level_mut(values), &left, by_command, changes);
        left.clear();
        scratch.left = left;
        for refusal in refusals.iter().skip(known) {
            self.places.forget_seen(refusal.handle(), values, seen);
        }
    }

    /// Sets the ids of the items of a compared object to the ids of the same items in the shadow. New ids are
    /// necessary if a collection has replaced another collection. The items must be renumbered when
    /// [`Scratch::take_must_renumber`] returns true, before the object is used again. Costs O(items).
    pub fn renumber_items(&self, live: &mut T) {
        Renumber.visit(&mut self.level_mut(live));
    }
}

impl Tables {
    fn touched(&self, live: Level<'_>, shadow: Level<'_>) -> HandleSet {
        let mut touched = HandleSet::new();
        for handle in self.conditions.marks_itself().iter() {
            if differs(live, shadow, handle, Answer::Shadow)
                && let Some(property) = self.conditions.property_of(handle)
            {
                touched.union(self.conditions.handles_of(property));
            }
        }
        touched
    }
}

fn any_differs(live: Level<'_>, shadow: Level<'_>, handles: &HandleSet) -> bool {
    handles.iter().any(|handle| differs(live, shadow, handle, Answer::Shadow))
}
