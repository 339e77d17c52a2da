//! The methods of the server that set how often objects are updated.
//!
//! *Invariant:* a rate delays only the comparison of an object. Openings, closings, owners, roles and calls
//! do not wait for it.

use repl_core::{ObjectRef, Replicated};

use super::Server;
use super::schedule::UpdateRate;

impl Server {
    /// Returns the number of the class of `T`.
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub(super) fn registered<T: Replicated>(&self) -> u16 {
        let name = T::LAYOUT.name();
        let Some(class) = self.world.class_of::<T>() else {
            panic!("`{name}` is not registered: call `register::<{name}>()` or spawn an object before")
        };
        class
    }

    /// Sets how often the objects of a class are compared and their changes are sent, except the objects with
    /// [rates of their own](Self::set_object_update_rate).
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
    /// server.register::<Creature>().set_update_rate::<Creature>(UpdateRate::per_second(10.0));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub fn set_update_rate<T: Replicated>(&mut self, rate: UpdateRate) -> &mut Self {
        let class = self.registered::<T>();
        self.world.set_class_rate(class, rate);
        self
    }

    /// Gives an object a rate of its own, or with `None` the [rate of its class](Self::set_update_rate). If a
    /// change of the object waits, it waits from now on for the update times of the new rate. Does nothing if
    /// the object does not exist.
    pub fn set_object_update_rate<T: ?Sized>(&mut self, object: ObjectRef<T>, rate: Option<UpdateRate>) {
        if let Some(slot) = self.world.slot_of(object) {
            self.world.set_object_rate(slot, rate);
        }
    }

    /// Compares an object in the next tick, even if its [update time](Self::set_update_rate) has not come.
    /// Does nothing if the object does not exist.
    pub fn force_update<T: ?Sized>(&mut self, object: ObjectRef<T>) {
        if let Some(slot) = self.world.slot_of(object) {
            self.world.force_update(slot);
        }
    }
}
