//! Decoding: the reverse of [`encode`](crate::wire::encode), twice: once to see that all is well, once to apply it.
//!
//! Invariant: nothing is applied of what has not been validated (R20), and what has been cannot fail: both passes read the same bits in the
//! same way, and where a reader of the user's own stops is known from the first.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::ops::Range;

use crate::bits::{BitReader, BitSlice, ReadError, count};
use crate::ids::handle_list::read_handles;
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::item_list::{Departures, IdReader};
use crate::ids::label::Label;
use crate::ids::reference::{Guid, ReferenceMap};
use crate::schema::codec::Codec;
use crate::schema::layout::MAX_DEPTH;
use crate::schema::program::{ArrayCommand, CommandKind, KeyedCommand, LeafCommand, MapCommand, Program};
use crate::wire::checked::{Checked, Ends};
use crate::wire::room::check_room;

mod edits;
mod entries;
mod recipient;
mod skip;
mod target;

use edits::{Departed, Edits};
pub(crate) use recipient::{Recipient, hide};
use skip::Skip;
pub(crate) use target::{Departure, ReadItem, Target, Validation};

/// Told what an update brings. A path is the handles from the object's own level down; below it they are element handles, from 0.
pub trait Observer {
    /// All of the property at `handle` of the object's own level was read; it took `bits` bits.
    fn property(&mut self, handle: u32, bits: usize);

    /// A leaf was read that mentions no object.
    fn plain(&mut self, path: &[u32]);

    /// A leaf was read that mentions `guids`; with its bits it can be read again when they come or go (S117).
    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>);

    /// Below `path` nothing is left of what begins with one of these steps: element handles past an array's end, the id of an item, or the end of a
    /// key.
    fn cut(&mut self, path: &[u32], steps: Range<u32>);

    /// Whether values of maps are told what comes of them, as it is read.
    fn calls_back(&self) -> bool {
        true
    }
}

/// Observes nothing, and calls nothing back.
impl Observer for () {
    fn property(&mut self, _: u32, _: usize) {}
    fn plain(&mut self, _: &[u32]) {}
    fn mention(&mut self, _: &[u32], _: &mut dyn Iterator<Item = Guid>, _: BitSlice<'_>) {}
    fn cut(&mut self, _: &[u32], _: Range<u32>) {}
    fn calls_back(&self) -> bool {
        false
    }
}

/// One walk over the values of an object.
pub(crate) struct Walk<'w, 'r, 'b, O: ?Sized> {
    pub(crate) program: &'w Program,
    pub(crate) reader: &'w mut BitReader<'b>,
    pub(crate) references: &'w mut ReferenceMap<'r>,
    pub(crate) observer: &'w mut O,
    pub(crate) pass: Pass<'w>,
    pub(crate) path: Path,
}

/// Which pass a walk is.
pub(crate) enum Pass<'w> {
    /// Sees that all is well, and writes down where values end.
    Validate(&'w mut Checked),
    /// Applies what was validated.
    Apply(Ends<'w>),
}

/// Handles from the object's own level down to where a walk stands: for errors, and for finding a leaf again.
pub(crate) struct Path {
    /// The first steps.
    steps: [u32; MAX_DEPTH + 1],
    len: usize,
    /// All steps, if there are more: keys of maps take as many as they are long.
    long: Vec<u32>,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self { steps: [0; MAX_DEPTH + 1], len: 0, long: Vec::new() }
    }

    pub(crate) fn steps(&self) -> &[u32] {
        self.steps.get(..self.len).unwrap_or(&self.long)
    }

    fn push(&mut self, handle: u32) {
        if let Some(step) = self.steps.get_mut(self.len) {
            *step = handle;
        } else {
            if self.long.is_empty() {
                self.long.extend(self.steps);
            }
            self.long.push(handle);
        }
        self.len = self.len.saturating_add(1);
    }

    fn pop(&mut self) {
        self.leave(self.len.saturating_sub(1));
    }

    /// Appends the steps of a key; gives how many there were before.
    fn enter(&mut self, steps: impl Iterator<Item = u32>) -> usize {
        let depth = self.len;
        steps.for_each(|step| self.push(step));
        depth
    }

    /// Drops the steps after the first `depth`.
    fn leave(&mut self, depth: usize) {
        self.len = depth;
        self.long.truncate(if depth > self.steps.len() { depth } else { 0 });
    }
}

