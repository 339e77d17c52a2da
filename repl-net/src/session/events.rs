//! Events that a server or a client reports to its user, and the errors of spawns and comparisons.
//!
//! *Invariant:* events are queued in the order in which things happened, and no event is reported twice.

use std::fmt;
use std::sync::Arc;

use repl_core::{ObjectRef, WriteError};
use repl_link::parts::Concealed;
use repl_link::{ConnectionId, DisconnectReason};

/// The error of a spawn if every slot is occupied. Despawn other objects and wait until clients have
/// acknowledged their removal, or raise [`max_objects`](crate::ServerConfig::max_objects) here and on the
/// clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no slot is free: there are {max_objects} objects, those included whose end some client has not acknowledged; `ServerConfig::max_objects` \
     allows no more"
)]
#[non_exhaustive]
pub struct SpawnError {
    /// The configured limit, [`max_objects`](crate::ServerConfig::max_objects).
    pub max_objects: usize,
}

/// The error of a spawn of a static object ([`Statics::try_spawn`](crate::Statics::try_spawn)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StaticSpawnError {
    /// Every slot is occupied. A destroyed static object occupies its slot until its path is
    /// [forgotten](crate::Statics::forget_destroyed).
    #[error(transparent)]
    NoSlot(#[from] SpawnError),
    /// The path is empty, or longer than 255 bytes, or too long for a packet. Use a shorter path.
    #[error("a path of {bytes} bytes: a path has from 1 to {max_bytes} bytes")]
    PathLength {
        /// The length of the path.
        bytes: usize,
        /// The greatest length: 255, or less if
        /// [`ServerConfig::mtu_bytes`](crate::ServerConfig::mtu_bytes) is small.
        max_bytes: usize,
    },
    /// Another object has the path. Despawn it first, or use another path.
    #[error("another object has the path")]
    PathTaken,
}

/// The error of comparing or placing an object that is stored outside the server. See
/// [`External`](crate::External).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The object was despawned. Remove the reference that you store together with the object.
    #[error("the object does not exist")]
    Gone,
    /// The reference belongs to an object of another class than the value. Pass the reference that was
    /// returned when this object was spawned.
    #[error("the object is of another class")]
    OtherClass,
}

/// An event of a server. At most 1,024 events about refused values wait to be polled. The events
/// [`Connected`](Self::Connected), [`Disconnected`](Self::Disconnected) and [`Login`](Self::Login) are never
/// dropped, so poll the events.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client was accepted: its classes equal the classes of the server, and it has proved its address if
    /// the server validates addresses. The server sends state from the next tick on. This event also reports
    /// that the [host](crate::Server::connect_host) was connected.
    Connected(ConnectionId),
    /// A client sends its login, because [`ServerConfig::login`](crate::ServerConfig::login) is
    /// [`Ask`](crate::Login::Ask). Answer with [`ConnectionHandle::accept`](crate::ConnectionHandle::accept)
    /// or [`ConnectionHandle::refuse`](crate::ConnectionHandle::refuse). The login has at most 512 bytes.
    /// Do not trust them: any program can send them. `Debug` prints only their number, because they may
    /// contain a password.
    Login(ConnectionId, Vec<u8>),
    /// A connection ended.
    Disconnected(ConnectionId, DisconnectReason),
    /// A value was not sent, because it has no encoding on the wire or because it would make its object too
    /// large.
    ///
    /// If a value has no encoding, clients keep the last value that had an encoding. This is decided for each
    /// leaf (a value that is sent as a unit): other leaves of the same array or struct are sent. When the
    /// object is compared, the event is reported once for each leaf without an encoding.
    ///
    /// If a value would make its object larger than
    /// [`ServerConfig::max_object_bytes`](crate::ServerConfig::max_object_bytes), clients keep the last value
    /// of the whole property that was small enough. Other properties are sent.
    ///
    /// The server tries to send the value again whenever it compares the object. The event is reported again
    /// only after the value was accepted, or if the reason has changed, for example to another length. A
    /// value in an item of a fast array, or in a map that records writes, may be reported again when it is
    /// written to.
    ValueRefused {
        /// The object that contains the value.
        object: ObjectRef<()>,
        /// The class of the object.
        class: &'static str,
        /// The property that contains the value.
        property: &'static str,
        /// The path of the value in the object: the path of a property, or of a field or item within it, for
        /// example `bag{3}.count` for a field of the item with the id 3. The path does not contain keys of
        /// maps.
        path: String,
        /// The reason why the value was refused.
        error: WriteError,
    },
    /// Packets to this connection have at most this number of bytes from now on. Either the path loses larger
    /// packets, although both sides accept them, or it carries larger packets again. See
    /// [`ServerConfig::mtu_bytes`](crate::ServerConfig::mtu_bytes).
    PacketBytesChanged(ConnectionId, usize),
    /// Larger packets of clients seem to arrive truncated: damaged packets repeatedly have the same length,
    /// and no larger packet has arrived intact. Receive packets into a larger buffer. This event is reported
    /// once. If nothing truncates packets, only forged packets can cause this event.
    PacketsTruncated {
        /// The length of the truncated packets, in bytes.
        arrived_bytes: usize,
        /// The size that the receive buffer must have, in bytes:
        /// [`ServerConfig::mtu_bytes`](crate::ServerConfig::mtu_bytes).
        mtu_bytes: usize,
    },
    /// This number of events about refused values were dropped, because too many events were not polled. This
    /// event comes before the events about later refused values.
    RefusalsDropped(u64),
}

