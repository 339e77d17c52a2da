//! How large an item of a collection may be, or an entry of a map: those travel in as many parts as it takes,
//! but each of them whole.
//!
//! *Invariant:* what the comparison takes over of an item has room in an object by itself.

use super::scale::{HEAD_BITS, KEYED_HEAD_BITS, Scale, fit, most_element_bits};
use crate::bits::WriteError;
use crate::ids::handles::HandleSet;
use crate::object::equality::{Answer, differs};
use crate::object::level::{Level, Slot};
use crate::schema::program::{CommandKind, Program};

/// What is known of the sizes of the items and entries of a class.
#[derive(Debug, Default)]
pub(crate) struct ItemSizes {
    /// The most that one may take.
    max_bits: u64,
    /// The tables of those that could take more, ascending.
    wide: Vec<u32>,
}

/// What is to be done with the properties of an item.
pub(crate) struct Survey {
    /// Those that may have changed, and have room.
    pub(crate) open: HandleSet,
    /// Those that have none.
    pub(crate) refused: Vec<(u32, WriteError)>,
}

impl ItemSizes {
    /// For objects of at most `max_bits`.
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

    /// What of an item or a value, by its `table`, is to be compared with its shadow, and what would make it
    /// too large; `None` where nothing can. O(item) if something that varies in size has changed.
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

    /// The handles that must stay as they are in the shadow, with what is wrong with them.
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
