//! The priorities of the objects of a class, which decide what is sent first if not everything fits.
//!
//! *Invariant:* priorities decide when something is sent, and never whether it is sent.

use repl_core::Replicated;

use super::ClassHandle;
use crate::server::priority::{Viewer, assert_in_range};

impl<T: Replicated> ClassHandle<'_, T> {
    /// Sets the priority of the objects of the class, except those with [priorities of their
    /// own](crate::ObjectHandle::set_priority). Priorities matter only for a connection that cannot be sent
    /// everything in a tick, because of its [budget](crate::ConnectionHandle::set_budget), its link or
    /// another limit. Then the objects with the greatest product of priority and age are sent first. The age
    /// is the number of ticks for which the object has waited to be sent to this connection. So an object
    /// with twice the priority is sent about twice as often. At first all priorities are 1. For the
    /// connection that owns an object, its priority is multiplied by four, up to 1,000,000, unless a
    /// [function](Self::set_priority_by) computes the priority. Does not register the class. Costs nothing
    /// while everything fits.
    ///
    /// With equal priorities the changes that have waited longest are always sent first. If half of the
    /// changes fit, no change waits for more than a few ticks. If priorities differ by a factor, waits differ
    /// by at most this factor.
    ///
    /// # Panics
    /// Panics if the class is not registered, or if the priority is not from 0.000001 to 1,000,000.
    #[track_caller]
    pub fn set_priority(&mut self, priority: f32) -> &mut Self {
        assert_in_range(priority);
        let class = self.number();
        self.server.world.priorities.class(class).0 = priority;
        self
    }

    /// Lets a function multiply the [priorities](Self::set_priority) of the objects of the class, for example
    /// by their distance from the viewpoints of the connection. The function is called for each object that
    /// waits for a connection, in each tick in which not everything fits. It may read only properties, as
    /// [`locate`](Self::locate) says. A result outside of 0.000001 to 1,000,000 is clamped to this range, and
    /// the product is clamped, too.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::Server;
    /// # fn example<Creature: Replicated>(server: &mut Server, position: fn(&Creature) -> [f32; 3]) {
    /// let mut creatures = server.class::<Creature>();
    /// creatures.set_priority_by(move |creature, viewer| viewer.unreal_priority(position(creature), 1.0));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub fn set_priority_by(
        &mut self,
        compute: impl Fn(&T, &Viewer<'_>) -> f32 + Send + Sync + 'static,
    ) -> &mut Self {
        let class = self.number();
        self.server.world.priorities.class(class).1 = true;
        if let Some(shadows) = self.server.world.store.shadows_mut::<T>() {
            shadows.prioritize = Some(Box::new(compute));
        }
        self
    }
}
