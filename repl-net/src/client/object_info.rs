//! What a client knows about an object: its class, its owner, its role on this client, and whether it sleeps.
//!
//! *Invariant:* no method in this file changes the client.

use std::fmt;

use repl_core::{ObjectRef, Replicated};

use super::Client;
use crate::body::role::Role;
use crate::inspect::label::Label;

/// What a client knows about an object. [`Client::object_info`] returns a `ClientObjectInfo`.
pub struct ClientObjectInfo<'a, T: ?Sized> {
    client: &'a Client,
    object: ObjectRef<T>,
}

impl<T: ?Sized> Clone for ClientObjectInfo<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for ClientObjectInfo<'_, T> {}

/// Prints the name of the object for logs: its class, its reference, and its path if it is static.
impl<T: ?Sized> fmt::Display for ClientObjectInfo<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Label { guid: self.object.guid(), class: self.class_name(), name: self.path() }.fmt(f)
    }
}

impl Client {
    /// Returns what the client knows about an object. If the object does not exist, the methods of the result
    /// return `None` or `false`.
    #[must_use]
    pub fn object_info<T: ?Sized>(&self, object: ObjectRef<T>) -> ClientObjectInfo<'_, T> {
        ClientObjectInfo { client: self, object }
    }
}

impl<'a, T: ?Sized> ClientObjectInfo<'a, T> {
    /// Returns whether this client owns the object, according to the newest packet. The server may have
    /// changed the owner since then. Returns `false` if the object does not exist.
    #[must_use]
    pub fn is_owner(self) -> bool {
        self.client.replicas.proxy(self.object).is_some_and(|proxy| proxy.is_owner)
    }

    /// Returns the role of the object on this client, according to the newest packet. Returns `None` if the
    /// object does not exist. If the server sets the role [`AutonomousProxy`](Role::AutonomousProxy), the
    /// owner has this role, and all other clients have the role [`SimulatedProxy`](Role::SimulatedProxy).
    #[must_use]
    pub fn role(self) -> Option<Role> {
        self.client.replicas.proxy(self.object).map(|proxy| proxy.role)
    }

    /// Returns whether the object sleeps on the server ([`Dormancy`](crate::Dormancy)). If so, this client
    /// has the current state of the object, and the server sends nothing of the object. The next update wakes
    /// the object. Returns `false` if the object does not exist.
    #[must_use]
    pub fn is_asleep(self) -> bool {
        self.client.replicas.is_asleep(self.object)
    }

    /// Returns the parent of the object, if the object is a
    /// [subobject](crate::ObjectHandle::spawn_subobject), or was a subobject before it
    /// [departed](Self::departed). Returns `None` if it has no parent or does not exist.
    #[must_use]
    pub fn parent(self) -> Option<ObjectRef<()>> {
        self.client.replicas.parent(self.object.erase())
    }

    /// Returns those direct [subobjects](crate::ObjectHandle::spawn_subobject) of the object that this client
    /// has, in no particular order. A subobject is created in the same packet as its parent or in a later
    /// one. It is removed in the same packet as its parent or in an earlier one, unless the server [tears it
    /// off](crate::ObjectHandle::tear_off).
    pub fn subobjects(self) -> impl Iterator<Item = ObjectRef<()>> + 'a {
        self.client.replicas.subobjects(self.object.erase())
    }

    /// Returns the name of the object's class. Returns `None` if the object does not exist and is not
    /// [departed](Self::departed).
    #[must_use]
    pub fn class_name(self) -> Option<&'static str> {
        self.client.replicas.class_name(self.object)
    }

    /// Returns the reference as a reference to a `U`, if the object's class is `U` and the object exists or
    /// is [departed](Self::departed).
    ///
    /// [`Update::cast`](crate::Update::cast) does the same for the object of an update.
    #[must_use]
    pub fn cast<U: Replicated>(self) -> Option<ObjectRef<U>> {
        self.client.replicas.cast(self.object.erase())
    }

    /// Returns the last state of the object, if it was removed. The last state can be read until the user has
    /// polled the update [`Despawned`](crate::UpdateKind::Despawned) of the object, and then calls
    /// [`poll_update`](Client::poll_update) again. A program that never polls updates learns of removals only
    /// by callbacks.
    #[must_use]
    pub fn departed(self) -> Option<&'a T>
    where
        T: Replicated,
    {
        self.client.replicas.departed(self.object)
    }

    /// Returns whether the server has [torn the object off](crate::ObjectHandle::tear_off), and this client
    /// has not removed it.
    ///
    /// The object has the last state that the server sent. It belongs to this client: `get_mut` can change
    /// it, packets cannot change it, and nothing of it is sent. References to it remain valid on this client,
    /// including references in objects that the server sends later. Its role is
    /// [`Authority`](crate::Role::Authority), the client does not count as its owner, and its notifies and
    /// callbacks no longer run. References inside the object are no longer updated: a reference to a removed
    /// object does not become null, but a lookup with it finds nothing. The object exists even after the end
    /// of the session. The only exception is a client that connects to [another
    /// server](crate::ClientConfig::reconnects) and has a class with references as keys of maps.
    #[must_use]
    pub fn is_torn_off(self) -> bool {
        self.client.replicas.is_torn_off(self.object)
    }

    /// Returns whether the object is out of sight, and this client [keeps](crate::OutOfSight) it.
    ///
    /// The object has the last values that this client received. `get_mut` can change them, until the object
    /// comes back into sight: then it has the values of the server, and fields that are not replicated begin
    /// again. References to it remain valid. References inside the object are no longer updated: a reference
    /// to a removed object does not become null, but a lookup with it finds nothing. Its role is
    /// [`SimulatedProxy`](crate::Role::SimulatedProxy), and the client does not count as its owner. Whether
    /// the object still exists on the server is not known.
    #[must_use]
    pub fn is_out_of_sight(self) -> bool {
        self.client.replicas.is_out_of_sight(self.object)
    }

    /// Returns the path of the object, if it is static and exists on this client.
    #[must_use]
    pub fn path(self) -> Option<&'a str> {
        self.client.replicas.path(self.object)
    }
}
