//! Encoding: writes the values of the properties in a changelist, from the shadow, in the order of their
//! handles.
//!
//! *Invariant:* the bits depend only on the shadow and the changelist, so all connections with the same
//! changes share one encoding (S90).

use std::borrow::Borrow;
use std::ops::Range;

use crate::bits::{BitWriter, WriteError, count, width_bits};
use crate::changes::changelist::{ArrayChanges, Changelist, ElementChange, ElementChanges, NestedChanges};
use crate::changes::element_changes::Sweep;
use crate::ids::handle_list::write_handles;
use crate::ids::identity::{IdSet, Identity, WriteIds};
use crate::ids::item_list::Removals;
use crate::ids::label::Label;
use crate::object::level::{Array, Elements, Level, Slot};
use crate::object::rows::Rows;
use crate::object::write_recipe::WriteRecipe;

/// Writes the values of the properties in `changes`, without the handles of the object itself.
pub(crate) fn write_values(
    shadow: Level<'_>,
    changes: &Changelist,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    for (first, count) in changes.handles.stretches() {
        let (mut next, end) = (first, first + count);
        loop {
            next = shadow.write_joined(next, end, writer);
            if next == end {
                break;
            }
            write_by_command(shadow, next, &changes.nested, writer)?;
            next += 1;
        }
    }
    Ok(())
}

/// Does the same as [`write_values`] for the object at index `row`, with the recipe of its changed
/// properties.
///
/// # Panics
/// Panics if there is no such row, or if the recipe was made for objects of another class.
#[inline]
pub(crate) fn write_by_recipe(
    rows: Rows<'_>,
    row: u32,
    recipe: &WriteRecipe,
    changes: &Changelist,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    rows.write(row, recipe, writer, |object, handle, writer| {
        write_by_command(object, handle, &changes.nested, writer)
    })
}

/// Writes the value at a handle with its command in the program.
// This function is not inlined, so that the code for plain memory stays short.
#[inline(never)]
fn write_by_command(
    object: Level<'_>,
    handle: u32,
    nested: &NestedChanges,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    match object.slot(handle) {
        Some(Slot::Leaf(leaf)) => leaf.write_rendition(handle, writer),
        slot => write_slot(slot, nested, handle, writer),
    }
}

/// Writes the value in a slot. `nested` contains the changes inside the property at `handle`.
// This function is always inlined. Most properties are leaves, and a call for each leaf would take a fifth of
// the time of encoding.
#[inline(always)]
fn write_slot(
    slot: Option<Slot<'_>>,
    nested: &NestedChanges,
    handle: u32,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    match slot {
        Some(Slot::Leaf(leaf)) => leaf.write_nearest(writer),
        Some(Slot::Array(array)) => write_array(array, nested.array(handle), writer),
        Some(Slot::Items(items)) => write_elements(items, nested.items(handle), writer),
        Some(Slot::Entries(entries)) => write_elements(entries, nested.entries(handle), writer),
        None => {
            debug_assert!(false, "a list holds only handles of its object");
            Ok(())
        }
    }
}

