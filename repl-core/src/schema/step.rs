//! Steps of comparisons and received changes. A [`Step`] says what happened to one element of a live
//! collection since the shadow was last updated. A [`ReceivedChange`] says what an update did to an element
//! of a client's replica.
//!
//! *Invariant:* steps and received changes do not depend on the type of the collection.

use crate::ids::handles::HandleSet;
use crate::ids::label::Label;

/// The change of an element since the shadow was last updated from its live collection. `L` is the type of
/// the live element, and `S` the element of the shadow.
#[derive(Debug)]
pub enum Step<L, S> {
    /// The element is new in the live collection. The shadow already has an element with initial values for
    /// the new element.
    Added {
        /// The element in the live collection.
        live: L,
        /// The element in the shadow.
        shadow: S,
    },
    /// The element was written to, and may have changed.
    Touched {
        /// The element in the live collection.
        live: L,
        /// The element in the shadow.
        shadow: S,
        /// Whether the element has another label (position) than before. The shadow already has the new
        /// label.
        moved: bool,
    },
    /// The element was removed from the live collection and from the shadow.
    Removed,
}

/// What an update did to an element of a client's replica.
#[derive(Clone, Debug)]
pub enum ReceivedChange<'a> {
    /// The element was added, and its properties have been set.
    Added,
    /// The element remains, although the update removes all elements that it does not list.
    Spared,
    /// The properties with these handles, which belong to the element, changed.
    Changed(&'a HandleSet),
    /// The element now has this label (position).
    Moved(Label),
    /// The element was removed.
    Removed,
}

impl<L, S> Step<L, S> {
    pub(crate) fn map<M, T>(
        self,
        of_live: impl FnOnce(L) -> M,
        of_shadow: impl FnOnce(S) -> T,
    ) -> Step<M, T> {
        match self {
            Self::Added { live, shadow } => Step::Added { live: of_live(live), shadow: of_shadow(shadow) },
            Self::Touched { live, shadow, moved } => {
                Step::Touched { live: of_live(live), shadow: of_shadow(shadow), moved }
            }
            Self::Removed => Step::Removed,
        }
    }
}
