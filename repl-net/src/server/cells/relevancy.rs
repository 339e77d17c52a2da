//! Which connections see an object: its relevancy, and its audience.
//!
//! *Invariant:* an audience only narrows who sees an object by its relevancy.

use repl_core::ObjectRef;

use super::rank::Group;

/// Which connections see an object. The connection that owns an object always sees the object and the objects
/// that are [attached](Self::AttachedTo) to it, wherever they are. But no connection sees an object, not even
/// its owner, while one of these holds for the object or for an object to which it is attached:
///
/// - The relevancy is [`Nobody`](Self::Nobody).
/// - It is [hidden](crate::ObjectHandle::set_visible) from the connection.
/// - The connection is not in its [`Audience`].
/// - It is [initially dormant](crate::Dormancy::Initial).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relevancy {
    /// All connections see the object. This is the default, unless the class has an [`Area`](crate::Area).
    #[default]
    Always,
    /// Only the connection that owns the object sees it.
    OwnerOnly,
    /// The connections that have [joined](crate::ConnectionHandle::join_group) the group see the object.
    Group(Group),
    /// The connections with a viewpoint near the object see it. This is the default of classes with an
    /// [`Area`](crate::Area), and only their objects can have it.
    Located,
    /// The connections that see another object see this object too, for example a thing that a player
    /// carries. If the other object does not exist or is despawned, the relevancy becomes
    /// [`OwnerOnly`](Self::OwnerOnly). Write it as [`Relevancy::attached_to(object)`](Self::attached_to), or
    /// pass the reference with [`erase`](ObjectRef::erase).
    ///
    /// An attached object has the same distance to connections as the other object. If the other object is in
    /// a [band](crate::Area::slower_beyond), the changes of both objects are sent equally often. Connections
    /// that are [far](crate::Area::near_within) from the other object do not receive the `NearOnly`
    /// properties of the attached object.
    ///
    /// Attachment does not determine the order in which a client receives the two objects and removes them: a
    /// client may have one without the other for a while. For objects that belong together, for example a
    /// tank and its turret or the components of an entity, use a
    /// [subobject](crate::ObjectHandle::spawn_subobject).
    AttachedTo(ObjectRef<()>), // for a reference of any type: `Relevancy::attached_to(object)`
    /// No connection sees the object, not even its owner: its replication is switched off. Objects that are
    /// [attached](Self::AttachedTo) to it are not seen either.
    Nobody,
}

/// Restricts which of the connections that see an object by its [relevancy](Relevancy) really see it. For
/// example, only the owner of an object sees one of its [subobjects](crate::ObjectHandle::spawn_subobject).
/// An object has only one audience. If the members of two groups must see it, put them all into a third
/// group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Audience {
    /// All these connections. This is the default.
    #[default]
    Everyone,
    /// Only the connection that owns the object.
    Owner,
    /// All these connections except the connection that owns the object.
    NotOwner,
    /// The connections that have [joined](crate::ConnectionHandle::join_group) the group.
    Group(Group),
}

impl Relevancy {
    /// Returns the relevancy of an object that is [attached](Self::AttachedTo) to another one.
    #[must_use]
    pub fn attached_to<T: ?Sized>(object: ObjectRef<T>) -> Self {
        Self::AttachedTo(object.erase())
    }

    /// Returns the slot of the object to which an object with this relevancy is attached.
    pub(crate) fn parent(self) -> Option<u32> {
        match self {
            Self::AttachedTo(parent) => parent.guid().map(|guid| guid.slot()),
            _ => None,
        }
    }
}
