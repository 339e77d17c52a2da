//! A handle of one object of a client.
//!
//! *Invariant:* nothing in this file is sent to the server.

use repl_core::{HandleSet, ObjectRef, PropertyIndex, Replicated};

use super::Client;
use crate::session::property::assert_property;

/// A handle of one object of a client, returned by [`Client::object`]. The values of the object are in
/// `client[object]`. [`Client::object_info`] returns what the client knows about the object.
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
    /// Removes an object that the server has torn off. References to the object become null, which may call
    /// notifies. No update reports this removal, and updates of the object that were not polled are dropped.
    /// Returns `false` and does nothing if the object was not torn off or does not exist.
    ///
    /// A client keeps at most as many torn-off objects as it has [slots](crate::ClientConfig::max_objects).
    /// If there are more, the oldest is removed, and an update reports it as
    /// [`Despawned`](crate::UpdateKind::Despawned).
    pub fn remove_torn_off(&mut self) -> bool {
        let object = self.object.erase();
        let is_removed = self.client.replicas.release_torn_off(object);
        if is_removed {
            self.client.replicas.forget_updates(object);
        }
        is_removed
    }
}

impl<T: Replicated> ClientObjectHandle<'_, T> {
    /// Sets the object back to the state that this client received last from the server: all replicated
    /// properties, and collections with their elements, order and ids. Items that the client has added to
    /// fast arrays are removed. Use this to undo a wrong prediction, for example before the client applies
    /// again those inputs that the server has not applied yet. [`Client::get_mut`] describes what else undoes
    /// edits.
    ///
    /// Fields that are not replicated keep their values, including the fields of elements that remain. No
    /// notify or other callback runs, and no [update](Client::poll_update) reports this, because nothing has
    /// arrived. Values in an [`Interpolated`](crate::Interpolated) belong to the user and do not change.
    ///
    /// This also undoes everything that notifies and other callbacks have written, if the client had a
    /// [copy](Client::get_mut) of the object when they ran. Otherwise the written values count as received.
    ///
    /// Returns `false` and does nothing if the client does not have the object, if it is [out of
    /// sight](crate::ClientObjectInfo::is_out_of_sight), or if the server has [torn it
    /// off](crate::ClientObjectInfo::is_torn_off). A torn-off object belongs to the client. Costs O(size of
    /// the object), or O(1) if the client has no copy.
    pub fn restore(&mut self) -> bool {
        self.client.replicas.restore(self.object, |column| HandleSet::up_to(column.program().handles()))
    }

    /// Sets one property back to the state that this client received last from the server, in the same way as
    /// [`restore`](Self::restore). Costs O(size of the property).
    ///
    /// # Panics
    /// Panics if `property` is not the index of a property of `T`.
    #[track_caller]
    pub fn restore_property(&mut self, property: PropertyIndex<T>) -> bool {
        assert_property(property);
        self.client
            .replicas
            .restore(self.object, |column| column.conditions().handles_of(property.erase()).clone())
    }
}
