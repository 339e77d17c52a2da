//! The owner of an object (S204).
//!
//! *Invariant:* if an object is owned by another object, both have the same connection as their owner.

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::ObjectHandle;
#[cfg(feature = "tracing")]
use crate::telemetry;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Sets the connection that owns the object. `None` means that no connection owns it. From the next tick
    /// on, the new owner receives the properties that only the owner of an object may see. The same holds for
    /// all objects that the object [owns](Self::set_owner_object). If another object owned the object before,
    /// it no longer does.
    ///
    /// The client of the old owner keeps the last values that it received of properties that only the owner
    /// may see, but receives no later values. If the client of the old owner must not show the old values,
    /// inform it with a property that all clients see, and let the notify of that property clear the values.
    /// To remove the whole object from the client of the old owner, use [`set_visible`](Self::set_visible).
    ///
    /// The owner may be a connection whose login is not accepted yet. The end of a connection does not change
    /// the owners of objects: set another owner when the client comes back with a new connection. You may
    /// also set a connection that has ended. Then no client receives the properties that only the owner may
    /// see, [`why_not_sent_to`](crate::ObjectInfo::why_not_sent_to) returns
    /// [`NoOwner`](crate::NotSent::NoOwner), and with the feature `tracing` the server logs a warning. Costs
    /// O(connections) for the object and for each object that it owns.
    ///
    /// # Panics
    /// Panics if the object is a [subobject](Self::spawn_subobject), which its parent owns.
    #[track_caller]
    pub fn set_owner(&mut self, owner: Option<ConnectionId>) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        self.assert_no_subobject(slot);
        #[cfg(feature = "tracing")]
        self.warn_of_ended(owner);
        self.server.world.owners.set(slot, None);
        self.server.give(slot, owner);
        self
    }

    /// Sets the object that owns this object, for example the player who carries a weapon. From now on, the
    /// connection that owns `owner` also owns this object, for conditions, roles, calls and relevancy. If
    /// another connection becomes the owner of `owner`, it becomes the owner of this object too. If `owner`
    /// does not exist, nobody owns this object.
    ///
    /// If the owner is despawned, no object and no connection owns this object, until you set another owner.
    ///
    /// Costs O(connections) for this object and for each object that it owns, directly or through other
    /// objects.
    ///
    /// # Panics
    /// Panics if this object owns `owner`, directly or through other objects, if both are the same object, or
    /// if this object is a [subobject](Self::spawn_subobject), which its parent owns.
    #[track_caller]
    pub fn set_owner_object<O: ?Sized>(&mut self, owner: ObjectRef<O>) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        self.assert_no_subobject(slot);
        let world = &mut self.server.world;
        let owner = world.store.slot_of(owner);
        let is_circle = owner.is_some_and(|owner| world.owners.with_descendants(slot).contains(&owner));
        assert!(
            !is_circle,
            "an object cannot own itself, nor what owns it: clear its owner first with `set_owner`"
        );
        world.owners.set(slot, owner);
        let connection = owner.and_then(|owner| world.store.objects[owner as usize].owner());
        self.server.give(slot, connection);
        self
    }

    #[cfg(feature = "tracing")]
    fn warn_of_ended(&self, owner: Option<ConnectionId>) {
        if let Some(owner) = owner.filter(|&owner| !self.server.is_open(owner)) {
            let object = self.server.object_info(self.object);
            telemetry::event!(WARN, object = %object, owner = ?owner, "the connection of the new owner has ended, so nobody owns the object: give it another owner, or none");
        }
    }

    #[track_caller]
    fn assert_no_subobject(&self, slot: u32) {
        let is_subobject = self.server.world.subobjects.parent(slot).is_some();
        assert!(!is_subobject, "the parent of a subobject owns it: set the owner of the parent");
    }
}