/// A level's table and what stands at its handles.
#[derive(Clone, Copy)]
struct Table<'w> {
    program: &'w Program,
    commands: &'w [u32],
}

impl<'w> Table<'w> {
    fn own(program: &'w Program) -> Self {
        Self { program, commands: program.tables().get(..program.handles() as usize).unwrap_or_default() }
    }

    fn element(self, array: &ArrayCommand) -> Self {
        self.inner(array.table, array.handles)
    }

    fn item(self, keyed: &KeyedCommand) -> Self {
        self.inner(keyed.table, keyed.handles)
    }

    fn value(self, map: &MapCommand) -> Self {
        self.inner(map.table, map.handles)
    }

    fn inner(self, table: u32, handles: u32) -> Self {
        let end = table.saturating_add(handles) as usize;
        Self { commands: self.program.tables().get(table as usize..end).unwrap_or_default(), ..self }
    }

    fn at(self, handle: u32) -> Result<&'w CommandKind, ReadError> {
        let command = self.commands.get(handle.wrapping_sub(1) as usize);
        let command = command.and_then(|&at| self.program.commands().get(at as usize));
        command.map(|command| &command.kind).ok_or(ReadError::OutOfRange)
    }
}

impl<'b, O: Observer + ?Sized> Walk<'_, '_, 'b, O> {
    /// Reads the values of `handles` into `target`.
    pub(crate) fn object<T: Target>(&mut self, target: &mut T, handles: &HandleSet) -> Result<(), ReadError> {
        let table = Table::own(self.program);
        for handle in handles.iter() {
            let start = self.reader.position();
            self.path.push(handle);
            self.property(table, handle, target)?;
            self.path.pop();
            self.observer.property(handle, self.reader.position().saturating_sub(start));
        }
        Ok(())
    }

