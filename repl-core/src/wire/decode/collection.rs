//! Reads the parts of a collection's update that are not values: the removed elements, and the labels of
//! elements.
//!
//! *Invariant:* the ids or keys of every list ascend, so no element occurs twice in a list.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeSet;

use crate::bits::{BitReader, ReadError};
use crate::ids::identity::{Identity, ReadIds};
use crate::ids::item_list::Removals;
use crate::ids::label::Label;
use crate::schema::command::CollectionCommand;
use crate::schema::step::ReceivedChange;
use crate::wire::decode::pass::Pass;
use crate::wire::decode::target::ElementTarget;
use crate::wire::decode::walk::{Observer, Walk};

/// The list of the elements that an update removes. Validation compares the removed elements with the
/// elements that the update adds and changes.
pub(super) struct RemovedList<'b, I: Identity> {
    list: Option<(I::Reader, BitReader<'b>)>,
    next: Option<I>,
}

impl<I: Identity> RemovedList<'_, I> {
    /// Returns whether the update removes the element `id`. The caller of `contains` must pass ids in
    /// ascending order.
    pub(super) fn contains(&mut self, id: &I) -> Result<bool, ReadError> {
        let Some((list, reader)) = &mut self.list else { return Ok(false) };
        while self.next.as_ref().is_none_or(|next| next < id) {
            self.next = list.next_again(reader)?;
            if self.next.is_none() {
                self.list = None;
                return Ok(false);
            }
        }
        Ok(self.next.as_ref() == Some(id))
    }
}

/// The state while the elements of a collection are read.
pub(super) struct Progress<I> {
    /// Elements that are removed at the end of the update if the update does not contain them. Elements that
    /// the collection itself marks for removal are not in `swept`.
    pub(super) swept: BTreeSet<I>,
    /// The number of whole elements that were read so far and that count against the limit of an update.
    pub(super) whole: u32,
    /// The last label that was read.
    label: Label,
}

impl<I> Default for Progress<I> {
    fn default() -> Self {
        Self { swept: BTreeSet::new(), whole: 0, label: Label::START }
    }
}

impl<'b, O: Observer + ?Sized, P: Pass> Walk<'_, '_, 'b, O, P> {
    /// Reads which elements an update removes. `removals` returns the list of the removed elements if the
    /// update contains one.
    pub(super) fn removals<I: Identity, T: ElementTarget<I>>(
        &mut self,
        command: &CollectionCommand<I>,
        progress: &mut Progress<I>,
        target: &mut T,
    ) -> Result<RemovedList<'b, I>, P::Stop> {
        let removals = P::check(Removals::read(self.reader))?;
        if matches!(removals, Removals::AllButListed | Removals::AllButNew) {
            progress.swept.extend(target.sweep());
        }
        let mut removed = RemovedList { list: None, next: None };
        if matches!(removals, Removals::None | Removals::AllButNew) {
            return Ok(removed);
        }
        let is_listed = removals == Removals::Listed;
        let list = || I::read_list(&command.shape.form);
        // Only validation checks that the update does not also add or change a removed element.
        removed.list = (is_listed && P::VALIDATES).then(|| (list(), self.reader.clone()));
        let mut ids = list();
        while let Some(id) = P::check(ids.next(self.reader, &mut self.pass))? {
            if is_listed {
                self.remove(&id, target);
            } else {
                progress.swept.remove(&id);
                target.receive(&id, ReceivedChange::Spared, false);
            }
        }
        Ok(removed)
    }

    /// Reads the next label, if the elements of the collection have labels.
    pub(super) fn label<I: Identity>(
        &mut self,
        command: &CollectionCommand<I>,
        progress: &mut Progress<I>,
    ) -> Result<Option<Label>, P::Stop> {
        if !I::is_ordered(&command.shape.form) {
            return Ok(None);
        }
        progress.label = P::check(Label::read(&progress.label, self.reader))?;
        Ok(Some(progress.label.clone()))
    }

    fn remove<I: Identity, T: ElementTarget<I>>(&mut self, id: &I, target: &mut T) {
        target.receive(id, ReceivedChange::Removed, self.observer.calls_back());
        if I::IS_KEY {
            self.forget(id);
        }
    }

    /// Reports to the `Observer` of the update that an element no longer exists.
    fn forget<I: Identity>(&mut self, id: &I) {
        let depth = self.path.enter(id.steps());
        if let Some((&last, path)) = self.path.steps().split_last() {
            self.observer.cut(path, last..last.saturating_add(1));
        }
        self.path.leave(depth);
    }

    /// Removes the elements in `swept` that the update does not contain, and finishes the collection. Reports
    /// to the `Observer` of the update the elements that the collection has marked for removal.
    pub(super) fn end_elements<I: Identity, T: ElementTarget<I>>(
        &mut self,
        progress: Progress<I>,
        target: &mut T,
    ) {
        progress.swept.iter().for_each(|id| self.remove(id, target));
        target.finish(self.observer.calls_back());
        target.marked_for_removal(&mut |id| self.forget(&id));
    }
}
