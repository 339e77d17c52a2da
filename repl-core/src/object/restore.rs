//! Restores parts of a client's object to the values that the server sent. The base of the object is a copy
//! with exactly these values.
//!
//! *Invariant:* elements that are equal to the base are not reported as changed. Fields that are not
//! replicated keep their values.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeSet;

use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::reference::Objects;
use crate::object::collections::{BecomeReplica, VisitCollections};
use crate::object::equality::{Answer, same_elements, same_level};
use crate::object::level::Array;
use crate::object::level::{Elements, ElementsMut, Level, LevelMut, Slot};
use crate::schema::command::Collected;
use crate::schema::step::ReceivedChange;

/// The options for restoring parts of an object.
#[derive(Clone, Copy)]
pub(crate) struct Restore<'o> {
    /// The objects that exist. Map entries with keys that refer to objects that do not exist are only in the
    /// base.
    pub(crate) objects: &'o dyn Objects,
    /// Whether the callbacks of values in maps run.
    pub(crate) calls_back: bool,
    /// Whether everything is restored: items that the user has added are removed, and edits that the log of
    /// an array does not contain are undone, too.
    pub(crate) is_thorough: bool,
}

impl Restore<'_> {
    pub(crate) fn level(&self, base: Level<'_>, live: &mut LevelMut<'_>) {
        (1..=base.handles()).for_each(|handle| self.property(base, live, handle));
    }

    pub(crate) fn property(&self, base: Level<'_>, live: &mut LevelMut<'_>, handle: u32) {
        match base.slot(handle) {
            Some(Slot::Leaf(leaf)) => {
                if let Some(mut to) = live.leaf(handle) {
                    to.copy(leaf);
                }
            }
            Some(Slot::Array(array)) => self.array(array, live, handle),
            Some(Slot::Items(items)) => self.elements_at(items, live, handle),
            Some(Slot::Entries(entries)) => self.elements_at(entries, live, handle),
            None => {}
        }
    }

    fn array(&self, base: Array<'_>, live: &mut LevelMut<'_>, handle: u32) {
        let old_len = live.resize(handle, base.count()).map_or(0, |lens| lens.start);
        for index in 0..base.len() {
            let (Some(from), Some(mut to)) = (base.element(index), live.element(handle, index)) else {
                return;
            };
            if index >= old_len {
                BecomeReplica.visit(&mut to);
            }
            self.level(from, &mut to);
        }
    }

    fn elements_at<I: Collected>(&self, base: Elements<'_, I>, live: &mut LevelMut<'_>, handle: u32) {
        let Some(mut live) = live.elements::<I>(handle) else { return };
        live.collection.own();
        let edits = if self.is_thorough {
            live.collection.remove_local();
            differing(base, live.as_elements())
        } else {
            edits(base, live.as_elements())
        };
        edits.iter().for_each(|id| self.element(base, &mut live, id));
    }

    /// Restores the element `id` of a collection, or removes it if the server has not sent such an element.
    pub(crate) fn element<I: Identity>(&self, base: Elements<'_, I>, live: &mut ElementsMut<'_, I>, id: &I) {
        let is_shown = base.is_mapped(id, self.objects);
        match (base.element(id).filter(|_| is_shown), live.as_elements().element(id)) {
            (None, None) => {}
            (None, Some(_)) => live.collection.receive(id, ReceivedChange::Removed, self.calls_back),
            (Some(from), Some(to)) if same_level(from, to, Answer::Base) => self.label(base, live, id),
            (Some(from), _) => _ = self.change(base, live, id, |to| self.level(from, to)),
        }
    }

    /// Changes the element `id` of a collection with `change`. Inserts the element if the user has removed
    /// it. `change` must first restore all properties of the element. Returns the result of `change`, or
    /// `None` if the id is not valid.
    pub(crate) fn change<I: Identity, R>(
        &self,
        base: Elements<'_, I>,
        live: &mut ElementsMut<'_, I>,
        id: &I,
        change: impl FnOnce(&mut LevelMut<'_>) -> R,
    ) -> Option<R> {
        if live.as_elements().has(id) {
            let all = HandleSet::up_to(base.handles());
            let result = live.change(id, &all, self.calls_back, change);
            self.label(base, live, id);
            return result;
        }
        let mut element = live.insert(id)?;
        BecomeReplica.visit(&mut element);
        let result = change(&mut element);
        self.label(base, live, id);
        live.collection.receive(id, ReceivedChange::Added, self.calls_back);
        Some(result)
    }

    fn label<I: Identity>(&self, base: Elements<'_, I>, live: &mut ElementsMut<'_, I>, id: &I) {
        if let Some(label) = base.collection.label(id)
            && live.collection.label(id) != Some(label)
        {
            live.collection.receive(id, ReceivedChange::Moved(label.clone()), self.calls_back);
        }
    }
}

/// Returns the elements of `live` that its user may have edited. Costs O(edits) if the collection records
/// them, and otherwise O(elements), or O(elements × log elements) if there are any edits.
pub(crate) fn edits<I: Identity>(base: Elements<'_, I>, live: Elements<'_, I>) -> BTreeSet<I> {
    match base.collection.edits(live.collection) {
        Some(edits) => edits.into_iter().collect(),
        None => differing(base, live),
    }
}

/// Returns all elements of both collections, or none if the collections are equal.
fn differing<I: Identity>(base: Elements<'_, I>, live: Elements<'_, I>) -> BTreeSet<I> {
    if same_elements(base, live, Answer::Base) {
        return BTreeSet::new();
    }
    base.collection.ids().into_iter().chain(live.collection.ids()).collect()
}
