//! Steps and news: what happened to one element of a collection, as a shadow and as a replica hear of it.
//!
//! *Invariant:* neither names the type of the collection.

use crate::ids::handles::HandleSet;
use crate::ids::label::Label;

/// What happened to an element since a shadow last followed its collection. `L` is the live element, `S` is
/// the shadow's.
#[derive(Debug)]
pub enum Step<L, S> {
    /// It is new. The shadow has an initial one in its place.
    Added {
        /// The element.
        live: L,
        /// Its shadow.
        shadow: S,
    },
    /// It was touched, and may have changed.
    Touched {
        /// The element.
        live: L,
        /// Its shadow.
        shadow: S,
        /// Whether it has another label. The shadow has that label already.
        moved: bool,
    },
    /// It was removed, from the live collection and from the shadow.
    Removed,
}

/// What an update says of an element of a replica.
#[derive(Clone, Debug)]
pub enum News<'a> {
    /// It was added, and has its values.
    Added,
    /// It stays.
    Spared,
    /// The properties with these handles changed.
    Changed(&'a HandleSet),
    /// It has this label now.
    Moved(Label),
    /// It is removed.
    Removed,
}

impl<L, S> Step<L, S> {
    /// Converts both elements.
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
