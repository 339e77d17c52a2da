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
pub(crate) struct HandedOver(Vec<Found>);

/// What comparisons of one object found, and no tick has taken.
#[derive(Debug, Default)]
struct Found {
    /// What differed. The shadow has the new values already.
    list: Changelist,
    rare: Option<Box<Rare>>,
}

/// What is not found of most objects.
#[derive(Debug, Default)]
struct Rare {
    /// Properties that mark themselves, and were touched.
    touched: HandleSet,
    /// Values without a form on the wire.
    refusals: Vec<Refusal>,
    /// What the last comparison found too large. It stays until it is found small enough.
    too_large: Vec<Refusal>,
}

impl Rare {
    fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.refusals.is_empty() && self.too_large.is_empty()
    }
}

const _: () = assert!(size_of::<Found>() <= 64, "what was found of an object lies in one cache line");

impl HandedOver {
    pub(crate) fn push(&mut self) {
        self.0.push(Found::default());
    }
}

impl<T: Replicated> ExternalColumn<T> {
    /// Compares all properties of an object, also those that the next tick does not send: nobody has to hand
    /// the object over again when they are marked or switched on, or when a client receives an opening. The
    /// exception are properties that are never sent. Returns whether the next tick must look at the row.
    pub(crate) fn hand_over(&mut self, row: u32, live: &T, max_bits: u64, scratch: &mut Scratch) -> bool {
        let (row, Shadows { class, rows, .. }) = (row as usize, &mut self.shadows);
        let (shadow, lifetime) = (&mut rows[row], class.lifetime());
        let (mut list, mut rare) = (Changelist::new(), Rare::default());
        if lifetime.has_marks_of_its_own() {
            rare.touched = class.touched(live, shadow);
        }
        let mut scope = lifetime.ordinary().clone();
        scope.union(lifetime.initial_only());
        scope.union(lifetime.push());
        rare.too_large = class.keep_within(max_bits, live, shadow, &mut scope);
        class.compare(live, shadow, &scope, &mut list, &mut rare.refusals, scratch);
        let found = &mut self.source.0[row];
        if found.list.is_empty() {
            found.list = list;
        } else {
            found.list.merge(&list);
            class.prune(shadow, &mut found.list);
        }
        match &mut found.rare {
            None if rare.is_empty() => {}
            None => found.rare = Some(Box::new(rare)),
            Some(known) => {
                known.touched.union(&rare.touched);
                known.refusals.append(&mut rare.refusals);
                known.too_large = rare.too_large;
            }
        }
        !found.list.is_empty() || found.rare.is_some()
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
        let found = &mut self.0[row];
        let mut rest = Changelist::new();
        found.list.split(scope, &mut rest);
        *outcome.changes = std::mem::replace(&mut found.list, rest);
        if let Some(rare) = &mut found.rare {
            outcome.refusals.append(&mut rare.refusals);
            rare.touched.clear();
            if rare.is_empty() {
                found.rare = None;
            }
        }
    }

    fn preload_row(&self, shadows: &Shadows<T>, row: usize) {
        // Nothing is compared, but what is sent is written from the shadow.
        shadows.rows.iter().skip(row).take(2).for_each(preload);
        preload(&self.0[row]);
    }

    fn preload_values(&self, shadows: &Shadows<T>, row: usize) {
        shadows.class.preload(&shadows.rows[row]);
    }

    fn touched(&self, _: &Shadows<T>, row: usize) -> HandleSet {
        self.0[row].rare.as_ref().map_or_else(HandleSet::new, |rare| rare.touched.clone())
    }

    /// What was too large when it was compared.
    fn keep_within(&self, shadows: &Shadows<T>, _: u64, row: usize, scope: &mut HandleSet) -> Vec<Refusal> {
        let Some(rare) = &self.0[row].rare else { return Vec::new() };
        let lifetime = shadows.class.lifetime();
        for property in rare.too_large.iter().filter_map(|refusal| lifetime.property_of(refusal.handle())) {
            scope.difference(&lifetime.handles_of(property));
        }
        rare.too_large.clone()
    }

    /// Finds nothing: objects that were handed over are known already.
    fn scan(&self, _: &Shadows<T>, _: &mut dyn FnMut(u32)) {}

    fn swap_remove(&mut self, row: usize) {
        self.0.swap_remove(row);
    }
}
