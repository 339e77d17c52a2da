//! Segments: runs of objects inside a packet, ascending by slot. The unit that connections share.
//!
//! A packet's body is segments until a zero bit. A segment is a one bit, its kind, the order of its gaps, and its items, each but the
//! first behind a one bit, and a zero bit. An item begins with the distance of its slot from the slot after the one before. An item of a
//! segment of openings is a run: objects in slots one after another that have all in common but their values.
//!
//! Invariant: a segment's bits depend on nothing outside it, so it may be copied into any packet.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::num::NonZeroU32;
use std::ops::Range;

use repl_core::wire::write_handles;
use repl_core::{BitReader, BitSlice, BitWriter, Changelist, HandleSet, ReadError};

use super::role::Proxy;

/// What the items of a segment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// Changed properties of objects that the client has.
    Update = 0,
    /// Objects that come into being.
    Open = 1,
    /// Objects that leave.
    Close = 2,
    /// Parts of an item that no packet can hold.
    Fragment = 3,
}

/// What each object in a run of openings takes at least, but for the first: no memory comes for free.
pub(crate) const LEAST_RUN_BITS: usize = 8;

/// Bits of a segment but for its items: one before, kind, order, one after.
pub(crate) const SEGMENT_BITS: usize = 1 + 2 + 4 + 1;

/// The most that the head of an item takes, but for its handles: a bit, the gap, the bit of the repeated list.
pub(crate) const ITEM_BITS: usize = 1 + 64 + 1;

/// The most that it takes to say what an object is to a client.
pub(crate) const PROXY_BITS: usize = 4;

/// A run of objects as several connections need it, with what it carries.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    bytes: Vec<u8>,
    bit_len: usize,
    pub(crate) items: Vec<SegmentItem>,
    /// Whether it goes on with the object of the segment before, and must not share a packet with that.
    pub(crate) continues: bool,
    /// Whether any item has new elements in an array, so that each connection must watch over it (R2).
    pub(crate) has_births: bool,
    /// The slots by words of 64.
    pub(crate) masks: Vec<(usize, u64)>,
    /// About how many bytes the segment holds; until it is complete, those of its items' lists.
    held_bytes: usize,
}

/// What a segment carries of one object.
#[derive(Clone, Debug)]
pub(crate) struct SegmentItem {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) list: Changelist,
    /// Where its values are among the bits.
    pub(crate) values: Range<usize>,
}

impl Segment {
    pub(crate) fn clear(&mut self) {
        self.bit_len = 0;
        self.continues = false;
        self.has_births = false;
        self.held_bytes = 0;
        self.items.clear();
        self.masks.clear();
    }

    /// Sets the bits.
    pub(crate) fn complete(&mut self, writer: &mut BitWriter) {
        self.bit_len = writer.bit_len();
        self.bytes.clear();
        self.bytes.extend_from_slice(writer.finish());
        let items = self.items.capacity().saturating_mul(size_of::<SegmentItem>());
        let masks = self.masks.capacity().saturating_mul(size_of::<(usize, u64)>());
        let own = [size_of::<Self>(), self.bytes.capacity(), items, masks];
        self.held_bytes = own.into_iter().fold(self.held_bytes, usize::saturating_add);
    }

    /// The bits, from the one that begins the segment to the one that ends it.
    pub(crate) fn bits(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bit_len).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, item: SegmentItem) {
        let (word, bit) = (item.slot as usize / 64, 1 << (item.slot % 64));
        match self.masks.last_mut() {
            Some((last, mask)) if *last == word => *mask |= bit,
            _ => self.masks.push((word, bit)),
        }
        self.has_births |= item.list.has_births();
        self.held_bytes = self.held_bytes.saturating_add(item.list.heap_bytes());
        self.items.push(item);
    }

    /// About how many bytes the segment holds, which is complete. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// What it carries of the object in `slot`.
    pub(crate) fn item(&self, slot: u32) -> Option<&SegmentItem> {
        let at = self.items.binary_search_by_key(&slot, |item| item.slot).ok()?;
        self.items.get(at)
    }
}

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) generation: NonZeroU32,
    /// The number of the class on the wire.
    pub(crate) class: u32,
    pub(crate) archetype: u32,
    pub(crate) proxy: Proxy,
}

