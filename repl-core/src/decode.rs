//! Decoding: the reverse of [`encode`](crate::encode), twice: once to see that all is well, once to apply it.
//!
//! Invariant: both passes read the same bits in the same way, so what has been validated can be applied; nothing is applied of what has
//! not been validated (R20).
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

use crate::access::{KeyedItems, Level, LevelMut, Slot, validate_value};
use crate::bits::{BitReader, BitSlice};
use crate::handles::HandleSet;
use crate::id_list::{Departures, IdReader};
use crate::keyed::ItemId;
use crate::label::Label;
use crate::layout::MAX_DEPTH;
use crate::program::{ArrayCommand, CommandKind, KeyedCommand, LeafCommand, Program};
use crate::reference::{Guid, ReferenceMap};
use crate::value::ReadError;
use crate::wire;

/// Where decoded values go.
pub(crate) trait Target {
    /// The same for an element of an array.
    type Element<'e>: Target
    where
        Self: 'e;

    /// Reads the leaf at `handle`.
    fn leaf(
        &mut self,
        handle: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError>;

    /// Makes the array at `handle` `len` elements long; gives its length before.
    fn resize(&mut self, handle: u32, len: usize) -> usize;

    /// The element `index` of the array at `handle`.
    fn element(&mut self, handle: u32, index: usize) -> Option<Self::Element<'_>>;

    /// How many items the collection at `handle` has, and whether `id` is one.
    fn items(&mut self, handle: u32) -> usize;

    /// Reads the item `id` of the collection at `handle` by `read`, whole; a new one if there is none. Gives whether it is new.
    fn item_whole(&mut self, handle: u32, id: ItemId, read: &mut impl ReadItem) -> Result<bool, ReadError>;

    /// Reads the properties of `handles` of the item `id` by `read`; an error if there is no such item.
    fn item_change(
        &mut self,
        handle: u32,
        id: ItemId,
        handles: &HandleSet,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError>;

    /// The item `id` of the ordered collection at `handle` stands at `label`.
    fn place(&mut self, handle: u32, id: ItemId, label: Label);

    /// Item ids of the collection at `handle` are to go.
    fn depart(&mut self, handle: u32, departure: Departure);

    /// Calls `each` with the items of the collection at `handle` that are to go.
    fn departing(&mut self, handle: u32, each: &mut dyn FnMut(ItemId));
}

/// Reads an item, wherever it is.
pub(crate) trait ReadItem {
    fn read<T: Target>(&mut self, item: &mut T) -> Result<(), ReadError>;
}

/// What goes of a collection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Departure {
    /// This item.
    One(ItemId),
    /// All but those that are spared or come.
    All,
    /// Not this item.
    Spared(ItemId),
}

impl Target for LevelMut<'_> {
    type Element<'e>
        = LevelMut<'e>
    where
        Self: 'e;

    fn leaf(
        &mut self,
        handle: u32,
        _: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        self.read_leaf(handle, reader, references)
    }

    fn resize(&mut self, handle: u32, len: usize) -> usize {
        let old_len = LevelMut::resize(self, handle, len).unwrap_or(0);
        for index in old_len..len {
            if let Some(mut element) = LevelMut::element(self, handle, index) {
                adopt(&mut element);
            }
        }
        old_len
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<LevelMut<'_>> {
        LevelMut::element(self, handle, index)
    }

    fn items(&mut self, handle: u32) -> usize {
        self.keyed(handle).map_or(0, |items| items.as_items().len())
    }

    fn item_whole(&mut self, handle: u32, id: ItemId, read: &mut impl ReadItem) -> Result<bool, ReadError> {
        let mut items = self.keyed(handle).ok_or(ReadError::OutOfRange)?;
        if items.as_items().item(id).is_none() {
            let mut item = items.received_whole(id);
            adopt(&mut item);
            return read.read(&mut item).map(|()| true);
        }
        items.received_sparing(id);
        let all = HandleSet::up_to(items.as_items().handles());
        items.change(id, &all, |item| read.read(item)).ok_or(ReadError::OutOfRange)??;
        Ok(false)
    }

    fn item_change(
        &mut self,
        handle: u32,
        id: ItemId,
        handles: &HandleSet,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let mut items = self.keyed(handle).ok_or(ReadError::OutOfRange)?;
        // What its user removed stays away until it is sent whole.
        items.change(id, handles, |item| read.read(item)).unwrap_or_else(|| read.read(&mut Discard))
    }

    fn place(&mut self, handle: u32, id: ItemId, label: Label) {
        if let Some(mut items) = self.keyed(handle) {
            items.received_label(id, label);
        }
    }