    /// Reads what stands at `handle` of a level, as an update: of an array, only what changed.
    fn property<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        target: &mut T,
    ) -> Result<(), ReadError> {
        match table.at(handle)? {
            CommandKind::Leaf(leaf) => self.leaf(handle, leaf, target),
            CommandKind::Array(array) => self.array(table, handle, array, target),
            CommandKind::Keyed(keyed) => self.keyed(table.item(keyed), handle, keyed, target),
            CommandKind::Map(map) => self.map(table.value(map), handle, map, target),
            CommandKind::Return => Err(ReadError::OutOfRange),
        }
    }

    fn leaf<T: Target>(&mut self, handle: u32, leaf: &LeafCommand, target: &mut T) -> Result<(), ReadError> {
        let start = self.reader.position();
        match &mut self.pass {
            _ if !matches!(leaf.codec, Codec::Opaque(_)) => {
                target.leaf(handle, leaf, self.reader, self.references)?
            }
            Pass::Validate(checked) => {
                target.leaf(handle, leaf, self.reader, self.references)?;
                checked.value(self.reader.position(), self.references.any_mentioned());
            }
            Pass::Apply(ends) => {
                let mut value = ends.take(self.reader)?.reader();
                // A reader of the user's own that refuses what it took before leaves the value as it is.
                target.leaf(handle, leaf, &mut value, self.references).ok();
            }
        }
        if self.references.any_mentioned() {
            let bits = self.reader.slice(start..self.reader.position()).ok_or(ReadError::End)?;
            self.observer.mention(self.path.steps(), &mut self.references.take_mentioned(), bits);
        } else {
            self.observer.plain(self.path.steps());
        }
        Ok(())
    }

    fn array<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        array: &ArrayCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
        let len = count::read_count(array.max_len, self.reader)?;
        let has_tail = len > 0 && self.reader.read_bits(1)? == 1;
        let tail = if has_tail { self.reader.read_below(len as u64)? as usize } else { len };
        count::check_growth(len.saturating_sub(tail), array.least_bits, self.reader)?;
        let limit = (tail as u32).checked_mul(array.handles).ok_or(ReadError::OutOfRange)?;
        let mut edits = Edits::read(limit, self.reader)?;
        let old_len = self.resize(target, handle, array, len);
        if T::VALIDATES && tail > old_len {
            return Err(ReadError::TooLong { len, max: old_len });
        }
        let inner = table.element(array);
        while let Some(edit) = edits.next()? {
            let index = edit.checked_div(array.handles).ok_or(ReadError::OutOfRange)?;
            let inner_handle =
                edit.checked_rem(array.handles).ok_or(ReadError::OutOfRange)?.saturating_add(1);
            self.path.push(edit);
            match target.element(handle, index as usize) {
                Some(mut element) => self.property(inner, inner_handle, &mut element)?,
                None => self.property(inner, inner_handle, &mut Skip)?,
            }
            self.path.pop();
        }
        self.new_elements(inner, handle, array, tail..len, target)
    }

    /// Makes the array at `handle` `len` elements long; gives its length before.
    fn resize<T: Target>(&mut self, target: &mut T, handle: u32, array: &ArrayCommand, len: usize) -> usize {
        let old_len = target.resize(handle, len);
        if len < old_len {
            self.observer.cut(self.path.steps(), array.handles.saturating_mul(len as u32)..u32::MAX);
        }
        old_len
    }

    /// Reads all of the elements in `range` of the array at `handle`.
    fn new_elements<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        array: &ArrayCommand,
        range: Range<usize>,
        target: &mut T,
    ) -> Result<(), ReadError> {
        for index in range {
            let start = self.reader.position();
            let first = array.handles.saturating_mul(index as u32);
            match target.element(handle, index) {
                Some(mut element) => self.whole(table, first, &mut element)?,
                None => self.whole(table, first, &mut Skip)?,
            }
            count::read_padding(start, array.least_bits, self.reader)?;
        }
        Ok(())
    }

    /// Reads all of a new element.
    fn whole<T: Target>(&mut self, table: Table<'_>, first: u32, target: &mut T) -> Result<(), ReadError> {
        for (at, handle) in (0..table.commands.len() as u32).zip(1..) {
            self.path.push(first.saturating_add(at));
            match table.at(handle)? {
                CommandKind::Leaf(leaf) => self.leaf(handle, leaf, target)?,
                CommandKind::Array(array) => {
                    let len = count::read_count(array.max_len, self.reader)?;
                    count::check_growth(len, array.least_bits, self.reader)?;
                    self.resize(target, handle, array, len);
                    self.new_elements(table.element(array), handle, array, 0..len, target)?;
                }
                CommandKind::Keyed(keyed) => self.whole_items(table.item(keyed), handle, keyed, target)?,
                CommandKind::Map(map) => self.whole_map(table.value(map), handle, map, target)?,
                CommandKind::Return => return Err(ReadError::OutOfRange),
            }
            self.path.pop();
        }
        Ok(())
    }

    /// Reads what changed of a collection.
    fn keyed<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        keyed: &KeyedCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
        target.own(handle);
        let departures = Departures::read(self.reader)?;
        let mut departed = self.departures(departures, handle, target)?;
        let (mut list, mut new, mut label) = (IdReader::default(), 0_u32, Label::START);
        let mut previous: Option<HandleSet> = None;
        while let Some(id) = list.next(self.reader)? {
            if departed.contains(id)? {
                return Err(ReadError::OutOfRange);
            }
            self.path.push(id.number());
            if self.reader.read_flag()? {
                let place = self.label(keyed, &mut label)?;
                self.new_item(table, handle, keyed, id, &mut new, target)?;
                place.into_iter().for_each(|label| target.place(handle, id, label));
            } else {
                let moved = keyed.shape.ordered && self.reader.read_flag()?;
                let place = if moved { self.label(keyed, &mut label)? } else { None };
                let is_same = previous.is_some() && self.reader.read_flag()?;
                let handles = match previous.take_if(|_| is_same) {
                    Some(handles) => handles,
                    None => read_handles(keyed.handles, keyed.shape.ordered, self.reader)?,
                };
                let mut read = ChangedItem { walk: self, table, handles: &handles };
                target.item_change(handle, id, &handles, &mut read)?;
                place.into_iter().for_each(|label| target.place(handle, id, label));
                previous = Some(handles);
            }
            self.path.pop();
        }
        self.forget_departed(handle, target);
        Ok(())
    }

    /// Reads the label after `previous`, if items have labels.
    fn label(&mut self, keyed: &KeyedCommand, previous: &mut Label) -> Result<Option<Label>, ReadError> {
        if !keyed.shape.ordered {
            return Ok(None);
        }
        let label = Label::read(previous, self.reader)?;
        previous.clone_from(&label);
        Ok(Some(label))
    }

    /// Reads which items go; gives the list of those that do, where they are listed.
    fn departures<T: Target>(
        &mut self,
        departures: Departures,
        handle: u32,
        target: &mut T,
    ) -> Result<Departed<'b>, ReadError> {
        let mut departed = Departed::default();
        if matches!(departures, Departures::AllButListed | Departures::AllButNew) {
            target.depart(handle, Departure::All);
        }
        if matches!(departures, Departures::Listed | Departures::AllButListed) {
            let is_listed = departures == Departures::Listed;
            departed =
                Departed { list: is_listed.then(|| (IdReader::default(), self.reader.clone())), next: None };
            let mut list = IdReader::default();
            while let Some(id) = list.next(self.reader)? {
                target.depart(handle, if is_listed { Departure::One(id) } else { Departure::Spared(id) });
            }
        }
        Ok(departed)
    }

    fn forget_departed<T: Target>(&mut self, handle: u32, target: &mut T) {
        let Self { observer, path, .. } = self;
        target.departing(handle, &mut |id| {
            observer.cut(path.steps(), id.number()..id.number().saturating_add(1));
        });
    }

    /// Reads all of one item, which may be new; counts those that are.
    fn new_item<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        keyed: &KeyedCommand,
        id: ItemId,
        new: &mut u32,
        target: &mut T,
    ) -> Result<(), ReadError> {
        let start = self.reader.position();
        check_room(*new, keyed.max_len, target.items(handle))?;
        let is_new = target.item_whole(handle, id, &mut WholeItem { walk: self, table })?;
        *new = new.saturating_add(u32::from(is_new));
        count::read_padding(start, count::LEAST_BITS, self.reader)
    }

    /// Reads all of a collection that came into being with what it lies in.
    fn whole_items<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        keyed: &KeyedCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
        target.own(handle);
        target.depart(handle, Departure::All);
        let (mut list, mut new, mut label) = (IdReader::default(), 0, Label::START);
        while let Some(id) = list.next(self.reader)? {
            self.path.push(id.number());
            let place = self.label(keyed, &mut label)?;
            self.new_item(table, handle, keyed, id, &mut new, target)?;
            place.into_iter().for_each(|label| target.place(handle, id, label));
            self.path.pop();
        }
        self.forget_departed(handle, target);
        Ok(())
    }
}

/// Reads all of an item.
struct WholeItem<'i, 'w, 'r, 'b, O: ?Sized> {
    walk: &'i mut Walk<'w, 'r, 'b, O>,
    table: Table<'i>,
}

impl<O: Observer + ?Sized> ReadItem for WholeItem<'_, '_, '_, '_, O> {
    fn read<T: Target>(&mut self, item: &mut T) -> Result<(), ReadError> {
        self.walk.whole(self.table, 1, item)
    }
}

/// Reads properties of an item, as an update.
struct ChangedItem<'i, 'w, 'r, 'b, O: ?Sized> {
    walk: &'i mut Walk<'w, 'r, 'b, O>,
    table: Table<'i>,
    handles: &'i HandleSet,
}

impl<O: Observer + ?Sized> ReadItem for ChangedItem<'_, '_, '_, '_, O> {
    fn read<T: Target>(&mut self, item: &mut T) -> Result<(), ReadError> {
        for handle in self.handles.iter() {
            self.walk.path.push(handle);
            self.walk.property(self.table, handle, item)?;
            self.walk.path.pop();
        }
        Ok(())
    }
}
