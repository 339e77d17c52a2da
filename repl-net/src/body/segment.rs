//! Segments. The body of a packet consists of segments. All entries of a segment have the same kind. An entry
//! is an update, an opening (the first update) or the removal of an object, or a part of a large update. The
//! entries of a segment are in ascending order of their objects' slots (the numbers of objects in packets).
//!
//! Several connections can share one encoded segment.
//!
//! The body of a packet is a list of segments, which ends with a zero bit. A segment consists of a one bit,
//! its kind, the Exp-Golomb order of its gaps, its entries, and a zero bit. There is a one bit before each
//! entry except the first. An entry begins with its gap: its slot minus the slot after the previous entry. In
//! a segment of openings, an entry is a run: it opens objects in consecutive slots that differ only in their
//! values.
//!
//! *Invariant:* the bits of a segment depend on nothing outside the segment, so the segment may be copied
//! into any packet.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;
use std::ops::Range;

use repl_core::wire::write_handles;
use repl_core::{BitReader, BitSlice, BitWriter, Changelist, HandleSet, ReadError};
use repl_link::parts::SEGMENT_BITS;

use crate::body::entry_lists::{EncodedEntry, EntryLists, EntryOrigin};
use crate::body::parent::{PARENT_BITS, ParentGap};
use crate::body::path::{StaticName, path_bits, write_name};
use crate::body::role::{PROXY_BITS, Proxy};
use crate::body::slot_set::{bit_of, word_of};

/// The kind of a segment. It applies to all entries of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// The entries are changed properties of objects that exist on the client.
    Update = 0,
    /// The entries are the openings of objects that the client creates.
    Open = 1,
    /// The entries are objects that the client removes.
    Close = 2,
    /// The entries are parts of updates that are too large for one packet.
    Fragment = 3,
    /// The entries are changed properties like those of `Update`. They are in any order, and were copied from
    /// a [table](super::table).
    Table = 4,
}

/// A segment of updates with this value as the order of its gaps contains entries that were copied from a
/// table.
const TABLE_ORDER: u32 = 15;

/// The least number of bits that each object of a run of openings takes in the packet, except for the first
/// object of the run. Because of this minimum, a peer cannot make the receiver allocate many objects with few
/// bytes.
pub(crate) const LEAST_RUN_BITS: usize = 8;

/// A segment without its entries: a one bit, the kind, the order of the gaps, and the zero bit at its end.
const _: () = assert!(SEGMENT_BITS == 1 + 2 + 4 + 1);

/// The greatest number of bits that the header of an entry takes without its list of handles: a one bit, the
/// gap, and the bit that says whether the list is repeated.
pub(crate) const ENTRY_BITS: usize = 1 + 64 + 1;

/// An encoded segment that several connections share, with a description of its entries.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    bytes: Vec<u8>,
    bit_len: usize,
    entries: Vec<SegmentEntry>,
    lists: EntryLists,
    /// Whether this segment continues the changes of an object in the previous segment. Segments with parts
    /// of the changes of one object must not be in the same packet.
    pub(crate) continues: bool,
    /// The slots of the segment's entries, as bit masks. Each mask has the index of its 64 slots. Empty
    /// before [`complete`](Self::complete).
    pub(crate) masks: Vec<(usize, u64)>,
    /// The approximate number of bytes of memory that the segment takes. Zero before
    /// [`complete`](Self::complete).
    held_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct SegmentEntry {
    slot: u32,
    origin: EntryOrigin,
    /// The values of the object are the bits from the first position up to the second position (exclusive).
    values: (u32, u32),
}

impl Segment {
    pub(crate) fn clear(&mut self) {
        self.bit_len = 0;
        self.continues = false;
        self.held_bytes = 0;
        self.entries.clear();
        self.lists.clear();
        self.masks.clear();
    }

    /// Clears the segment, and frees memory that was not needed in the last ticks.
    pub(crate) fn end_round(&mut self) {
        self.clear();
        self.lists.end_round();
    }

    /// Completes the segment after all its entries were added: copies the encoded bits from `writer`, and
    /// computes the slot masks and the size in memory.
    pub(crate) fn complete(&mut self, writer: &mut BitWriter) {
        self.bit_len = writer.bit_len();
        self.bytes.clear();
        self.bytes.extend_from_slice(writer.finish());
        for entry in &self.entries {
            let (word, bit) = (word_of(entry.slot), bit_of(entry.slot));
            match self.masks.last_mut() {
                Some((last, mask)) if *last == word => *mask |= bit,
                _ => self.masks.push((word, bit)),
            }
        }
        let entries = self.entries.capacity().saturating_mul(size_of::<SegmentEntry>());
        let masks = self.masks.capacity().saturating_mul(size_of::<(usize, u64)>());
        let own = [size_of::<Self>(), self.bytes.capacity(), entries, masks];
        self.held_bytes = own.into_iter().fold(self.lists.held_bytes(), usize::saturating_add);
    }

