//! The size limit for the items of a collection and the entries of a map. A collection can be sent in any
//! number of parts, but each item is sent whole.
//!
//! *Invariant:* an item in a shadow is never larger than an object may be.

use super::scale::{HEADER_BITS, KEYED_HEADER_BITS, Scale, fit, most_element_bits};
use crate::bits::WriteError;
use crate::ids::handles::HandleSet;
use crate::object::equality::{Answer, differs};
use crate::object::level::{Level, Slot};
use crate::schema::command::CommandKind;
use crate::schema::program::Program;

/// The size limit for the items and entries of a class.
#[derive(Debug, Default)]
pub(crate) struct ItemSizes {
    /// The greatest number of bits that an item or an entry may take.
    max_bits: u64,
    /// The handle tables of the items and entries that can be larger than `max_bits`, in ascending order.
    wide: Vec<u32>,
}

/// Which properties of an item to compare with the shadow, and which to refuse.
pub(crate) struct Survey {
    /// The properties that may have changed and that fit into the size limit.
    pub(crate) open: HandleSet,
    /// The properties that do not fit into the size limit, each with its error.
    pub(crate) refused: Vec<(u32, WriteError)>,
}

impl ItemSizes {
    /// Makes the limit: no item or entry may be larger than `max_bits`.
    pub(crate) fn within(max_bits: u64, program: &Program) -> Self {
        let max_bits =
            max_bits.saturating_sub(HEADER_BITS + KEYED_HEADER_BITS + u64::from(program.handles()));
        let inner = program.commands().iter().filter_map(|command| match &command.kind {
            CommandKind::Items(items) => Some((items.table, items.handles)),
            CommandKind::Entries(entries) => Some((entries.table, entries.handles)),
            _ => None,
        });
        let is_wide = |&(table, handles): &(u32, u32)| most_element_bits(program, table, handles) > max_bits;
        let mut wide: Vec<_> = inner.filter(is_wide).map(|(table, _)| table).collect();
        wide.sort_unstable();
        Self { max_bits, wide }
    }

    /// Returns which properties of an item (or of a value of a map) to compare with its shadow, and which
    /// properties would make the item too large. `table` is the index of the item's handle table. Returns
    /// `None` if no value of this table can be too large. Costs O(item) if a property of varying size
    /// changed.
    pub(crate) fn survey(&self, table: u32, live: Level<'_>, shadow: Level<'_>) -> Option<Survey> {
        self.wide.binary_search(&table).ok()?;
        let mut open = HandleSet::up_to(live.handles());
        let varies = |handle| match live.slot(handle) {
            Some(Slot::Leaf(leaf)) => leaf.width_bits().is_none(),
            _ => true,
        };
        let (differing, same): (Vec<u32>, Vec<u32>) = (1..=live.handles())
            .filter(|&handle| varies(handle))
            .partition(|&handle| differs(live, shadow, handle, Answer::Shadow));
        same.into_iter().for_each(|handle| open.remove(handle));
        let refused = if differing.is_empty() { Vec::new() } else { self.refused(live, shadow) };
        refused.iter().for_each(|(handle, _)| open.remove(*handle));
        Some(Survey { open, refused })
    }

    /// Returns the handles of the properties that must not change in the shadow, each with its error.
    fn refused(&self, live: Level<'_>, shadow: Level<'_>) -> Vec<(u32, WriteError)> {
        let mut scale = Scale::default();
        let mut bits_of = |level: Level<'_>, handle| level.slot(handle).map_or(0, |slot| scale.slot(slot));
        let mut total = 0;
        let mut growths: Vec<(i128, u32, u64)> = Vec::new();
        for handle in 1..=live.handles() {
            let (before, after) = (bits_of(shadow, handle), bits_of(live, handle));
            total += before;
            growths.push((i128::from(after) - i128::from(before), handle, after));
        }
        growths.sort_unstable();
        let refused = fit(total, self.max_bits, growths, |&(by, ..)| by);
        let max = (self.max_bits / 8) as usize;
        let too_large = |bits: u64| WriteError::TooLarge { bytes: bits.div_ceil(8) as usize, max };
        refused.into_iter().map(|(_, handle, bits)| (handle, too_large(bits))).collect()
    }
}
