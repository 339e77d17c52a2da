//! Sources: where the live objects of a class are stored. Either the server owns the objects, or the user
//! passes them to the server.
//!
//! *Invariant:* row `n` of a source belongs to the same object as row `n` of the shadows.

use std::any::Any;
use std::borrow::Cow;

use repl_core::{Changelist, Class, HandleSet, Refusal, Shadow};

use super::changes::Outcome;
use super::shadows::Shadows;

/// Stores the live objects of the class `T`, or has access to them. Only comparisons need live objects,
/// because everything that is sent is written from the shadows.
pub(crate) trait Source<T>: Default + Any + Send + Sync {
    /// Returns the panic message for a call that expects this source, although `class` was registered with
    /// another source.
    fn when_another(class: &str) -> String;
    /// The method of the server that registers a class with this source.
    const REGISTERED_BY: &'static str;
    /// Whether a comparison also reports refused values of properties outside of its scope.
    const REFUSES_OUTSIDE_OF_SCOPE: bool;
    /// Compares the properties in `scope` of the object in a row with the object's shadow, as
    /// [`Class::compare_seen`] describes.
    fn compare(
        &mut self,
        class: &Class<T>,
        shadow: Shadow<'_, T>,
        row: usize,
        scope: &HandleSet,
        outcome: Outcome<'_>,
    );
    /// Does the same as [`compare`](Self::compare) for an object that is not new, and for the properties that
    /// are compared in every tick.
    fn compare_ordinary(&mut self, shadows: &mut Shadows<T>, row: usize, outcome: Outcome<'_>);
    /// Copies the new values of a few marked properties to the shadow, as [`Class::copy_marked`] describes.
    /// Returns `None` if the properties must be [compared](Self::compare) instead.
    #[inline]
    fn copy_marked(&self, _: &Class<T>, _shadow: &mut T, _row: usize, _marked: &HandleSet) -> Option<u64> {
        None
    }
    /// Does the same as [`preload_row`](Self::preload_row) before only marked properties are compared.
    #[inline]
    fn preload_marked(&self, shadows: &Shadows<T>, row: usize) {
        self.preload_row(shadows, row);
    }
    /// Prefetches a row, which will be compared soon, into the processor's cache.
    fn preload_row(&self, shadows: &Shadows<T>, row: usize);
    /// Prefetches the heap memory of a row into the processor's cache. The row itself must have been
    /// prefetched before its heap memory.
    fn preload_values(&self, shadows: &Shadows<T>, row: usize);
    /// Returns the handles of the `push` properties of the object in a row that count as marked, because they
    /// contain a fast array that was written to. [`Class::touched`] has the details of this function.
    fn touched(&self, shadows: &Shadows<T>, row: usize) -> HandleSet;
    /// Removes from `scope` the properties that would make the object in a row larger than `max_bits`, and
    /// returns them as refusals. [`Class::keep_within`] has the details of this function.
    fn keep_within(
        &self,
        shadows: &Shadows<T>,
        max_bits: u64,
        row: usize,
        scope: &mut Cow<'_, HandleSet>,
    ) -> Vec<Refusal>;
    /// Calls `found` with the slot of each object that differs from its shadow.
    fn scan(&self, shadows: &Shadows<T>, found: &mut dyn FnMut(u32));
    /// Returns the changes of the object in a row that are already in its shadow, and that the next tick will
    /// send.
    fn waiting(&self, _row: usize) -> Option<&Changelist> {
        None
    }
    /// Removes from `handles` the properties that equal their shadows, and the properties that record changes
    /// by themselves.
    fn retain_differing(&self, shadows: &Shadows<T>, row: usize, handles: &mut HandleSet);
    /// Returns the number of the tick after which the object in a row was last handed over. Returns `None` if
    /// the server owns the object.
    fn handed_over_in(&self, _row: usize) -> Option<u64> {
        None
    }
    /// Returns the live object in a row, if the server owns it.
    fn live(&self, row: usize) -> Option<&T>;
    /// Returns a mutable reference to the live object in a row, if the server owns it.
    fn live_mut(&mut self, _row: usize) -> Option<&mut T> {
        None
    }
    /// Returns how many bytes the rows of this source take, without the heap memory that the live objects
    /// own.
    fn live_bytes(&self) -> usize;
    fn reserve(&mut self, additional: usize);
    /// Frees the memory beyond what `kept` rows need.
    fn shrink(&mut self, kept: usize);
    /// Removes a row and moves the last row to the index of the removed row.
    fn swap_remove(&mut self, row: usize);
}
