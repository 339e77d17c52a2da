//! Keyed collections as levels: the items of one, to be read and written by their table.
//!
//! Invariant: an [`ItemTable`] is used with pointers that the collection of its command gave, and only while that collection is borrowed.
#![expect(unsafe_code, reason = "makes levels of the items of collections")]

use super::collections::conclude_slot;
use super::copy::copy_slots;
use super::equality::is_changed;
use super::level::{ItemTable, KeyedItems, KeyedItemsMut, Level, LevelMut, nests};
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::label::Label;
use crate::schema::erased::RawStep;

/// What became of an item; see [`Step`](crate::Step).
pub(crate) enum ItemStep<'a> {
    Added(Level<'a>, LevelMut<'a>),
    /// With whether it has another label.
    Touched(Level<'a>, LevelMut<'a>, bool),
    Removed,
}

impl<'a> KeyedItems<'a> {
    pub(crate) fn len(&self) -> usize {
        self.collection.len()
    }

    pub(crate) fn max_len(&self) -> u32 {
        self.command.max_len
    }

    /// Names the table of its items.
    pub(crate) fn table(&self) -> u32 {
        self.command.table
    }

    /// Handles of one item.
    pub(crate) fn handles(&self) -> u32 {
        self.command.handles
    }

    /// Whether items hold arrays or collections.
    pub(crate) fn nests(&self) -> bool {
        nests(self.program, self.command.table, self.command.handles)
    }

    /// All ids, ascending. O(items × log items).
    pub(crate) fn ids(&self) -> Vec<ItemId> {
        self.collection.ids()
    }

    pub(crate) fn is_ordered(&self) -> bool {
        self.command.shape.ordered
    }

    /// The item `id` will be asked for soon.
    pub(crate) fn preload(&self, id: ItemId) {
        self.collection.preload(id);
    }

    pub(crate) fn label(&self, id: ItemId) -> Option<&'a Label> {
        self.collection.label(id)
    }

    pub(crate) fn item(&self, id: ItemId) -> Option<Level<'a>> {
        let base = self.collection.item(id)?;
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        // SAFETY: the collection of this command gave it, and is borrowed for `'a`.
        Some(unsafe { items.level(base) })
    }

    /// Whether this, a shadow, lacks nothing of `live`.
    pub(crate) fn is_abreast(&self, live: &KeyedItems<'_>) -> bool {
        self.collection.is_abreast(live.collection)
    }
}

