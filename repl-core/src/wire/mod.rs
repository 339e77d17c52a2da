//! Changes of an object as bits, and bits as changes of an object.
//!
//! *Invariant:* what is written is the shortest of the forms on offer, chosen by the content alone, so that
//! the same change has the same bits for every connection (S90).

pub(crate) mod checked;
pub(crate) mod decode;
pub(crate) mod encode;
mod room;

pub use crate::ids::handle_list::{read_handles, write_handles};
pub use crate::ids::reference::{read_guid, write_guid};
