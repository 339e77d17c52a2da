//! The source of objects that the server owns: each row has a live object.
//!
//! *Invariant:* the live object in row `n` belongs to the shadow in row `n`.

use std::borrow::Cow;

use repl_core::__private::preload_all;
use repl_core::{Changelist, Class, HandleSet, Refusal, Replicated, Scratch, Shadow};

use super::cells::area::Position;
use super::changes::Outcome;
use super::column::TypedColumn;
use super::shadows::Shadows;
use super::source::Source;
use crate::body::growth::{self, push_with};

/// The column of a class with live objects that the server owns.
pub(crate) type OwnColumn<T> = TypedColumn<T, OwnRows<T>>;

/// The live objects of the class `T`.
pub(crate) struct OwnRows<T>(pub(crate) Vec<T>);

impl<T> Default for OwnRows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> OwnColumn<T> {
    /// Returns the live objects with their slots.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&u32, &T)> {
        self.shadows.slots.iter().zip(&self.source.0)
    }

    pub(crate) fn pairs_mut(&mut self) -> impl Iterator<Item = (&u32, &mut T)> {
        self.shadows.slots.iter().zip(&mut self.source.0)
    }
}

impl<T: Replicated> OwnRows<T> {
    /// Adds a live object. The caller has already added its shadow. Returns its position, if the class has an
    /// area.
    #[inline]
    pub(crate) fn push(&mut self, object: T, shadows: &Shadows<T>) -> Option<Position> {
        let position = shadows.position_of(&object);
        push_with(&mut self.0, || object);
        position
    }
}

impl<T: Replicated> Source<T> for OwnRows<T> {
    const REGISTERED_BY: &'static str = "register";
    const REFUSES_OUTSIDE_OF_SCOPE: bool = false;

    fn when_another(class: &str) -> String {
        format!(
            "the objects of `{class}` live outside the server: spawn them with `external::<{class}>().spawn`"
        )
    }

    fn compare(
        &mut self,
        class: &Class<T>,
        shadow: Shadow<'_, T>,
        row: usize,
        scope: &HandleSet,
        outcome: Outcome<'_>,
    ) {
        let Outcome { changes, refusals, scratch } = outcome;
        class.compare_seen(&self.0[row], shadow, scope, changes, refusals, scratch);
        if scratch.take_must_renumber() {
            class.renumber_items(&mut self.0[row]);
        }
    }

    #[inline]
    fn copy_marked(&self, class: &Class<T>, shadow: &mut T, row: usize, marked: &HandleSet) -> Option<u64> {
        class.copy_marked(&self.0[row], shadow, marked)
    }

    /// Prefetches only the shadow, because the code that marked the object has just written to the object
    /// itself.
    #[inline]
    fn preload_marked(&self, shadows: &Shadows<T>, row: usize) {
        preload_all(&shadows.rows[row]);
    }

    #[inline(always)]
    fn compare_ordinary(&mut self, shadows: &mut Shadows<T>, row: usize, outcome: Outcome<'_>) {
        let Outcome { changes, refusals, scratch } = outcome;
        let (class, Shadow { values, seen, .. }) = shadows.in_row(row, false);
        class.compare_ordinary(&self.0[row], values, seen, changes, refusals, scratch);
        if scratch.take_must_renumber() {
            class.renumber_items(&mut self.0[row]);
        }
    }

    fn preload_row(&self, shadows: &Shadows<T>, row: usize) {
        preload_all(&self.0[row]);
        preload_all(&shadows.rows[row]);
    }

    fn preload_values(&self, shadows: &Shadows<T>, row: usize) {
        shadows.class.preload(&self.0[row]);
        shadows.class.preload(&shadows.rows[row]);
    }

    fn touched(&self, shadows: &Shadows<T>, row: usize) -> HandleSet {
        shadows.class.touched(&self.0[row], &shadows.rows[row])
    }

    fn keep_within(
        &self,
        shadows: &Shadows<T>,
        max_bits: u64,
        row: usize,
        scope: &mut Cow<'_, HandleSet>,
    ) -> Vec<Refusal> {
        shadows.class.keep_within(max_bits, &self.0[row], &shadows.rows[row], scope)
    }

    fn scan(&self, shadows: &Shadows<T>, found: &mut dyn FnMut(u32)) {
        shadows.class.scan(&self.0, &shadows.rows, shadows.seen(), |row| found(shadows.slots[row]));
    }

    /// Compares the object with a copy of its shadow, so that the shadow stays as it is.
    fn retain_differing(&self, shadows: &Shadows<T>, row: usize, handles: &mut HandleSet) {
        let (class, live) = (&shadows.class, &self.0[row]);
        let mut copy = class.shadow_of(&shadows.rows[row]);
        // The copy has not recorded any state of fast arrays yet, so each fast array would count as touched.
        handles.difference(&class.touched(live, &copy));
        let mut changes = Changelist::new();
        class.compare(live, &mut copy, handles, &mut changes, &mut Vec::new(), &mut Scratch::default());
        handles.intersect(changes.handles());
    }

    fn live(&self, row: usize) -> Option<&T> {
        self.0.get(row)
    }

    fn live_bytes(&self) -> usize {
        self.0.capacity() * size_of::<T>()
    }

    fn live_mut(&mut self, row: usize) -> Option<&mut T> {
        self.0.get_mut(row)
    }

    fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional);
    }

    fn shrink(&mut self, kept: usize) {
        growth::shrink(&mut self.0, kept);
    }

    fn swap_remove(&mut self, row: usize) {
        self.0.swap_remove(row);
    }
}
