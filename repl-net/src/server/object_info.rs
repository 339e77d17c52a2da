//! What a server knows about an object: its owner, who sees it, its class, and whether it sleeps.
//!
//! *Invariant:* nothing here changes the server.

use std::fmt;

use repl_core::{ObjectRef, Replicated};
use repl_link::ConnectionId;

use super::Server;
use super::cells::Relevancy;
use super::dormancy::Dormancy;
use super::not_sent::NotSent;
use crate::inspect::label::Label;

/// What a server knows about one of its objects. [`Server::object_info`] returns it. [`Server::object`]
/// changes these settings.
pub struct ObjectInfo<'a, T: ?Sized> {
    server: &'a Server,
    object: ObjectRef<T>,
}

impl<T: ?Sized> Clone for ObjectInfo<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for ObjectInfo<'_, T> {}

/// Prints the label of the object in logs: its class, its reference, and its
/// [name](crate::ObjectHandle::set_name) or path.
impl<T: ?Sized> fmt::Display for ObjectInfo<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Label { guid: self.object.guid(), class: self.class_name(), name: self.name() }.fmt(f)
    }
}

impl Server {
    /// Returns what the server knows about an object. If the object does not exist, the methods of the result
    /// return `None` or `false`.
    #[must_use]
    pub fn object_info<T: ?Sized>(&self, object: ObjectRef<T>) -> ObjectInfo<'_, T> {
        ObjectInfo { server: self, object }
    }
}

impl<'a, T: ?Sized> ObjectInfo<'a, T> {
    fn slot(self) -> Option<u32> {
        self.server.world.store.slot_of(self.object)
    }

    /// Returns the connection that owns the object, directly or through other objects. Returns `None` if no
    /// connection owns it.
    #[must_use]
    pub fn owner(self) -> Option<ConnectionId> {
        self.server.world.store.objects[self.slot()? as usize].owner()
    }

    /// Returns the other object that [owns](crate::ObjectHandle::set_owner_object) this object, if there is
    /// one.
    #[must_use]
    pub fn owner_object(self) -> Option<ObjectRef<()>> {
        let owner = self.server.world.owners.parent(self.slot()?)?;
        Some(ObjectRef::new(self.server.world.store.occupant(owner).guid(owner)))
    }

    /// Returns the parent of the object, if the object is a
    /// [subobject](crate::ObjectHandle::spawn_subobject).
    #[must_use]
    pub fn parent(self) -> Option<ObjectRef<()>> {
        let parent = self.server.world.subobjects.parent(self.slot()?)?;
        Some(ObjectRef::new(self.server.world.store.occupant(parent).guid(parent)))
    }