/// Writes the changes of an array or enum: its length or the number of its variant, the index of its first
/// new element, the handles of changed values in older elements, and then these values and the new elements.
// This function is not inlined, so that the code for leaves stays short. Most properties are leaves.
#[inline(never)]
fn write_array(
    array: Array<'_>,
    changes: Option<&ArrayChanges>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let len = array.len() as u32;
    array.write_count(writer)?;
    if !array.has_values() {
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

/// Writes the changed handles of the elements before `end`, as ranges or as a mask, and their values.
fn write_edits(
    array: Array<'_>,
    end: u32,
    changes: &ArrayChanges,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let steps = array.steps_before(end);
    let limit = steps.end - steps.start;
    if limit == 0 {
        return Ok(());
    }
    let within = |step: u32| step.saturating_sub(steps.start).min(limit);
    let ranges =
        || changes.edits.ranges().map(|r| within(r.start)..within(r.end)).filter(|r| r.start < r.end);
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
    for step in ranges().flatten().map(|edit| steps.start + edit) {
        write_slot(array.slot(step), &changes.nested, step, writer)?;
    }
    Ok(())
}

/// Writes stretches of handles (ranges without a gap). For each stretch of handles, writes its start, counted
/// from the first handle at which it can begin, and its length. If another stretch of handles can follow,
/// also writes whether one follows.
fn write_ranges(ranges: impl Iterator<Item = Range<u32>>, limit: u32, writer: &mut BitWriter) {
    let mut next = 0;
    for range in ranges {
        if next > 0 {
            writer.write_flag(true);
        }
        writer.write_below((range.start - next).into(), (limit - next).into());
        writer.write_exp_golomb(u64::from(range.end - range.start - 1), 0);
        // Two stretches have at least one handle between them.
        next = range.end + 1;
    }
    if next < limit {
        writer.write_flag(false);
    }
}

/// Writes a bit for each handle below `limit`, which is set if the handle is in one of the ranges.
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

/// Returns the greatest number of bits that a range takes.
fn range_bits(len: u32, limit: u32) -> u64 {
    u64::from(1 + width_bits(limit.into()) + 2 * len.ilog2() + 1)
}

/// Writes the elements from index `first` on whole, without handles.
fn write_new(array: Array<'_>, first: usize, writer: &mut BitWriter) -> Result<(), WriteError> {
    let elements = (first..array.len()).filter_map(|index| array.element(index));
    count::write_elements(elements, array.least_bits(), writer, write_whole)
}

/// Writes all values of an object or element, without handles.
fn write_whole(level: Level<'_>, writer: &mut BitWriter) -> Result<(), WriteError> {
    let (mut next, end) = (1, level.handles() + 1);
    loop {
        next = level.write_joined(next, end, writer);
        match level.slot(next) {
            None => break,
            Some(Slot::Leaf(leaf)) => leaf.write_nearest(writer)?,
            Some(Slot::Array(array)) => {
                array.write_count(writer)?;
                write_new(array, 0, writer)?;
            }
            Some(Slot::Items(items)) => items.write_all(writer, write_whole)?,
            Some(Slot::Entries(entries)) => entries.write_all(writer, write_whole)?,
        }
        next += 1;
    }
    Ok(())
}

/// Writes the labels of one update, each relative to the previous label.
struct Labels<'a, I: Identity> {
    elements: Elements<'a, I>,
    previous: &'a Label,
}

impl<'a, I: Identity> Labels<'a, I> {
    fn of(elements: Elements<'a, I>) -> Self {
        Self { elements, previous: &Label::START }
    }

    /// Writes the label of an element, if elements have labels.
    fn write(&mut self, id: &I, writer: &mut BitWriter) {
        if let Some(label) = self.elements.collection.label(id) {
            label.write(self.previous, writer);
            self.previous = label;
        }
    }

    /// Writes whether the label of an element changed, and if so, the new label.
    fn write_if(&mut self, moved: bool, id: &I, writer: &mut BitWriter) {
        if self.elements.is_ordered() {
            writer.write_flag(moved);
            if moved {
                self.write(id, writer);
            }
        }
    }
}

/// Writes the changes of a collection: which elements are removed, and then the new and the changed elements,
/// each with its id or key (R5).
#[inline(never)]
fn write_elements<I: Identity>(
    elements: Elements<'_, I>,
    changes: Option<&ElementChanges<I>>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let none = ElementChanges::default();
    let changes = changes.unwrap_or(&none);
    let there = |id: I| elements.element(&id).map(|element| (id, element));
    let added: Vec<(I, Level<'_>)> =
        if changes.added.is_all() || changes.added.count() > elements.collection.len() {
            let ids = elements.collection.ids().into_iter();
            ids.filter(|id| changes.added.contains(id)).filter_map(there).collect()
        } else {
            changes.added.iter().filter_map(there).collect()
        };
    write_removals(elements, changes, &added, writer);
    let mut list = I::list(ascending(&added, &changes.changed).map(|listed| listed.id()));
    let (mut labels, mut previous) = (Labels::of(elements), None);
    for listed in ascending(&added, &changes.changed) {
        let (id, change) = match listed {
            Listed::Changed(change) => (&change.id, change),
            Listed::Added(id, element) => {
                let start = list.id(id, writer);
                id.name_assets(elements.form(), writer);
                // The elements of a set have no properties that could change.
                if !I::IS_KEY || elements.handles() > 0 {
                    writer.write_flag(true);
                }
                labels.write(id, writer);
                let start = start.unwrap_or(writer.bit_len());
                count::write_element(start, count::LEAST_BITS, writer, |writer| {
                    write_whole(element, writer)
                })?;
                continue;
            }
        };
        let Some(element) = elements.element(id) else { continue };
        list.id(id, writer);
        writer.write_flag(false);
        labels.write_if(change.moved, id, writer);
        let handles = change.list.handles();
        if let Some(previous) = previous {
            writer.write_flag(previous == handles);
        }
        if previous != Some(handles) {
            write_handles(handles, elements.handles(), elements.is_ordered(), writer);
        }
        previous = Some(handles);
        write_values(element, &change.list, writer)?;
    }
    list.end(writer);
    Ok(())
}

/// A new or changed element in the list that an update contains.
enum Listed<'a, I> {
    Added(&'a I, Level<'a>),
    Changed(&'a ElementChange<I>),
}

impl<'a, I> Listed<'a, I> {
    fn id(&self) -> &'a I {
        match self {
            Self::Added(id, _) => id,
            Self::Changed(change) => &change.id,
        }
    }
}

/// Returns the new and the changed elements in ascending order of their ids or keys.
fn ascending<'a, I: Ord>(
    added: &'a [(I, Level<'a>)],
    changed: &'a [ElementChange<I>],
) -> impl Iterator<Item = Listed<'a, I>> {
    let (mut added, mut changed) = (added.iter().peekable(), changed.iter().peekable());
    std::iter::from_fn(move || {
        let is_change = match (added.peek(), changed.peek()) {
            (Some((id, _)), Some(change)) => change.id < *id,
            (added, _) => added.is_none(),
        };
        if is_change {
            changed.next().map(Listed::Changed)
        } else {
            added.next().map(|(id, element)| Listed::Added(id, *element))
        }
    })
}

