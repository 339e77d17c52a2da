//! Where decoded values go: an object, nowhere, or nowhere but by what an object has now.
//!
//! Invariant: every target reads the same bits for the same command.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::{BitReader, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::label::Label;
use crate::ids::reference::ReferenceMap;
use crate::object::leaf::validate_value;
use crate::object::level::{KeyedItems, Level, MapEntries, Slot};
use crate::schema::program::LeafCommand;

/// Where decoded values go.
pub(crate) trait Target {
    /// Whether this pass sees to it that what is claimed to be there is; the other finds it so, or as the user left it.
    const VALIDATES: bool = false;

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

    /// Something is said of the collection at `handle`: if a client's user put it there, all its items are local from now on.
    fn own(&mut self, handle: u32) {
        let _ = handle;
    }

    /// How many items the collection at `handle` has, as far as that limits how many may come: validation has seen to it.
    fn items(&mut self, handle: u32) -> usize {
        let _ = handle;
        0
    }

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
    fn place(&mut self, handle: u32, id: ItemId, label: Label) {
        let _ = (handle, id, label);
    }

    /// Item ids of the collection at `handle` are to go.
    fn depart(&mut self, handle: u32, departure: Departure) {
        let _ = (handle, departure);
    }

    /// Calls `each` with the items of the collection at `handle` that are to go.
    fn departing(&mut self, handle: u32, each: &mut dyn FnMut(ItemId)) {
        let _ = (handle, each);
    }

    /// How many entries the map at `handle` has, as far as a limit on them is to be checked.
    fn entries(&mut self, handle: u32) -> usize;

    /// The keys of the map at `handle`, of which those that are not spared are to go.
    fn keys(&mut self, handle: u32) -> Vec<KeyBits>;

    /// Reads the value of `key` in the map at `handle` by `read`, whole; a new one if there is none.
    fn entry_whole(
        &mut self,
        handle: u32,
        key: &KeyBits,
        with_callbacks: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError>;

    /// Reads the properties of `handles` of the value of `key` by `read`; an error if there is no such entry.
    fn entry_change(
        &mut self,
        handle: u32,
        key: &KeyBits,
        handles: &HandleSet,
        with_callbacks: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError>;

    /// The entry of `key` in the map at `handle` goes.
    fn entry_remove(&mut self, handle: u32, key: &KeyBits, with_callbacks: bool);
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

/// Applies nothing; knows the lengths of the arrays that an object has now, if there is one.
pub(crate) struct Validation<'a>(pub(crate) Option<Level<'a>>);

impl<'a> Target for Validation<'a> {
    const VALIDATES: bool = true;

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

    fn depart(&mut self, handle: u32, departure: Departure) {
        // Whoever applies the update will look for it.
        if let (Departure::One(id), Some(items)) = (departure, self.collection(handle)) {
            items.preload(id);
        }
    }

    fn entries(&mut self, handle: u32) -> usize {
        self.map(handle).map_or(0, |entries| entries.len())
    }

    fn keys(&mut self, _: u32) -> Vec<KeyBits> {
        Vec::new()
    }

    fn entry_whole(
        &mut self,
        handle: u32,
        key: &KeyBits,
        _: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let value = self.map(handle).and_then(|entries| entries.value(key));
        read.read(&mut Validation(value))
    }

    fn entry_change(
        &mut self,
        handle: u32,
        key: &KeyBits,
        _: &HandleSet,
        _: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let value = self.map(handle).and_then(|entries| entries.value(key));
        read.read(&mut Validation(Some(value.ok_or(ReadError::OutOfRange)?)))
    }

    fn entry_remove(&mut self, _: u32, _: &KeyBits, _: bool) {}
}

impl<'a> Validation<'a> {
    fn map(&self, handle: u32) -> Option<MapEntries<'a>> {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Map(entries)) => Some(entries),
            _ => None,
        }
    }

    fn collection(&self, handle: u32) -> Option<KeyedItems<'a>> {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Keyed(items)) => Some(items),
            _ => None,
        }
    }
}
