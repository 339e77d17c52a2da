//! What both kinds of arrays keep of ids: which comes next, and what is known of each.
//!
//! *Invariant:* nothing here knows what an item is, or in which order items stand.

mod table;
mod unused;

pub(crate) use table::IdTable;
pub(crate) use unused::Ids;
