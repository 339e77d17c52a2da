//! The source of external objects, for example components of an ECS. The user passes each object to the
//! server, which compares the object immediately. The server stores the differences until its next tick.
//!
//! *Invariant:* the server stores no live object of an external class. A difference that may not be sent yet,
//! because of a condition or a missing mark, is stored in the object's row.

use std::borrow::Cow;

use repl_core::__private::{preload, preload_all};
use repl_core::{Changelist, Class, ConditionMasks, HandleSet, Refusal, Replicated, Scratch, Shadow};

use super::changes::Outcome;
use super::column::TypedColumn;
use super::shadows::Shadows;
use super::source::Source;
use crate::body::growth::{self, push_with};

/// The column of a class with live objects outside the server.
pub(crate) type ExternalColumn<T> = TypedColumn<T, HandedOver>;

/// For each row, the result of the comparisons since the last tick.
#[derive(Default)]
pub(crate) struct HandedOver(Vec<Found>);

/// The result of the comparisons of one object that the tick has not processed yet.
#[derive(Debug, Default)]
struct Found {
    /// The leaves (single values) that differed from the shadow (the object's values at the last comparison).
    /// The shadow already has the new values of the leaves that differed.
    list: Changelist,
    rare: Option<Box<Rare>>,
    /// The number of the tick after which the user last passed the object to the server.
    frame: u64,
}

#[derive(Debug, Default)]
struct Rare {
    /// The `push` properties that record changes by themselves and were written to.
    touched: HandleSet,
    /// The values that cannot be encoded, each with its newest refusal. They are from all comparisons since
    /// the last tick. If there was no comparison since the last tick, they are from the last comparison.
    refusals: Vec<Refusal>,
    /// Whether a tick has reported the refusals.
    is_reported: bool,
    /// The values that were too large in the last comparison. A value stays in `too_large` until a comparison
    /// finds it small enough.
    too_large: Vec<Refusal>,
}

impl Rare {
    fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.refusals.is_empty() && self.too_large.is_empty()
    }

    /// Adds the results of a newer comparison. If a tick has reported the older refusals, the newer results
    /// replace the refusals for the properties in `scope`.
    fn take_in(&mut self, mut newer: Self, scope: &HandleSet) {
        self.touched.union(&newer.touched);
        if std::mem::take(&mut self.is_reported) {
            self.refusals.retain(|old| !scope.contains(old.handle()));
        }
        self.refusals.retain(|old| !newer.refusals.iter().any(|new| new.is_of_same_value(old)));
        self.refusals.append(&mut newer.refusals);
        self.too_large.retain(|old| !scope.contains(old.handle()));
        self.too_large.append(&mut newer.too_large);
    }
}

const _: () = assert!(size_of::<Found>() <= 64, "what was found of an object lies in one cache line");

pub(crate) struct HandOver<'a> {
    /// The properties that are compared.
    pub(crate) scope: HandleSet,
    pub(crate) max_bits: u64,
    /// Whether no tick has processed the object yet.
    pub(crate) is_new: bool,
    pub(crate) frame: u64,
    pub(crate) scratch: &'a mut Scratch,
}

impl HandedOver {
    pub(crate) fn push(&mut self) {
        push_with(&mut self.0, Found::default);
    }
}

impl<T: Replicated> ExternalColumn<T> {
    /// Returns the properties that are compared when a whole object is handed over: all properties except the
    /// properties that are never sent. The comparison includes properties that the next tick does not send.
    /// Their values are then in the shadow, so the user need not pass the object again when a property is
    /// marked or switched on, or when a client receives the object for the first time.
    pub(crate) fn compared(conditions: &ConditionMasks) -> HandleSet {
        let mut scope = conditions.ordinary().clone();
        scope.union(conditions.initial_only());
        scope.union(conditions.push());
        scope
    }

