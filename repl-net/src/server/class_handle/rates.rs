//! How often the objects of a class are updated.
//!
//! *Invariant:* a rate delays only the comparison of an object. Openings, closings, owners, roles and calls
//! do not wait for it.

use repl_core::Replicated;

use super::ClassHandle;
use crate::server::schedule::UpdateRate;

impl<T: Replicated> ClassHandle<'_, T> {
    /// Sets how often the objects of the class are compared and their changes are sent, except the objects
    /// with [rates of their own](crate::ObjectHandle::set_update_rate).
    ///
    /// A change waits on the server until the next update time of its object, and is then compared together
    /// with all later changes of the object. Costs O(objects); the rate itself costs nothing in ticks without
    /// changes.
    ///
    /// The following does not wait: openings for clients that join (with the values of the last comparison),
    /// the first comparison of a new object, removals, owners and roles, conditions that are switched on, and
    /// remote calls. A position decides who sees its object when the position is compared.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::{Server, UpdateRate};
    /// # fn example<Creature: Replicated>(server: &mut Server) {
    /// server.register::<Creature>().class::<Creature>().set_update_rate(UpdateRate::per_second(10.0));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub fn set_update_rate(&mut self, rate: UpdateRate) -> &mut Self {
        let class = self.number();
        self.server.world.set_class_rate(class, rate);
        self
    }
}
