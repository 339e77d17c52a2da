//! Encoding: the values of a changelist, read from the shadow, in the order of their handles.
//!
//! Invariant: the bits depend on the shadow and the list alone, so one encoding serves every connection that needs it (S90).

use std::ops::Range;

use crate::bits::{BitWriter, WriteError, count, width_bits};
use crate::changes::changelist::{ArrayChanges, Changelist};
use crate::changes::entries::{EntryChange, EntryChanges};
use crate::changes::items::{ItemChange, ItemChanges, Sweep};
use crate::ids::handle_list::write_handles;
use crate::ids::item_id::ItemId;
use crate::ids::item_list::{Departures, IdWriter};
use crate::ids::key::KeyBits;
use crate::ids::label::Label;
use crate::object::level::{Array, KeyedItems, Level, MapEntries, Slot};

/// Writes the values that `changes` lists, without the handles of the object's own level.
pub(crate) fn write_values(
    shadow: Level<'_>,
    changes: &Changelist,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    for handle in changes.handles.iter() {
        match shadow.slot(handle) {
            Some(Slot::Leaf(leaf)) => leaf.write_nearest(writer)?,
            Some(Slot::Array(array)) => write_array(array, changes.nested.array(handle), writer)?,
            Some(Slot::Keyed(items)) => write_items(items, changes.nested.items(handle), writer)?,
            Some(Slot::Map(entries)) => write_entries(entries, changes.nested.entries(handle), writer)?,
            None => debug_assert!(false, "a list holds only handles of its object"),
        }
    }
    Ok(())
}

/// Writes an array: its count, where its new elements begin, which old elements changed, and the values of both.
// Apart, like what else has elements: so the way of leaves, which most properties are, stays short.
#[inline(never)]
fn write_array(
    array: Array<'_>,
    changes: Option<&ArrayChanges>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let len = array.len() as u32;
    count::write_count(array.len(), array.max_len(), writer)?;
    if len == 0 {
        return Ok(());
    }
    let none = ArrayChanges::count_only();
    let changes = changes.unwrap_or(&none);
    let tail = changes.tail.min(len);
    writer.write_bits((tail < len).into(), 1);
    if tail < len {
        writer.write_below(tail.into(), len.into());
    }
    write_edits(array, tail, changes, writer)?;
    write_new(array, tail as usize, writer)
}

/// Writes which handles of the elements before `end` changed, as ranges or as a mask, and their values.
fn write_edits(
    array: Array<'_>,
    end: u32,
    changes: &ArrayChanges,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let limit = end * array.handles();
    if limit == 0 {
        return Ok(());
    }
    let ranges =
        || changes.edits.as_slice().iter().map(|r| r.start..r.end.min(limit)).filter(|r| r.start < r.end);
    if ranges().next().is_none() {
        writer.write_bits(0, 1);
        return Ok(());
    }
    writer.write_bits(1, 1);
    let ranges_bits: u64 = ranges().map(|r| range_bits(r.end - r.start, limit)).sum();
    let as_ranges = ranges_bits < u64::from(limit);
    writer.write_bits(as_ranges.into(), 1);
    if as_ranges {
        write_ranges(ranges(), limit, writer);
    } else {
        write_mask(ranges(), limit, writer);
    }
    for edit in ranges().flatten() {
        let (index, handle) = (edit / array.handles(), edit % array.handles() + 1);
        match array.element(index as usize).and_then(|element| element.slot(handle)) {
            Some(Slot::Leaf(leaf)) => leaf.write_nearest(writer)?,
            Some(Slot::Array(nested)) => write_array(nested, changes.nested.array(edit), writer)?,
            Some(Slot::Keyed(items)) => write_items(items, changes.nested.items(edit), writer)?,
            Some(Slot::Map(entries)) => write_entries(entries, changes.nested.entries(edit), writer)?,
            None => debug_assert!(false, "an element has the handles of its type"),
        }
    }
    Ok(())
}

/// Writes stretches: where each begins, counted from the first place where it can, how long it is, and whether another follows where one
/// can.
fn write_ranges(ranges: impl Iterator<Item = Range<u32>>, limit: u32, writer: &mut BitWriter) {
    let mut next = 0;
    for range in ranges {
        if next > 0 {
            writer.write_flag(true);
        }
        writer.write_below((range.start - next).into(), (limit - next).into());
        writer.write_exp_golomb(u64::from(range.end - range.start - 1), 0);
        // Stretches do not touch.
        next = range.end + 1;
    }
    if next < limit {
        writer.write_flag(false);
    }
}

/// Writes a bit for each handle below `limit`.
fn write_mask(ranges: impl Iterator<Item = Range<u32>>, limit: u32, writer: &mut BitWriter) {
    let mut next = 0;
    for range in ranges {
        write_run(false, range.start - next, writer);
        write_run(true, range.end - range.start, writer);
        next = range.end;
    }
    write_run(false, limit - next, writer);
}