impl KeyedItemsMut<'_> {
    /// The same, to be read.
    pub(crate) fn as_items(&self) -> KeyedItems<'_> {
        KeyedItems { program: self.program, command: self.command, collection: self.collection }
    }

    /// Makes this, a shadow, have the items of `live`, telling `visit` of each that was touched. Returns whether `live` is to be settled.
    #[must_use]
    pub(crate) fn follow(
        &mut self,
        live: &KeyedItems<'_>,
        visit: &mut dyn FnMut(ItemId, ItemStep<'_>),
    ) -> bool {
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        self.collection.follow(live.collection, &mut |id, step| {
            visit(
                id,
                match step {
                    RawStep::Added(live, shadow) => {
                        // SAFETY: the collections of this command lend an item each, for the time of the visit.
                        let live = unsafe { items.level(live) };
                        // SAFETY: as above; the shadow is borrowed by this alone.
                        let shadow = unsafe { items.level_mut(shadow) };
                        ItemStep::Added(live, shadow)
                    }
                    RawStep::Touched(live, shadow, moved) => {
                        // SAFETY: the collections of this command lend an item each, for the time of the visit.
                        let live = unsafe { items.level(live) };
                        // SAFETY: as above; the shadow is borrowed by this alone.
                        let shadow = unsafe { items.level_mut(shadow) };
                        ItemStep::Touched(live, shadow, moved)
                    }
                    RawStep::Removed => ItemStep::Removed,
                },
            );
        })
    }

    /// Takes the item `id`, which was added when this last followed, out again until it is touched.
    pub(crate) fn hold_back(&mut self, id: ItemId) {
        self.collection.hold_back(id);
    }

    /// Gives the items the ids under which a shadow has followed them.
    pub(crate) fn settle(&mut self) {
        self.collection.settle();
    }

    /// Takes over the ids of `other`; `copy` is given each item there and here.
    pub(crate) fn copy_from(
        &mut self,
        other: &KeyedItems<'_>,
        copy: &mut dyn FnMut(Level<'_>, &mut LevelMut<'_>),
    ) {
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        self.collection.copy_from(other.collection, &mut |from, to| {
            // SAFETY: the collections of this command lend an item each, for the time of the call.
            let from = unsafe { items.level(from) };
            // SAFETY: as above; this collection is borrowed by this alone.
            let mut to = unsafe { items.level_mut(to) };
            copy(from, &mut to);
        });
    }

    pub(crate) fn item(&mut self, id: ItemId) -> Option<LevelMut<'_>> {
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        let base = self.collection.item_mut(id)?;
        // SAFETY: the collection of this command gave it, and is borrowed by this alone for as long as the level is.
        Some(unsafe { items.level_mut(base) })
    }

    /// If a client's user put the collection here, all its items are local from now on.
    pub(crate) fn own(&mut self) {
        self.collection.own();
    }

    pub(crate) fn become_replica(&mut self) {
        self.collection.become_replica();
    }

    /// The item `id`, an initial one if it was not there.
    pub(crate) fn received_whole(&mut self, id: ItemId) -> LevelMut<'_> {
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        let base = self.collection.received_whole(id);
        // SAFETY: the collection of this command gave it, and is borrowed by this alone for as long as the level is.
        unsafe { items.level_mut(base) }
    }

    /// Changes the item `id` by `change`, which is to write to the properties of `handles`, and notes those that have other values then. Gives
    /// what `change` gives; `None` if there is no such item.
    pub(crate) fn change<R>(
        &mut self,
        id: ItemId,
        handles: &HandleSet,
        change: impl FnOnce(&mut LevelMut<'_>) -> R,
    ) -> Option<R> {
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        let base = self.collection.item_mut(id)?;
        let (mut change, mut result) = (Some(change), None);
        let mut apply = |item: &mut LevelMut<'_>| result = change.take().map(|change| change(item));
        if !self.command.watched {
            // SAFETY: the collection of this command gave it, and nobody else reaches it before the end of the call.
            apply(&mut unsafe { items.level_mut(base) });
            self.collection.received_change(id, handles);
            return result;
        }
        let with_initial = self.command.shape.with_initial;
        // SAFETY: the collection of this command gave `base`, and nobody else reaches it before the end of the call; what the shape lends is of the
        // same type.
        let changed = unsafe { changed_by(items, with_initial, base, handles, &mut apply) };
        if !changed.is_empty() {
            self.collection.received_change(id, &changed);
        }
        result
    }

    pub(crate) fn received_label(&mut self, id: ItemId, label: Label) {
        self.collection.received_label(id, label);
    }

    pub(crate) fn received_removal(&mut self, id: ItemId) {
        self.collection.received_removal(id);
    }

    pub(crate) fn received_sweep(&mut self) {
        self.collection.received_sweep();
    }

    pub(crate) fn received_sparing(&mut self, id: ItemId) {
        self.collection.received_sparing(id);
    }

    /// Calls `each` with the items that came or changed since the last [`conclude`](Self::conclude).
    pub(crate) fn received(&mut self, each: &mut dyn FnMut(&mut LevelMut<'_>)) {
        let items = ItemTable::of(self.program, self.command.table, self.command.handles);
        self.collection.received(&mut |base| {
            // SAFETY: the collection of this command, which is borrowed by this alone, lends it for the time of the call.
            each(&mut unsafe { items.level_mut(base) });
        });
    }

    pub(crate) fn conclude(&mut self, with_callbacks: bool) {
        self.collection.conclude(with_callbacks);
    }

    /// Calls `each` with the ids of the items that are to go.
    pub(crate) fn departing(&self, each: &mut dyn FnMut(ItemId)) {
        self.collection.departing(each);
    }
}

/// Changes the item or value at `base` by `apply`, which is to write to the properties of `handles`; gives those that have other values then.
/// `with_initial` lends an initial one.
///
/// # Safety
/// As for [`ItemTable::level_mut`] with `base`, and with what `with_initial` lends.
pub(super) unsafe fn changed_by(
    items: ItemTable<'_>,
    with_initial: fn(&mut dyn FnMut(*mut u8)),
    base: *mut u8,
    handles: &HandleSet,
    apply: &mut dyn FnMut(&mut LevelMut<'_>),
) -> HandleSet {
    let mut changed = HandleSet::new();
    with_initial(&mut |old| {
        // SAFETY: by the caller.
        let mut item = unsafe { items.level_mut(base) };
        // SAFETY: by the caller; it is lent for the time of this call.
        let mut old = unsafe { items.level_mut(old) };
        let single = handles.iter().filter(|&handle| !item.is_keyed(handle));
        copy_slots(item.as_level(), &mut old, single);
        apply(&mut item);
        changed = differing(item.as_level(), old.as_level(), handles);
        // Nobody will look into these again for what came of this update.
        let quiet = handles.iter().filter(|&handle| !changed.contains(handle));
        quiet.for_each(|handle| conclude_slot(&mut item, handle, false));
    });
    changed
}

/// The handles among these of which an item has other values than it had.
fn differing(item: Level<'_>, old: Level<'_>, handles: &HandleSet) -> HandleSet {
    let mut differing = HandleSet::new();
    for handle in handles.iter() {
        if let (Some(slot), Some(old)) = (item.slot(handle), old.slot(handle))
            && is_changed(slot, old)
        {
            differing.insert(handle);
        }
    }
    differing
}
