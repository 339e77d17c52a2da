//! The entries of tables in a packet. They are recorded as runs of entries that were copied from a table.
//!
//! *Invariant:* each stretch has at least one run, and each run has at least one entry.

use std::ops::Range;
use std::sync::Arc;

use crate::body::entry_lists::EncodedEntry;
use crate::body::table::Table;

/// The entries of tables that a packet contains.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    /// The first stretch in the packet. Most packets have entries of only one table.
    first: Option<Stretch>,
    others: Vec<Stretch>,
    /// The runs of all stretches, one stretch after another. A run is a range of consecutive entries.
    runs: Vec<Range<u32>>,
}

/// The entries of one table.
#[derive(Debug)]
struct Stretch {
    table: Arc<Table>,
    /// The index in `runs` at which the runs of this stretch end.
    runs_end: u32,
    /// The number of entries, and of their bits.
    entries: u32,
    bits: u32,
}

impl Stretch {
    /// Returns about how many bytes of memory the entries take. A table is shared, so its other entries are
    /// counted elsewhere.
    const fn held_bytes(&self) -> usize {
        (self.entries as usize).saturating_mul(Table::ENTRY_BYTES).saturating_add(self.bits as usize / 8)
    }
}

impl Copied {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Forgets the entries and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.first = None;
        self.others.clear();
        self.runs.clear();
    }

    /// Returns whether the last entries are from this table.
    pub(crate) fn ends_with(&self, table: &Arc<Table>) -> bool {
        self.others.last().or(self.first.as_ref()).is_some_and(|last| Arc::ptr_eq(&last.table, table))
    }

    /// Adds entries of a table: first the runs of `whole`, then the run `part`, which may be empty. All
    /// entries together have `bits` bits. `is_continued` says whether the last entries are from the same
    /// table.
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

    /// Returns the runs, each with its table.
    fn runs(&self) -> impl Iterator<Item = (&Table, Range<u32>)> {
        let mut start = 0;
        self.first.iter().chain(&self.others).flat_map(move |stretch| {
            let runs = start..stretch.runs_end as usize;
            start = runs.end;
            let runs = self.runs.get(runs).unwrap_or_default();
            runs.iter().map(|run| (&*stretch.table, run.clone()))
        })
    }

    /// Returns the entries.
    pub(crate) fn entries(&self) -> impl Iterator<Item = EncodedEntry<'_>> {
        self.runs().flat_map(|(table, run)| table.entries(run))
    }

    /// Returns whether one of the tables [has new elements](Table::has_new_elements).
    pub(crate) fn has_new_elements(&self) -> bool {
        self.first.iter().chain(&self.others).any(|stretch| stretch.table.has_new_elements())
    }

    /// Returns about how many bytes of memory the entries take. Costs O(tables).
    pub(crate) fn entry_bytes(&self) -> usize {
        self.first.iter().chain(&self.others).map(Stretch::held_bytes).sum()
    }

    /// Returns how many bytes of memory the lists take.
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
