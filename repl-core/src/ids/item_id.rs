//! The identity of an item within its collection.
//!
//! *Invariant:* the id of a server's item never equals the id of an item that a client's own code added.

use std::fmt;
use std::num::NonZeroU32;

/// The identity of an item within its collection. The server chooses the id, and no other item of the
/// collection has the same id.
///
/// An id is a number from 1, and each new item gets the next number. An item keeps its id when it moves, so
/// use the id to refer to an item, on the server and on clients. Items that a client's own code adds get ids
/// that no item of the server has.
///
/// ```
/// # use repl_core as repl;
/// use repl::ItemId;
///
/// let id = ItemId::FIRST.next();
/// assert_eq!((id.number(), id.to_string()), (2, "2".to_owned()));
/// assert!(!id.is_local() && ItemId::FIRST_LOCAL.is_local());
/// ```
///
/// With the feature `serde`, an `ItemId` is serialised as its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(NonZeroU32);

impl ItemId {
    /// The first id for items of a server.
    pub const FIRST: Self = Self(NonZeroU32::MIN);
    /// The last id for items of a server. After the last id, the server continues with
    /// [`FIRST`](Self::FIRST).
    pub const LAST: Self = Self::of(u32::MAX >> 1);
    /// The first id for items that a client's own code adds.
    pub const FIRST_LOCAL: Self = Self::of((u32::MAX >> 1) + 1);

    const fn of(number: u32) -> Self {
        match NonZeroU32::new(number) {
            Some(number) => Self(number),
            None => Self::FIRST,
        }
    }

    /// Returns the id with this number. Returns `None` if the number is zero.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Returns the number of the id, which is at least 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// Returns whether a client's own code added the item. The server does not know such an item.
    #[must_use]
    pub const fn is_local(self) -> bool {
        self.0.get() > Self::LAST.0.get()
    }

    /// Returns the next id of the same kind. The two kinds of ids are the ids of the server's items and the
    /// ids of a client's own items. The id after the last id of a kind is the first id of this kind.
    #[must_use]
    pub const fn next(self) -> Self {
        match self.0.checked_add(1) {
            Some(_) if self.0.get() == Self::LAST.0.get() => Self::FIRST,
            Some(next) => Self(next),
            None => Self::FIRST_LOCAL,
        }
    }
}

impl fmt::Debug for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