    pub(crate) fn bits(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bit_len).unwrap_or_default()
    }

    /// Adds an entry for the changes in `list`. `values` is the range of bits in the segment that contains
    /// the values of the object.
    pub(crate) fn push(
        &mut self,
        slot: u32,
        generation: NonZeroU32,
        list: &Changelist,
        values: Range<usize>,
    ) {
        self.lists.add(list);
        self.push_alike(slot, generation, values);
    }

    /// Returns whether the newest entry's changelist is [flat](Changelist::is_flat): it has no changes inside
    /// arrays or collections.
    pub(crate) fn ends_flat(&self) -> bool {
        self.lists.ends_flat()
    }

    /// Adds an entry with the same flat changelist as the newest entry.
    #[inline]
    pub(crate) fn push_alike(&mut self, slot: u32, generation: NonZeroU32, values: Range<usize>) {
        let origin = self.lists.origin(generation);
        let values = (values.start as u32, values.end as u32);
        self.entries.push(SegmentEntry { slot, origin, values });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the bit position after the newest entry's values, or `None` if there are no entries.
    pub(crate) fn end_of_entries(&self) -> Option<usize> {
        self.entries.last().map(|entry| entry.values.1 as usize)
    }

    /// Returns the entries, in ascending order of their slots.
    pub(crate) fn entries(&self) -> impl Iterator<Item = EncodedEntry<'_>> {
        self.entries.iter().filter_map(|entry| self.lists.entry(entry.slot, entry.origin))
    }

    pub(crate) fn entries_with_values(&self) -> impl Iterator<Item = (EncodedEntry<'_>, BitSlice<'_>)> {
        let entry = |&SegmentEntry { slot, origin, values: (start, end) }: &_| {
            let values = self.bits().slice(start as usize..end as usize)?;
            Some((self.lists.entry(slot, origin)?, values))
        };
        self.entries.iter().filter_map(entry)
    }

    /// Returns whether an entry contains [new array elements](EntryLists::has_new_elements).
    pub(crate) fn has_new_elements(&self) -> bool {
        self.lists.has_new_elements()
    }

    /// Returns about how many bytes of memory the completed segment takes. Costs O(1), because the number is
    /// stored.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Returns the entry of the object in `slot`, if the segment has one.
    pub(crate) fn entry(&self, slot: u32) -> Option<EncodedEntry<'_>> {
        let at = self.entries.binary_search_by_key(&slot, |entry| entry.slot).ok()?;
        self.lists.entry(slot, self.entries.get(at)?.origin)
    }
}

/// The origin of an object: everything that the opening of the object contains except its slot and its
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) generation: NonZeroU32,
    /// The number of the class on the wire.
    pub(crate) class: u32,
    /// The number of the archetype, which is a set of initial values of the class. A static object has a path
    /// instead of an archetype: for it, this is the number after the last archetype of the class.
    pub(crate) archetype: u32,
    pub(crate) proxy: Proxy,
    /// Where the object's parent is, if the object is a subobject.
    pub(crate) parent: Option<ParentGap>,
}

/// The header of a run of openings: the data that all objects of the run have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunHeader<'a> {
    pub(crate) origin: Origin,
    /// The properties whose values follow the header for each object.
    pub(crate) handles: &'a HandleSet,
    /// The number of handles of the class.
    pub(crate) count: u32,
    pub(crate) classes: u32,
    /// The name of the object if it is static, which means that both sides know it by a path. A run with a
    /// name has only one object.
    pub(crate) name: Option<StaticName<&'a str>>,
}

impl RunHeader<'_> {
    pub(crate) fn bits(&self, objects: usize) -> usize {
        let Origin { generation, class: _, archetype, proxy: _, parent } = self.origin;
        [generation.get(), archetype, objects as u32]
            .map(exp_golomb_bits)
            .into_iter()
            .fold(ENTRY_BITS.saturating_add(35 + PROXY_BITS), usize::saturating_add)
            .saturating_add(if parent.is_some() { PARENT_BITS } else { 0 })
            .saturating_add(handles_bits(self.count))
            .saturating_add(self.name_bits())
    }

    pub(crate) fn name_bits(&self) -> usize {
        match self.name {
            None => 0,
            Some(StaticName::Known) => 1,
            Some(StaticName::Path(path)) => path_bits(path).saturating_add(1),
        }
    }
}

