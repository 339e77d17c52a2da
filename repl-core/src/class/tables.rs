//! The tables of a class: all data about an object type that does not depend on its Rust type.
//!
//! *Invariant:* nothing here is generic over the object type. So the compiler generates the functions over
//! the tables once, and not for each class.

use crate::changes::changelist::{ArrayChanges, ElementChanges, Growing, Nested};
use crate::diff::sizes::Sizes;
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::schema::command::{Collected, Command, CommandKind};
use crate::schema::condition_masks::ConditionMasks;
use crate::schema::program::Program;

pub(super) struct Tables {
    pub(super) program: Program,
    pub(super) conditions: ConditionMasks,
    /// The handles of arrays, of fast arrays and of maps. Each of the three sets has the change that sends
    /// such a property whole.
    pub(super) growing: [Growing; 3],
    /// Whether there are handles in [`growing`](Self::growing).
    pub(super) has_arrays: bool,
    /// Whether objects contain a fast array at any depth.
    pub(super) holds_items: bool,
    pub(super) lends_arrays: bool,
    pub(super) lends_entries: bool,
    pub(super) sizes: Sizes,
    /// The handles of properties that are sent as differences.
    pub(super) deltas: HandleSet,
}

impl Tables {
    /// Returns the tables of a class with this program. `plan_overflows` says whether all properties must be
    /// compared by their commands in the program.
    pub(super) fn new(mut program: Program, plan_overflows: bool) -> Self {
        program.join_leaves();
        let conditions = ConditionMasks::new(&program, plan_overflows);
        let handles = || 1..=program.handles();
        let (arrays, items, entries): (HandleSet, HandleSet, HandleSet) = (
            handles().filter(|&handle| program.is_array(handle)).collect(),
            handles().filter(|&handle| program.is_collection::<ItemId>(handle)).collect(),
            handles().filter(|&handle| program.is_collection::<KeyBits>(handle)).collect(),
        );
        let growing: [Growing; 3] = [
            (arrays, || Nested::Array(ArrayChanges::whole())),
            (items, || ElementChanges::<ItemId>::whole().into()),
            (entries, || ElementChanges::<KeyBits>::whole().into()),
        ];
        let holds_items = program.collections::<ItemId>().next().is_some();
        Self {
            conditions,
            has_arrays: growing.iter().any(|(handles, _)| !handles.is_empty()),
            growing,
            holds_items,
            lends_arrays: lends::<ItemId>(&program),
            lends_entries: lends::<KeyBits>(&program),
            sizes: Sizes::of(&program),
            deltas: handles().filter(|&handle| program.has_deltas(handle)).collect(),
            program,
        }
    }
}

/// Returns whether callbacks of elements receive elements that contain arrays or collections.
fn lends<I: Collected>(program: &Program) -> bool {
    let is_leaf = |command: &Command| matches!(command.kind, CommandKind::Leaf(_) | CommandKind::Return);
    program.collections::<I>().any(|collection| {
        let inner = program.commands().get(collection.first as usize..collection.end as usize);
        collection.shape.has_callbacks && !inner.unwrap_or_default().iter().all(is_leaf)
    })
}