    fn depart(&mut self, handle: u32, departure: Departure) {
        let Some(mut items) = self.keyed(handle) else { return };
        match departure {
            Departure::One(id) => items.received_removal(id),
            Departure::All => items.received_sweep(),
            Departure::Spared(id) => items.received_sparing(id),
        }
    }

    fn departing(&mut self, handle: u32, each: &mut dyn FnMut(ItemId)) {
        if let Some(items) = self.keyed(handle) {
            items.departing(each);
        }
    }
}

/// Where values go that nobody wants: what is read into it was validated against something else.
struct Discard;

impl Target for Discard {
    type Element<'e> = Self;

    fn leaf(
        &mut self,
        _: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        validate_value(&command.codec, reader, references)
    }

    fn resize(&mut self, _: u32, len: usize) -> usize {
        len
    }

    fn element(&mut self, _: u32, _: usize) -> Option<Self> {
        Some(Self)
    }

    fn items(&mut self, _: u32) -> usize {
        0
    }

    fn item_whole(&mut self, _: u32, _: ItemId, read: &mut impl ReadItem) -> Result<bool, ReadError> {
        read.read(self).map(|()| false)
    }

    fn item_change(
        &mut self,
        _: u32,
        _: ItemId,
        _: &HandleSet,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        read.read(self)
    }

    fn place(&mut self, _: u32, _: ItemId, _: Label) {}

    fn depart(&mut self, _: u32, _: Departure) {}

    fn departing(&mut self, _: u32, _: &mut dyn FnMut(ItemId)) {}
}

/// From now on the collections of a level belong to a client.
pub(crate) fn adopt(level: &mut LevelMut<'_>) {
    for handle in 1..=level.as_level().handles() {
        match level.as_level().slot(handle) {
            Some(Slot::Array(array)) if array.nests() => {
                for index in 0..array.len() {
                    if let Some(mut element) = LevelMut::element(level, handle, index) {
                        adopt(&mut element);
                    }
                }
            }
            Some(Slot::Keyed(items)) => {
                let ids = if items.nests() { items.ids() } else { Vec::new() };
                let Some(mut items) = level.keyed(handle) else { continue };
                items.become_replica();
                for id in ids {
                    if let Some(mut item) = items.item(id) {
                        adopt(&mut item);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Ends an update of the collections of a level: inner ones first, then what is called and removed of each (S178).
pub(crate) fn conclude(level: &mut LevelMut<'_>, with_callbacks: bool) {
    for handle in 1..=level.as_level().handles() {
        conclude_slot(level, handle, with_callbacks);
    }
}

/// The same of what stands at one handle.
pub(crate) fn conclude_slot(level: &mut LevelMut<'_>, handle: u32, with_callbacks: bool) {
    match level.as_level().slot(handle) {
        Some(Slot::Array(array)) if array.nests() => {
            for index in 0..array.len() {
                if let Some(mut element) = LevelMut::element(level, handle, index) {
                    conclude(&mut element, with_callbacks);
                }
            }
        }
        Some(Slot::Keyed(items)) => {
            let nests = items.nests();
            let Some(mut items) = level.keyed(handle) else { return };
            if nests {
                items.received(&mut |item| conclude(item, with_callbacks));
            }
            items.conclude(with_callbacks);
        }
        _ => {}
    }
}

/// Applies nothing; knows the lengths of the arrays that an object has now, if there is one.
pub(crate) struct Validation<'a>(pub(crate) Option<Level<'a>>);

impl<'a> Target for Validation<'a> {
    type Element<'e>
        = Validation<'e>
    where
        Self: 'e;

    fn leaf(
        &mut self,
        _: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        validate_value(&command.codec, reader, references)
    }

    fn resize(&mut self, handle: u32, _: usize) -> usize {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Array(array)) => array.len(),
            _ => 0,
        }
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<Validation<'_>> {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Array(array)) => Some(Validation(array.element(index))),
            _ => Some(Validation(None)),
        }
    }

    fn items(&mut self, handle: u32) -> usize {
        self.collection(handle).map_or(0, |items| items.len())
    }

    fn item_whole(&mut self, handle: u32, id: ItemId, read: &mut impl ReadItem) -> Result<bool, ReadError> {
        let item = self.collection(handle).and_then(|items| items.item(id));
        read.read(&mut Validation(item))?;
        Ok(item.is_none())
    }

    fn item_change(
        &mut self,
        handle: u32,
        id: ItemId,
        _: &HandleSet,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let item = self.collection(handle).and_then(|items| items.item(id));
        read.read(&mut Validation(Some(item.ok_or(ReadError::OutOfRange)?)))
    }

    fn place(&mut self, _: u32, _: ItemId, _: Label) {}

    fn depart(&mut self, _: u32, _: Departure) {}

    fn departing(&mut self, _: u32, _: &mut dyn FnMut(ItemId)) {}
}

impl<'a> Validation<'a> {
    fn collection(&self, handle: u32) -> Option<KeyedItems<'a>> {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Keyed(items)) => Some(items),
            _ => None,
        }
    }
}