/// Writes which elements the receiver removes: the listed elements, all elements except the listed ones, or
/// all elements except the new ones.
fn write_removals<I: Identity>(
    elements: Elements<'_, I>,
    changes: &ElementChanges<I>,
    added: &[(I, Level<'_>)],
    writer: &mut BitWriter,
) {
    // If the update removes all elements except some, the receiver keeps each map entry that is in the
    // update. But it keeps an item of a fast array only if the update lists the item here or sends it whole.
    let kept = changes.changed.iter().filter(|change| I::IS_KEY && elements.has(&change.id));
    let all_here = elements.collection.len() == added.len() + kept.count();
    let only_here = match changes.sweep {
        Sweep::All => true,
        Sweep::Dead => all_here,
        Sweep::None => all_here && !changes.removed.is_empty(),
    };
    let gone = changes.removed.iter().filter(|id| !I::IS_KEY || !elements.has(id));
    if only_here {
        writer.write_bits(Removals::AllButNew as u64, 2);
    } else if changes.sweep == Sweep::Dead {
        writer.write_bits(Removals::AllButListed as u64, 2);
        let is_added = |id: &I| added.binary_search_by(|(added, _)| added.cmp(id)).is_ok();
        let mut others = elements.collection.ids();
        let is_kept = |id: &I| I::IS_KEY && changes.change_of(id).is_some();
        others.retain(|id| !is_added(id) && !is_kept(id));
        write_ids::<I, _>(others.iter(), writer);
    } else if gone.clone().next().is_none() {
        writer.write_bits(Removals::None as u64, 2);
    } else {
        writer.write_bits(Removals::Listed as u64, 2);
        write_ids::<I, _>(gone, writer);
    }
}

fn write_ids<I: Identity, B: Borrow<I>>(ids: impl Iterator<Item = B> + Clone, writer: &mut BitWriter) {
    let mut list = I::list(ids.clone());
    ids.for_each(|id| _ = list.id(id.borrow(), writer));
    list.end(writer);
}
