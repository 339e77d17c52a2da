//! Changelists of the world's objects: which changes all connections share, and the values of the listed
//! properties.
//!
//! *Invariant:* values are read from shadows, so all connections receive the same values.

use std::borrow::Cow;

use repl_core::{BitWriter, Changelist, ConditionMasks, HandleSet, ViewFlags, WriteRecipe};

use super::store::Store;
use crate::server::changes::Change;

impl Store {
    /// Returns the changes of an object that connections with the default view may receive. `conditions` are
    /// the conditions of the object's class. `is_far` says whether the connections that receive these changes
    /// are far from the object.
    #[inline]
    pub(crate) fn shared_list<'c>(
        &self,
        change: &'c Change,
        conditions: &ConditionMasks,
        is_far: bool,
    ) -> Cow<'c, Changelist> {
        if conditions.is_conditional() {
            Cow::Owned(self.masked_list(change, conditions, is_far))
        } else {
            Cow::Borrowed(&change.list)
        }
    }

    /// Does the same as [`shared_list`](Self::shared_list), for classes with conditions.
    pub(crate) fn masked_list(
        &self,
        change: &Change,
        conditions: &ConditionMasks,
        is_far: bool,
    ) -> Changelist {
        let object = &self.objects[change.slot as usize];
        let mut list = change.list.clone();
        let flags = object.common_flags().with_if(ViewFlags::FAR, is_far);
        list.retain(&object.mask(conditions, flags, None));
        list
    }

    /// Removes from the changelist `list` the changes of elements that no longer exist in the object in
    /// `slot`.
    pub(crate) fn prune(&self, slot: u32, list: &mut Changelist) {
        self.column_of(slot).prune(self.occupant(slot).row, list);
    }

    /// Writes the values of the properties in the changelist `list` from the shadow (the object's values at
    /// the last comparison) of the object in `slot`. If a hand-written serialiser refuses a value, the
    /// property of this value is removed from the changelist, and the other values are written. Returns the
    /// removed properties. `recipe` is reused memory, and is computed again if the previous changelist had
    /// other properties.
    pub(crate) fn write_values(
        &self,
        slot: u32,
        list: &mut Changelist,
        recipe: &mut WriteRecipe,
        writer: &mut BitWriter,
    ) -> Changelist {
        let (column, row, start) = (self.column_of(slot), self.occupant(slot).row, writer.bit_len());
        let rows = column.rows();
        let mut write = |list: &Changelist, writer: &mut BitWriter| {
            rows.make_recipe(list.handles(), recipe);
            rows.write_values(row, list, recipe, writer)
        };
        let mut refused = Changelist::new();
        if write(list, writer).is_ok() {
            return refused;
        }
        let mut written = Changelist::new();
        writer.truncate(start);
        loop {
            let first = list.handles().iter().next();
            let Some(property) = first.and_then(|first| column.conditions().property_of(first)) else {
                break;
            };
            let mut rest = Changelist::new();
            list.split(column.conditions().handles_of(property), &mut rest);
            let before = writer.bit_len();
            if write(list, writer).is_ok() {
                written.merge(list);
            } else {
                writer.truncate(before);
                refused.merge(list);
            }
            *list = rest;
        }
        *list = written;
        refused
    }

    /// Returns a changelist with which all properties in `handles` of the object in `slot` are sent whole.
    pub(crate) fn whole(&self, slot: u32, handles: &HandleSet) -> Changelist {
        let mut list = Changelist::new();
        self.columns[self.occupant(slot).class as usize].insert_whole(handles, &mut list);
        list
    }
}
