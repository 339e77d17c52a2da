//! Updates: what a client, or a host, tells its user about objects.
//!
//! *Invariant:* an update names its object by the reference that the user has, also if the object is gone.

use std::sync::Arc;

use repl_core::{HandleSet, Layout, ObjectRef, Replicated};
use repl_fastarray::ChangedProperties;

use crate::body::removal::CloseReason;

/// Something that happened to an object on a client: it was spawned, changed, got another owner, or was
/// despawned. [`Client::poll_update`](crate::Client::poll_update) returns the updates of all classes in the
/// order of the packets in which they arrived.
#[derive(Clone, Debug)]
pub struct Update {
    /// The tick of the server in which the packet was made, as [`Server::ticks`](crate::Server::ticks) counts
    /// ticks. If packets overtake each other, the tick of the newest packet so far: it never goes back while
    /// the client is connected to one server.
    pub tick: u64,
    /// The object. It is null only for [`PathDestroyed`](UpdateKind::PathDestroyed), if the client never had
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
    /// The object was created. It has all its values already, and its callbacks have run. Of objects that
    /// arrive in the same packet, an object comes before its subobjects. A static object that this client has
    /// placed is [`Bound`](Self::Bound) in place of this.
    Spawned,
    /// Properties of the object arrived: [`Update::properties`] returns which. The object has the values of
    /// the newest packet. If packets are lost, a value may arrive twice, so it may be the same as before.
    Changed,
    /// This client became the owner of the object or stopped being its owner, or its role for the object
    /// changed. For an object of which this client is the owner from the start, this follows
    /// [`Spawned`](Self::Spawned) or [`Bound`](Self::Bound). See
    /// [`ClientObjectInfo::is_owner`](crate::ClientObjectInfo::is_owner) and
    /// [`ClientObjectInfo::role`](crate::ClientObjectInfo::role).
    Owner,
    /// The object was removed. Until the next update is polled,
    /// [`ClientObjectInfo::departed`](crate::ClientObjectInfo::departed) returns its last state.
    Despawned(CloseReason),
    /// The server has torn the object off: this client keeps it, has the role
    /// [`Authority`](crate::Role::Authority) for it, and receives nothing more of it. See
    /// [`ClientObjectInfo::is_torn_off`](crate::ClientObjectInfo::is_torn_off).
    TornOff,
    /// The static object with this path has arrived, and is the object that this client has
    /// [placed](crate::ClientStatics::place) under the path. The object has the values of the server already,
    /// and its callbacks have run as for a new object.
    Bound(Arc<str>),
    /// A bound object is no longer an object of the server for this client: it is out of sight, or destroyed,
    /// or another session has begun. The client keeps it under its path with its last state, as the object
    /// that was placed.
    Unbound(Arc<str>),
    /// The object, which was just [`Spawned`](Self::Spawned), is static, and this client has placed no object
    /// of its class under this path. The client has the object as it has any other. To bind it, call
    /// [`ClientStatics::place`](crate::ClientStatics::place).
    UnknownPath(Arc<str>),
    /// The server has destroyed the static object with this path, under which this client has placed an
    /// object. The client keeps its object until [`ClientStatics::remove`](crate::ClientStatics::remove):
    /// hide it or remove it. If the object was bound, it is [`Unbound`](Self::Unbound) before.
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

    /// Returns the object if it is a `T`.
    #[must_use]
    pub fn cast<T: Replicated>(&self) -> Option<ObjectRef<T>> {
        // No two registered classes have the same name.
        let is_of_class = self.layout.name() == T::LAYOUT.name();
        if is_of_class { self.object.guid().map(ObjectRef::new) } else { None }
    }

    /// Returns the properties to which the update gave values: all of an object that was
    /// [`Spawned`](UpdateKind::Spawned) or [`Bound`](UpdateKind::Bound), and those that arrived of one that
    /// [`Changed`](UpdateKind::Changed). Other updates have none.
    #[must_use]
    pub fn properties(&self) -> ChangedProperties<'_> {
        ChangedProperties::new(self.layout, &self.handles)
    }

    /// Returns the handles of the [properties](Self::properties).
    pub(crate) fn handles(&self) -> &HandleSet {
        &self.handles
    }
}

impl UpdateKind {
    /// Returns whether all properties of the object have new values.
    pub(crate) fn is_arrival(&self) -> bool {
        matches!(self, Self::Spawned | Self::Bound(_))
    }

    /// Returns whether the object is no longer an object of the server for this client.
    pub(crate) fn is_departure(&self) -> bool {
        matches!(self, Self::Despawned(_) | Self::Unbound(_))
    }
}
