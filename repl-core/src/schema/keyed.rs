//! Keyed collections: items with identities of their own, which are compared, written and read one by one.
//!
//! Invariant: an id names one item for as long as the collection lives; what is at hand here is what is replicated of an item, not where it
//! stands.

use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::label::Label;
use crate::schema::property::Property;

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