/// Returns the greatest number of bits that a number takes in an Exp-Golomb code of order 0, 1 or 2.
pub(crate) fn exp_golomb_bits(number: u32) -> usize {
    ((number | 4).ilog2() as usize).saturating_mul(2).saturating_add(3)
}

/// Writes segments into a packet's body.
#[derive(Debug, Default)]
pub(crate) struct SegmentWriter {
    kind: Option<SegmentKind>,
    /// At most 15. It is stored in a byte next to the kind, to save memory in each connection.
    gap_order: u8,
    next_slot: u32,
    entries: u32,
    previous: PreviousLists,
    /// The origin of the objects in the previous run of this segment.
    origin: Option<Origin>,
}

/// For each class, the handles of the previous entry of the class in the current segment. They are forgotten
/// when a segment begins.
#[derive(Debug, Default)]
pub(crate) struct PreviousLists {
    segment: u64,
    lists: Vec<(u64, HandleSet)>,
}

impl PreviousLists {
    pub(crate) fn clear(&mut self) {
        self.segment = self.segment.saturating_add(1);
    }

    #[inline]
    pub(crate) fn of(&self, class: usize) -> Option<&HandleSet> {
        self.lists.get(class).filter(|(segment, _)| *segment == self.segment).map(|(_, list)| list)
    }

    pub(crate) fn set(&mut self, class: usize, list: &HandleSet) {
        if self.lists.len() <= class {
            self.lists.resize_with(class.saturating_add(1), || (0, HandleSet::new()));
        }
        if let Some(entry) = self.lists.get_mut(class) {
            entry.0 = self.segment;
            entry.1.clone_from(list);
        }
    }
}

impl SegmentWriter {
    /// Begins a segment and ends the previous one.
    pub(crate) fn begin(&mut self, kind: SegmentKind, gap_order: u32, writer: &mut BitWriter) {
        self.end(writer);
        write_head(kind, gap_order, writer);
        self.previous.clear();
        self.origin = None;
        (self.kind, self.gap_order, self.next_slot, self.entries) = (Some(kind), gap_order as u8, 0, 0);
    }

    /// Begins a segment of entries that are copied from a table. `head` is the table's head, which is written
    /// before the entries.
    pub(crate) fn begin_table(&mut self, head: BitSlice<'_>, writer: &mut BitWriter) {
        self.end(writer);
        writer.append(head);
        self.kind = Some(SegmentKind::Table);
    }

    pub(crate) fn is_table(&self) -> bool {
        self.kind == Some(SegmentKind::Table)
    }

    /// Forgets the current segment after the bits that it has written were discarded.
    pub(crate) fn reset(&mut self) {
        self.kind = None;
    }

    /// Ends the current segment, if there is one.
    pub(crate) fn end(&mut self, writer: &mut BitWriter) {
        if self.kind.take().is_some() {
            writer.write_bits(0, 1);
        }
    }

    /// Returns whether an entry for the object in `slot` may be added to the current segment: the segment has
    /// the kind `kind`, and its slots remain in ascending order.
    pub(crate) fn accepts(&self, kind: SegmentKind, slot: u32) -> bool {
        self.kind == Some(kind) && slot >= self.next_slot
    }

    pub(crate) fn begin_openings(&mut self, slot: u32, writer: &mut BitWriter) {
        self.begin(SegmentKind::Open, gap_order(slot, 1), writer);
    }

    /// Begins an entry for the object in `slot`, by writing the gap before it.
    #[inline]
    pub(crate) fn slot(&mut self, slot: u32, writer: &mut BitWriter) {
        debug_assert!(slot >= self.next_slot, "entries ascend by slot");
        self.gap(slot, None, writer);
        if self.kind == Some(SegmentKind::Open) {
            // Later runs follow closely after the first one, so only the gap before the first run is large.
            self.gap_order = 0;
        }
        self.next_slot = slot.saturating_add(1);
        self.entries = self.entries.saturating_add(1);
    }

    /// Begins the entry of an update for an object that has the same class and the same changed properties as
    /// the previous entry. Does the same as [`slot`](Self::slot) and then [`handles`](Self::handles).
    #[inline]
    pub(crate) fn alike(&mut self, slot: u32, writer: &mut BitWriter) {
        debug_assert!(slot >= self.next_slot, "entries ascend by slot");
        debug_assert!(
            self.kind == Some(SegmentKind::Update) && self.entries > 0,
            "there is a previous entry"
        );
        self.gap(slot, Some(true), writer);
        self.next_slot = slot.saturating_add(1);
        self.entries = self.entries.saturating_add(1);
    }

