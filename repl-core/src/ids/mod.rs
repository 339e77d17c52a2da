//! What names things: handles of properties, ids of items, keys of entries, labels of places, references to objects.
//!
//! *Invariant:* nothing here knows what a type looks like.

pub(crate) mod handle_list;
pub(crate) mod handles;
pub(crate) mod item_id;
pub(crate) mod item_list;
pub(crate) mod key;
pub mod label;
pub(crate) mod property_index;
pub(crate) mod ranges;
pub(crate) mod reference;
