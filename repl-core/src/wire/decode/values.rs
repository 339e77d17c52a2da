//! Reads the values of an update of an object, including the values in its arrays and collections, at any
//! depth.
//!
//! *Invariant:* if an update removes an element of a collection, the same update does not add or change this
//! element.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::ops::Range;

use crate::bits::{BitReader, ReadError, count};
use crate::ids::handle_list::read_handles;
use crate::ids::handles::HandleSet;
use crate::ids::identity::{Identity, ReadIds};
use crate::schema::codec::Codec;
use crate::schema::command::{ArrayCommand, CollectionCommand, CommandKind, EnumCommand, LeafCommand};
use crate::schema::program::{Program, TableEntry};
use crate::schema::step::ReceivedChange;
use crate::wire::decode::collection::Progress;
use crate::wire::decode::edits::Edits;
use crate::wire::decode::pass::Pass;
use crate::wire::decode::target::{ElementTarget, ReadElement, Target, Validation};
use crate::wire::decode::walk::{Observer, Walk};
use crate::wire::room::check_room;

impl<O: Observer + ?Sized, P: Pass> Walk<'_, '_, '_, O, P> {
    /// Reads the values of `handles` from the update into `target`.
    pub(crate) fn object<T: Target>(&mut self, target: &mut T, handles: &HandleSet) -> Result<(), P::Stop> {
        self.properties(self.program.own_table(), handles, target)
    }

    /// Reads the values of `handles` of an object or element with this table.
    fn properties<T: Target>(
        &mut self,
        table: &[TableEntry],
        handles: &HandleSet,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        for (first, count) in handles.stretches() {
            let (mut handle, end) = (first, first.saturating_add(count));
            while handle < end {
                let direct = self.direct(table, handle, end, target);
                if direct > 0 {
                    handle = handle.saturating_add(direct);
                    continue;
                }
                self.path.push(handle);
                self.property(table, handle, target)?;
                self.path.pop();
                handle = handle.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Reads the values of consecutive direct properties (properties with a wire form that equals their bytes
    /// in memory). The first property is at `handle`. `end` is the handle after the last property that may be
    /// read. Returns how many properties were read. Returns zero if the next property must be read alone.
    /// This is the case if it is not direct. It is also the case if the update ends within the direct
    /// properties, so that the error names the property that could not be read.
    #[inline]
    fn direct<T: Target>(&mut self, table: &[TableEntry], handle: u32, end: u32, target: &mut T) -> u32 {
        let (count, bits) = Program::direct(table, handle, end.saturating_sub(handle));
        if count == 0 {
            return 0;
        }
        let Ok(bits) = self.reader.take(bits as usize) else { return 0 };
        target.direct(handle, count, bits);
        count
    }

    /// Reads an update of the property at `handle` of an object or element. An update of an array contains
    /// only the changes.
    #[inline]
    pub(crate) fn property<T: Target>(
        &mut self,
        table: &[TableEntry],
        handle: u32,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        match self.program.command(table, handle).map(|command| &command.kind) {
            Some(CommandKind::Leaf(leaf)) => self.leaf(handle, leaf, target),
            Some(CommandKind::Array(array)) => {
                let len = P::check(count::read_count(array.max_len, self.reader))?;
                self.array(handle, array, len, target)
            }
            Some(CommandKind::Enum(command)) => {
                let variant = P::check(read_variant(self.program, command, self.reader))?;
                variant.map_or(Ok(()), |variant| self.array(handle, variant, 1, target))
            }
            Some(CommandKind::Items(items)) => self.elements(items, &mut target.elements(handle)),
            Some(CommandKind::Entries(entries)) => self.elements(entries, &mut target.elements(handle)),
            Some(CommandKind::Variant(_) | CommandKind::Return) | None => {
                P::check(Err(ReadError::OutOfRange))
            }
        }
    }

    #[inline]
    fn leaf<T: Target>(&mut self, handle: u32, leaf: &LeafCommand, target: &mut T) -> Result<(), P::Stop> {
        let start = self.reader.position();
        let references = &mut *self.references;
        if let Codec::Opaque(opaque) = leaf.codec {
            if opaque.delta.is_some() {
                references.begin_property(handle);
            }
            let read = |reader: &mut BitReader<'_>| {
                target.leaf(handle, leaf, reader, references)?;
                Ok(references.any_mentioned())
            };
            self.pass.opaque(self.reader, read)?;
        } else {
            P::check(target.leaf(handle, leaf, self.reader, references))?;
            if !leaf.codec.may_refer() {
                return Ok(());
            }
        }
        if self.references.any_mentioned() {
            let mut whole = self.references.take_whole_form();
            let bits = match &mut whole {
                Some(whole) => whole.as_slice(),
                None => P::check(self.reader.slice(start..self.reader.position()).ok_or(ReadError::End))?,
            };
            self.observer.mention(self.path.steps(), &mut self.references.take_mentioned(), bits);
        } else {
            self.observer.plain(self.path.steps());
        }
        Ok(())
    }

    /// Reads the changes of an array of `len` elements, after its length was read. An enum is read as an
    /// array of one element, after the number of its variant was read.
    fn array<T: Target>(
        &mut self,
        handle: u32,
        array: &ArrayCommand,
        len: usize,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        // A variant without fields is always whole.
        let has_tail = if array.has_values(len) { self.flag()? } else { len > 0 };
        let tail = if has_tail { P::check(self.reader.read_below(len as u64))? as usize } else { len };
        P::check(count::check_growth(len.saturating_sub(tail), array.least_bits, self.reader))?;
        let limit = P::check((tail as u32).checked_mul(array.handles).ok_or(ReadError::OutOfRange))?;
        let mut edits = P::check(Edits::read(limit, self.reader))?;
        let old_len = self.resize(target, handle, array, len);
        if P::VALIDATES && tail > old_len {
            return P::check(Err(ReadError::TooLong { len, max: old_len }));
        }
        let inner = self.program.table(array.table, array.handles);
        while let Some(edit) = P::check(edits.next())? {
            let index = edit.checked_div(array.handles).unwrap_or(0);
            let inner_handle = edit.checked_rem(array.handles).unwrap_or(0).saturating_add(1);
            self.path.push(array.step(index as usize, inner_handle));
            match target.element(handle, index as usize) {
                Some(mut element) => self.property(inner, inner_handle, &mut element)?,
                None => self.property(inner, inner_handle, &mut Validation(None))?,
            }
            self.path.pop();
        }
        self.new_elements((handle, array), tail..len, old_len, target)
    }

    /// Changes the length of the array at `handle` to `len`, or makes a variant active. Returns the old
    /// length of the array, or zero if another variant was active.
    fn resize<T: Target>(&mut self, target: &mut T, handle: u32, array: &ArrayCommand, len: usize) -> usize {
        let old_len = target.resize(handle, array.count(len));
        if array.variant.is_some() && old_len == 0 {
            self.observer.cut(self.path.steps(), 0..u32::MAX);
        } else if len < old_len {
            self.observer.cut(self.path.steps(), array.step(len, 1)..u32::MAX);
        }
        old_len
    }

    /// Reads the new elements at the indices `range` of the array at `handle`, which had `old_len` elements
    /// before the update.
    fn new_elements<T: Target>(
        &mut self,
        (handle, array): (u32, &ArrayCommand),
        range: Range<usize>,
        old_len: usize,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        let table = self.program.table(array.table, array.handles);
        for index in range {
            let start = self.reader.position();
            let first = array.step(index, 1);
            // While an update is validated, the target of a new element is an element of the old variant.
            let is_there = !P::VALIDATES || index < old_len;
            match target.element(handle, index).filter(|_| is_there) {
                Some(mut element) => self.whole(table, first, &mut element)?,
                None => self.whole(table, first, &mut Validation(None))?,
            }
            P::check(count::read_padding(start, array.least_bits, self.reader))?;
        }
        Ok(())
    }

    fn whole<T: Target>(&mut self, table: &[TableEntry], first: u32, target: &mut T) -> Result<(), P::Stop> {
        let (mut next, end) = (1_u32, (table.len() as u32).saturating_add(1));
        while next < end {
            let handle = next;
            let direct = self.direct(table, handle, end, target);
            if direct > 0 {
                next = next.saturating_add(direct);
                continue;
            }
            next = next.saturating_add(1);
            self.path.push(first.saturating_add(handle.saturating_sub(1)));
            match self.program.command(table, handle).map(|command| &command.kind) {
                Some(CommandKind::Leaf(leaf)) => self.leaf(handle, leaf, target)?,
                Some(CommandKind::Array(array)) => {
                    let len = P::check(count::read_new_count(array.max_len, array.least_bits, self.reader))?;
                    let old_len = self.resize(target, handle, array, len);
                    self.new_elements((handle, array), 0..len, old_len, target)?;
                }
                Some(CommandKind::Enum(command)) => {
                    if let Some(variant) = P::check(read_variant(self.program, command, self.reader))? {
                        let old_len = self.resize(target, handle, variant, 1);
                        self.new_elements((handle, variant), 0..1, old_len, target)?;
                    }
                }
                Some(CommandKind::Items(items)) => {
                    self.all_elements(items, &mut target.elements(handle))?;
                }
                Some(CommandKind::Entries(entries)) => {
                    self.all_elements(entries, &mut target.elements(handle))?;
                }
                Some(CommandKind::Variant(_) | CommandKind::Return) | None => {
                    P::check::<()>(Err(ReadError::OutOfRange))?;
                }
            }
            self.path.pop();
        }
        Ok(())
    }

    fn elements<I: Identity, T: ElementTarget<I>>(
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
    fn all_elements<I: Identity, T: ElementTarget<I>>(
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

    /// Reads a whole element, which may be new. For a map entry, `start` is the bit at which its key begins,
    /// and the size of the entry includes the key. For an item, `start` is `None`, and its size is counted
    /// from the end of its label.
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
        // Every whole entry of a map counts, because a server never sends more entries than a map may have.
        progress.whole = progress.whole.saturating_add(u32::from(is_new || I::IS_KEY));
        P::check(count::read_padding(start, count::LEAST_BITS, self.reader))?;
        label.into_iter().for_each(|label| target.receive(id, ReceivedChange::Moved(label), calls_back));
        Ok(())
    }
}

/// Reads the number of a variant, and returns its command. The command is never `None`: this type only has an
/// initial value, which [`Pass::check`] needs.
fn read_variant<'p>(
    program: &'p Program,
    command: &EnumCommand,
    reader: &mut BitReader<'_>,
) -> Result<Option<&'p ArrayCommand>, ReadError> {
    let variant = reader.read_below(command.shape.variants.len() as u64)?;
    program.variant(command, variant as usize).map(Some).ok_or(ReadError::UnknownVariant)
}

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
        self.walk.properties(self.table, handles, element)
    }
}
