//! Lists of item ids on the wire: ascending, each with what is said of its item right behind it.
//!
//! A list is a 0 if it is empty. Else a 1, the first id less one as `eg(7)`, what is said of it; then for each further id a 1, before the second
//! also the order of the distances in four bits, the distance to the id before less one, what is said of it; and a 0 at the end.
//!
//! Invariant: ids ascend, so none stands twice; a list is read as it is walked over and takes no memory.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::{BitReader, BitWriter, ReadError};
use crate::ids::item_id::ItemId;

/// The order in which the first id is written: arrays of some hundred items are the rule.
const FIRST_ORDER: u32 = 7;

/// Which of a collection's items go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departures {
    /// None.
    None = 0,
    /// Those in the list that follows.
    Listed = 1,
    /// All but those in the list that follows, and those that come here.
    AllButListed = 2,
    /// All but those that come here.
    AllButNew = 3,
}

impl Departures {
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        Ok(match reader.read_bits(2)? {
            0 => Self::None,
            1 => Self::Listed,
            2 => Self::AllButListed,
            _ => Self::AllButNew,
        })
    }
}

/// Writes a list of ids.
pub(crate) struct IdWriter {
    last: Option<ItemId>,
    order: u32,
    written: usize,
}

impl IdWriter {
    /// For a list of these ids, which ascend.
    pub(crate) fn of(ids: impl Iterator<Item = ItemId>) -> Self {
        let (mut first, mut last, mut count) = (0, 0, 0);
        for id in ids {
            if count == 0 {
                first = id.number();
            }
            last = id.number();
            count = u32::saturating_add(count, 1);
        }
        let mean = u32::saturating_sub(last, first).checked_div(count.max(2).saturating_sub(1)).unwrap_or(0);
        Self { last: None, order: mean.max(1).ilog2().min(15), written: 0 }
    }

    /// Writes the next id.
    pub(crate) fn id(&mut self, id: ItemId, writer: &mut BitWriter) {
        writer.write_flag(true);
        match self.last {
            None => writer.write_exp_golomb(u64::from(id.number()).saturating_sub(1), FIRST_ORDER),
            Some(last) => {
                debug_assert!(last < id, "ids ascend");
                if self.written == 1 {
                    writer.write_bits(self.order.into(), 4);
                }
                let distance = id.number().saturating_sub(last.number()).saturating_sub(1);
                writer.write_exp_golomb(distance.into(), self.order);
            }
        }
        self.last = Some(id);
        self.written = self.written.saturating_add(1);
    }

    /// Ends the list.
    pub(crate) fn end(self, writer: &mut BitWriter) {
        writer.write_flag(false);
    }
}

/// Reads what an [`IdWriter`] wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdReader {
    last: Option<ItemId>,
    order: Option<u32>,
}

impl IdReader {
    /// The next id; `None` at the end of the list.
    pub(crate) fn next(&mut self, reader: &mut BitReader<'_>) -> Result<Option<ItemId>, ReadError> {
        if !reader.read_flag()? {
            return Ok(None);
        }
        let base = match self.last {
            None => 0,
            Some(last) => last.number(),
        };
        let order = match (self.last, self.order) {
            (None, _) => FIRST_ORDER,
            (Some(_), Some(order)) => order,
            (Some(_), None) => *self.order.insert(reader.read_bits(4)? as u32),
        };
        let gap = u32::try_from(reader.read_exp_golomb(order)?).map_err(|_| ReadError::OutOfRange)?;
        let number = base.checked_add(gap).and_then(|number| number.checked_add(1));
        let id = number.and_then(ItemId::new).filter(|id| !id.is_local()).ok_or(ReadError::OutOfRange)?;
        self.last = Some(id);
        Ok(Some(id))
    }
}
