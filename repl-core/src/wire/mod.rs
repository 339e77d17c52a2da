//! Updates of objects on the wire: writes changes as bits, and reads bits as changes.
//!
//! *Invariant:* of several forms the shortest is written. The choice of the form depends on the content
//! alone, so the same change has the same bits for every connection (S90).

pub(crate) mod checked;
pub(crate) mod decode;
pub(crate) mod encode;
mod room;

pub use crate::ids::handle_list::{read_handles, write_handles};
pub use crate::ids::reference::{read_guid, write_guid};
