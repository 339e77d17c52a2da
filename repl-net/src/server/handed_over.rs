//! Objects outside the server, for example the components of an ECS. Their owner hands them over to be
//! compared, and the server stores what differed until its next tick.
//!
//! *Invariant:* no live object is stored. What was found of an object and is not sent yet, because a condition
//! or a missing mark forbids it, stays in its row.

use repl_core::__private::preload;
use repl_core::{Changelist, HandleSet, Refusal, Replicated, Scratch};

use super::column::{Outcome, Shadows, Source, TypedColumn};

/// The column of a class whose live objects are outside the server.
pub(crate) type ExternalColumn<T> = TypedColumn<T, HandedOver>;

/// What comparisons found of objects that were handed over, by row.
#[derive(Default)]
pub(crate) struct HandedOver(Vec<Option<Box<Found>>>);

/// What comparisons of one object found, and no tick has taken.
#[derive(Debug, Default)]
struct Found {
    /// What differed. The shadow has the new values already.
    list: Changelist,
    /// Properties that mark themselves, and were touched.
    touched: HandleSet,
    /// The refusals of the last comparison.
    refusals: Vec<Refusal>,
    /// What the last comparison found too large. It stays until it is found small enough.
    too_large: Vec<Refusal>,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.list.is_empty()
            && self.touched.is_empty()
            && self.refusals.is_empty()
            && self.too_large.is_empty()
    }
}

impl HandedOver {
    pub(crate) fn push(&mut self) {
        self.0.push(None);
    }
}

impl<T: Replicated> ExternalColumn<T> {
    /// Compares all properties of an object, also those that the next tick does not send: nobody has to hand
    /// the object over again when they are marked or switched on, or when a client receives an opening. The
    /// exception are properties that are never sent. Returns whether the next tick must look at the row.
    pub(crate) fn hand_over(&mut self, row: u32, live: &T, max_bits: u64, scratch: &mut Scratch) -> bool {
        let (row, Shadows { class, rows, .. }) = (row as usize, &mut self.shadows);
        let (shadow, lifetime) = (&mut rows[row], class.lifetime());
        let mut now = Found::default();
        if lifetime.has_marks_of_its_own() {
            now.touched = class.touched(live, shadow);
        }
        let mut scope = lifetime.ordinary().clone();
        scope.union(lifetime.initial_only());
        scope.union(lifetime.push());
        now.too_large = class.keep_within(max_bits, live, shadow, &mut scope);
        class.compare(live, shadow, &scope, &mut now.list, &mut now.refusals, scratch);
        let found = &mut self.source.0[row];
        match found {
            None if now.is_empty() => return false,
            None => *found = Some(Box::new(now)),
            Some(found) => {
                found.list.merge(&now.list);
                class.prune(shadow, &mut found.list);
                found.touched.union(&now.touched);
                (found.refusals, found.too_large) = (now.refusals, now.too_large);
            }
        }
        true
    }
}

impl<T: Replicated> Source<T> for HandedOver {
    fn when_another(class: &str) -> String {
        format!(
            "the objects of `{class}` are the server's own: to keep them outside it, call `register_external::<{class}>()` before anything \
             else registers or spawns them"
        )
    }

    /// Moves what was found in the scope to `outcome`.
    fn compare(&mut self, _: &mut Shadows<T>, row: usize, scope: &HandleSet, outcome: Outcome<'_>) {
        let Some(found) = &mut self.0[row] else { return };
        let mut rest = Changelist::new();
        found.list.split(scope, &mut rest);
        *outcome.changes = std::mem::replace(&mut found.list, rest);
        outcome.refusals.append(&mut found.refusals);
        found.touched.clear();
        if found.is_empty() {
            self.0[row] = None;
        }
    }

    fn preload_row(&self, shadows: &Shadows<T>, row: usize) {
        // Nothing is compared, but what is sent is written from the shadow.
        shadows.rows.iter().skip(row).take(2).for_each(preload);
        self.0[row].as_deref().into_iter().for_each(preload);
    }

    fn preload_values(&self, shadows: &Shadows<T>, row: usize) {
        shadows.class.preload(&shadows.rows[row]);
    }

    fn touched(&self, _: &Shadows<T>, row: usize) -> HandleSet {
        self.0[row].as_ref().map_or_else(HandleSet::new, |found| found.touched.clone())
    }

    /// What was too large when it was compared.
    fn keep_within(&self, shadows: &Shadows<T>, _: u64, row: usize, scope: &mut HandleSet) -> Vec<Refusal> {
        let Some(found) = &self.0[row] else { return Vec::new() };
        let lifetime = shadows.class.lifetime();
        for property in found.too_large.iter().filter_map(|refusal| lifetime.property_of(refusal.handle())) {
            scope.difference(&lifetime.handles_of(property));
        }
        found.too_large.clone()
    }

    /// Finds nothing: objects that were handed over are known already.
    fn scan(&self, _: &Shadows<T>, _: &mut dyn FnMut(u32)) {}

    fn swap_remove(&mut self, row: usize) {
        self.0.swap_remove(row);
    }
}
