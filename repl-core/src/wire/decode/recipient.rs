//! Where decoded values are written: an object, or a part of one. If it was lent to its user, what he took out of it, and an update says something
//! of, comes back as the server had sent it.
//!
//! Invariant: what was lent is written before the update reaches what the server had sent; nothing that the user did makes an update fail (S49):
//! what has no place any more is passed over.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use super::skip::Skip;
use super::target::{Departure, ReadItem, Target};
use crate::bits::{BitReader, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::label::Label;
use crate::ids::reference::{Objects, ReferenceMap};
use crate::object::collections::adopt;
use crate::object::copy::copy_slots;
use crate::object::level::{KeyedItems, Level, LevelMut, MapEntries, Slot};
use crate::schema::program::LeafCommand;

/// An object or a part of one, to be written.
pub(crate) struct Recipient<'a> {
    live: LevelMut<'a>,
    /// What the server had sent of it, if it was lent.
    base: Option<Level<'a>>,
    /// The objects that are there, if this is what the user sees of a lent one: entries whose keys mention others are in what the server sent alone.
    seen: Option<&'a dyn Objects>,
}

impl<'a> Recipient<'a> {
    pub(crate) fn new(live: LevelMut<'a>) -> Self {
        Self { live, base: None, seen: None }
    }

    /// For an object that was lent.
    pub(crate) fn lent(live: LevelMut<'a>, base: Level<'a>, objects: &'a dyn Objects) -> Self {
        Self { live, base: Some(base), seen: Some(objects) }
    }

    fn base_slot(&self, handle: u32) -> Option<Slot<'a>> {
        self.base?.slot(handle)
    }

    fn base_items(&self, handle: u32) -> Option<KeyedItems<'a>> {
        match self.base_slot(handle)? {
            Slot::Keyed(items) => Some(items),
            _ => None,
        }
    }

    fn base_entries(&self, handle: u32) -> Option<MapEntries<'a>> {
        match self.base_slot(handle)? {
            Slot::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Makes the array at `handle` what the server had sent of it, if it has another length.
    fn restore_array(&mut self, handle: u32) {
        let (Some(base), Some(Slot::Array(sent))) = (self.base, self.base_slot(handle)) else { return };
        if !matches!(self.live.as_level().slot(handle), Some(Slot::Array(array)) if array.len() != sent.len())
        {
            return;
        }
        copy_slots(base, &mut self.live, std::iter::once(handle));
        for index in 0..sent.len() {
            if let Some(mut element) = self.live.element(handle, index) {
                adopt(&mut element);
                self.seen.into_iter().for_each(|objects| hide(&mut element, objects));
            }
        }
    }
}

/// Reads into a part of which nothing is known to have been lent.
fn read_into(
    live: &mut LevelMut<'_>,
    seen: Option<&dyn Objects>,
    read: &mut impl ReadItem,
) -> Result<(), ReadError> {
    read.read(&mut Recipient { live: live.reborrow(), base: None, seen })
}

/// Takes the entries out whose keys mention an object that is not there.
pub(crate) fn hide(level: &mut LevelMut<'_>, objects: &dyn Objects) {
    for handle in 1..=level.as_level().handles() {
        match level.as_level().slot(handle) {
            Some(Slot::Array(array)) if array.nests() => {
                for index in 0..array.len() {
                    if let Some(mut element) = level.element(handle, index) {
                        hide(&mut element, objects);
                    }
                }
            }
            Some(Slot::Keyed(items)) if items.nests() => {
                let ids = items.ids();
                let Some(mut items) = level.keyed(handle) else { continue };
                for id in ids {
                    if let Some(mut item) = items.item(id) {
                        hide(&mut item, objects);
                    }
                }
            }
            Some(Slot::Map(_)) => {
                let Some(mut entries) = level.map(handle) else { continue };
                for key in entries.as_entries().keys() {
                    if !entries.as_entries().is_mapped(&key, objects) {
                        entries.remove(&key, false);
                    }
                }
                entries.each_value(&mut |value| hide(value, objects));
            }
            _ => {}
        }
    }
}

/// Makes `new`, which has come back, what `base` is, and reads into it.
fn restore(
    base: Level<'_>,
    mut new: LevelMut<'_>,
    seen: Option<&dyn Objects>,
    read: &mut impl ReadItem,
) -> Result<(), ReadError> {
    copy_slots(base, &mut new, 1..=base.handles());
    adopt(&mut new);
    seen.into_iter().for_each(|objects| hide(&mut new, objects));
    read.read(&mut Recipient { live: new, base: Some(base), seen })
}

