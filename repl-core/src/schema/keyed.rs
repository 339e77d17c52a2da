//! Keyed collections: collections whose items have ids, and are compared, written and read one by one.
//!
//! *Invariant:* an item keeps its id wherever it moves in the collection. The traits in this file do not
//! depend on where an item is stored.

use crate::ids::item_id::ItemId;
use crate::ids::label::Label;
use crate::schema::property::Property;
use crate::schema::step::{ReceivedChange, Step};

/// A function that is called for each item, with the id of the item and the step that the comparison takes
/// for it.
pub(crate) type Visit<'v, I> = &'v mut dyn FnMut(ItemId, Step<&I, &mut I>);

/// A collection of items with ids, such as a fast array. The crate `repl-fastarray` implements this trait.
///
/// One type of collection has three roles. A *live* collection belongs to the server: user code adds, changes
/// and removes items, and the collection records which items were written to. A *shadow* is updated from a
/// live collection, item by item. A *replica* belongs to a client: items are added, changed and removed by
/// id, and callbacks run when the update ends.
pub trait Keyed: Property {
    /// The type of the items.
    type Item: Property;

    /// Whether the items have callbacks. If items have no callbacks and their field has no notify, the
    /// library does not find out which properties of an item changed.
    const HAS_CALLBACKS: bool;

    /// Whether items have an order, which is sent as labels (R13).
    const ORDERED: bool = false;

    /// Returns the number of items, including those that are marked for removal.
    fn len(&self) -> usize;

    /// Returns whether the collection is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the item with the id `id`. Costs O(1).
    fn item(&self, id: ItemId) -> Option<&Self::Item>;

    /// Returns a mutable reference to the item `id`, without recording that the item was written to. Costs
    /// O(1).
    fn item_mut(&mut self, id: ItemId) -> Option<&mut Self::Item>;

    /// Returns the label of the item `id` of an ordered collection.
    fn label(&self, id: ItemId) -> Option<&Label> {
        let _ = id;
        None
    }

    /// Calls `each` with the id of every item, in no particular order.
    fn ids(&self, each: &mut dyn FnMut(ItemId));

    /// Gives the items of a live collection the ids that the same items have in the shadow. Costs O(1) if the
    /// ids are equal already, and otherwise O(items).
    fn renumber(&mut self);
}

/// The functions that `repl-core` needs of a shadow, which is updated from a live collection.
pub trait KeyedShadow: Keyed {
    /// Returns whether this shadow already has all changes of `live`. Costs O(1).
    fn is_up_to_date(&self, live: &Self) -> bool;

    /// Makes this shadow have the same items as the live collection `live`. `follow` calls `visit` with each
    /// item that was written to since the last call. The function `visit` copies the values that differ to
    /// the shadow. Costs O(items written to), or O(items) if the last call passed another collection.
    ///
    /// Returns whether `live` must be [renumbered](Keyed::renumber) before it is used again. This is true if
    /// `live` has replaced another collection, because its items must then get the ids of the shadow.
    fn follow(&mut self, live: &Self, visit: Visit<'_, Self::Item>) -> bool;

    /// Removes the item `id` from this shadow again. The item to remove was just [added](Step::Added), but a
    /// value in it has no wire form. The removed item is added again when the live item is written to. Does
    /// nothing if the shadow does not have the item. Costs O(1), or O(log n) if the collection is ordered.
    fn remove_unsendable(&mut self, id: ItemId);

    /// Makes this collection have items with the ids of `other`, in the same order. Calls `copy` with each
    /// item of `other` and with the item of this collection that has the same id.
    fn copy_from(&mut self, other: &Self, copy: &mut dyn FnMut(&Self::Item, &mut Self::Item));

    /// Returns the items of a client's replica `live` that its user has written to, added, moved or removed
    /// since this collection last [followed its edits](Self::follow_edits). The list may also contain other
    /// items, and may contain an item several times. Returns `None` if this is not known, for example because
    /// the user has assigned another collection. Costs O(items in the list).
    fn edits(&self, live: &Self) -> Option<Vec<ItemId>>;

    /// Records that this collection has the same items as the client's replica `live`, except local items.
    /// This collection is the copy of the items that the server sent. From the first call on, `live` records
    /// which items its user writes to. Costs O(1).
    fn follow_edits(&mut self, live: &Self);
}

/// The functions that `repl-core` needs of a client's replica, which is updated item by item.
pub trait KeyedReplica: Keyed {
    /// Marks this collection as a client's replica: items that its user adds from now on get local ids.
    fn become_replica(&mut self);

    /// Returns whether this collection is a client's replica.
    fn is_replica(&self) -> bool;

    /// Marks this collection as a client's replica if it is not one yet. If this collection is not a replica,
    /// client code has assigned it to the property in place of the replica. Then all its items are removed.
    /// Costs O(1), or O(items) if the collection was not a replica.
    fn own(&mut self);

    /// Removes all items that the user of the client has added. Costs O(items).
    fn remove_local(&mut self);

    /// Returns the item `id` of a client's replica, to receive an item that is new or is sent whole again.
    /// Inserts an item with initial values if the replica has no item `id`.
    fn received_whole(&mut self, id: ItemId) -> &mut Self::Item;

    /// Records a change of the item `id` in a client's replica. Does nothing if the replica has no item `id`.
    fn receive(&mut self, id: ItemId, change: ReceivedChange<'_>);

    /// Marks for removal all items that came from the server, except those for which
    /// [`received_whole`](Self::received_whole) or [`receive`](Self::receive) is called later in the update.
    fn received_sweep(&mut self);

    /// Calls `each` with the ids of the items of a client's replica that are marked for removal.
    fn marked_for_removal(&self, each: &mut dyn FnMut(ItemId));

    /// Calls `each` with the items of a client's replica that were added or changed since the last
    /// [`conclude`](Self::conclude).
    fn received(&mut self, each: &mut dyn FnMut(&mut Self::Item));

    /// Returns whether any item was added, changed or marked for removal since the last
    /// [`conclude`](Self::conclude). Costs O(1), or O(items) after [`received_sweep`](Self::received_sweep).
    fn has_received_changes(&self) -> bool;

    /// Ends an update of a client's replica: calls the callbacks if `with_callbacks` is set, and removes the
    /// items that are marked for removal.
    fn conclude(&mut self, with_callbacks: bool);
}

/// Functions that prefetch items into the processor's cache.
pub trait Preload: Keyed {
    /// Prefetches the item `id` into the processor's cache, because it will be needed soon. An implementation
    /// of `preload` may do nothing. Costs O(1).
    fn preload(&self, _: ItemId) {}
}