/// What objects that open one after another have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth<'a> {
    pub(crate) origin: Origin,
    /// The properties whose values follow.
    pub(crate) handles: &'a HandleSet,
    /// How many handles the class has.
    pub(crate) count: u32,
    /// How many classes there are.
    pub(crate) classes: u32,
}

impl Birth<'_> {
    /// The most that `objects` openings in a row take beside their values.
    pub(crate) fn bits(&self, objects: usize) -> usize {
        let Origin { generation, class: _, archetype, proxy: _ } = self.origin;
        [generation.get(), archetype, objects as u32]
            .map(exp_golomb_bits)
            .into_iter()
            .fold(ITEM_BITS.saturating_add(35 + PROXY_BITS), usize::saturating_add)
            .saturating_add(handles_bits(self.count))
    }
}

/// The most that a number takes in an Exp-Golomb code of a small order.
fn exp_golomb_bits(number: u32) -> usize {
    ((number | 4).ilog2() as usize).saturating_mul(2).saturating_add(3)
}

/// Where the writing of a segment stands.
#[derive(Debug, Default)]
pub(crate) struct SegmentWriter {
    kind: Option<SegmentKind>,
    gap_order: u32,
    next_slot: u32,
    items: u32,
    previous: PreviousLists,
    /// Where the objects of the last run came from.
    origin: Option<Origin>,
}

/// The list last written for each class, forgotten at the end of the segment.
#[derive(Debug, Default)]
pub(crate) struct PreviousLists {
    epoch: u64,
    lists: Vec<(u64, HandleSet)>,
}

impl PreviousLists {
    pub(crate) fn clear(&mut self) {
        self.epoch = self.epoch.saturating_add(1);
    }

    pub(crate) fn of(&self, class: usize) -> Option<&HandleSet> {
        self.lists.get(class).filter(|(epoch, _)| *epoch == self.epoch).map(|(_, list)| list)
    }

    pub(crate) fn set(&mut self, class: usize, list: &HandleSet) {
        if self.lists.len() <= class {
            self.lists.resize_with(class.saturating_add(1), || (0, HandleSet::new()));
        }
        if let Some(entry) = self.lists.get_mut(class) {
            entry.0 = self.epoch;
            entry.1.clone_from(list);
        }
    }
}

impl SegmentWriter {
    /// Begins a segment, ending the one before.
    pub(crate) fn begin(&mut self, kind: SegmentKind, gap_order: u32, writer: &mut BitWriter) {
        self.end(writer);
        writer.write_bits(1, 1);
        writer.write_bits(kind as u64, 2);
        writer.write_bits(gap_order.into(), 4);
        self.previous.clear();
        self.origin = None;
        (self.kind, self.gap_order, self.next_slot, self.items) = (Some(kind), gap_order, 0, 0);
    }

    /// Forgets a segment that was begun and came to nothing.
    pub(crate) fn reset(&mut self) {
        self.kind = None;
    }

    /// Ends the segment, if one is being written.
    pub(crate) fn end(&mut self, writer: &mut BitWriter) {
        if self.kind.take().is_some() {
            writer.write_bits(0, 1);
        }
    }

    /// Whether the object in `slot` may come next in this segment.
    pub(crate) fn takes(&self, kind: SegmentKind, slot: u32) -> bool {
        self.kind == Some(kind) && slot >= self.next_slot
    }

    /// Begins a segment of openings, the first of them in `slot`.
    pub(crate) fn begin_openings(&mut self, slot: u32, writer: &mut BitWriter) {
        self.begin(SegmentKind::Open, gap_order(slot, 1), writer);
    }

    /// Begins an item.
    pub(crate) fn slot(&mut self, slot: u32, writer: &mut BitWriter) {
        debug_assert!(slot >= self.next_slot, "items ascend by slot");
        if self.items > 0 {
            writer.write_bits(1, 1);
        }
        writer.write_exp_golomb(slot.saturating_sub(self.next_slot).into(), self.gap_order);
        if self.kind == Some(SegmentKind::Open) {
            // The order is that of the first slot; runs lie close to each other.
            self.gap_order = 0;
        }
        self.next_slot = slot.saturating_add(1);
        self.items = self.items.saturating_add(1);
    }

