//! The id counter of an array: which ids new items get.
//!
//! *Invariant:* no item gets an id that another item of the array has.

use repl_core::ItemId;

/// When an array replaces another, its ids may be greater than the other's ids by at most this number. Still
/// greater ids come close to the end of the id range. After the end, ids start again from the first, and
/// could repeat ids that the field used recently.
const MAX_LEAD: u32 = 1 << 30;

/// The counter that chooses the id of the next item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdCounter {
    next: ItemId,
    /// Whether the ids have reached the end of the id range and started again from the first. If the ids have
    /// started again, the next id may be in use.
    wrapped: bool,
    /// On a shadow: whether the shadow may lack items of the live array, because a value in them cannot be
    /// sent.
    has_gaps: bool,
}

impl IdCounter {
    /// Returns a counter that starts with `next`.
    pub(crate) const fn starting(next: ItemId) -> Self {
        Self { next, wrapped: false, has_gaps: false }
    }

    /// Returns the counter that continues after `len` ids from `first` on.
    pub(crate) const fn after(first: ItemId, len: usize) -> Self {
        let last = ItemId::LAST.number() as usize;
        let next = match ItemId::new(((first.number() as usize - 1 + len) % last) as u32 + 1) {
            Some(next) => next,
            None => ItemId::FIRST,
        };
        Self { next, wrapped: next.number() < first.number(), has_gaps: false }
    }

    /// Makes the counter of a shadow continue like `live`, the counter of the array that the shadow has
    /// followed. `wrapped` stays set once it is set, because an array that replaces another does not know
    /// whether the ids of the other started again.
    pub(crate) const fn follow(&mut self, live: &Self) {
        *self = Self { next: live.next, wrapped: self.wrapped || live.wrapped, has_gaps: self.has_gaps };
    }

    /// Returns the first id for the `len` items of an array that has replaced another. `self` is the counter
    /// of the shadow that followed the other array. `successor` is the counter of the new array, and `least`
    /// the lowest id of its items. `others` visits the ids that are still in use; the items get none of
    /// these. Returns `None` if the shadow has never seen any id of the new array, so that the items can keep
    /// their ids.
    pub(crate) fn first_for_successor(
        &self,
        successor: &Self,
        least: Option<ItemId>,
        len: usize,
        others: impl Fn(&mut dyn FnMut(ItemId)),
    ) -> Option<ItemId> {
        let has_wrapped = self.wrapped || successor.wrapped;
        let is_near = !has_wrapped && successor.next.number().saturating_sub(self.next.number()) <= MAX_LEAD;
        if is_near && least.unwrap_or(successor.next) >= self.next {
            return None;
        }
        // If other shadows follow the successor too, the ids must be new to them as well.
        let mut first = if is_near { self.next.max(successor.next) } else { self.next };
        let last = ItemId::LAST.number();
        loop {
            let mut beyond = None;
            others(&mut |id| {
                let offset = (id.number() + last - first.number()) % last;
                if (offset as usize) < len && beyond.is_none_or(|(farthest, _)| farthest < offset) {
                    beyond = Some((offset, id.next()));
                }
            });
            match beyond {
                Some((_, next)) => first = next,
                None => return Some(first),
            }
        }
    }

    /// Returns the id that the first item of a copy gets. No item of the source has that id. The copy of a
    /// client's array starts again at the first id of a server, because it may be used on a server.
    pub(crate) const fn next_for_copies(&self) -> ItemId {
        if self.next.is_local() { ItemId::FIRST } else { self.next }
    }

    /// New items get local ids from now on. `any_used` says whether some local ids are in use.
    pub(crate) fn start_locally(&mut self, any_used: bool) {
        *self = Self { next: ItemId::FIRST_LOCAL, wrapped: any_used, has_gaps: false };
    }

    /// Sets whether this shadow may lack items of the live array.
    pub(crate) const fn set_gaps(&mut self, has_gaps: bool) {
        self.has_gaps = has_gaps;
    }

    /// Returns whether a shadow with this counter had the item `id`, which was removed from the live array
    /// with the counter `now`. Returns `None` if that is unknown, because ids have started again from the
    /// first or items are missing in the shadow.
    pub(crate) fn had(&self, id: ItemId, now: &Self) -> Option<bool> {
        (!now.wrapped && !self.has_gaps).then(|| id < self.next)
    }

    /// Returns an id that no item has.
    pub(crate) fn fresh(&mut self, is_used: impl Fn(ItemId) -> bool) -> ItemId {
        let mut id = self.next;
        while self.wrapped && is_used(id) {
            id = id.next();
        }
        self.next = id.next();
        self.wrapped |= self.next < id;
        id
    }
}
