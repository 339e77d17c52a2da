//! The ids that an array gives to its items.
//!
//! Invariant: no id is given that an item has.

use repl_core::ItemId;

/// Which id comes next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    next: ItemId,
    /// Whether the ids have come round, so that the next may be in use.
    wrapped: bool,
}

impl Ids {
    /// `next` for the first to come.
    pub(crate) const fn starting(next: ItemId) -> Self {
        Self { next, wrapped: false }
    }

    /// The id that the first item of a copy gets: none that an item of the source has, unless that is a client's, since a copy of it may go to a
    /// server.
    pub(crate) const fn next_for_copies(&self) -> ItemId {
        if self.next.is_local() { ItemId::FIRST } else { self.next }
    }

    /// From now on new items get local ids, of which some may be in use.
    pub(crate) fn start_locally(&mut self, any_used: bool) {
        *self = Self { next: ItemId::FIRST_LOCAL, wrapped: any_used };
    }

    /// Whether `id`, which an item had, was given before this came to be as it is in `now`; `None` if there is no telling, since ids have come round.
    pub(crate) fn was_given(&self, id: ItemId, now: &Self) -> Option<bool> {
        (!now.wrapped).then(|| id < self.next)
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
