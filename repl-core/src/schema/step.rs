//! Steps and received changes. A step is a change of an element of a live collection, which a shadow follows.
//! A received change is the effect of an update on an element of a client's replica.
//!
//! *Invariant:* neither of the two depends on the type of the collection.

use crate::ids::handles::HandleSet;
use crate::ids::label::Label;

/// The change of an element since the shadow last followed its collection. `L` is the live element, and `S`
/// the element of the shadow.
#[derive(Debug)]
pub enum Step<L, S> {
    /// The element is new. The shadow has an initial element for it.
    Added {
        /// The live element.
        live: L,
        /// The element of the shadow.
        shadow: S,
    },
    /// The element was touched, and may have changed.
    Touched {
        /// The live element.
        live: L,
        /// The element of the shadow.
        shadow: S,
        /// Whether the element has another label. The shadow has this label already.
        moved: bool,
    },
    /// The element was removed from the live collection and from the shadow.
    Removed,
}

/// The effect of an update on an element of a replica.
#[derive(Clone, Debug)]
pub enum ReceivedChange<'a> {
    /// The element was added, and has its values.
    Added,
    /// The element stays, although the update removes all elements that it does not name.
    Spared,
    /// The properties with these handles changed.
    Changed(&'a HandleSet),
    /// The element has this label now.
    Moved(Label),
    /// The element is removed.
    Removed,
}

impl<L, S> Step<L, S> {
    /// Returns the same step with both elements converted.
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
