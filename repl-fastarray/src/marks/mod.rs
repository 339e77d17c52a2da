//! How an array knows which of its items were written to: guards that mark them, and the log that has the
//! marks.
//!
//! *Invariant:* nothing here knows how items are kept; whoever marks one says its id and its place.

mod guard;
mod log;

pub use guard::ItemMut;
pub(crate) use guard::Mark;
pub(crate) use log::{Entry, Log};
