//! How often the objects of a class are updated.
//!
//! *Invariant:* a rate delays only the comparison of an object. It does not delay spawn data, removals,
//! owners, roles and calls.

use repl_core::Replicated;

use super::ClassHandle;
use crate::server::schedule::UpdateRate;

impl<T: Replicated> ClassHandle<'_, T> {
    /// Sets how often the objects of the class are compared and their changes are sent, except the objects
    /// with [rates of their own](crate::ObjectHandle::set_update_rate).
    ///
    /// A change waits on the server until the next update time of its object, and is then compared together
    /// with all later changes of the object. Setting a rate costs O(objects). A rate costs nothing in ticks
    /// without changes.
    ///
    /// A rate does not delay spawn data for clients that join (with the values of the last comparison), the
    /// first comparison of a new object, removals, owners and roles, conditions that are switched on, and
    /// remote calls. It delays the position of an object: until the position is compared, the same
    /// connections see the object.
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
