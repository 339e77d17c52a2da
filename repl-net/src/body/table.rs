//! Tables. A cell contains the objects in a part of space, or the objects that the game has put into one
//! group, for example a team. The objects of a cell are seen by the same connections. A table contains the
//! changes of one tick to those objects of one class that are in cells. It is encoded once and shared by all
//! connections.
//!
//! The entries of a table are sorted by the cells of their objects, and each entry can be read without the
//! entries before it. Therefore a connection can copy any range of entries into its packets. A connection
//! copies the entries of the cells that its client sees, except for objects for which the client needs other
//! changes.
//!
//! *Invariant:* the bits of an entry depend only on the object and on the head of the table.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;
use std::ops::Range;

use repl_core::wire::{read_handles, write_handles};
use repl_core::{BitReader, BitSlice, BitWriter, Changelist, HandleSet, ReadError};

use crate::body::entry_lists::{EncodedEntry, EntryLists, EntryOrigin};
use crate::body::segment::{SegmentKind, write_head};

/// The number of bits that contain the width of the slots.
const WIDTH_BITS: u32 = 5;

/// The data that all entries of a table share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableHead {
    /// The number of the class of all objects of the table.
    pub(crate) class: u32,
    /// The number of bits of each slot, from 1 to 32.
    pub(crate) slot_bits: u32,
    /// The handles that most entries have. An entry with these handles does not repeat them.
    pub(crate) common: HandleSet,
}

impl TableHead {
    /// Writes the head of a segment with entries of a table. `classes` is the number of classes on the
    /// connection, and `count` is the number of handles of the table's class.
    fn write(&self, classes: u32, count: u32, writer: &mut BitWriter) {
        write_head(SegmentKind::Table, 0, writer);
        writer.write_bits(self.slot_bits.saturating_sub(1).into(), WIDTH_BITS);
        writer.write_below(self.class.into(), classes.into());
        write_handles(&self.common, count, false, writer);
    }

    /// Reads the head of a segment with entries of a table; the kind of the segment has already been read.
    /// `count_of` returns the number of handles of a class.
    pub(crate) fn read(
        reader: &mut BitReader<'_>,
        classes: u32,
        count_of: impl Fn(u32) -> Option<u32>,
    ) -> Result<(Self, u32), ReadError> {
        let slot_bits = (reader.read_bits(WIDTH_BITS)? as u32).saturating_add(1);
        let class = reader.read_below(classes.into())? as u32;
        let count = count_of(class).ok_or(ReadError::OutOfRange)?;
        let common = read_handles(count, false, reader)?;
        Ok((Self { class, slot_bits, common }, count))
    }

    /// Writes the slot and the handles of an entry. If `is_common` is true, writes one bit instead of the
    /// handles.
    #[inline]
    fn write_entry(
        &self,
        slot: u32,
        handles: &HandleSet,
        is_common: bool,
        count: u32,
        writer: &mut BitWriter,
    ) {
        let after = u64::from(is_common).wrapping_shl(self.slot_bits.saturating_add(1));
        writer.write_bits(u64::from(slot) << 1 | 1 | after, self.slot_bits.saturating_add(2));
        if !is_common {
            write_handles(handles, count, false, writer);
        }
    }

    pub(crate) fn read_slot(&self, reader: &mut BitReader<'_>) -> Result<Option<u32>, ReadError> {
        Ok(if reader.read_flag()? { Some(reader.read_bits(self.slot_bits)? as u32) } else { None })
    }