impl fmt::Debug for ServerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected(id) => f.debug_tuple("Connected").field(id).finish(),
            Self::Login(id, login) => {
                f.debug_tuple("Login").field(id).field(&Concealed(login.len())).finish()
            }
            Self::Disconnected(id, reason) => f.debug_tuple("Disconnected").field(id).field(reason).finish(),
            Self::ValueRefused { object, class, property, path, error } => f
                .debug_struct("ValueRefused")
                .field("object", object)
                .field("class", class)
                .field("property", property)
                .field("path", path)
                .field("error", error)
                .finish(),
            Self::PacketBytesChanged(id, bytes) => {
                f.debug_tuple("PacketBytesChanged").field(id).field(bytes).finish()
            }
            Self::PacketsTruncated { arrived_bytes, mtu_bytes } => f
                .debug_struct("PacketsTruncated")
                .field("arrived_bytes", arrived_bytes)
                .field("mtu_bytes", mtu_bytes)
                .finish(),
            Self::RefusalsDropped(count) => f.debug_tuple("RefusalsDropped").field(count).finish(),
        }
    }
}

/// An event of a client. Events are not dropped, so poll them. Changes of objects are not events: they are
/// reported as [`Update`](crate::Update)s.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server accepted this client.
    Connected,
    /// The session ended, or an attempt to begin a session failed. All objects of the client keep their last
    /// state until another session begins. After some reasons the client tries to connect again by itself,
    /// and each failed attempt is reported, too: see
    /// [`ClientConfig::reconnects`](crate::ClientConfig::reconnects).
    /// [`ClientConnectionInfo::is_over`](crate::ClientConnectionInfo::is_over) returns whether the client has
    /// stopped trying.
    Disconnected(DisconnectReason),
    /// Packets to the server have at most this number of bytes from now on. Either the path loses larger
    /// packets, although both sides accept them, or it carries larger packets again. See
    /// [`ClientConfig::mtu_bytes`](crate::ClientConfig::mtu_bytes).
    PacketBytesChanged(usize),
    /// Larger packets of the server seem to arrive truncated: damaged packets repeatedly have the same
    /// length, and no larger packet has arrived intact. Receive packets into a larger buffer. This event is
    /// reported once. If nothing truncates packets, only forged packets can cause this event.
    PacketsTruncated {
        /// The length of the truncated packets, in bytes.
        arrived_bytes: usize,
        /// The size that the receive buffer must have, in bytes:
        /// [`ClientConfig::mtu_bytes`](crate::ClientConfig::mtu_bytes).
        mtu_bytes: usize,
    },
    /// The client has received all objects that existed when the session began. It also knows which static
    /// objects were destroyed before. This event is reported only once in a session. See
    /// [`Client::is_synchronized`](crate::Client::is_synchronized).
    Synchronized,
    /// The server has sent the path of this [asset](repl_core::AssetRef), but this client has not
    /// [added](crate::ClientAssets::add) the asset. References to it read as null until the client adds it.
    /// This event is reported only once in a session for each path. If more than 1,024 events wait, only the
    /// newest event about each path is kept.
    UnknownAsset(Arc<str>),
}