/// Told what an update brings. A path is the handles from the object's own level down; below it they are element handles, from 0.
pub trait Observer {
    /// All of the property at `handle` of the object's own level was read; it took `bits` bits.
    fn property(&mut self, handle: u32, bits: usize);

    /// A leaf was read that mentions no object.
    fn plain(&mut self, path: &[u32]);

    /// A leaf was read that mentions `guids`; with its bits it can be read again when they come or go (S117).
    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>);

    /// Below `path` nothing is left of what begins with one of these steps: element handles past an array's end, or the id of an item.
    fn cut(&mut self, path: &[u32], steps: Range<u32>);
}

/// Observes nothing.
impl Observer for () {
    fn property(&mut self, _: u32, _: usize) {}
    fn plain(&mut self, _: &[u32]) {}
    fn mention(&mut self, _: &[u32], _: &mut dyn Iterator<Item = Guid>, _: BitSlice<'_>) {}
    fn cut(&mut self, _: &[u32], _: Range<u32>) {}
}

/// One walk over the values of an object.
pub(crate) struct Walk<'w, 'r, 'b, O: ?Sized> {
    pub(crate) program: &'w Program,
    pub(crate) reader: &'w mut BitReader<'b>,
    pub(crate) references: &'w mut ReferenceMap<'r>,
    pub(crate) observer: &'w mut O,
    pub(crate) path: Path,
}

/// Handles from the object's own level down to where a walk stands: for errors, and for finding a leaf again.
pub(crate) struct Path {
    steps: [u32; MAX_DEPTH + 1],
    len: usize,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self { steps: [0; MAX_DEPTH + 1], len: 0 }
    }

    pub(crate) fn steps(&self) -> &[u32] {
        self.steps.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, handle: u32) {
        debug_assert!(self.len < self.steps.len(), "layouts are no deeper");
        if let Some(step) = self.steps.get_mut(self.len) {
            *step = handle;
            self.len = self.len.saturating_add(1);
        }
    }

    fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
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
            CommandKind::Return => Err(ReadError::OutOfRange),
        }
    }

    fn leaf<T: Target>(&mut self, handle: u32, leaf: &LeafCommand, target: &mut T) -> Result<(), ReadError> {
        let start = self.reader.position();
        target.leaf(handle, leaf, self.reader, self.references)?;
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
        let len = wire::read_count(array.max_len, self.reader)?;
        let has_tail = len > 0 && self.reader.read_bits(1)? == 1;
        let tail = if has_tail { self.reader.read_below(len as u64)? as usize } else { len };
        wire::check_growth(len.saturating_sub(tail), array.least_bits, self.reader)?;
        let limit = (tail as u32).checked_mul(array.handles).ok_or(ReadError::OutOfRange)?;
        let mut edits = Edits::read(limit, self.reader)?;
        let old_len = self.resize(target, handle, array, len);
        if tail > old_len {
            return Err(ReadError::TooLong { len, max: old_len });
        }
        let inner = table.element(array);
        while let Some(edit) = edits.next()? {
            let index = edit.checked_div(array.handles).ok_or(ReadError::OutOfRange)?;
            let inner_handle =
                edit.checked_rem(array.handles).ok_or(ReadError::OutOfRange)?.saturating_add(1);
            let mut element = target.element(handle, index as usize).ok_or(ReadError::OutOfRange)?;
            self.path.push(edit);
            self.property(inner, inner_handle, &mut element)?;
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
            let mut element = target.element(handle, index).ok_or(ReadError::OutOfRange)?;
            self.whole(table, array.handles.saturating_mul(index as u32), &mut element)?;
            wire::read_padding(start, array.least_bits, self.reader)?;
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
                    let len = wire::read_count(array.max_len, self.reader)?;
                    wire::check_growth(len, array.least_bits, self.reader)?;
                    self.resize(target, handle, array, len);
                    self.new_elements(table.element(array), handle, array, 0..len, target)?;
                }
                CommandKind::Keyed(keyed) => self.whole_items(table.item(keyed), handle, keyed, target)?,
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
                    None => wire::read_handles(keyed.handles, keyed.shape.ordered, self.reader)?,
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
        // What goes is still there, and the user may have added some: more than that is no honest claim.
        let most = u64::from(keyed.max_len).saturating_mul(2);
        if *new >= keyed.max_len || target.items(handle) as u64 >= most {
            return Err(ReadError::TooLong { len: *new as usize, max: keyed.max_len as usize });
        }
        let is_new = target.item_whole(handle, id, &mut WholeItem { walk: self, table })?;
        *new = new.saturating_add(u32::from(is_new));
        wire::read_padding(start, wire::LEAST_BITS, self.reader)
    }

    /// Reads all of a collection that came into being with what it lies in.
    fn whole_items<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        keyed: &KeyedCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
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