    /// Writes a one bit if this is not the first entry, then the gap, and then the flag `after` if there is
    /// one.
    #[inline]
    fn gap(&self, slot: u32, after: Option<bool>, writer: &mut BitWriter) {
        let gap = slot.saturating_sub(self.next_slot);
        let (before, after_bits) = (u32::from(self.entries > 0), u32::from(after.is_some()));
        let after = u64::from(after == Some(true));
        match BitWriter::short_exp_golomb(gap, self.gap_order.into()) {
            Some((code, bits)) => {
                let end = bits.saturating_add(before);
                let code = code.wrapping_shl(before) | u64::from(before) | after.wrapping_shl(end);
                writer.write_bits(code, end.saturating_add(after_bits));
            }
            None => self.long_gap(gap, after_bits, after, writer),
        }
    }

    /// Writes the same as [`gap`](Self::gap), for a gap whose code does not fit into 64 bits.
    #[cold]
    fn long_gap(&self, gap: u32, after_bits: u32, after: u64, writer: &mut BitWriter) {
        if self.entries > 0 {
            writer.write_flag(true);
        }
        writer.write_exp_golomb(gap.into(), self.gap_order.into());
        writer.write_bits(after, after_bits);
    }

    /// Writes the header of a run: the openings of `objects` objects in consecutive slots, beginning at
    /// `first`. The caller then appends the values of each object of the run.
    pub(crate) fn run(
        &mut self,
        first: u32,
        objects: u32,
        run_header: &RunHeader<'_>,
        writer: &mut BitWriter,
    ) {
        self.slot(first, writer);
        self.next_slot = first.saturating_add(objects);
        let RunHeader { origin, handles, count, classes, name } = *run_header;
        let class = origin.class as usize;
        let same = self.origin == Some(origin) && self.previous.of(class) == Some(handles);
        if self.origin.replace(origin).is_some() {
            writer.write_flag(same);
        }
        if !same {
            writer.write_exp_golomb(u64::from(origin.generation.get()).saturating_sub(1), 2);
            writer.write_below(origin.class.into(), classes.into());
            writer.write_exp_golomb(origin.archetype.into(), 0);
            if let Some(parent) = origin.parent {
                Proxy::write_none(writer);
                parent.write(writer);
            }
            origin.proxy.write(writer);
            self.opening_handles(class, count, handles, writer);
        }
        match name {
            Some(name) => write_name(name, writer),
            None => writer.write_exp_golomb(u64::from(objects).saturating_sub(1), 0),
        }
    }

    /// Writes the list of properties whose values follow in an opening. The list takes 1 bit if it contains
    /// all properties, or if it equals the list of the previous opening of the class.
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

    /// Writes the list of properties whose values follow in an update. The list takes 1 bit if it equals the
    /// list of the previous object of the class.
    #[inline]
    pub(crate) fn handles(&mut self, class: usize, count: u32, list: &HandleSet, writer: &mut BitWriter) {
        if !self.same_as_before(class, list, writer) {
            write_handles(list, count, false, writer);
            self.previous.set(class, list);
        }
    }

    /// Writes whether `list` equals the handles of the previous object of the class in this segment. Writes
    /// nothing if the segment has no previous object of the class.
    #[inline]
    fn same_as_before(&self, class: usize, list: &HandleSet, writer: &mut BitWriter) -> bool {
        let Some(previous) = self.previous.of(class) else { return false };
        let same = previous == list;
        writer.write_flag(same);
        same
    }

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

/// Returns the greatest number of bits that the handles of an entry take, for a class with `count` handles.
pub(crate) const fn handles_bits(count: u32) -> usize {
    (count as usize).saturating_add(2)
}

pub(crate) fn write_head(kind: SegmentKind, gap_order: u32, writer: &mut BitWriter) {
    let (kind, order) = match kind {
        SegmentKind::Table => (SegmentKind::Update, TABLE_ORDER),
        _ => (kind, gap_order),
    };
    writer.write_bits(1, 1);
    writer.write_bits(kind as u64, 2);
    writer.write_bits(order.into(), 4);
}

/// Returns the order of the Exp-Golomb code for the gaps of a segment with `entries` entries whose slots are
/// below `slots`. The order is about log₂ of the mean gap.
pub(crate) fn gap_order(slots: u32, entries: u32) -> u32 {
    slots.checked_div(entries.max(1)).unwrap_or(0).max(1).ilog2().min(TABLE_ORDER.saturating_sub(1))
}

/// Reads one segment of a packet's body.
pub(crate) struct SegmentReader {
    gap_order: u32,
    next_slot: u32,
    first: bool,
}

impl SegmentReader {
    /// Reads the header of the next segment. Returns `None` at the end of the body.
    pub(crate) fn next(reader: &mut BitReader<'_>) -> Result<Option<(SegmentKind, Self)>, ReadError> {
        if !reader.read_flag()? {
            return Ok(None);
        }
        let (kind, gap_order) = (reader.read_bits(2)?, reader.read_bits(4)? as u32);
        let kind = match kind {
            0 if gap_order == TABLE_ORDER => SegmentKind::Table,
            0 => SegmentKind::Update,
            1 => SegmentKind::Open,
            2 => SegmentKind::Close,
            _ => SegmentKind::Fragment,
        };
        Ok(Some((kind, Self { gap_order, next_slot: 0, first: true })))
    }