    /// Compares the properties of an object that are in `inputs.scope` with the shadow (the object's values
    /// at the last comparison). Returns whether the next tick must process the row.
    pub(crate) fn hand_over(&mut self, row: u32, live: &T, inputs: HandOver<'_>) -> bool {
        let (row, HandOver { scope: asked, max_bits, is_new, frame, scratch }) = (row as usize, inputs);
        let (class, Shadow { values, seen, is_new }) = self.shadows.in_row(row, is_new);
        let conditions = class.conditions();
        let (mut list, mut rare) = (Changelist::new(), Rare::default());
        if conditions.has_marks_of_its_own() {
            rare.touched = class.touched(live, values);
            rare.touched.intersect(&asked);
        }
        let mut scope = Cow::Borrowed(&asked);
        rare.too_large = class.keep_within(max_bits, live, values, &mut scope);
        let shadow = Shadow { values: &mut *values, seen, is_new };
        class.compare_seen(live, shadow, &scope, &mut list, &mut rare.refusals, scratch);
        let found = &mut self.source.0[row];
        found.frame = frame;
        if found.list.is_empty() {
            found.list = list;
        } else {
            found.list.merge(&list);
            class.prune(values, &mut found.list);
        }
        match &mut found.rare {
            None if rare.is_empty() => {}
            None => found.rare = Some(Box::new(rare)),
            Some(known) => known.take_in(rare, &asked),
        }
        !found.list.is_empty() || found.rare.is_some()
    }
}

impl<T: Replicated> Source<T> for HandedOver {
    const REGISTERED_BY: &'static str = "register_external";
    const REFUSES_OUTSIDE_OF_SCOPE: bool = true;

    fn when_another(class: &str) -> String {
        format!(
            "the objects of `{class}` are the server's own: to keep them outside it, call `register_external::<{class}>()` before anything \
             else registers or spawns them. If the server is to own them, use the methods of `Server` instead of `External`, and for \
             their positions `set_area` or `locate`"
        )
    }

    /// Moves the results of the comparisons for the properties in `scope` to `outcome`.
    fn compare(
        &mut self,
        _: &Class<T>,
        _: Shadow<'_, T>,
        row: usize,
        scope: &HandleSet,
        outcome: Outcome<'_>,
    ) {
        let found = &mut self.0[row];
        let mut rest = Changelist::new();
        found.list.split(scope, &mut rest);
        *outcome.changes = std::mem::replace(&mut found.list, rest);
        if let Some(rare) = &mut found.rare {
            outcome.refusals.extend_from_slice(&rare.refusals);
            rare.is_reported = true;
            rare.touched.clear();
            if rare.is_empty() {
                found.rare = None;
            }
        }
    }

    fn compare_ordinary(&mut self, shadows: &mut Shadows<T>, row: usize, outcome: Outcome<'_>) {
        let (class, shadow) = shadows.in_row(row, false);
        self.compare(class, shadow, row, class.conditions().ordinary(), outcome);
    }

    fn preload_row(&self, shadows: &Shadows<T>, row: usize) {
        // The tick does not compare external objects, but it writes the values from their shadows, which are
        // prefetched here.
        preload_all(&shadows.rows[row]);
        preload(&self.0[row]);
    }

    fn preload_values(&self, shadows: &Shadows<T>, row: usize) {
        shadows.class.preload(&shadows.rows[row]);
    }

    fn touched(&self, _: &Shadows<T>, row: usize) -> HandleSet {
        self.0[row].rare.as_ref().map_or_else(HandleSet::new, |rare| rare.touched.clone())
    }

    /// Returns the refusals for values that were too large when they were compared.
    fn keep_within(
        &self,
        shadows: &Shadows<T>,
        _: u64,
        row: usize,
        scope: &mut Cow<'_, HandleSet>,
    ) -> Vec<Refusal> {
        let Some(rare) = &self.0[row].rare else { return Vec::new() };
        let conditions = shadows.class.conditions();
        for property in rare.too_large.iter().filter_map(|refusal| conditions.property_of(refusal.handle())) {
            scope.to_mut().difference(conditions.handles_of(property));
        }
        rare.too_large.clone()
    }

    /// Does nothing, because the server already knows which external objects were compared.
    fn scan(&self, _: &Shadows<T>, _: &mut dyn FnMut(u32)) {}

    fn waiting(&self, row: usize) -> Option<&Changelist> {
        self.0.get(row).map(|found| &found.list).filter(|list| list.has_new_elements())
    }

    /// Only the values in the row's list differ from the values that were sent.
    fn retain_differing(&self, _: &Shadows<T>, row: usize, handles: &mut HandleSet) {
        handles.intersect(self.0[row].list.handles());
    }

    fn handed_over_in(&self, row: usize) -> Option<u64> {
        Some(self.0[row].frame)
    }

    fn live(&self, _: usize) -> Option<&T> {
        None
    }

    fn live_bytes(&self) -> usize {
        let lists = self.0.iter().map(|found| found.list.heap_bytes()).sum::<usize>();
        self.0.capacity() * size_of::<Found>() + lists
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
