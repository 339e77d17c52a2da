//! What server and client tell their users.
//!
//! Invariant: events are queued in the order in which things happened, and each is told once.

use repl_core::{ObjectRef, WriteError};

use super::connection_id::ConnectionId;
use super::disconnect::DisconnectReason;

/// Why a client loses an object (S211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// It is gone; references to it never heal.
    Destroyed = 0,
    /// The connection is not to see it now; references heal when it does again.
    Relevancy = 1,
}

/// Why an object was not spawned: every slot is taken. Despawn others and wait until clients have acknowledged that, or raise
/// [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) and the clients'.
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

/// Something a server tells. What nobody polls does not grow without end: of refused values at most 1,024 wait.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client's classes are the server's; state flows from the next tick on.
    Connected(ConnectionId),
    /// A connection ended.
    Disconnected(ConnectionId, DisconnectReason),
    /// A value has no form on the wire; its leaf keeps the last value that had one, while others of the same array or struct go on. Told
    /// for each such leaf when the object was compared, and not again as long as the event waits to be polled.
    ///
    /// Or a value would make its object larger than [`ServerConfig::max_object_bytes`](crate::ServerConfig::max_object_bytes): the whole
    /// property keeps the last value that had room, and all others go on. Told once, and again when the size changes. It is tried again whenever
    /// the object is compared.
    ValueRefused {
        /// The object.
        object: ObjectRef<()>,
        /// Its class.
        class: &'static str,
        /// The property.
        property: &'static str,
        /// Where in the object the value stands: the property itself, or the way to what is in it, such as `bag{3}.count` for a field of the item
        /// with the id 3. Keys of maps are not told.
        path: String,
        /// What is wrong with the value.
        error: WriteError,
    },
    /// So many values more were refused than could wait to be polled, before those that are told next.
    RefusalsDropped(u64),
}

/// Something a client tells. What nobody polls does not grow without end: once more than 1,024 events wait, objects that came and went
/// unseen are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server accepted this client's classes.
    Connected,
    /// The connection ended. All objects stay as they were.
    Disconnected(DisconnectReason),
    /// An object came into being; it can be read already.
    Spawned(ObjectRef<()>),
    /// The server told this client for the first time that everything has arrived that was there when it accepted the client: see
    /// [`Client::is_synchronized`](crate::Client::is_synchronized).
    Synchronized,
    /// This client became the owner of an object that is there or ceased to be, or its role for it changed: see
    /// [`Client::is_owner`](crate::Client::is_owner) and [`Client::role`](crate::Client::role). What a new object is to it needs no telling.
    RoleChanged(ObjectRef<()>),
    /// An object is gone. Until the next event is polled [`Client::departed`](crate::Client::departed) has it as it was last.
    Despawned(ObjectRef<()>, CloseReason),
}
