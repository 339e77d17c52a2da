//! [`Update`]: one change of an object that a client or a host reports to its user.
//!
//! *Invariant:* an update contains the reference that the user has for its object, even if the object no
//! longer exists.

use std::sync::Arc;

use repl_core::{HandleSet, Layout, ObjectRef, Replicated};
use repl_fastarray::ChangedProperties;

use crate::body::removal::CloseReason;

/// Something that happened to an object on a client. For example, it was spawned, changed, received another
/// owner, or was despawned. [`Client::poll_update`](crate::Client::poll_update) returns the updates of all
/// classes in the order of the packets in which they arrived.
#[derive(Clone, Debug)]
pub struct Update {
    /// The tick of the server in which the packet with this update was made.
    /// [`Server::ticks`](crate::Server::ticks) returns the same number on the server. If a packet arrives
    /// after a newer packet, this is the tick of the newest packet so far. The tick never goes back while the
    /// client is connected to one server.
    pub tick: u64,
    /// The object. It is null only for [`PathDestroyed`](UpdateKind::PathDestroyed) if the client never had
    /// the object.
    pub object: ObjectRef<()>,
    /// What happened to the object.
    pub what: UpdateKind,
    layout: &'static Layout,
    handles: HandleSet,
}

/// What happened to an object. See [`Update`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateKind {
    /// The object was created. It already has all its values, and its callbacks have run. Within one packet,
    /// this update of an object comes before the same update of its subobjects. If this client has placed the
    /// object as a static object, the update is [`Bound`](Self::Bound) instead.
    Spawned,
    /// Properties of the object arrived. [`Update::properties`] returns these properties. The object already
    /// has the values of the newest packet. If packets are lost, the same value may arrive twice.
    Changed,
    /// This client became the owner of the object or stopped being its owner, or the role of the object on
    /// this client changed. If this client owns the object from the start, this update follows
    /// [`Spawned`](Self::Spawned) or [`Bound`](Self::Bound). See
    /// [`ClientObjectInfo::is_owner`](crate::ClientObjectInfo::is_owner) and
    /// [`ClientObjectInfo::role`](crate::ClientObjectInfo::role).
    Owner,
    /// The object was removed. Until the next update is polled,
    /// [`ClientObjectInfo::departed`](crate::ClientObjectInfo::departed) returns its last state.
    Despawned(CloseReason),
    /// The server has torn the object off. This client keeps the object with the role
    /// [`Authority`](crate::Role::Authority), and receives no more updates of it. See
    /// [`ClientObjectInfo::is_torn_off`](crate::ClientObjectInfo::is_torn_off).
    TornOff,
    /// The object is out of sight, and this client [keeps](crate::OutOfSight) it with its last values. Its
    /// role is [`SimulatedProxy`](crate::Role::SimulatedProxy), and this client does not count as its owner.
    /// See [`ClientObjectInfo::is_out_of_sight`](crate::ClientObjectInfo::is_out_of_sight).
    OutOfSight,
    /// An object that was [out of sight](Self::OutOfSight) is back in sight, with all its current values. If
    /// this client owns the object, an update [`Owner`](Self::Owner) follows.
    BackInSight,
    /// The static object with this path has arrived. It was bound to the object that this client has
    /// [placed](crate::ClientStatics::place) under the path: this object now has the values of the server,
    /// and its callbacks have run as for a new object.
    Bound(Arc<str>),
    /// A bound object no longer follows the server: the client may no longer see it, it was destroyed, or
    /// another session has begun. The client keeps it under its path with its last state, as a placed object.
    Unbound(Arc<str>),
    /// The object, whose update [`Spawned`](Self::Spawned) came before, is static and has this path, but this
    /// client has placed no object of its class under the path. The client has it like any other object. To
    /// bind it, call [`ClientStatics::place`](crate::ClientStatics::place).
    UnknownPath(Arc<str>),
    /// The server has destroyed the static object with this path, and this client has placed an object under
    /// the path. The client keeps its object until [`ClientStatics::remove`](crate::ClientStatics::remove).
    /// Hide or remove it. If the object was bound, an update [`Unbound`](Self::Unbound) comes first.
    PathDestroyed(Arc<str>),
}

impl Update {
    pub(crate) fn new(
        (tick, object): (u64, ObjectRef<()>),
        what: UpdateKind,
        (layout, handles): (&'static Layout, HandleSet),
    ) -> Self {
        Self { tick, object, what, layout, handles }
    }

    /// Returns the object if its class is `T`, and `None` otherwise.
    #[must_use]
    pub fn cast<T: Replicated>(&self) -> Option<ObjectRef<T>> {
        // Names identify classes: no two registered classes have the same name.
        let is_of_class = self.layout.name() == T::LAYOUT.name();
        if is_of_class { self.object.guid().map(ObjectRef::new) } else { None }
    }

    /// Returns the properties that received values with this update. For an object that was
    /// [`Spawned`](UpdateKind::Spawned) or [`Bound`](UpdateKind::Bound), or is [back in
    /// sight](UpdateKind::BackInSight), these are all properties. For an object that
    /// [`Changed`](UpdateKind::Changed), these are the properties that arrived. Other updates have none.
    #[must_use]
    pub fn properties(&self) -> ChangedProperties<'_> {
        ChangedProperties::new(self.layout, &self.handles)
    }

    pub(crate) fn handles(&self) -> &HandleSet {
        &self.handles
    }
}

impl UpdateKind {
    /// Returns whether all properties of the object have new values.
    pub(crate) fn is_arrival(&self) -> bool {
        matches!(self, Self::Spawned | Self::Bound(_) | Self::BackInSight)
    }

    /// Returns whether the object is no longer an object of the server for this client.
    pub(crate) fn is_departure(&self) -> bool {
        matches!(self, Self::Despawned(_) | Self::Unbound(_))
    }

    /// Returns whether the client still has the object, but receives no changes of it from now on.
    pub(crate) fn ends_changes(&self) -> bool {
        matches!(self, Self::OutOfSight | Self::TornOff)
    }
}
