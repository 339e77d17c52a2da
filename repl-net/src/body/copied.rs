//! The record of the table entries that a packet contains. Consecutive entries of a table are recorded as one
//! run. A stretch is all consecutive runs from the same table.
//!
//! *Invariant:* each stretch has at least one run, and each run has at least one entry.

use std::ops::Range;
use std::sync::Arc;

use crate::body::entry_lists::EncodedEntry;
use crate::body::table::Table;

#[derive(Debug, Default)]
pub(crate) struct Copied {
    /// The first stretch in the packet. Most packets have only this one, because all their entries are from
    /// the same table.
    first: Option<Stretch>,
    others: Vec<Stretch>,
    /// The runs of all stretches, one stretch after another. A run is a range of consecutive entries.
    runs: Vec<Range<u32>>,
}

/// The entries from one table that follow one another in the packet.
#[derive(Debug)]
struct Stretch {
    table: Arc<Table>,
    /// The index in `runs` at which the runs of this stretch end.
    runs_end: u32,
    entries: u32,
    bits: u32,
}

impl Stretch {
    /// Returns about how many bytes of memory the entries of this stretch take in the table. The table is
    /// shared by the records of several packets; each of them counts only its own entries.
    const fn held_bytes(&self) -> usize {
        (self.entries as usize).saturating_mul(Table::ENTRY_BYTES).saturating_add(self.bits as usize / 8)
    }
}

impl Copied {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn clear(&mut self) {
        self.first = None;
        self.others.clear();
        self.runs.clear();
    }

    /// Returns whether the entries that were added last are from `table`.
    pub(crate) fn ends_with(&self, table: &Arc<Table>) -> bool {
        self.others.last().or(self.first.as_ref()).is_some_and(|last| Arc::ptr_eq(&last.table, table))
    }

    /// Adds entries of `table`: first the runs in `whole`, then the run `part`, which may be empty. All added
    /// entries together have `bits` bits. `is_continued` says whether the entries that were added before are
    /// from `table`, too.
    pub(crate) fn push(
        &mut self,
        table: &Arc<Table>,
        whole: &[Range<u32>],
        part: Range<u32>,
        bits: usize,
        is_continued: bool,
    ) {
        let Self { first, others, runs } = self;
        let before = runs.len();
        runs.extend_from_slice(whole);
        if !part.is_empty() {
            runs.push(part);
        }
        let (bits, count) = (bits as u32, runs.iter().skip(before).map(|run| run.len() as u32).sum());
        if is_continued {
            join_at(runs, before);
        }
        let runs_end = runs.len() as u32;
        let is_empty = first.is_none();
        if let Some(last) = others.last_mut().or(first.as_mut())
            && is_continued
        {
            (last.runs_end, last.entries, last.bits) = (runs_end, last.entries + count, last.bits + bits);
            return;
        }
        let stretch = Stretch { table: Arc::clone(table), runs_end, entries: count, bits };
        if is_empty { *first = Some(stretch) } else { others.push(stretch) }
    }

    fn runs(&self) -> impl Iterator<Item = (&Table, Range<u32>)> {
        let mut start = 0;
        self.first.iter().chain(&self.others).flat_map(move |stretch| {
            let runs = start..stretch.runs_end as usize;
            start = runs.end;
            let runs = self.runs.get(runs).unwrap_or_default();
            runs.iter().map(|run| (&*stretch.table, run.clone()))
        })
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = EncodedEntry<'_>> {
        self.runs().flat_map(|(table, run)| table.entries(run))
    }

    /// Returns whether one of the tables [has new elements](Table::has_new_elements).
    pub(crate) fn has_new_elements(&self) -> bool {
        self.first.iter().chain(&self.others).any(|stretch| stretch.table.has_new_elements())
    }

    /// Returns about how many bytes of memory the entries take in their tables. Costs O(tables).
    pub(crate) fn entry_bytes(&self) -> usize {
        self.first.iter().chain(&self.others).map(Stretch::held_bytes).sum()
    }

    /// Returns how many bytes of memory the lists of this record take.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.others.capacity() * size_of::<Stretch>() + self.runs.capacity() * size_of::<Range<u32>>()
    }
}

/// Joins the run at an index with the run before it, if they are adjacent.
fn join_at(runs: &mut Vec<Range<u32>>, index: usize) {
    let Some(before) = index.checked_sub(1) else { return };
    if let Some([last, next]) = runs.get_mut(before..=index)
        && last.end == next.start
    {
        last.end = next.end;
        runs.remove(index);
    }
}
