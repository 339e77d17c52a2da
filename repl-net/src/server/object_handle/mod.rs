//! A handle of one object: the server's methods that change how this object is sent, and who sees it.
//!
//! *Invariant:* each method does nothing if the object does not exist.

mod ownership;
mod pace;
mod pauses;
mod relevancy;
mod sleep;
mod subobjects;
mod tear_off;
mod views;

use repl_core::ObjectRef;

use super::Server;

/// One object of a server, to change how it is sent: its owner, who sees it, its conditions, rates, sleep and
/// subobjects. [`Server::object`] returns an `ObjectHandle`.
///
/// The methods that set something return the handle, so that several can be chained. Each method does nothing
/// if the object does not exist. The values of the object are in `server[object]`, and
/// [`Server::object_info`] returns what is set.
///
/// ```
/// # use repl_core::ObjectRef;
/// # use repl_net::{ConnectionId, Role, Server};
/// fn take_over<Car>(server: &mut Server, car: ObjectRef<Car>, driver: ConnectionId) {
///     server.object(car).set_owner(Some(driver)).set_remote_role(Role::AutonomousProxy);
///     assert_eq!(server.object_info(car).owner(), Some(driver));
/// }
/// ```
pub struct ObjectHandle<'a, T: ?Sized> {
    server: &'a mut Server,
    object: ObjectRef<T>,
}

impl Server {
    /// Returns a handle of an object, to change its owner, who sees it, and how it is sent. The object need
    /// not exist.
    #[must_use]
    pub fn object<T: ?Sized>(&mut self, object: ObjectRef<T>) -> ObjectHandle<'_, T> {
        ObjectHandle { server: self, object }
    }
}

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Sets the name of the object in logs. The name `""` removes its name. Names are not sent to clients. A
    /// [static](Server::statics) object without a name appears in logs with its path.
    ///
    /// ```
    /// # use repl_core::{ObjectRef, Replicated};
    /// # use repl_net::Server;
    /// fn introduce<T: Replicated>(server: &mut Server, boss: ObjectRef<T>) {
    ///     server.object(boss).set_name("the boss");
    ///     println!("{} is here", server.object_info(boss)); // Monster 7v1 "the boss" is here
    /// }
    /// ```
    pub fn set_name(&mut self, name: &str) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        let names = &mut self.server.world.names;
        match name {
            "" => _ = names.remove(&slot),
            _ => _ = names.insert(slot, name.into()),
        }
        self
    }

    fn slot(&self) -> Option<u32> {
        self.server.world.store.slot_of(self.object)
    }
}
