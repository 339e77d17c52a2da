//! Keyed collections: their items have ids, and are compared, written and read one by one.
//!
//! *Invariant:* an id identifies one item, however the item moves. These traits do not depend on where an
//! item is stored.

use crate::ids::item_id::ItemId;
use crate::ids::label::Label;
use crate::schema::property::Property;
use crate::schema::step::{ReceivedChange, Step};

/// A function that is called for each item, with the id and the step of the item.
pub(crate) type Visit<'v, I> = &'v mut dyn FnMut(ItemId, Step<&I, &mut I>);

/// A collection of items with ids, such as a fast array. The trait has the functions that `repl-core` needs.
/// `repl-fastarray` implements the trait.
///
/// One type has three roles. A *live* collection belongs to the server: user code adds, changes and removes
/// items, and the collection records the touched items. A *shadow* follows a live collection, item by item. A
/// *replica* belongs to a client: items are added, changed and removed by id, and callbacks run when the
/// update ends.
pub trait Keyed: Property {
    /// The type of the items.
    type Item: Property;

    /// Whether the items have callbacks. If the items have no callbacks, their old values are not computed.
    const HAS_CALLBACKS: bool;

    /// Whether items have an order, which is sent as labels (R13).
    const ORDERED: bool = false;

    /// Returns the number of items, including those that are marked for removal.
    fn len(&self) -> usize;

    /// Returns whether the collection is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item `id`. O(1).
    fn item(&self, id: ItemId) -> Option<&Self::Item>;

    /// Returns the item `id`, without recording that it is touched. O(1).
    fn item_mut(&mut self, id: ItemId) -> Option<&mut Self::Item>;

    /// Returns the label of the item `id` of an ordered collection.
    fn label(&self, id: ItemId) -> Option<&Label> {
        let _ = id;
        None
    }

    /// Calls `each` with every id, in no particular order.
    fn ids(&self, each: &mut dyn FnMut(ItemId));

    /// Gives the items of a live collection the ids that the same items have in the shadow. O(1) if the ids
    /// are equal already, otherwise O(items).
    fn renumber(&mut self);
}

/// The functions that `repl-core` needs of a shadow, which follows a live collection.
pub trait KeyedShadow: Keyed {
    /// Returns whether this shadow has all changes of `live`. O(1).
    fn is_up_to_date(&self, live: &Self) -> bool;

    /// Gives this shadow the items of `live`. Calls `visit` with each item that was touched since the last
    /// time; `visit` copies the values that differ. O(items touched), or O(items) if the shadow followed
    /// another collection before.
    ///
    /// Returns whether `live` must be [renumbered](Keyed::renumber) before it is used again: it has taken the
    /// place of another collection, and its items get other ids.
    fn follow(&mut self, live: &Self, visit: Visit<'_, Self::Item>) -> bool;

    /// Removes the item `id` from this shadow again. The item was just [added](Step::Added), but a value in
    /// it has no wire form. The item is added again when the live item is touched. Does nothing if the shadow
    /// does not have the item. O(1), or O(log n) if the collection is ordered.
    fn remove_unsendable(&mut self, id: ItemId);

    /// Gives this collection the ids of `other`, in the same order. Calls `copy` with each item of `other`
    /// and the item of this collection with the same id.
    fn copy_from(&mut self, other: &Self, copy: &mut dyn FnMut(&Self::Item, &mut Self::Item));
}

/// The functions that `repl-core` needs of a client's replica, which is updated item by item.
pub trait KeyedReplica: Keyed {
    /// Makes this a replica: items that its user adds from now on get local ids.
    fn become_replica(&mut self);

    /// Makes this a replica if it is not one yet. In that case the user of a client has assigned it over a
    /// replica, so all its items get local ids (S183). O(1), or O(items) in that case.
    fn own(&mut self);

    /// Returns the item `id` of a replica, which is new or is sent whole again. Inserts an initial item if
    /// there is none.
    fn received_whole(&mut self, id: ItemId) -> &mut Self::Item;

    /// Records the change of the item `id`. Does nothing if there is no such item.
    fn receive(&mut self, id: ItemId, change: ReceivedChange<'_>);

    /// Marks all items of the server for removal, except those that are received or spared after this call.
    fn received_sweep(&mut self);

    /// Calls `each` with the ids of the items of a replica that are marked for removal.
    fn marked_for_removal(&self, each: &mut dyn FnMut(ItemId));

    /// Calls `each` with the items of a replica that were added or changed since the last
    /// [`conclude`](Self::conclude).
    fn received(&mut self, each: &mut dyn FnMut(&mut Self::Item));

    /// Returns whether any item was added, changed or marked for removal since the last
    /// [`conclude`](Self::conclude). O(1), or O(items) after a sweep.
    fn has_received_changes(&self) -> bool;

    /// Ends an update of a replica: calls the callbacks if `with_callbacks`, and removes the marked items.
    fn conclude(&mut self, with_callbacks: bool);
}

/// Hints to the processor's cache.
pub trait Preload: Keyed {
    /// Loads the item `id` into the cache, because it will be needed soon. An implementation may do nothing.
    /// O(1).
    fn preload(&self, _: ItemId) {}
}