/// The ids that an update takes out, walked over beside those that it brings.
#[derive(Default)]
struct Departed<'b> {
    list: Option<(IdReader, BitReader<'b>)>,
    next: Option<ItemId>,
}

impl Departed<'_> {
    /// Whether `id` is one; asked in ascending order.
    fn contains(&mut self, id: ItemId) -> Result<bool, ReadError> {
        let Some((list, reader)) = &mut self.list else { return Ok(false) };
        while self.next.is_none_or(|next| next < id) {
            self.next = list.next(reader)?;
            if self.next.is_none() {
                self.list = None;
                return Ok(false);
            }
        }
        Ok(self.next == Some(id))
    }
}

/// Which handles of an array's old elements changed, read as they are walked over, so that a long list takes no memory.
enum Edits<'b> {
    None,
    /// A bit for each handle: those to be read, and those that were and stand for the handles from `first` on.
    Mask {
        bits: BitReader<'b>,
        first: u32,
        word: u64,
    },
    /// Stretches: those to be read, and what is left of the one that was.
    Ranges {
        list: RangeList<'b>,
        range: Range<u32>,
    },
}

impl<'b> Edits<'b> {
    /// Takes the list of some of the first `limit` handles from `reader`, which then stands behind it.
    fn read(limit: u32, reader: &mut BitReader<'b>) -> Result<Self, ReadError> {
        if limit == 0 || !reader.read_flag()? {
            return Ok(Self::None);
        }
        if reader.read_flag()? {
            let list = RangeList { reader: reader.clone(), next: 0, limit, more: true };
            let mut ahead = list.clone();
            while ahead.next()?.is_some() {}
            *reader = ahead.reader;
            return Ok(Self::Ranges { list, range: 0..0 });
        }
        let mut edits = Self::Mask { bits: reader.take(limit as usize)?.reader(), first: 0, word: 0 };
        // An empty list has a shorter form.
        let Some(first) = edits.next()? else { return Err(ReadError::OutOfRange) };
        if let Self::Mask { first: base, word, .. } = &mut edits {
            *word |= 1_u64.wrapping_shl(first.wrapping_sub(*base));
        }
        Ok(edits)
    }

    /// The next handle, counted from zero.
    fn next(&mut self) -> Result<Option<u32>, ReadError> {
        match self {
            Self::None => Ok(None),
            Self::Mask { bits, first, word } => {
                while *word == 0 {
                    let width = bits.remaining().min(64) as u32;
                    if width == 0 {
                        return Ok(None);
                    }
                    *first = bits.position() as u32;
                    *word = bits.read_bits(width)?;
                }
                let bit = word.trailing_zeros();
                *word &= word.wrapping_sub(1);
                Ok(Some(first.saturating_add(bit)))
            }
            Self::Ranges { list, range } => {
                if range.start >= range.end {
                    match list.next()? {
                        Some(next) => *range = next,
                        None => return Ok(None),
                    }
                }
                Ok(range.next())
            }
        }
    }
}

/// Ascending stretches of handles, with at least one handle between two of them.
#[derive(Clone)]
struct RangeList<'b> {
    reader: BitReader<'b>,
    /// The first handle at which the next stretch may begin.
    next: u32,
    limit: u32,
    more: bool,
}

impl RangeList<'_> {
    fn next(&mut self) -> Result<Option<Range<u32>>, ReadError> {
        if !self.more {
            return Ok(None);
        }
        let left = self.limit.saturating_sub(self.next);
        let start = self.next.saturating_add(self.reader.read_below(left.into())? as u32);
        let more = u32::try_from(self.reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
        let end =
            start.checked_add(more).and_then(|last| last.checked_add(1)).filter(|&end| end <= self.limit);
        let end = end.ok_or(ReadError::OutOfRange)?;
        self.next = end.saturating_add(1);
        self.more = self.next < self.limit && self.reader.read_flag()?;
        Ok(Some(start..end))
    }
}