fn write_run(bit: bool, count: u32, writer: &mut BitWriter) {
    let word = if bit { u64::MAX } else { 0 };
    let mut left = count;
    while left > 0 {
        let bits = left.min(64);
        writer.write_bits(word >> (64 - bits), bits);
        left -= bits;
    }
}

/// What a range takes at most.
fn range_bits(len: u32, limit: u32) -> u64 {
    u64::from(1 + width_bits(limit.into()) + 2 * len.ilog2() + 1)
}

/// Writes all of the elements from `first` on, without handles.
fn write_new(array: Array<'_>, first: usize, writer: &mut BitWriter) -> Result<(), WriteError> {
    for element in (first..array.len()).filter_map(|index| array.element(index)) {
        let start = writer.bit_len();
        write_whole(element, writer)?;
        count::pad_element(start, array.least_bits(), writer);
    }
    Ok(())
}

/// Writes all of a level, without handles.
fn write_whole(level: Level<'_>, writer: &mut BitWriter) -> Result<(), WriteError> {
    for slot in level.slots() {
        match slot {
            Slot::Leaf(leaf) => leaf.write_nearest(writer)?,
            Slot::Array(array) => {
                count::write_count(array.len(), array.max_len(), writer)?;
                write_new(array, 0, writer)?;
            }
            Slot::Keyed(items) => {
                let ids = items.ids();
                if ids.len() > items.max_len() as usize {
                    return Err(WriteError::TooLong { len: ids.len(), max: items.max_len() as usize });
                }
                let mut list = IdWriter::of(ids.iter().copied());
                let mut labels = Labels::of(items);
                for id in ids {
                    list.id(id, writer);
                    labels.write(id, writer);
                    write_new_item(items, id, writer)?;
                }
                list.end(writer);
            }
            Slot::Map(entries) => {
                let keys = entries.keys();
                count::write_count(keys.len(), entries.max_len(), writer)?;
                for key in &keys {
                    let start = writer.bit_len();
                    writer.append(key.as_slice());
                    if let Some(value) = entries.value(key) {
                        write_new_value(value, start, writer)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Writes labels of one update, each told by the one before.
struct Labels<'a> {
    items: KeyedItems<'a>,
    previous: &'a Label,
}

impl<'a> Labels<'a> {
    fn of(items: KeyedItems<'a>) -> Self {
        Self { items, previous: &Label::START }
    }

    /// Writes the label of an item, if items have labels.
    fn write(&mut self, id: ItemId, writer: &mut BitWriter) {
        if let Some(label) = self.items.label(id) {
            label.write(self.previous, writer);
            self.previous = label;
        }
    }

    /// Writes whether an item has moved, and if so its label.
    fn write_if(&mut self, moved: bool, id: ItemId, writer: &mut BitWriter) {
        if self.items.is_ordered() {
            writer.write_flag(moved);
            if moved {
                self.write(id, writer);
            }
        }
    }
}

fn write_new_item(items: KeyedItems<'_>, id: ItemId, writer: &mut BitWriter) -> Result<(), WriteError> {
    let start = writer.bit_len();
    if let Some(item) = items.item(id) {
        write_whole(item, writer)?;
    }
    count::pad_element(start, count::LEAST_BITS, writer);
    Ok(())
}

/// Writes what changed of a collection: what goes, and by id what comes and what changes (R5).
#[inline(never)]
fn write_items(
    items: KeyedItems<'_>,
    changes: Option<&ItemChanges>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let none = ItemChanges::default();
    let changes = changes.unwrap_or(&none);
    let mut all = Vec::new();
    let mut born = Vec::new();
    if changes.sweep == Sweep::Dead || changes.born.count() > items.len() {
        all = items.ids();
        born.extend(all.iter().copied().filter(|id| changes.born.contains(id.number())));
    } else {
        born.extend(changes.born.iter().filter_map(ItemId::new).filter(|&id| items.item(id).is_some()));
    }
    write_departures(items, changes, &all, &born, writer);
    let count = items.handles();
    let mut list = IdWriter::of(ascending(&born, changes).map(|(id, _)| id));
    let (mut labels, mut previous) = (Labels::of(items), None);
    for (id, change) in ascending(&born, changes) {
        let Some(change) = change else {
            list.id(id, writer);
            writer.write_flag(true);
            labels.write(id, writer);
            write_new_item(items, id, writer)?;
            continue;
        };
        let Some(item) = items.item(id) else { continue };
        list.id(id, writer);
        writer.write_flag(false);
        labels.write_if(change.moved, id, writer);
        let handles = change.list.handles();
        if let Some(previous) = previous {
            writer.write_flag(previous == handles);
        }
        if previous != Some(handles) {
            write_handles(handles, count, items.is_ordered(), writer);
        }
        previous = Some(handles);
        write_values(item, &change.list, writer)?;
    }
    list.end(writer);
    Ok(())
}

/// The items that came or changed in the order of their ids.
fn ascending<'a>(
    born: &'a [ItemId],
    changes: &'a ItemChanges,
) -> impl Iterator<Item = (ItemId, Option<&'a ItemChange>)> {
    let (mut born, mut changed) = (born.iter().copied().peekable(), changes.changed.iter().peekable());
    std::iter::from_fn(move || match (born.peek(), changed.peek()) {
        (Some(id), Some(change)) if change.id < *id => changed.next().map(|change| (change.id, Some(change))),
        (Some(_), _) => born.next().map(|id| (id, None)),
        (None, _) => changed.next().map(|change| (change.id, Some(change))),
    })
}

/// Writes which of the receiver's items go: those listed, all but those listed, or all but those that come here.
fn write_departures(
    items: KeyedItems<'_>,
    changes: &ItemChanges,
    all: &[ItemId],
    born: &[ItemId],
    writer: &mut BitWriter,
) {
    let only_born = match changes.sweep {
        Sweep::All => true,
        Sweep::Dead => all.len() == born.len(),
        Sweep::None => items.len() == born.len() && !changes.removed.is_empty(),
    };
    if only_born {
        writer.write_bits(Departures::AllButNew as u64, 2);
    } else if changes.sweep == Sweep::Dead {
        writer.write_bits(Departures::AllButListed as u64, 2);
        write_ids(all.iter().copied().filter(|id| born.binary_search(id).is_err()), writer);
    } else if changes.removed.is_empty() {
        writer.write_bits(Departures::None as u64, 2);
    } else {
        writer.write_bits(Departures::Listed as u64, 2);
        write_ids(changes.removed.iter().filter_map(ItemId::new), writer);
    }
}

fn write_ids(ids: impl Iterator<Item = ItemId> + Clone, writer: &mut BitWriter) {
    let mut list = IdWriter::of(ids.clone());
    ids.for_each(|id| list.id(id, writer));
    list.end(writer);
}

/// Writes all of a value, behind its key, which began at bit `start`.
fn write_new_value(value: Level<'_>, start: usize, writer: &mut BitWriter) -> Result<(), WriteError> {
    write_whole(value, writer)?;
    count::pad_element(start, count::LEAST_BITS, writer);
    Ok(())
}

/// Writes what changed of a map: what goes, and by key what comes and what changes (R5).
#[inline(never)]
fn write_entries(
    entries: MapEntries<'_>,
    changes: Option<&EntryChanges>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let none = EntryChanges::default();
    let changes = changes.unwrap_or(&none);
    let all = if changes.whole { entries.keys() } else { Vec::new() };
    let there = |key, change| entries.value(key).map(|value| Listed { key, change, value });
    let listed: Vec<Listed<'_>> = if changes.whole {
        all.iter().filter_map(|key| there(key, &EntryChange::Born)).collect()
    } else {
        changes.entries.iter().filter_map(|(key, change)| there(key, change)).collect()
    };
    write_entry_departures(entries, changes, &listed, writer);
    let mut previous = None;
    for Listed { key, change, value } in listed {
        writer.write_flag(true);
        let start = writer.bit_len();
        writer.append(key.as_slice());
        let EntryChange::Changed { list, .. } = change else {
            if entries.handles() > 0 {
                writer.write_flag(true);
            }
            write_new_value(value, start, writer)?;
            continue;
        };
        writer.write_flag(false);
        let handles = list.handles();
        if let Some(previous) = previous {
            writer.write_flag(previous == handles);
        }
        if previous != Some(handles) {
            write_handles(handles, entries.handles(), false, writer);
        }
        previous = Some(handles);
        write_values(value, list, writer)?;
    }
    writer.write_flag(false);
    Ok(())
}

/// What is to be said of an entry that is there.
struct Listed<'a> {
    key: &'a KeyBits,
    change: &'a EntryChange,
    value: Level<'a>,
}

/// Writes which of the receiver's entries go: those listed, all but those listed, or all but those that come here.
fn write_entry_departures(
    entries: MapEntries<'_>,
    changes: &EntryChanges,
    listed: &[Listed<'_>],
    writer: &mut BitWriter,
) {
    let all_here = listed.len() == entries.len();
    let only_listed = match changes.sweep {
        Sweep::All => true,
        Sweep::Dead => all_here,
        Sweep::None => all_here && !changes.removed.is_empty(),
    };
    if only_listed {
        writer.write_bits(Departures::AllButNew as u64, 2);
    } else if changes.sweep == Sweep::Dead {
        writer.write_bits(Departures::AllButListed as u64, 2);
        let is_here = |key: &KeyBits| listed.binary_search_by_key(&key, |entry| entry.key).is_ok();
        write_keys(entries.keys().iter().filter(|key| !is_here(key)), writer);
    } else {
        let mut gone = changes.removed.iter().filter(|key| entries.value(key).is_none()).peekable();
        if gone.peek().is_none() {
            writer.write_bits(Departures::None as u64, 2);
        } else {
            writer.write_bits(Departures::Listed as u64, 2);
            write_keys(gone, writer);
        }
    }
}

fn write_keys<'k>(keys: impl Iterator<Item = &'k KeyBits>, writer: &mut BitWriter) {
    for key in keys {
        writer.write_flag(true);
        writer.append(key.as_slice());
    }
    writer.write_flag(false);
}
