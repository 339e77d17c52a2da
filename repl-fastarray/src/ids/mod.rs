//! Item ids, for both kinds of arrays: this folder chooses the ids of new items, and has a map from ids to
//! positions.
//!
//! *Invariant:* this module depends neither on the type of the items nor on their order.

mod counter;
mod table;

pub(crate) use counter::IdCounter;
pub(crate) use table::IdTable;
