//! Item ids, as both kinds of arrays use them: which id is free next, and a map from ids to places.
//!
//! *Invariant:* this module depends neither on the type of the items nor on their order.

mod table;
mod unused;

pub(crate) use table::IdTable;
pub(crate) use unused::Ids;
