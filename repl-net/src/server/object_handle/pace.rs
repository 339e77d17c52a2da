//! When the changes of an object are compared and sent: its priority, its rate, and marks.
//!
//! *Invariant:* a priority or a rate decides when something is sent, and never whether it is sent. A rate
//! delays only the comparison of the object.

use repl_core::{PropertyIndex, Replicated};

use super::ObjectHandle;
use crate::server::priority::assert_in_range;
use crate::server::schedule::UpdateRate;
use crate::session::property::assert_property;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Sets the [priority](crate::ClassHandle::set_priority) of this object alone. With `None`, the object
    /// has the priority of its class again.
    ///
    /// # Panics
    /// Panics if the priority is not from 0.000001 to 1,000,000.
    #[track_caller]
    pub fn set_priority(&mut self, priority: Option<f32>) -> &mut Self {
        priority.into_iter().for_each(assert_in_range);
        let Some(slot) = self.slot() else { return self };
        let priorities = &mut self.server.world.priorities;
        match priority {
            Some(priority) => _ = priorities.objects.insert(slot, priority),
            None => priorities.forget(slot),
        }
        self
    }

    /// Sets the update rate of this object alone. With `None`, the object has the [rate of its
    /// class](crate::ClassHandle::set_update_rate) again. If a change of the object waits, it is sent at the
    /// next update time of the new rate.
    pub fn set_update_rate(&mut self, rate: Option<UpdateRate>) -> &mut Self {
        if let Some(slot) = self.slot() {
            self.server.world.set_object_rate(slot, rate);
        }
        self
    }

    /// Compares the object in the next tick, even if its [update time](crate::ClassHandle::set_update_rate)
    /// is not reached yet.
    pub fn force_update(&mut self) -> &mut Self {
        if let Some(slot) = self.slot() {
            self.server.world.force_update(slot);
        }
        self
    }
}

impl<T: Replicated> ObjectHandle<'_, T> {
    /// Marks a `push` property as changed.
    ///
    /// # Panics
    /// Panics if `property` is not the index of a property of `T`.
    #[track_caller]
    pub fn mark_dirty(&mut self, property: PropertyIndex<T>) -> &mut Self {
        assert_property(property);
        self.server.world.mark(self.object, property);
        self
    }
}
