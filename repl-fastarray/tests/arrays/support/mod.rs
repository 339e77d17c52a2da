//! An item that records its callbacks, and helpers that the tests share.
//!
//! *Invariant:* each test runs on a separate thread, so each test has its own record of callbacks.
#![allow(dead_code, reason = "each test file uses its part of this")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::offset_of;

use repl_core::__private::{Field, OwnCallbacks, Shape};
use repl_core::{ItemId, Keyed, KeyedShadow, Layout, Property, Step};
use repl_fastarray::__private::SaysItemCallbacks;
use repl_fastarray::{ArrayUpdate, ChangedProperties, FastArray, FastArrayItem, ItemCallbacks};

/// An item of three properties that records its callbacks. One of the properties is an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Told {
    pub(crate) name: u32,
    pub(crate) place: [u8; 2],
    pub(crate) count: u64,
}

// SAFETY: each field is named with its offset and shape.
unsafe impl Property for Told {
    const SHAPE: &'static Shape = &Shape::structure::<Self>(
        "Told",
        &[
            Field::new("name", offset_of!(Self, name), u32::SHAPE),
            Field::new("place", offset_of!(Self, place), <[u8; 2]>::SHAPE),
            Field::new("count", offset_of!(Self, count), u64::SHAPE),
        ],
    );

    fn initial() -> Self {
        Self::default()
    }
}

impl FastArrayItem for Told {
    const LAYOUT: &'static Layout = &Layout::of::<Self>();

    type CallbackPolicy = OwnCallbacks;
}

impl SaysItemCallbacks for Told {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Remove(Told),
    Add(Told),
    Change(Told, Vec<&'static str>),
    Removes(View),
    Adds(View),
    Changes(View),
    Receive(View),
}

/// The state of the array that a callback saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) items: Vec<Told>,
    pub(crate) ids: Vec<ItemId>,
    pub(crate) indices: Vec<usize>,
    pub(crate) old_len: usize,
    pub(crate) final_len: usize,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

fn note(call: Call) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Returns the calls since the last call of this function.
pub(crate) fn calls() -> Vec<Call> {
    CALLS.take()
}

fn view(update: &ArrayUpdate<'_, Told>) -> View {
    View {
        items: update.iter().cloned().collect(),
        ids: (0..update.len()).map(|at| update.id(at).expect("an id for each item")).collect(),
        indices: update.indices().to_vec(),
        old_len: update.old_len(),
        final_len: update.final_len(),
    }
}

impl ItemCallbacks for Told {
    fn pre_replicated_remove(&mut self) {
        note(Call::Remove(self.clone()));
    }
    fn post_replicated_add(&mut self) {
        note(Call::Add(self.clone()));
    }
    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        note(Call::Change(self.clone(), changed.iter().collect()));
    }
    fn pre_replicated_removes(update: &mut ArrayUpdate<'_, Self>) {
        note(Call::Removes(view(update)));
    }
    fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
        note(Call::Adds(view(update)));
    }
    fn post_replicated_changes(update: &mut ArrayUpdate<'_, Self>) {
        note(Call::Changes(view(update)));
    }
    fn post_replicated_receive(update: &mut ArrayUpdate<'_, Self>) {
        note(Call::Receive(view(update)));
    }
}

pub(crate) fn id(number: u32) -> ItemId {
    ItemId::new(number).expect("not zero")
}

/// Returns the items of an array by id, read through [`Keyed`] as `repl-core` does.
pub(crate) fn contents<T: FastArrayItem + Clone>(array: &FastArray<T>) -> BTreeMap<ItemId, T> {
    let mut ids = Vec::new();
    Keyed::ids(array, &mut |id| ids.push(id));
    assert_eq!(ids.len(), Keyed::len(array));
    ids.into_iter().map(|id| (id, Keyed::item(array, id).expect("it is listed").clone())).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StepKind {
    Added,
    Touched,
    Removed,
}

/// Updates `shadow` from `live`, and copies each reported item. Returns the steps.
pub(crate) fn follow<T: FastArrayItem + Clone>(
    shadow: &mut FastArray<T>,
    live: &mut FastArray<T>,
) -> Vec<(ItemId, StepKind)> {
    let mut steps = Vec::new();
    let must_renumber = shadow.follow(live, &mut |id, step| {
        steps.push((
            id,
            match step {
                Step::Added { live, shadow } => {
                    *shadow = live.clone();
                    StepKind::Added
                }
                Step::Touched { live, shadow, .. } => {
                    *shadow = live.clone();
                    StepKind::Touched
                }
                Step::Removed => StepKind::Removed,
            },
        ));
    });
    if must_renumber {
        live.renumber();
    }
    steps
}

/// Returns the numbers of the ids of the steps of one kind, in ascending order.
pub(crate) fn numbers(steps: &[(ItemId, StepKind)], kind: StepKind) -> Vec<u32> {
    let mut numbers: Vec<_> =
        steps.iter().filter(|(_, went)| *went == kind).map(|(id, _)| id.number()).collect();
    numbers.sort_unstable();
    numbers
}
