//! Keyed collections: items with identities of their own, which are compared, written and read one by one.
//!
//! Invariant: an id names one item for as long as the collection lives; what is at hand here is what is replicated of an item, not where it
//! stands.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;

use crate::handles::HandleSet;
use crate::label::Label;
use crate::layout::{Layout, count};
use crate::property::Property;
use crate::property_index::PropertyIndex;
use crate::shape::Field;

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

/// What became of an item since a shadow last followed its collection.
#[derive(Debug)]
pub enum Step<'a, I> {
    /// It is new; the shadow has an initial one in its place.
    Added {
        /// The item.
        live: &'a I,
        /// Its shadow.
        shadow: &'a mut I,
    },
    /// It was touched, and perhaps changed.
    Touched {
        /// The item.
        live: &'a I,
        /// Its shadow.
        shadow: &'a mut I,
        /// Whether it has another label; the shadow has taken that over.
        moved: bool,
    },
    /// It is no more, here and in the shadow.
    Removed,
}

/// A collection of identified items: what core asks of it. `repl-fastarray` has them.
///
/// One type plays three parts. A *live* collection is a server's: whoever uses it adds, changes and removes, and it notes what was touched. A
/// *shadow* follows it, item by item. A *replica* is a client's: items come, change and go by id, and what came of that is told at the end.
pub trait Keyed: Property {
    /// The items.
    type Item: Property;

    /// Whether anybody is told what came of an update; if not, nobody works out what an item had before.
    const HAS_CALLBACKS: bool;

    /// Whether items have places among each other, which travel as labels (R13).
    const ORDERED: bool = false;

    /// How many items there are, those included that are about to go.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item `id` will be asked for soon: a hint, which may do nothing. O(1).
    fn preload(&self, id: ItemId) {
        let _ = id;
    }

    /// The item `id`. O(1).
    fn item(&self, id: ItemId) -> Option<&Self::Item>;

    /// The item `id`, without noting that it is touched. O(1).
    fn item_mut(&mut self, id: ItemId) -> Option<&mut Self::Item>;

    /// Where the item `id` of an ordered collection stands.
    fn label(&self, id: ItemId) -> Option<&Label> {
        let _ = id;
        None
    }

    /// Calls `each` with every id, in no particular order.
    fn ids(&self, each: &mut dyn FnMut(ItemId));

    /// Whether this, a shadow, lacks nothing of `live`. O(1).
    fn is_abreast(&self, live: &Self) -> bool;

    /// Makes this, a shadow, have the items that `live` has, and tells `visit` of each that was touched since it last did. Copying what differs of an
    /// item is left to `visit`. O(items touched), O(items) if the shadow followed another collection before.
    ///
    /// Returns whether `live` is to be [settled](Self::settle) before it is used again: it has taken the place of another collection, and its items
    /// get other ids than those that were given there.
    fn follow(&mut self, live: &Self, visit: &mut dyn FnMut(ItemId, Step<'_, Self::Item>)) -> bool;

    /// Takes the item `id`, which was just [added](Step::Added), out of this shadow again: a value in it has
    /// no form. It counts as followed, and is added anew when it is touched. Nothing if it is not there.
    /// O(1), O(log n) if the collection is ordered.
    fn hold_back(&mut self, id: ItemId);

    /// Gives the items of a live collection the ids under which a shadow has followed them, if they are others. O(1) if not, else O(items).
    fn settle(&mut self);

    /// Makes this have the ids that `other` has, in its order, calling `copy` with each item of `other` and the one that stands for it here.
    fn copy_from(&mut self, other: &Self, copy: &mut dyn FnMut(&Self::Item, &mut Self::Item));

    /// From now on this is a replica: the items that its user adds are local.
    fn become_replica(&mut self);

    /// Makes this a replica if it is none. Then a client's user has put it where a replica was, and all its items get local ids (S183). O(1), but
    /// O(items) then.
    fn own(&mut self);

    /// The item `id` of a replica, which came into being or is sent whole again: a new initial one if it is not there.
    fn received_whole(&mut self, id: ItemId) -> &mut Self::Item;

    /// The item `id` of an ordered replica stands at `label` from now on; nothing if it is not there.
    fn received_label(&mut self, id: ItemId, label: Label) {
        let _ = (id, label);
    }

    /// The properties of `handles` of the item `id` of a replica have other values than before the update. Handles are counted from one.
    fn received_change(&mut self, id: ItemId, handles: &HandleSet);

    /// The item `id` of a replica is to go; nothing if it is not there.
    fn received_removal(&mut self, id: ItemId);

    /// All items that the server gave are to go, but for those that are received or spared after this.
    fn received_sweep(&mut self);

    /// The item `id` of a replica stays.
    fn received_sparing(&mut self, id: ItemId);

    /// Calls `each` with the ids of the items of a replica that are to go.
    fn departing(&self, each: &mut dyn FnMut(ItemId));

    /// Calls `each` with the items of a replica that came or changed since the last [`conclude`](Self::conclude).
    fn received(&mut self, each: &mut dyn FnMut(&mut Self::Item));

    /// Whether anything came, changed or is to go since the last [`conclude`](Self::conclude). O(1), but O(items) after a sweep.
    fn has_news(&self) -> bool;

    /// Ends an update of a replica: calls the user's code, if `with_callbacks`, and takes out what is to go.
    fn conclude(&mut self, with_callbacks: bool);
}

impl Layout {
    /// The handles of a property at the object's or item's own level, counted from one. O(properties).
    #[must_use]
    pub fn handles_of(&self, property: PropertyIndex) -> Range<u32> {
        let handles = |fields: &[Field]| {
            fields.iter().map(|field| count(field.formatted()).handles as u32).sum::<u32>()
        };
        let first = 1 + handles(self.fields.get(..property.index()).unwrap_or_default());
        first..first + handles(self.fields.get(property.index()..=property.index()).unwrap_or_default())
    }
}
