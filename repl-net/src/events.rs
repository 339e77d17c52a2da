//! What server and client tell their users.
//!
//! Invariant: events are queued in the order in which things happened, and each is told once.

use repl_core::{ObjectRef, WriteError};

use crate::ConnectionId;
use crate::handshake::LimitMismatch;
use crate::mismatch::LayoutMismatch;

/// Why a client loses an object (S211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// It is gone; references to it never heal.
    Destroyed = 0,
    /// The connection is not to see it now; references heal when it does again.
    Relevancy = 1,
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// One side asked for it.
    #[error("closed")]
    Closed,
    /// Nothing was heard of the peer for the configured time.
    #[error("timed out")]
    Timeout,
    /// The client was alive and for too long left too much unacknowledged: what the server keeps for it took more than
    /// [`ServerConfig::max_connection_bytes`](crate::ServerConfig::max_connection_bytes) for a whole
    /// [`timeout`](crate::ServerConfig::timeout), or the end of an object stayed unacknowledged for four of them. A client that means well may
    /// connect again; if its link is too slow for what the world sends, hide objects from it or raise the limit.
    #[error("too much was not acknowledged for too long")]
    Unacknowledged,
    /// The classes of the two sides differ.
    #[error("layouts differ: {0}")]
    Layouts(LayoutMismatch),
    /// The client cannot hold what the server may send.
    #[error("limits differ: {0}")]
    Limits(LimitMismatch),
    /// Told to a client: the server's connection is held by another session, an earlier one of this address as a rule. The server
    /// lets go of that after its [`timeout`](crate::ServerConfig::timeout); then a new client may try again, or at once from
    /// another address.
    #[error(
        "the connection belongs to another session: try again with a new client once the server has timed out the other one, or from \
         another address"
    )]
    Taken,
    /// The peer sent what it must not send.
    #[error("protocol error: {0}")]
    Protocol(String),
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
