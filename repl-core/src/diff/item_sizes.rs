//! How large an item of a collection or an entry of a map may be. A collection is sent in as many parts as
//! needed, but each item is sent whole.
//!
//! *Invariant:* an item in a shadow is never larger than an object may be.

use super::scale::{HEAD_BITS, KEYED_HEAD_BITS, Scale, fit, most_element_bits};
use crate::bits::WriteError;
use crate::ids::handles::HandleSet;
use crate::object::equality::{Answer, differs};
use crate::object::level::{Level, Slot};
use crate::schema::program::{CommandKind, Program};

/// The size limit of the items and entries of a class.
#[derive(Debug, Default)]
pub(crate) struct ItemSizes {
    /// The greatest number of bits that an item or an entry may take.
    max_bits: u64,
    /// The tables of the items and entries that could take more, ascending.
    wide: Vec<u32>,
}

/// The properties of an item to compare, and those to refuse.
pub(crate) struct Survey {
    /// The properties that may have changed, and for which there is room.
    pub(crate) open: HandleSet,
    /// The properties for which there is no room, each with its error.
    pub(crate) refused: Vec<(u32, WriteError)>,
}

impl ItemSizes {
    /// Returns the limit for objects of at most `max_bits`.
    pub(crate) fn within(max_bits: u64, program: &Program) -> Self {
        let max_bits = max_bits.saturating_sub(HEAD_BITS + KEYED_HEAD_BITS + u64::from(program.handles()));
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

    /// Returns which properties of an item or a value to compare with its shadow, and which would make it too
    /// large. `table` is the table of the item or value. Returns `None` if no value of this table can be too
    /// large. O(item) if a property of varying size changed.
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

    /// Returns the handles that must not change in the shadow, with the errors.
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
