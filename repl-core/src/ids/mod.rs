//! Identities: handles of properties, ids of items, keys of map entries, labels of positions, references to
//! objects.
//!
//! *Invariant:* this folder does not depend on the layout of a type.

pub(crate) mod asset;
pub(crate) mod delta_base;
pub(crate) mod epoch;
pub(crate) mod guid;
pub(crate) mod handle_list;
pub(crate) mod handles;
pub(crate) mod identity;
pub(crate) mod item_id;
pub(crate) mod item_list;
pub(crate) mod key;
pub(crate) mod key_list;
pub(crate) mod key_set;
pub mod label;
pub(crate) mod property_index;
pub(crate) mod ranges;
pub(crate) mod reference;
