//! [`Derive`]: which of the crate's macros is running.
//!
//! *Invariant:* each variant has the name that users write.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derive {
    Replicated,
    FastArrayItem,
    NetSerialize,
    /// The attribute `#[rpcs]`. It generates an enum of calls. The enum is expanded like a type that derives
    /// `NetSerialize`. The variants are calls, and the fields are their parameters.
    Rpcs,
}

impl Derive {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Replicated => "Replicated",
            Self::FastArrayItem => "FastArrayItem",
            Self::NetSerialize => "NetSerialize",
            Self::Rpcs => "rpcs",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Replicated, Self::FastArrayItem, Self::NetSerialize]
            .into_iter()
            .find(|derive| derive.name() == name)
    }
}