    /// Returns the direct [subobjects](crate::ObjectHandle::spawn_subobject) of the object, in no particular
    /// order.
    pub fn subobjects(self) -> impl Iterator<Item = ObjectRef<()>> + 'a {
        let world = &self.server.world;
        let children = self.slot().into_iter().flat_map(|slot| world.subobjects.children(slot));
        children.map(|child| ObjectRef::new(world.store.occupant(child).guid(child)))
    }

    /// Returns which connections see the object, or `None` if the object does not exist.
    #[must_use]
    pub fn relevancy(self) -> Option<Relevancy> {
        Some(self.server.world.cells.relevancy(self.slot()?))
    }

    /// Returns the [dormancy](crate::ObjectHandle::set_dormancy) of the object, or `None` if the object does
    /// not exist.
    #[must_use]
    pub fn dormancy(self) -> Option<Dormancy> {
        Some(self.server.world.dormancies.get(self.slot()?))
    }

    /// Returns whether the object is [paused](crate::ObjectHandle::set_paused) for all connections.
    #[must_use]
    pub fn is_paused(self) -> bool {
        self.slot().is_some_and(|slot| self.server.world.paused.contains(slot))
    }

    /// Returns whether the object is paused for a connection: either
    /// [for all connections](crate::ObjectHandle::set_paused) or
    /// [for this connection](crate::ObjectHandle::set_paused_for). Returns `false` if the connection or the
    /// object does not exist.
    #[must_use]
    pub fn is_paused_for(self, connection: ConnectionId) -> bool {
        let (Some(peer), Some(slot)) = (self.server.sessions.peers.get(connection), self.slot()) else {
            return false;
        };
        peer.connection.copies.view().is_paused(&self.server.world, slot)
    }

    /// Returns whether the object exists and was [torn off](crate::ObjectHandle::tear_off).
    #[must_use]
    pub fn is_torn_off(self) -> bool {
        self.slot().is_some_and(|slot| self.server.world.store.objects[slot as usize].is_torn_off())
    }

    /// Returns whether all clients know that the object was [torn off](crate::ObjectHandle::tear_off).
    /// Returns `false` if the object was not torn off or does not exist any more. Costs O(connections).
    #[must_use]
    pub fn is_tear_off_known(self) -> bool {
        let slot = self.slot().filter(|_| self.is_torn_off());
        slot.is_some_and(|slot| {
            self.server.sessions.peers.values().all(|peer| !peer.connection.copies.uses(slot))
        })
    }

    /// Returns the name of the object's class. Returns `None` if the object does not exist.
    #[must_use]
    pub fn class_name(self) -> Option<&'static str> {
        Some(self.server.world.store.column_of(self.slot()?).program().layout().name())
    }

    /// Returns the reference with the type of its object, if the object exists and is a `U`.
    #[must_use]
    pub fn cast<U: Replicated>(self) -> Option<ObjectRef<U>> {
        let class = self.server.world.store.occupant(self.slot()?).class;
        self.object.guid().filter(|_| self.server.world.store.has_class::<U>(class)).map(ObjectRef::new)
    }

    /// Returns the label of the object in logs: the [name](crate::ObjectHandle::set_name) that the program
    /// has set, or else its path. Returns `None` if it has neither.
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        self.server.world.name(self.slot()?)
    }

    /// Returns the path of the object, if it exists and is [static](Server::statics).
    #[must_use]
    pub fn path(self) -> Option<&'a str> {
        self.server.world.paths.path(self.slot()?).map(|path| &**path)
    }

    /// Returns whether the object sleeps for a connection: its client has acknowledged everything of the
    /// object, and was told that the object sleeps. Returns `false` if the connection or the object does not
    /// exist.
    #[must_use]
    pub fn is_asleep_for(self, connection: ConnectionId) -> bool {
        let (Some(peer), Some(slot)) = (self.server.sessions.peers.get(connection), self.slot()) else {
            return false;
        };
        peer.connection.copies.is_asleep(slot)
    }

    /// Returns whether a connection sees the object now. This depends on the relevancy,
    /// [audience](crate::ObjectHandle::set_audience), [visibility](crate::ObjectHandle::set_visible) and
    /// [initial dormancy](Dormancy::Initial) of the object and of the objects to which it is attached. The
    /// client may not have received the object yet. The [host](Server::connect_host) sees every object.
    /// Returns `false` if the connection or the object does not exist.
    #[must_use]
    pub fn is_relevant_to(self, connection: ConnectionId) -> bool {
        let (Some(peer), Some(slot)) = (self.server.sessions.peers.get(connection), self.slot()) else {
            return self.slot().is_some() && self.server.is_host(connection);
        };
        peer.connection.copies.sees(&self.server.world, slot)
    }

    /// Returns why nothing of the object is sent to a connection now. Call this after [`tick`](Server::tick),
    /// because changes are compared in the tick. Returns `None` if the connection or the object does not
    /// exist. Use the answer only for diagnosis: the logic of a program should not depend on it.
    #[must_use]
    pub fn why_not_sent_to(self, connection: ConnectionId) -> Option<NotSent> {
        let slot = self.slot()?;
        if self.server.is_host(connection) {
            return Some(NotSent::Host);
        }
        let world = &self.server.world;
        let connection = &self.server.sessions.peers.get(connection)?.connection;
        let is_open = |id| self.server.is_open(id);
        Some(if let Some(reason) = connection.why_not_sent(world, slot, &is_open) {
            reason
        } else if world.marks.left_over.contains(slot) {
            NotSent::Budget
        } else if world.schedule.is_waiting(slot) {
            NotSent::Rate
        } else if world.is_dirty(slot) {
            NotSent::NextTick
        } else {
            connection.why_not_noticed(world, slot, &is_open)
        })
    }
}
