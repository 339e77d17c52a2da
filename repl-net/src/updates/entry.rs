//! An entry of the queue of updates.
//!
//! *Invariant:* an entry has an object, or tells of a path.

use repl_core::{Layout, ObjectRef};

use super::properties::Properties;
use super::update::UpdateKind;

/// An update of one object, or the same update of several objects with the same generation in consecutive
/// slots.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) tick: u64,
    /// The first object, and how many there are.
    pub(super) objects: (ObjectRef<()>, u32),
    pub(super) what: UpdateKind,
    pub(super) layout: &'static Layout,
    /// The properties that have new values.
    pub(super) properties: Properties,
}