    /// Reads the handles of an entry after its slot. Returns `None` if they are the [common](Self::common)
    /// handles.
    pub(crate) fn read_handles(
        &self,
        count: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<Option<HandleSet>, ReadError> {
        if reader.read_flag()? { Ok(None) } else { read_handles(count, false, reader).map(Some) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    bytes: Vec<u8>,
    slots: Vec<u32>,
    /// The bit position at which the first entry begins, followed by the bit position at which each entry
    /// ends.
    borders: Vec<u32>,
    origins: Vec<EntryOrigin>,
    lists: EntryLists,
}

impl Table {
    /// The number of bytes of memory that each entry takes in addition to its bits and its changelist.
    pub(crate) const ENTRY_BYTES: usize = size_of::<(EntryOrigin, u32, u32)>();

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.slots.clear();
        self.borders.clear();
        self.origins.clear();
        self.lists.clear();
    }

    /// Clears the table, and frees memory that was not needed in the last ticks.
    pub(crate) fn end_round(&mut self) {
        self.clear();
        self.lists.end_round();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(crate) fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Returns the bits before the first entry. They are copied before the entries into each segment with
    /// entries of this table.
    pub(crate) fn head(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.border(0)).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn bits(&self, entries: Range<u32>) -> BitSlice<'_> {
        let (start, end) = (self.border(entries.start), self.border(entries.end));
        BitSlice::new(&self.bytes, start, end.saturating_sub(start)).unwrap_or_default()
    }

    /// Returns the bit position at which an entry begins and the previous entry ends.
    #[inline]
    fn border(&self, entry: u32) -> usize {
        self.borders.get(entry as usize).copied().unwrap_or(0) as usize
    }

    /// Returns how many entries of a range fit into `bits` bits, beginning with the first entry of the range.
    pub(crate) fn fitting(&self, entries: Range<u32>, bits: usize) -> u32 {
        let limit = self.border(entries.start).saturating_add(bits);
        let ends = self.borders.get(1..).unwrap_or_default();
        let ends = ends.get(entries.start as usize..entries.end as usize).unwrap_or_default();
        ends.partition_point(|&end| end as usize <= limit) as u32
    }

    pub(crate) fn slots(&self, entries: Range<u32>) -> &[u32] {
        self.slots.get(entries.start as usize..entries.end as usize).unwrap_or_default()
    }

    pub(crate) fn entries(&self, entries: Range<u32>) -> impl Iterator<Item = EncodedEntry<'_>> {
        let origins = self.origins.get(entries.start as usize..entries.end as usize).unwrap_or_default();
        let pairs = self.slots(entries).iter().zip(origins);
        pairs.filter_map(|(&slot, &origin)| self.lists.entry(slot, origin))
    }

    /// Returns whether an entry contains [new array elements](EntryLists::has_new_elements).
    pub(crate) fn has_new_elements(&self) -> bool {
        self.lists.has_new_elements()
    }
}

#[derive(Debug, Default)]
pub(crate) struct TableWriter {
    bits: BitWriter,
    head: TableHead,
    count: u32,
}

impl TableWriter {
    /// Begins a table. `classes` is the number of classes on the connection, and `count` is the number of
    /// handles of the table's class.
    pub(crate) fn begin(&mut self, head: TableHead, classes: u32, count: u32, into: &mut Table) {
        self.bits.clear();
        head.write(classes, count, &mut self.bits);
        into.borders.push(self.bits.bit_len() as u32);
        (self.head, self.count) = (head, count);
    }

    /// Appends an entry for the changes in `list`, and returns whether it was appended. `values` writes the
    /// values of the entry; its first argument says whether the handles are the common handles of the table.
    /// Nothing is appended if `values` returns false, or if the entry together with the head takes more than
    /// `max_bits` bits.
    #[inline]
    pub(crate) fn entry(
        &mut self,
        (slot, generation): (u32, NonZeroU32),
        list: &Changelist,
        max_bits: usize,
        values: impl FnOnce(bool, &mut BitWriter) -> bool,
        into: &mut Table,
    ) -> bool {
        let before = self.bits.bit_len();
        let is_common = *list.handles() == self.head.common;
        self.head.write_entry(slot, list.handles(), is_common, self.count, &mut self.bits);
        let is_written = values(is_common, &mut self.bits);
        let end = self.bits.bit_len();
        let bits = end.saturating_sub(before).saturating_add(into.border(0));
        if !is_written || bits > max_bits || end > u32::MAX as usize {
            self.bits.truncate(before);
            return false;
        }
        into.slots.push(slot);
        into.borders.push(end as u32);
        into.lists.add(list);
        into.origins.push(into.lists.origin(generation));
        true
    }

