//! Access to the elements of a collection as [`Level`]s, through the handle table of the elements.
//!
//! *Invariant:* an [`ElementTable`] is only used with pointers that the collection of the table's command
//! returned, and only while that collection is borrowed.
#![expect(unsafe_code, reason = "reads and writes objects through their layouts")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitWriter, WriteError};
use crate::ids::identity::Identity;
use crate::ids::reference::Objects;
use crate::object::level::{ElementTable, Elements, ElementsMut, Level, LevelMut, nests};
use crate::object::whole;
use crate::schema::erased::Named;
use crate::schema::step::Step;

/// A function that is called with each element that a comparison visits.
type Visit<'v, I> = &'v mut dyn FnMut(Named<'_, I>, Step<Level<'_>, LevelMut<'_>>);

impl<'a, I: Identity> Elements<'a, I> {
    pub(crate) fn max_len(&self) -> u32 {
        self.command.max_len
    }

    /// Returns the index at which the handle table of the elements begins. This index identifies the type of
    /// the elements.
    pub(crate) fn table(&self) -> u32 {
        self.command.table
    }

    /// Returns the number of handles of one element.
    pub(crate) fn handles(&self) -> u32 {
        self.command.handles
    }

    /// Returns whether the elements contain arrays, collections or maps.
    pub(crate) fn nests(&self) -> bool {
        nests(self.program, self.command.table, self.command.handles)
    }

    /// Returns whether the elements have labels, which are their positions.
    pub(crate) fn is_ordered(&self) -> bool {
        I::is_ordered(&self.command.shape.form)
    }

    pub(crate) fn has(&self, id: &I) -> bool {
        self.collection.element(id).is_some()
    }

    pub(crate) fn element(&self, id: &I) -> Option<Level<'a>> {
        let base = self.collection.element(id)?;
        // SAFETY: the collection of this command returned the element, and is borrowed for `'a`.
        Some(unsafe { ElementTable::of(self.program, self.command).level(base) })
    }

    pub(crate) fn element_size(&self) -> usize {
        self.command.shape.element.size
    }

    /// Returns the part of the shape that depends on whether the elements have ids or keys.
    pub(crate) fn form(&self) -> &'a I::Form {
        &self.command.shape.form
    }

    /// Returns whether every object to which the id or key refers exists.
    pub(crate) fn is_mapped(&self, id: &I, objects: &dyn Objects) -> bool {
        id.mentions(&self.command.shape.form).into_iter().all(|guid| objects.contains(guid))
    }

    /// Returns whether both collections have the same elements, and `is_same` returns true for each pair of
    /// elements. Costs O(elements).
    pub(crate) fn is_same(
        &self,
        other: &Elements<'_, I>,
        is_same: &mut dyn FnMut(Level<'_>, Level<'_>) -> bool,
    ) -> bool {
        let elements = ElementTable::of(self.program, self.command);
        self.collection.is_same(other.collection, &mut |one, other| {
            // SAFETY: each collection of this command lends an element for the time of the call.
            let one = unsafe { elements.level(one) };
            // SAFETY: as for the previous `unsafe` block.
            let other = unsafe { elements.level(other) };
            is_same(one, other)
        })
    }
}

impl<I: Identity> Elements<'_, I> {
    /// Writes all elements in the wire form of a new collection, and calls `write` for the value of each
    /// element.
    pub(crate) fn write_all(
        &self,
        writer: &mut BitWriter,
        mut write: impl FnMut(Level<'_>, &mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let elements = ElementTable::of(self.program, self.command);
        whole::write_collection(self.collection, (self.form(), self.max_len()), writer, |base, writer| {
            // SAFETY: the collection of this command lends an element for the time of the call.
            write(unsafe { elements.level(base) }, writer)
        })
    }
}

impl<'a, I: Identity> ElementsMut<'a, I> {
    /// Adds and removes elements so that this shadow collection has the elements of the live collection
    /// `live`. `follow` calls `visit` with each element that may have changed. `writer` is a scratch buffer
    /// for keys, and its old content does not matter. Returns whether the items of `live` must get the ids of
    /// the shadow.
    #[must_use]
    pub(crate) fn follow(
        &mut self,
        live: &Elements<'_, I>,
        writer: &mut BitWriter,
        visit: Visit<'_, I>,
    ) -> bool {
        let elements = ElementTable::of(self.program, self.command);
        self.collection.follow(live.collection, writer, &mut |id, step| {
            // SAFETY: each collection of this command lends an element for the time of the visit.
            let live = |base| unsafe { elements.level(base) };
            // SAFETY: as for the previous `unsafe` block; nothing else borrows the shadow.
            let shadow = |base| unsafe { elements.level_mut(base) };
            visit(id, step.map(live, shadow));
        })
    }

    /// Makes this collection have the same elements as `other`. Calls `copy` with each element of `other` and
    /// with the element of this collection that has the same id or key.
    pub(crate) fn copy_from(
        &mut self,
        other: &Elements<'_, I>,
        copy: &mut dyn FnMut(Level<'_>, &mut LevelMut<'_>),
    ) {
        let elements = ElementTable::of(self.program, self.command);
        self.collection.copy_from(other.collection, &mut |from, to| {
            // SAFETY: each collection of this command lends an element for the time of the call.
            let from = unsafe { elements.level(from) };
            // SAFETY: as for the previous `unsafe` block; nothing else borrows this collection.
            let mut to = unsafe { elements.level_mut(to) };
            copy(from, &mut to);
        });
    }

    /// Calls `each` with every element of the collection. Costs O(elements).
    pub(crate) fn each(&mut self, each: &mut dyn FnMut(&mut LevelMut<'_>)) {
        let elements = ElementTable::of(self.program, self.command);
        self.collection.each(&mut |base| {
            // SAFETY: the collection of this command lends the element for the time of the call, and nothing
            // else borrows the collection.
            each(&mut unsafe { elements.level_mut(base) });
        });
    }

    /// Calls `each` with the elements that were added or changed since the last
    /// [`conclude`](crate::schema::erased::Collection::conclude), or with all elements if the collection does
    /// not record changes.
    pub(crate) fn received(&mut self, each: &mut dyn FnMut(&mut LevelMut<'_>)) {
        let elements = ElementTable::of(self.program, self.command);
        self.collection.received(&mut |base| {
            // SAFETY: the collection of this command lends the element for the time of the call, and nothing
            // else borrows the collection.
            each(&mut unsafe { elements.level_mut(base) });
        });
    }

    /// Returns the element of a replica (a client's collection) with this id or key. Inserts an element with
    /// initial values if the collection has no element with this id or key. Returns `None` if the id or key
    /// is not valid.
    pub(crate) fn insert(&mut self, id: &I) -> Option<LevelMut<'_>> {
        let elements = ElementTable::of(self.program, self.command);
        let base = self.collection.insert(id)?;
        // SAFETY: the collection of this command returned `base`. Nothing else borrows the collection as long
        // as the returned level lives.
        Some(unsafe { elements.level_mut(base) })
    }
}
