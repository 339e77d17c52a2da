//! Decodes collections: which elements are removed, added or changed, each with its id or key.
//!
//! *Invariant:* the ids or keys of every list ascend, so no element occurs twice in a list. No element is
//! both removed and added or changed by one update.

use std::collections::BTreeSet;

use crate::bits::{BitReader, ReadError, count};
use crate::ids::handle_list::read_handles;
use crate::ids::handles::HandleSet;
use crate::ids::identity::{Identity, ReadIds};
use crate::ids::item_list::Removals;
use crate::ids::label::Label;
use crate::schema::program::{CollectionCommand, TableEntry};
use crate::schema::step::ReceivedChange;
use crate::wire::decode::pass::Pass;
use crate::wire::decode::target::{ElementTarget, ReadElement, Target};
use crate::wire::decode::{Observer, Walk};
use crate::wire::room::check_room;

/// The list of the elements that an update removes. Validation compares the removed elements with the
/// elements that the update adds and changes.
struct RemovedList<'b, I: Identity> {
    list: Option<(I::Reader, BitReader<'b>)>,
    next: Option<I>,
}

impl<I: Identity> RemovedList<'_, I> {
    /// Returns whether the update removes the element `id`. The caller of `contains` must pass ids in
    /// ascending order.
    fn contains(&mut self, id: &I) -> Result<bool, ReadError> {
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
struct Progress<I> {
    /// Elements that are removed at the end of the update unless the update contains them. Elements that the
    /// collection itself marks for removal are not in `swept`.
    swept: BTreeSet<I>,
    /// The number of whole elements that were read so far and that count against the limit of an update.
    whole: u32,
    /// The label that was read last.
    label: Label,
}

impl<I> Default for Progress<I> {
    fn default() -> Self {
        Self { swept: BTreeSet::new(), whole: 0, label: Label::START }
    }
}

impl<'b, O: Observer + ?Sized, P: Pass> Walk<'_, '_, 'b, O, P> {
    /// Reads the changes of a collection.
    pub(super) fn elements<I: Identity, T: ElementTarget<I>>(
        &mut self,
        command: &CollectionCommand<I>,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        let is_ordered = I::is_ordered(&command.shape.form);
        let table = self.program.table(command.table, command.handles);
        let mut progress = Progress::default();
        target.own();
        let mut removed = self.removals(command, &mut progress, target)?;
        let mut list = I::read_list(&command.shape.form);
        let mut previous: Option<HandleSet> = None;
        while let Some(id) = P::check(list.next(self.reader, &mut self.pass))? {
            if P::check(removed.contains(&id))? {
                return P::check(Err(ReadError::OutOfRange));
            }
            progress.swept.remove(&id);
            let depth = self.path.enter(id.steps());
            // The elements of a set have no properties that could change.
            if I::IS_KEY && command.handles == 0 || self.flag()? {
                self.new_element(table, command, &id, list.began_at(), &mut progress, target)?;
            } else {
                let moved = is_ordered && self.flag()?;
                let label = if moved { self.label::<I>(command, &mut progress)? } else { None };
                let is_same = previous.is_some() && self.flag()?;
                let handles = match previous.take_if(|_| is_same) {
                    Some(handles) => handles,
                    None => P::check(read_handles(command.handles, is_ordered, self.reader))?,
                };
                let calls_back = self.observer.calls_back();
                let mut read = ElementReader { walk: self, table, handles: Some(&handles) };
                match target.change(&id, &handles, calls_back, &mut read) {
                    Some(read) => read?,
                    None => P::check(Err(ReadError::OutOfRange))?,
                }
                label
                    .into_iter()
                    .for_each(|label| target.receive(&id, ReceivedChange::Moved(label), calls_back));
                previous = Some(handles);
            }
            self.path.leave(depth);
        }
        self.end_elements(progress, target);
        Ok(())
    }

    /// Reads a whole collection, which is part of a new element.
    pub(super) fn all_elements<I: Identity, T: ElementTarget<I>>(
        &mut self,
        command: &CollectionCommand<I>,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        let table = self.program.table(command.table, command.handles);
        let mut progress = Progress::default();
        let form = &command.shape.form;
        let mut list = P::check(I::read_list_of_all(form, command.max_len, self.reader).map(Some))?;
        target.own();
        progress.swept.extend(target.sweep());
        while let Some(list) = &mut list
            && let Some(id) = P::check(list.next(self.reader, &mut self.pass))?
        {
            progress.swept.remove(&id);
            let depth = self.path.enter(id.steps());
            self.new_element(table, command, &id, list.began_at(), &mut progress, target)?;
            self.path.leave(depth);
        }
        self.end_elements(progress, target);
        Ok(())
    }

    /// Reads which elements an update removes. `removals` returns the list of the removed elements if the
    /// update contains one.
    fn removals<I: Identity, T: ElementTarget<I>>(
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
        // Only validation checks that none of the removed elements is also added or changed.
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
    fn label<I: Identity>(
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

    /// Reads a whole element, which may be new. The size of the element is counted from `start`, the bit at
    /// which its key began, or from the end of its label.
    fn new_element<I: Identity, T: ElementTarget<I>>(
        &mut self,
        table: &[TableEntry],
        command: &CollectionCommand<I>,
        id: &I,
        start: Option<usize>,
        progress: &mut Progress<I>,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        let label = self.label(command, progress)?;
        let start = start.unwrap_or(self.reader.position());
        if P::VALIDATES {
            P::check(check_room(progress.whole, command.max_len, target.held()))?;
        }
        if self.pass.keys_refer() {
            let guids = id.mentions(&command.shape.form);
            let bits = id.as_bits().filter(|_| !guids.is_empty());
            bits.into_iter().for_each(|bits| {
                self.observer.mention(self.path.steps(), &mut guids.iter().copied(), bits);
            });
        }
        let calls_back = self.observer.calls_back();
        let is_new = target.whole(id, calls_back, &mut ElementReader { walk: self, table, handles: None })?;
        // A server that sends a whole map sends at most as many entries as a map may have.
        progress.whole = progress.whole.saturating_add(u32::from(is_new || I::IS_KEY));
        P::check(count::read_padding(start, count::LEAST_BITS, self.reader))?;
        label.into_iter().for_each(|label| target.receive(id, ReceivedChange::Moved(label), calls_back));
        Ok(())
    }

    /// Removes an element from the collection.
    fn remove<I: Identity, T: ElementTarget<I>>(&mut self, id: &I, target: &mut T) {
        target.receive(id, ReceivedChange::Removed, self.observer.calls_back());
        if I::IS_KEY {
            self.forget(id);
        }
    }

    /// Reports to the observer that an element no longer exists.
    fn forget<I: Identity>(&mut self, id: &I) {
        let depth = self.path.enter(id.steps());
        if let Some((&last, path)) = self.path.steps().split_last() {
            self.observer.cut(path, last..last.saturating_add(1));
        }
        self.path.leave(depth);
    }

    /// Removes the elements in `swept` that the update does not contain, and reports to the observer the
    /// elements that the collection has marked for removal.
    fn end_elements<I: Identity, T: ElementTarget<I>>(&mut self, progress: Progress<I>, target: &mut T) {
        progress.swept.iter().for_each(|id| self.remove(id, target));
        target.marked_for_removal(&mut |id| self.forget(&id));
    }
}

/// Reads one element of a collection.
struct ElementReader<'i, 'w, 'r, 'b, O: ?Sized, P> {
    walk: &'i mut Walk<'w, 'r, 'b, O, P>,
    table: &'i [TableEntry],
    /// The handles of the changed properties. `handles` is `None` if the element is sent whole.
    handles: Option<&'i HandleSet>,
}

impl<O: Observer + ?Sized, P: Pass> ReadElement for ElementReader<'_, '_, '_, '_, O, P> {
    type Stop = P::Stop;

    fn read<T: Target>(&mut self, element: &mut T) -> Result<(), P::Stop> {
        let Some(handles) = self.handles else { return self.walk.whole(self.table, 1, element) };
        self.walk.properties(self.table, handles, element, false)
    }
}
