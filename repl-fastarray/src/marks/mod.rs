//! Tracks the changes of arrays with guards that mark an item when it is written to, and with a log that
//! stores these marks.
//!
//! *Invariant:* this module does not depend on how an array stores items. The module sees only the ids and
//! positions of items.

mod guard;
mod item_log;
mod log;

pub use guard::ItemMut;
pub(crate) use guard::Mark;
pub(crate) use item_log::{ItemChange, ItemLog};
pub(crate) use log::{FollowedRevision, Log};