    /// Begins a run of openings in `objects` slots from `first` on; the values of each follow in turn.
    pub(crate) fn run(&mut self, first: u32, objects: u32, birth: &Birth<'_>, writer: &mut BitWriter) {
        self.slot(first, writer);
        self.next_slot = first.saturating_add(objects);
        let Birth { origin, handles, count, classes } = *birth;
        let class = origin.class as usize;
        let same = self.origin == Some(origin) && self.previous.of(class) == Some(handles);
        if self.origin.replace(origin).is_some() {
            writer.write_flag(same);
        }
        if !same {
            writer.write_exp_golomb(u64::from(origin.generation.get()).saturating_sub(1), 2);
            writer.write_below(origin.class.into(), classes.into());
            writer.write_exp_golomb(origin.archetype.into(), 0);
            origin.proxy.write(writer);
            self.opening_handles(class, count, handles, writer);
        }
        writer.write_exp_golomb(u64::from(objects).saturating_sub(1), 0);
    }

    /// Writes which properties of an opening follow: often it is all of them.
    fn opening_handles(&mut self, class: usize, count: u32, list: &HandleSet, writer: &mut BitWriter) {
        if self.same_as_before(class, list, writer) {
            return;
        }
        let all = list.len() == count;
        writer.write_flag(all);
        if !all {
            write_handles(list, count, true, writer);
        }
        self.previous.set(class, list);
    }

    /// Writes which properties of an object follow: one bit if they are those of the object of its class before.
    pub(crate) fn handles(&mut self, class: usize, count: u32, list: &HandleSet, writer: &mut BitWriter) {
        if !self.same_as_before(class, list, writer) {
            write_handles(list, count, false, writer);
            self.previous.set(class, list);
        }
    }

    /// Says whether the handles are those of the last object of the class, if the segment has one.
    fn same_as_before(&self, class: usize, list: &HandleSet, writer: &mut BitWriter) -> bool {
        let Some(previous) = self.previous.of(class) else { return false };
        let same = previous == list;
        writer.write_flag(same);
        same
    }

    /// Writes the item of an update.
    pub(crate) fn update(
        &mut self,
        slot: u32,
        class: usize,
        count: u32,
        list: &HandleSet,
        values: BitSlice<'_>,
        writer: &mut BitWriter,
    ) {
        self.slot(slot, writer);
        self.handles(class, count, list, writer);
        writer.append(values);
    }
}

/// The most that the handles of an item take.
pub(crate) const fn handles_bits(count: u32) -> usize {
    (count as usize).saturating_add(2)
}

/// The order of the gaps of `items` items over `slots` slots: about the logarithm of their mean.
pub(crate) fn gap_order(slots: u32, items: u32) -> u32 {
    slots.checked_div(items.max(1)).unwrap_or(0).max(1).ilog2().min(15)
}

/// Where the reading of a segment stands.
pub(crate) struct SegmentReader {
    kind: SegmentKind,
    gap_order: u32,
    next_slot: u32,
    first: bool,
}

impl SegmentReader {
    /// The next segment of a body; `None` at its end.
    pub(crate) fn next(reader: &mut BitReader<'_>) -> Result<Option<(SegmentKind, Self)>, ReadError> {
        if !reader.read_flag()? {
            return Ok(None);
        }
        let kind = match reader.read_bits(2)? {
            0 => SegmentKind::Update,
            1 => SegmentKind::Open,
            2 => SegmentKind::Close,
            _ => SegmentKind::Fragment,
        };
        let gap_order = reader.read_bits(4)? as u32;
        Ok(Some((kind, Self { kind, gap_order, next_slot: 0, first: true })))
    }

    /// The slot of the next item; `None` at the segment's end.
    pub(crate) fn slot(&mut self, reader: &mut BitReader<'_>) -> Result<Option<u32>, ReadError> {
        if !std::mem::take(&mut self.first) && !reader.read_flag()? {
            return Ok(None);
        }
        let gap =
            u32::try_from(reader.read_exp_golomb(self.gap_order)?).map_err(|_| ReadError::OutOfRange)?;
        let slot = self.next_slot.checked_add(gap).ok_or(ReadError::OutOfRange)?;
        self.next_slot = slot.checked_add(1).ok_or(ReadError::OutOfRange)?;
        if self.kind == SegmentKind::Open {
            self.gap_order = 0;
        }
        Ok(Some(slot))
    }

    /// The item was a run that ended before slot `end`.
    pub(crate) fn end_run(&mut self, end: u32) {
        self.next_slot = end;
    }
}
