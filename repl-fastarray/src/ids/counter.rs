//! The id counter of an array: chooses the ids of new items. A *shadow* is the server's copy of an array,
//! with the values that the server compared last.
//!
//! *Invariant:* no item receives an id that another item of the array has.

use repl_core::ItemId;

/// The greatest distance by which the next id of an array that replaces another array may be ahead of the
/// next id of the replaced array. At a greater distance, the items receive new ids. Otherwise the ids would
/// soon reach the end of the id range and start again from the first id, and could repeat ids that the field
/// used recently.
const MAX_LEAD: u32 = 1 << 30;

/// The counter that chooses the id of the next item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdCounter {
    next: ItemId,
    /// Whether the ids have reached the end of the id range and started again from the first id. After the
    /// ids have started again, the next id may be in use.
    wrapped: bool,
    /// In a shadow, whether items of the live array may be missing, because a value in them cannot be sent.
    has_gaps: bool,
}

impl IdCounter {
    /// Returns a counter that starts with the id `next`.
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

    /// Makes this counter of a shadow choose the same ids as `live`. The argument `live` is the counter of
    /// the live array from which the shadow was updated. `wrapped` is never cleared, because an array that
    /// replaces another array does not know whether the ids of that array started again.
    pub(crate) const fn follow(&mut self, live: &Self) {
        *self = Self { next: live.next, wrapped: self.wrapped || live.wrapped, has_gaps: self.has_gaps };
    }

    /// Returns the first id for the `len` items of an array that has replaced another array. `self` is the
    /// counter of the shadow that was updated from the replaced array. `successor` is the counter of the new
    /// array, and `least` is the lowest id of its items. `others` visits the ids that are still in use, which
    /// the items must not receive. Returns `None` if the shadow has never seen any id of the new array, so
    /// that the items can keep their ids.
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
        // If other shadows are also updated from the successor, the ids must also be new to these shadows.
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

    /// Returns the id that the first item of a copy of the array receives. No item of the copied array has
    /// this id. The copy of a client's array starts again at the first id of a server, because the copy may
    /// be used on a server.
    pub(crate) const fn next_for_copies(&self) -> ItemId {
        if self.next.is_local() { ItemId::FIRST } else { self.next }
    }

    /// From now on, new items receive local ids (ids that a server never uses). `any_used` says whether some
    /// local ids are in use.
    pub(crate) fn start_locally(&mut self, any_used: bool) {
        *self = Self { next: ItemId::FIRST_LOCAL, wrapped: any_used, has_gaps: false };
    }

    pub(crate) const fn set_gaps(&mut self, has_gaps: bool) {
        self.has_gaps = has_gaps;
    }

    /// Returns whether a shadow with this counter has the item `id`, which was removed from the live array.
    /// `now` is the counter of the live array. Returns `None` if the counters cannot answer this, because ids
    /// have started again from the first id or items are missing in the shadow.
    pub(crate) fn had(&self, id: ItemId, now: &Self) -> Option<bool> {
        (!now.wrapped && !self.has_gaps).then(|| id < self.next)
    }

    /// Returns a new id, for which `is_used` returns false.
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
