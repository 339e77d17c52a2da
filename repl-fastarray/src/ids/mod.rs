//! Item ids, for both kinds of arrays: the counter that chooses the ids of new items, and a map from ids to
//! positions.
//!
//! *Invariant:* this module depends neither on the type of the items nor on their order.

mod counter;
mod table;

pub(crate) use counter::IdCounter;
pub(crate) use table::IdTable;