    pub(crate) fn end(&mut self, into: &mut Table) {
        into.bytes.clear();
        into.bytes.extend_from_slice(self.bits.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::segment::SegmentReader;

    const COUNT: u32 = 9;
    const CLASSES: u32 = 3;

    fn change(handles: &[u32]) -> Changelist {
        let mut list = Changelist::new();
        handles.iter().for_each(|&handle| list.insert(handle));
        list
    }

    /// Makes a table with the common handles 2 and 5. The values of each entry are the low eight bits of its
    /// slot.
    fn table(entries: &[(u32, &[u32])]) -> Table {
        let (mut writer, mut table) = (TableWriter::default(), Table::default());
        let common = [2, 5].into_iter().collect();
        writer.begin(TableHead { class: 1, slot_bits: 32, common }, CLASSES, COUNT, &mut table);
        for &(slot, handles) in entries {
            let write = |is_common: bool, bits: &mut BitWriter| {
                assert_eq!(is_common, handles == [2, 5]);
                bits.write_bits((slot % 256).into(), 8);
                true
            };
            let entry = (slot, NonZeroU32::MIN);
            assert!(writer.entry(entry, &change(handles), 1_000, write, &mut table), "there is room");
        }
        writer.end(&mut table);
        table
    }

    type Entry = (u32, Vec<u32>, u64);

    /// Reads a segment that contains the head of the table and the given ranges of entries.
    fn read(table: &Table, entries: &[Range<u32>]) -> Vec<Entry> {
        let mut writer = BitWriter::new();
        writer.append(table.head());
        entries.iter().for_each(|entries| writer.append(table.bits(entries.clone())));
        writer.write_bits(0, 1);
        let mut reader = writer.as_slice().reader();
        let (kind, _) = SegmentReader::next(&mut reader).unwrap().expect("a segment");
        assert_eq!(kind, SegmentKind::Table);
        let (head, count) = TableHead::read(&mut reader, CLASSES, |_| Some(COUNT)).unwrap();
        assert_eq!((head.class, count), (1, COUNT));
        let mut found = Vec::new();
        while let Some(slot) = head.read_slot(&mut reader).unwrap() {
            let handles = head.read_handles(count, &mut reader).unwrap().unwrap_or(head.common.clone());
            found.push((slot, handles.iter().collect(), reader.read_bits(8).unwrap()));
        }
        assert_eq!(reader.remaining(), 0);
        found
    }

    #[test]
    fn r24_any_stretches_of_a_table_are_read_without_the_entries_before_them() {
        let lists: [(u32, &[u32]); 5] =
            [(70_000, &[2, 5]), (3, &[1]), (4, &[2, 5]), (900, &[1, 2, 9]), (u32::MAX, &[2, 5])];
        let table = table(&lists);
        let entry = |at: usize| (lists[at].0, lists[at].1.to_vec(), u64::from(lists[at].0 % 256));
        let all = |range: Range<u32>| range.map(|at| entry(at as usize)).collect::<Vec<_>>();
        for start in 0..=5 {
            for end in start..=5 {
                assert_eq!(read(&table, std::slice::from_ref(&(start..end))), all(start..end));
                assert_eq!(read(&table, &[start..end, 0..1]), [all(start..end), all(0..1)].concat());
            }
        }
    }

    #[test]
    fn as_many_entries_fit_as_their_bits_say() {
        let table = table(&[(1, &[2, 5]), (2, &[1]), (3, &[2, 5])]);
        let sizes: Vec<usize> = (0..3).map(|at| table.bits(at..at + 1).len()).collect();
        assert_eq!(table.fitting(0..3, sizes[0] - 1), 0);
        assert_eq!(table.fitting(0..3, sizes[0]), 1);
        assert_eq!(table.fitting(0..3, sizes[0] + sizes[1] + sizes[2]), 3);
        assert_eq!(table.fitting(1..3, sizes[1]), 1);
        assert_eq!(table.fitting(1..2, 1_000), 1);
    }

    #[test]
    fn an_entry_that_is_refused_or_too_large_leaves_nothing() {
        let (mut writer, mut table) = (TableWriter::default(), Table::default());
        let head = TableHead { class: 0, slot_bits: 4, common: [1].into_iter().collect() };
        writer.begin(head, CLASSES, COUNT, &mut table);
        let long = |_: bool, bits: &mut BitWriter| {
            bits.write_bits(0, 60);
            true
        };
        let refused = |_: bool, bits: &mut BitWriter| {
            bits.write_bits(7, 3);
            false
        };
        let short = |_: bool, _: &mut BitWriter| true;
        let entry = |slot| (slot, NonZeroU32::MIN);
        assert!(!writer.entry(entry(1), &change(&[1]), 60, long, &mut table));
        assert!(!writer.entry(entry(2), &change(&[1]), 60, refused, &mut table));
        assert!(writer.entry(entry(3), &change(&[1]), 60, short, &mut table));
        writer.end(&mut table);
        assert_eq!((table.len(), table.slots(0..1)), (1, &[3][..]));
        assert_eq!(table.bits(0..1).len(), 1 + 4 + 1);
    }
}
