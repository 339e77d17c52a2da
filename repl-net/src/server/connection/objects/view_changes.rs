//! Changes of the view: which properties of an object the client may see from now on, and which values the
//! client lacks after such a change.
//!
//! *Invariant:* a property that the client may see again is sent, unless the connection knows that the client
//! has the current value.

use repl_core::{ConditionMasks, HandleSet, PropertyIndex};
use repl_link::parts::Sequence;

use super::{ObjectStates, Phase, ProxyState};
use crate::server::world::World;

impl ObjectStates {
    /// Stores whether the client receives the shared data of an object. Returns `false` if the client does
    /// not receive the object, or if nothing of it was sent yet and the shared opening is still right.
    pub(crate) fn set_view(&mut self, slot: u32, is_shared: bool) -> bool {
        self.view.own.set(slot, !is_shared);
        if !self.is_known(slot) || is_shared && self.standings.unsent().contains(slot) {
            // Nothing of the object was sent to this client yet. For the default view the shared opening is
            // still correct.
            return false;
        }
        if self.standings.unsent().contains(slot) {
            self.track(slot);
        }
        if !is_shared {
            self.standings.leave_step(slot);
        } else if self.tracked.get(slot).is_none() {
            self.update_step(slot);
        }
        self.check(slot);
        true
    }

    /// Records whether the client is so far from an object that it may not see `NearOnly` properties. After
    /// this call, the caller must [set the view](Self::set_view).
    pub(crate) fn set_far(&mut self, slot: u32, is_far: bool) {
        self.view.set_far(slot, is_far);
    }

    /// Returns the frame (number of the tick) in which the client last saw a property that it may not see
    /// now, or zero if this frame is not known.
    pub(crate) fn left_at(&self, slot: u32, property: PropertyIndex) -> u64 {
        self.tracked.get(slot).map_or(0, |tracked| tracked.left_at(property))
    }

    /// Switches a property with a custom condition on or off only for this connection. After this call, the
    /// caller must [set the view](Self::set_view).
    pub(crate) fn switch(
        &mut self,
        conditions: &ConditionMasks,
        slot: u32,
        property: PropertyIndex,
        active: bool,
    ) {
        self.view.switch(conditions, slot, property, active);
    }

    /// Records whether the client is the owner of an object. The argument `is_news` is true if the client
    /// does not know the current owner and role yet. If `is_news` is true, the owner and the role must be
    /// sent, in the packet `since` or a later packet.
    pub(crate) fn set_owned(&mut self, slot: u32, is_owned: bool, is_news: bool, since: Sequence) {
        self.view.owned.set(slot, is_owned);
        if !is_news || !self.is_known(slot) || !is_owned && self.standings.unsent().contains(slot) {
            return;
        }
        // If the opening is sent again, it contains the new owner and role. But the client may already have
        // the object from an earlier opening, and the ack of that opening may arrive late. If the client has
        // the object, a lost opening is not sent again, so the owner and role must be tracked.
        let tracked = self.track(slot);
        if !tracked.is_closing() {
            tracked.proxy = ProxyState::Unsent(since);
            self.must_send(slot);
        }
        self.check(slot);
    }

    /// Changes which properties of an object the client may see. Each element of `properties` is a property,
    /// its handles, and a flag that is true if the client may now see the property, and false if it may no
    /// longer see it. The argument `changed_at` returns the frame in which a property last changed, if frames
    /// are recorded. Returns the properties that the client may see now, and of which it lacks the current
    /// value. Returns `None` if the whole object must be sent or closed.
    pub(crate) fn change_view(
        &mut self,
        slot: u32,
        frame: u64,
        properties: impl Iterator<Item = (PropertyIndex, HandleSet, bool)>,
        changed_at: impl Fn(PropertyIndex) -> Option<u64>,
    ) -> Option<HandleSet> {
        let tracked = self.track(slot);
        if matches!(tracked.phase, Phase::Closing(_) | Phase::Unsent) {
            return None;
        }
        let is_behind =
            tracked.position.is_some() || tracked.phase == Phase::Opening || tracked.blob.is_some();
        let mut lacking = HandleSet::new();
        for (property, handles, is_gained) in properties {
            if is_gained {
                if changed_at(property).is_some_and(|changed| changed > tracked.left_at(property)) {
                    lacking.union(&handles);
                }
                tracked.left.retain(|(left, _)| *left != property);
            } else {
                // Elements of collections in `owed`, which did not fit into an opening, are still sent.
                let mut dropped = handles;
                let is_owed = tracked.owed.as_ref().is_some_and(|owed| owed.intersects(&dropped));
                tracked.owed.iter().for_each(|owed| dropped.difference(owed));
                let lacks = tracked.drop_pending(&dropped) || is_behind || is_owed;
                tracked.set_left(property, if lacks { 0 } else { frame });
            }
        }
        self.must_send(slot);
        Some(lacking)
    }

    /// Drops from `owed` the collections that even an opening (first update) may not contain now. Returns
    /// whether any were dropped.
    pub(crate) fn cancel_owed(&mut self, world: &World, slot: u32) -> bool {
        let Some(owed) = self.tracked.get(slot).and_then(|tracked| tracked.owed.as_ref()) else {
            return false;
        };
        let mut cancelled = HandleSet::clone(owed);
        cancelled.difference(&self.view.opening_mask(world, slot));
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.owed.iter_mut().for_each(|owed| owed.difference(&cancelled));
            tracked.drop_pending(&cancelled);
            let properties =
                cancelled.iter().filter_map(|handle| world.store.conditions(slot).property_of(handle));
            properties.for_each(|property| tracked.set_left(property, 0));
        }
        !cancelled.is_empty()
    }
}
