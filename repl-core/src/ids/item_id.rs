//! The identity of an item within its collection.
//!
//! *Invariant:* an id that a server gives never equals an id that a client gives to an item of its own.

use std::fmt;
use std::num::NonZeroU32;

/// The identity of an item within its collection. The server gives it, and no other item of the collection
/// has it.
///
/// It is a number from 1, and each new item gets the next one. An item keeps its id wherever it moves, so use
/// the id to remember an item, on server and client. Items that a client adds by itself get ids that the
/// server never gives (S183).
///
/// ```
/// use repl_core::ItemId;
///
/// let id = ItemId::FIRST.next();
/// assert_eq!((id.number(), id.to_string()), (2, "2".to_owned()));
/// assert!(!id.is_local() && ItemId::FIRST_LOCAL.is_local());
/// ```
///
/// With the feature `serde`, an id is serialised as its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(NonZeroU32);

impl ItemId {
    /// The first id that a server gives.
    pub const FIRST: Self = Self(NonZeroU32::MIN);
    /// The last id that a server gives. After the last id, [`FIRST`](Self::FIRST) comes again.
    pub const LAST: Self = Self::of(u32::MAX >> 1);
    /// The first id that a client gives to an item of its own.
    pub const FIRST_LOCAL: Self = Self::of((u32::MAX >> 1) + 1);

    const fn of(number: u32) -> Self {
        match NonZeroU32::new(number) {
            Some(number) => Self(number),
            None => Self::FIRST,
        }
    }

    /// Returns the id with this number. `None` for zero.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Returns the number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// Returns whether a client gave this id to an item that the server does not know.
    #[must_use]
    pub const fn is_local(self) -> bool {
        self.0.get() > Self::LAST.0.get()
    }

    /// Returns the next id of the same kind: of a server's or of a client's ids. After the last id of a kind,
    /// the first comes again.
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
