//! The ids that an array gives to its items.
//!
//! Invariant: no id is given that an item has.

use repl_core::ItemId;

/// How far ahead the ids of an array may be that takes the place of another: far enough from where they come round, and so to ids that were given
/// in that place not long ago.
const FARTHEST: u32 = 1 << 30;

/// Which id comes next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    next: ItemId,
    /// Whether the ids have come round, so that the next may be in use.
    wrapped: bool,
    /// Of a shadow: whether items of the live array may be missing, since values in them have no form.
    has_gaps: bool,
}

impl Ids {
    /// `next` for the first to come.
    pub(crate) const fn starting(next: ItemId) -> Self {
        Self { next, wrapped: false, has_gaps: false }
    }

    /// What comes after a run of so many ids, the first of which is `first`.
    pub(crate) const fn after(first: ItemId, len: usize) -> Self {
        let last = ItemId::LAST.number() as usize;
        let next = match ItemId::new(((first.number() as usize - 1 + len) % last) as u32 + 1) {
            Some(next) => next,
            None => ItemId::FIRST,
        };
        Self { next, wrapped: next.number() < first.number(), has_gaps: false }
    }

    /// From now on those of a shadow, which has followed an array with `live`. That ids have come round is not forgotten: an array that takes the
    /// place of another knows nothing of it.
    pub(crate) const fn follow(&mut self, live: &Self) {
        *self = Self { next: live.next, wrapped: self.wrapped || live.wrapped, has_gaps: self.has_gaps };
    }

    /// The first id for `len` items of an array that takes the place of another, whose shadow has given ids up to these, and `others` are still
    /// in use; `None` if the array has ids of its own, the least of which is `least`, that the shadow has never seen.
    pub(crate) fn first_for_successor(
        &self,
        successor: &Self,
        least: Option<ItemId>,
        len: usize,
        others: impl Fn(&mut dyn FnMut(ItemId)),
    ) -> Option<ItemId> {
        let has_wrapped = self.wrapped || successor.wrapped;
        let is_near = !has_wrapped && successor.next.number().saturating_sub(self.next.number()) <= FARTHEST;
        if is_near && least.unwrap_or(successor.next) >= self.next {
            return None;
        }
        // Where the successor is followed by others too, its new ids are new to them as well.
        let mut first = if is_near { self.next.max(successor.next) } else { self.next };
        let last = ItemId::LAST.number();
        loop {
            let mut beyond = None;
            others(&mut |id| {
                let place = (id.number() + last - first.number()) % last;
                if (place as usize) < len && beyond.is_none_or(|(farthest, _)| farthest < place) {
                    beyond = Some((place, id.next()));
                }
            });
            match beyond {
                Some((_, next)) => first = next,
                None => return Some(first),
            }
        }
    }

    /// The id that the first item of a copy gets: none that an item of the source has, unless that is a client's, since a copy of it may go to a
    /// server.
    pub(crate) const fn next_for_copies(&self) -> ItemId {
        if self.next.is_local() { ItemId::FIRST } else { self.next }
    }

    /// From now on new items get local ids, of which some may be in use.
    pub(crate) fn start_locally(&mut self, any_used: bool) {
        *self = Self { next: ItemId::FIRST_LOCAL, wrapped: any_used, has_gaps: false };
    }

    /// Whether items of the live array may be missing in this shadow.
    pub(crate) const fn set_gaps(&mut self, has_gaps: bool) {
        self.has_gaps = has_gaps;
    }

    /// Whether a shadow with these ids had the item `id`, which has gone from the live array with `now`;
    /// `None` if there is no telling, since ids have come round or items are held back.
    pub(crate) fn had(&self, id: ItemId, now: &Self) -> Option<bool> {
        (!now.wrapped && !self.has_gaps).then(|| id < self.next)
    }

    /// An id that no item has.
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
