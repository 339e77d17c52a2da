//! The identity of an item within its collection.
//!
//! *Invariant:* ids that a server gives and ids that a client gives to items of its own are never equal.

use std::fmt;
use std::num::NonZeroU32;

/// The identity of an item within its collection, given by the server and never on another item.
///
/// It is a number from 1, counted up as items come, and stays with its item wherever that moves: the right thing to remember an item by, on
/// either side. A client gives items that it adds by itself identities apart, which the server never gives (S183).
///
/// ```
/// use repl_core::ItemId;
///
/// let id = ItemId::FIRST.next();
/// assert_eq!((id.number(), id.to_string()), (2, "2".to_owned()));
/// assert!(!id.is_local() && ItemId::FIRST_LOCAL.is_local());
/// ```
///
/// With the feature `serde` it is written and read as its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(NonZeroU32);

impl ItemId {
    /// The first id that a server gives.
    pub const FIRST: Self = Self(NonZeroU32::MIN);
    /// The last id that a server gives; the next is [`FIRST`](Self::FIRST) again.
    pub const LAST: Self = Self::of(u32::MAX >> 1);
    /// The first id that a client gives to an item of its own.
    pub const FIRST_LOCAL: Self = Self::of((u32::MAX >> 1) + 1);

    const fn of(number: u32) -> Self {
        match NonZeroU32::new(number) {
            Some(number) => Self(number),
            None => Self::FIRST,
        }
    }

    /// The id with this number, if it is one: not zero.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// Whether a client gave it to an item that the server does not know.
    #[must_use]
    pub const fn is_local(self) -> bool {
        self.0.get() > Self::LAST.0.get()
    }

    /// The id after this one, among those of its kind; after the last comes the first again.
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
