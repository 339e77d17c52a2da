//! Lists of item ids on the wire, in ascending order. In such a list, the content of an item follows its id.
//!
//! A 1 comes before each id and a 0 ends the list, so an empty list is a single 0. The first id minus one is
//! written as an Exp-Golomb code of order 7. Each further id is written as its distance from the previous id,
//! minus one, also as an Exp-Golomb code. Four bits before the first distance contain the order of the
//! Exp-Golomb code for all distances.
//!
//! *Invariant:* the ids of a list ascend, so no id occurs twice. Reading a list of ids allocates nothing.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::borrow::Borrow;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::ids::guid::Guid;
use crate::ids::identity::{Identity, KeyPass, ReadIds, WriteIds};
use crate::ids::item_id::ItemId;
use crate::ids::ranges::Ranges;

/// The order of the Exp-Golomb code for the first id. The order 7 suits arrays with some hundreds of items,
/// which are the most common arrays.
const FIRST_ORDER: u32 = 7;

/// Which items of a collection an update removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Removals {
    /// The update removes no items.
    #[default]
    None = 0,
    /// The update removes the items in the list that follows.
    Listed = 1,
    /// The update removes all items except the items in the list that follows and the items that this update
    /// adds.
    AllButListed = 2,
    /// The update removes all items except the items that this update adds.
    AllButNew = 3,
}

impl Removals {
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        Ok(match reader.read_bits(2)? {
            0 => Self::None,
            1 => Self::Listed,
            2 => Self::AllButListed,
            _ => Self::AllButNew,
        })
    }
}

pub(crate) struct IdWriter {
    last: Option<ItemId>,
    order: u32,
    written: usize,
}

impl WriteIds<ItemId> for IdWriter {
    fn id(&mut self, &id: &ItemId, writer: &mut BitWriter) -> Option<usize> {
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
        None
    }

    fn end(self, writer: &mut BitWriter) {
        writer.write_flag(false);
    }
}

/// Reads a list of item ids that an [`IdWriter`] wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdReader {
    last: Option<ItemId>,
    order: Option<u32>,
}

impl ReadIds<ItemId> for IdReader {
    fn next(
        &mut self,
        reader: &mut BitReader<'_>,
        _: &mut impl KeyPass,
    ) -> Result<Option<ItemId>, ReadError> {
        self.next_again(reader)
    }

    fn began_at(&self) -> Option<usize> {
        None
    }

    fn next_again(&mut self, reader: &mut BitReader<'_>) -> Result<Option<ItemId>, ReadError> {
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

/// The part of the shape of a collection that only fast arrays have.
#[derive(Clone, Copy)]
pub(crate) struct ItemForm {
    /// Whether the items of the fast array have labels.
    pub(crate) is_ordered: bool,
}

impl Identity for ItemId {
    const IS_KEY: bool = false;

    type Set = Ranges;
    type Form = ItemForm;
    type Writer = IdWriter;
    type Reader = IdReader;

    fn is_ordered(form: &ItemForm) -> bool {
        form.is_ordered
    }

    fn mentions(&self, _: &ItemForm) -> Vec<Guid> {
        Vec::new()
    }

    fn name_assets(&self, _: &ItemForm, _: &mut BitWriter) {}

    fn as_bits(&self) -> Option<BitSlice<'_>> {
        None
    }

    fn steps(&self) -> impl Iterator<Item = u32> + Clone {
        std::iter::once(self.number())
    }

    fn from_steps(path: &[u32]) -> Option<(Self, &[u32])> {
        let (&id, rest) = path.split_first()?;
        Some((Self::new(id)?, rest))
    }

    fn number_of(&self) -> Option<u32> {
        Some(self.number())
    }

    /// Estimates the number of bits of an id. On average, an id takes about log₂ of the mean distance between
    /// ids, plus a few bits.
    fn most_bits(&self, among: &[Self]) -> u64 {
        let (Some(first), Some(last)) = (among.first(), among.last()) else { return 0 };
        let distance = u64::from(last.number().saturating_sub(first.number()));
        let mean = distance.checked_div(among.len() as u64).unwrap_or(0);
        u64::from(mean.saturating_add(1).ilog2()).saturating_add(7)
    }

    fn list(ids: impl Iterator<Item: Borrow<Self>>) -> IdWriter {
        let (mut first, mut last, mut count) = (0, 0, 0);
        for id in ids.map(|id| id.borrow().number()) {
            if count == 0 {
                first = id;
            }
            last = id;
            count = u32::saturating_add(count, 1);
        }
        let mean = u32::saturating_sub(last, first).checked_div(count.max(2).saturating_sub(1)).unwrap_or(0);
        IdWriter { last: None, order: mean.max(1).ilog2().min(15), written: 0 }
    }

    fn list_of_all(ids: &[Self], _: u32, _: &mut BitWriter) -> Result<IdWriter, WriteError> {
        Ok(Self::list(ids.iter()))
    }

    fn read_list(_: &ItemForm) -> IdReader {
        IdReader::default()
    }

    fn read_list_of_all(_: &ItemForm, _: u32, _: &mut BitReader<'_>) -> Result<IdReader, ReadError> {
        Ok(IdReader::default())
    }
}
