//! Updates of objects on the wire: this folder writes changes as bits, and reads changes from bits.
//!
//! *Invariant:* if a value has several wire forms, the shortest form is written. The choice of the wire form
//! depends only on the content, so the same change has the same bits for every connection (S90).

pub(crate) mod checked;
pub(crate) mod decode;
pub(crate) mod encode;
mod room;
mod survey;

pub use crate::ids::handle_list::{read_handles, write_handles};
pub use crate::ids::reference::{read_guid, write_guid};
