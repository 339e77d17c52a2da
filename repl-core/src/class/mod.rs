//! Classes: a class is an object type at run time, with the functions that compare, write and read its
//! objects.
//!
//! *Invariant:* a class is made from the tables of its own type. [`Class::new`] checks that the tables belong
//! to the type. So the functions of a class take plain references and are safe.
#![expect(unsafe_code, reason = "vouches for a layout being the object's own")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod begin;
mod comparing;
mod decoding;
mod encoding;
mod limits;

pub use decoding::DecodeError;

use crate::changes::changelist::{ArrayChanges, ElementChanges, Growing, Nested};
use crate::diff::places::Places;
use crate::diff::sizes::Sizes;
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::object::copy::copy_slots;
use crate::object::level::{Level, LevelMut};
use crate::schema::condition_masks::ConditionMasks;
use crate::schema::plan::Planned;
use crate::schema::program::{Collected, Command, CommandKind, Program};
use crate::schema::replicated::Replicated;

use std::marker::PhantomData;

/// An object type at run time.
pub struct Class<T> {
    program: Program,
    conditions: ConditionMasks,
    places: Places<T>,
    /// The handles of arrays, of fast arrays and of maps, each with the changes that send a whole array, fast
    /// array or map.
    growing: [Growing; 3],
    /// Whether there are handles in [`growing`](Self::growing).
    has_arrays: bool,
    /// Whether objects contain a fast array at any depth.
    holds_items: bool,
    lends_arrays: bool,
    lends_entries: bool,
    sizes: Sizes,
    objects: PhantomData<fn(&mut T)>,
}

impl<T: Replicated> Default for Class<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Replicated> Class<T> {
    /// Makes the class of the object type `T`. If `T` is generic, `new` makes the program from the layout of
    /// `T`.
    ///
    /// # Panics
    /// Panics if `T::program` returns the program of another type. The code that the derive generates never
    /// causes this panic.
    #[must_use]
    pub fn new() -> Self {
        let mut program = T::program();
        program.join_leaves();
        assert!(program.layout().describes::<T>(), "the program of another type");
        let conditions = ConditionMasks::new(&program, T::PLAN.overflows());
        let places = Places::of(&program);
        let handles = || 1..=program.handles();
        let (arrays, items, entries): (HandleSet, HandleSet, HandleSet) = (
            handles().filter(|&handle| program.is_array(handle)).collect(),
            handles().filter(|&handle| program.is_collection::<ItemId>(handle)).collect(),
            handles().filter(|&handle| program.is_collection::<KeyBits>(handle)).collect(),
        );
        let growing: [Growing; 3] = [
            (arrays, || Nested::Array(ArrayChanges::whole())),
            (items, || ElementChanges::<ItemId>::whole().into()),
            (entries, || ElementChanges::<KeyBits>::whole().into()),
        ];
        let holds_items = program.collections::<ItemId>().next().is_some();
        let (lends_arrays, lends_entries) = (lends::<ItemId>(&program), lends::<KeyBits>(&program));
        let sizes = Sizes::of(&program);
        Self {
            conditions,
            places,
            has_arrays: growing.iter().any(|(handles, _)| !handles.is_empty()),
            growing,
            holds_items,
            lends_arrays,
            lends_entries,
            sizes,
            objects: PhantomData,
            program,
        }
    }

    /// Returns the program of the class, which is the flat table of commands.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the masks of handles that are compared, and the masks of handles that are sent under each
    /// condition.
    #[must_use]
    pub fn conditions(&self) -> &ConditionMasks {
        &self.conditions
    }

    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    pub(crate) fn sizes_mut(&mut self) -> &mut Sizes {
        &mut self.sizes
    }

    pub(crate) fn level<'a>(&'a self, object: &'a T) -> Level<'a> {
        // SAFETY: `new` has checked that the program belongs to `T`.
        unsafe { Level::of(object, &self.program) }
    }

    fn level_mut<'a>(&'a self, object: &'a mut T) -> LevelMut<'a> {
        // SAFETY: `new` checked that the program belongs to `T`.
        unsafe { LevelMut::of(object, &self.program) }
    }

    /// Copies the properties of `handles` from `from` to `to`.
    pub fn copy(&self, from: &T, to: &mut T, handles: &HandleSet) {
        copy_slots(self.level(from), &mut self.level_mut(to), handles.iter());
    }
}

/// Returns whether callbacks of elements receive elements that contain arrays or collections.
fn lends<I: Collected>(program: &Program) -> bool {
    let is_leaf = |command: &Command| matches!(command.kind, CommandKind::Leaf(_) | CommandKind::Return);
    program.collections::<I>().any(|collection| {
        let inner = program.commands().get(collection.first as usize..collection.end as usize);
        collection.shape.has_callbacks && !inner.unwrap_or_default().iter().all(is_leaf)
    })
}