    #[inline(always)]
    pub(crate) fn slot(&mut self, reader: &mut BitReader<'_>) -> Result<Option<u32>, ReadError> {
        let gap = if std::mem::take(&mut self.first) {
            reader.read_exp_golomb(self.gap_order)?
        } else {
            let Some(gap) = reader.read_optional_exp_golomb(self.gap_order)? else { return Ok(None) };
            gap
        };
        let gap = u32::try_from(gap).map_err(|_| ReadError::OutOfRange)?;
        let slot = self.next_slot.checked_add(gap).ok_or(ReadError::OutOfRange)?;
        self.next_slot = slot.checked_add(1).ok_or(ReadError::OutOfRange)?;
        Ok(Some(slot))
    }

    /// Records that the previous entry was a run of openings. `end` is the slot after the last slot of the
    /// run. Call this for every run, because the gaps after the first run are coded with order 0.
    pub(crate) fn end_run(&mut self, end: u32) {
        self.next_slot = end;
        self.gap_order = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gaps_of_a_segment_are_read_as_they_were_written_however_far_its_slots_are() {
        for first in [0, 1, 255, 32_767, 32_768, 65_535, 65_536, 131_072, u32::MAX - 9] {
            for kind in [SegmentKind::Close, SegmentKind::Open] {
                let (mut segment, mut writer) = (SegmentWriter::default(), BitWriter::new());
                let slots = [first, first + 1, first + 8];
                segment.begin(kind, gap_order(first, 1), &mut writer);
                slots.iter().for_each(|&slot| segment.slot(slot, &mut writer));
                segment.end(&mut writer);
                let mut reader = writer.as_slice().reader();
                let (read_kind, mut read) = SegmentReader::next(&mut reader).unwrap().expect("a segment");
                assert_eq!(read_kind, kind);
                for slot in slots {
                    assert_eq!(read.slot(&mut reader), Ok(Some(slot)), "{kind:?}");
                    if kind == SegmentKind::Open {
                        read.end_run(slot + 1);
                    }
                }
                assert_eq!(read.slot(&mut reader), Ok(None), "{kind:?}");
            }
        }
    }

    #[test]
    fn a_segment_that_is_used_again_has_only_new_entries_and_counts_the_memory_of_all() {
        let (mut segment, mut writer) = (Segment::default(), BitWriter::new());
        let mut fill = |segment: &mut Segment, entries: &[(u32, &[u32])]| {
            segment.clear();
            for (slot, handles) in entries {
                let mut list = Changelist::new();
                handles.iter().for_each(|&handle| list.insert(handle));
                segment.push(*slot, NonZeroU32::MIN, &list, 0..0);
            }
            segment.complete(&mut writer);
        };
        fill(&mut segment, &[(1, &[1, 8_000]), (2, &[2, 8_000]), (3, &[3])]);
        fill(&mut segment, &[(7, &[4, 5])]);
        let handles = |entry: &EncodedEntry<'_>| entry.list.handles().iter().collect::<Vec<_>>();
        let entries: Vec<_> = segment.entries().map(|entry| (entry.slot, handles(&entry))).collect();
        assert_eq!(entries, [(7, vec![4, 5])]);
        assert!(segment.held_bytes() > 2 * 8_000 / 8, "two sets with room for 8,000 handles");
        segment.end_round();
        fill(&mut segment, &[(7, &[4])]);
        segment.end_round();
        fill(&mut segment, &[]);
        assert!(segment.held_bytes() < 2_000, "the entry that was not needed is freed");
    }
}
