//! Lists of item ids on the wire, in ascending order. What is written about an item follows its id.
//!
//! A 1 comes before each id and a 0 ends the list, so an empty list is a single 0. The first id less one is
//! written as an Exp-Golomb code of order 7. Each further id is written as its distance from the id before,
//! less one, also as an Exp-Golomb code. The order of the distances stands in four bits before the first of
//! them.
//!
//! *Invariant:* ids ascend, so no id occurs twice. Reading a list allocates nothing.
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

/// The order of the code for the first id. It suits arrays with some hundreds of items, which are the most
/// common.
const FIRST_ORDER: u32 = 7;

/// Which items of a collection an update removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departures {
    /// No item.
    None = 0,
    /// The items in the list that follows.
    Listed = 1,
    /// All items except those in the list that follows and those that this update adds.
    AllButListed = 2,
    /// All items except those that this update adds.
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
    /// Prepares to write these ids, which must ascend.
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
    /// Reads the next id. Returns `None` at the end of the list.
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
