//! The methods of the client for objects that the server has torn off (S210).
//!
//! *Invariant:* nothing here is sent to the server.

use repl_core::ObjectRef;

use super::Client;

impl Client {
    /// Returns whether the server has [torn the object off](crate::Server::tear_off) and this client still
    /// keeps it.
    ///
    /// The object has the last state that the server sent. It is this client's own: `get_mut` changes it, no
    /// packet does, and nothing of it is sent. References to it stay valid on this client, also those in
    /// objects that the server sends later. Its role is [`Authority`](crate::Role::Authority), the client
    /// does not count as its owner, and no notify or callback of it runs any more. References in it are no
    /// longer read again: a lookup with a reference to a removed object finds nothing. It survives the end of
    /// the session, unless the [server was restarted](crate::ClientConfig::reconnects) and the object has
    /// references as keys of maps.
    #[must_use]
    pub fn is_torn_off<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.is_torn_off(object)
    }

    /// Removes an object that the server has torn off. References to it become null, which may call notifies.
    /// No event reports this, and events about the object that wait to be polled are dropped. Returns
    /// `false`, and does nothing, if the object was not torn off or does not exist.
    ///
    /// A client keeps at most as many such objects as it has [slots](crate::ClientConfig::max_objects). If
    /// there are more, the oldest is removed, and reported as
    /// [`Despawned`](crate::ClientEvent::Despawned).
    pub fn remove_torn_off<T: ?Sized>(&mut self, object: ObjectRef<T>) -> bool {
        let is_removed = self.replicas.release_torn_off(object.erase());
        if is_removed {
            self.events.forget(object.erase());
        }
        is_removed
    }
}
