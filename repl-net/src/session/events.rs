//! Events: what a server or a client reports to its user.
//!
//! *Invariant:* events are queued in the order in which things happened, and each is reported once.

use repl_core::{ObjectRef, WriteError};

use super::connection_id::ConnectionId;
use super::disconnect::DisconnectReason;

/// Why an object was removed from a client (S211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The object was destroyed. References to it never become valid again.
    Destroyed = 0,
    /// The object is no longer relevant for this client. References to it become valid again when it is.
    Relevancy = 1,
}

/// An object was not spawned because every slot is taken. Despawn other objects and wait until clients have
/// acknowledged that, or raise [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) and the
/// clients' limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no slot is free: there are {max_objects} objects, those included whose end some client has not acknowledged; `ServerConfig::max_objects` \
     allows no more"
)]
#[non_exhaustive]
pub struct SpawnError {
    /// The configured limit.
    pub max_objects: usize,
}

/// An object outside the server was not compared. See [`External`](crate::External).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The object was despawned. Remove the reference that is stored beside it.
    #[error("the object does not exist")]
    Gone,
    /// The reference is to an object of another class.
    #[error("the object is of another class")]
    OtherClass,
}

/// An event of a server. Of events about refused values at most 1,024 wait to be polled, so a server that
/// nobody polls does not grow without limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client's classes equal the server's, and the client has proved its address if the server validates
    /// addresses. State is sent from the next tick on.
    Connected(ConnectionId),
    /// A connection ended.
    Disconnected(ConnectionId, DisconnectReason),
    /// A value was not sent, because it has no encoding on the wire or because its object would be too large.
    ///
    /// If a value has no encoding, clients keep the last value of its leaf that had one. Other leaves of the
    /// same array or struct are sent. The event is reported for each such leaf when the object is compared,
    /// and not again while the event waits to be polled.
    ///
    /// If a value would make its object larger than
    /// [`ServerConfig::max_object_bytes`](crate::ServerConfig::max_object_bytes), clients keep the last value
    /// of the whole property that was small enough. Other properties are sent. The event is reported once,
    /// and again when the size changes. The server tries the value again whenever it compares the object.
    ValueRefused {
        /// The object.
        object: ObjectRef<()>,
        /// Its class.
        class: &'static str,
        /// The property.
        property: &'static str,
        /// The path of the value in the object: the property itself or something in it, for example
        /// `bag{3}.count` for a field of the item with the id 3. Keys of maps are left out.
        path: String,
        /// What is wrong with the value.
        error: WriteError,
    },
    /// This many events about refused values were dropped, because too many waited. They come before the
    /// refusals that follow.
    RefusalsDropped(u64),
}

/// An event of a client. If more than 1,024 events wait to be polled, objects that were spawned and despawned
/// in the meantime are left out, so a client that nobody polls does not grow without limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server accepted this client.
    Connected,
    /// The connection ended. All objects stay as they are.
    Disconnected(DisconnectReason),
    /// An object was created. It can be read already.
    Spawned(ObjectRef<()>),
    /// The server told this client for the first time that all objects have arrived that existed when it
    /// accepted the client. See [`Client::is_synchronized`](crate::Client::is_synchronized).
    Synchronized,
    /// This client became or stopped being the owner of an existing object, or its role for the object
    /// changed. See [`Client::is_owner`](crate::Client::is_owner) and [`Client::role`](crate::Client::role).
    /// There is no such event for a new object.
    RoleChanged(ObjectRef<()>),
    /// An object was removed. Until the next event is polled, [`Client::departed`](crate::Client::departed)
    /// returns its last state.
    Despawned(ObjectRef<()>, CloseReason),
}
