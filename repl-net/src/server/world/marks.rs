//! The objects that the next comparison of the world checks.
//!
//! *Invariant:* an object that may have changed since its last comparison is in one of the sets here, waits
//! in the schedule or for the end of its pause, or has a class that is marked in `polled`.

use crate::body::slot_set::SlotSet;
#[cfg(feature = "rayon")]
use crate::server::by_class::ByClass;
use crate::server::left_over::LeftOver;

#[derive(Default)]
pub(crate) struct Marks {
    /// Objects that may have changed since the last tick.
    pub(super) dirty: SlotSet,
    /// Objects that were due in earlier ticks, and were not compared because the ticks had no time.
    pub(crate) left_over: LeftOver,
    /// Objects with values that their last comparison refused.
    pub(super) refusing: SlotSet,
    /// For each class, whether the user has borrowed all objects mutably, so that any of them may have
    /// changed.
    pub(super) polled: Vec<bool>,
    /// Objects that some connection sends to its client for the first time in this tick.
    pub(super) opening: SlotSet,
    /// Objects that some connection opens again (sends whole) if they change. If such an object changes, it
    /// is compared in the same way as before an opening.
    pub(super) reopening: SlotSet,
    /// Objects that were spawned since the last tick. The next tick compares them, even if their rates are
    /// slower.
    pub(super) newborn: SlotSet,
    /// Objects whose default view changed since the last tick, or that were removed.
    pub(crate) view_changed: SlotSet,
    /// Whether any connection must decide again in this tick which objects it sees.
    pub(crate) undecided: bool,
    /// Objects that were torn off since the last tick.
    pub(super) tearing_off: Vec<u32>,
    /// During a comparison: the objects that may have changed. The queue is empty between two calls of
    /// `compare`.
    pub(super) queue: Vec<u32>,
    /// The greatest number of objects that were in the queue in a tick of this round.
    pub(super) most_queued: usize,
    /// The slots and rows of the objects with positions that were compared last and changed. The list is
    /// empty between two calls of `compare`.
    pub(super) changed_rows: Vec<(u32, u32)>,
    /// For each class, the objects that are compared in parallel with objects of other classes.
    #[cfg(feature = "rayon")]
    pub(super) by_class: ByClass,
}