impl Target for Recipient<'_> {
    type Element<'e>
        = Recipient<'e>
    where
        Self: 'e;

    fn leaf(
        &mut self,
        handle: u32,
        _: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        self.live.read_leaf(handle, reader, references)
    }

    fn resize(&mut self, handle: u32, len: usize) -> usize {
        self.restore_array(handle);
        let old_len = self.live.resize(handle, len).unwrap_or(0);
        for index in old_len..len {
            if let Some(mut element) = self.live.element(handle, index) {
                adopt(&mut element);
            }
        }
        old_len
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<Recipient<'_>> {
        let base = match self.base_slot(handle) {
            Some(Slot::Array(array)) => array.element(index),
            _ => None,
        };
        Some(Recipient { live: self.live.element(handle, index)?, base, seen: self.seen })
    }

    fn own(&mut self, handle: u32) {
        if let Some(mut items) = self.live.keyed(handle) {
            items.own();
        }
    }

    fn item_whole(&mut self, handle: u32, id: ItemId, read: &mut impl ReadItem) -> Result<bool, ReadError> {
        let Some(mut items) = self.live.keyed(handle) else { return read.read(&mut Skip).map(|()| true) };
        if items.as_items().item(id).is_none() {
            let mut item = items.received_whole(id);
            adopt(&mut item);
            return read_into(&mut item, self.seen, read).map(|()| true);
        }
        items.received_sparing(id);
        let all = HandleSet::up_to(items.as_items().handles());
        let seen = self.seen;
        let changed = items.change(id, &all, |item| read_into(item, seen, read));
        changed.unwrap_or_else(|| read.read(&mut Skip)).map(|()| false)
    }

    fn item_change(
        &mut self,
        handle: u32,
        id: ItemId,
        handles: &HandleSet,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let (sent, seen) = (self.base_items(handle), self.seen);
        let base = sent.and_then(|items| items.item(id));
        let Some(mut items) = self.live.keyed(handle) else { return read.read(&mut Skip) };
        if let (None, Some(base)) = (items.as_items().item(id), base) {
            restore(base, items.received_whole(id), seen, read)?;
            if let Some(label) = sent.and_then(|items| items.label(id)) {
                items.received_label(id, label.clone());
            }
            return Ok(());
        }
        let change =
            |item: &mut LevelMut<'_>| read.read(&mut Recipient { live: item.reborrow(), base, seen });
        items.change(id, handles, change).unwrap_or_else(|| read.read(&mut Skip))
    }

    fn place(&mut self, handle: u32, id: ItemId, label: Label) {
        if let Some(mut items) = self.live.keyed(handle) {
            items.received_label(id, label);
        }
    }

    fn depart(&mut self, handle: u32, departure: Departure) {
        let Some(mut items) = self.live.keyed(handle) else { return };
        match departure {
            Departure::One(id) => items.received_removal(id),
            Departure::All => items.received_sweep(),
            Departure::Spared(id) => items.received_sparing(id),
        }
    }

    fn departing(&mut self, handle: u32, each: &mut dyn FnMut(ItemId)) {
        if let Some(items) = self.live.keyed(handle) {
            items.departing(each);
        }
    }

    fn entries(&mut self, _: u32) -> usize {
        // Checked against what the server sent; the user may have more.
        0
    }

    fn keys(&mut self, handle: u32) -> Vec<KeyBits> {
        let mut keys = self.live.map(handle).map(|entries| entries.as_entries().keys()).unwrap_or_default();
        if self.seen.is_some() {
            keys.extend(self.base_entries(handle).into_iter().flat_map(|entries| entries.keys()));
        }
        keys
    }

    fn entry_whole(
        &mut self,
        handle: u32,
        key: &KeyBits,
        with_callbacks: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let seen = self.seen;
        let Some(mut entries) = self.live.map(handle) else { return read.read(&mut Skip) };
        if seen.is_some_and(|objects| !entries.as_entries().is_mapped(key, objects)) {
            return read.read(&mut Skip);
        }
        if entries.as_entries().value(key).is_some() {
            let all = HandleSet::up_to(entries.as_entries().handles());
            let changed = entries.change(key, &all, with_callbacks, |value| read_into(value, seen, read));
            return changed.unwrap_or_else(|| read.read(&mut Skip));
        }
        let Some(mut value) = entries.insert(key) else { return read.read(&mut Skip) };
        adopt(&mut value);
        read_into(&mut value, seen, read)?;
        if with_callbacks {
            entries.added(key);
        }
        Ok(())
    }

    fn entry_change(
        &mut self,
        handle: u32,
        key: &KeyBits,
        handles: &HandleSet,
        with_callbacks: bool,
        read: &mut impl ReadItem,
    ) -> Result<(), ReadError> {
        let base = self.base_entries(handle).and_then(|entries| entries.value(key));
        let seen = self.seen;
        let Some(mut entries) = self.live.map(handle) else { return read.read(&mut Skip) };
        if seen.is_some_and(|objects| !entries.as_entries().is_mapped(key, objects)) {
            return read.read(&mut Skip);
        }
        if let (None, Some(base)) = (entries.as_entries().value(key), base) {
            let Some(value) = entries.insert(key) else { return read.read(&mut Skip) };
            restore(base, value, seen, read)?;
            if with_callbacks {
                entries.added(key);
            }
            return Ok(());
        }
        let change =
            |value: &mut LevelMut<'_>| read.read(&mut Recipient { live: value.reborrow(), base, seen });
        entries.change(key, handles, with_callbacks, change).unwrap_or_else(|| read.read(&mut Skip))
    }

    fn entry_remove(&mut self, handle: u32, key: &KeyBits, with_callbacks: bool) {
        if let Some(mut entries) = self.live.map(handle) {
            entries.remove(key, with_callbacks);
        }
    }
}
