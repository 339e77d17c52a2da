//! Item ids, for both kinds of arrays: the choice of the next id, and a map from ids to positions.
//!
//! *Invariant:* this module depends neither on the type of the items nor on their order.

mod table;
mod unused;

pub(crate) use table::IdTable;
pub(crate) use unused::Ids;
