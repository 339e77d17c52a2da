//! A handle of one object of a client.
//!
//! *Invariant:* nothing here is sent to the server.

use repl_core::ObjectRef;

use super::Client;

/// One object of a client. [`Client::object`] returns a `ClientObjectHandle`. The values of the object are in
/// `client[object]`, and [`Client::object_info`] returns what the client knows about it.
pub struct ClientObjectHandle<'a, T: ?Sized> {
    client: &'a mut Client,
    object: ObjectRef<T>,
}

impl Client {
    /// Returns a handle of an object. The object need not exist.
    #[must_use]
    pub fn object<T: ?Sized>(&mut self, object: ObjectRef<T>) -> ClientObjectHandle<'_, T> {
        ClientObjectHandle { client: self, object }
    }
}

impl<T: ?Sized> ClientObjectHandle<'_, T> {
    /// Removes the object, if the server has torn it off. References to it become null, which may call
    /// notifies. No event reports this, and events about it that wait to be polled are dropped. Returns
    /// `false`, and does nothing, if the object was not torn off or does not exist.
    ///
    /// A client keeps at most as many such objects as it has [slots](crate::ClientConfig::max_objects). If
    /// there are more, the oldest is removed, and reported as
    /// [`Despawned`](crate::ClientEvent::Despawned).
    pub fn remove_torn_off(&mut self) -> bool {
        let object = self.object.erase();
        let is_removed = self.client.replicas.release_torn_off(object);
        if is_removed {
            self.client.events.forget(object);
        }
        is_removed
    }
}
