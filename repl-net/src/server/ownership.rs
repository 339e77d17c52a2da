//! The methods of the server that set and return the owners of objects (S204).
//!
//! *Invariant:* the owner of each object is the connection at the top of its chain of owners.

use repl_core::ObjectRef;

use super::Server;
use repl_link::session::connection_id::ConnectionId;

impl Server {
    /// Sets the connection that owns the object, or sets that no connection owns it (S204). From the next
    /// tick on, the new owner receives the properties that only the owner of an object may see. The same
    /// holds for all objects that the object [owns](Self::set_owner_object). If another object owned the
    /// object, it does so no longer.
    ///
    /// The client of the old owner keeps the last values that it received of properties that only the owner
    /// may see, but receives no later values. If the client of the old owner must not show the old values,
    /// inform it with a property that all clients see, and let the notify of that property clear the values.
    /// To remove the whole object from the client of the old owner, use [`set_visible`](Self::set_visible).
    ///
    /// The owner may be a connection whose login is not accepted yet. The end of a connection does not change
    /// the owners of objects: set another owner when the client comes back with a new connection. Costs
    /// O(connections) for the object and for each object that it owns.
    ///
    /// # Panics
    /// Panics if the object is a [subobject](Self::spawn_subobject), which its parent owns.
    #[track_caller]
    pub fn set_owner<T: ?Sized>(&mut self, object: ObjectRef<T>, owner: Option<ConnectionId>) {
        let Some(slot) = self.world.slot_of(object) else { return };
        self.assert_no_subobject(slot);
        self.world.owners.set(slot, None);
        self.give(slot, owner);
    }

    /// Sets the object that owns an object, for example the player who carries a weapon (S204). The
    /// connection that owns the object is from now on the connection that owns `owner`: it decides about
    /// conditions, roles, calls and relevancy. A new owner applies to the whole chain. Does nothing if
    /// `object` does not exist. If `owner` does not exist, nobody owns the object.
    ///
    /// If the owner is despawned, an object that it owns has no owner, neither an object nor a connection,
    /// until you set another one.
    ///
    /// Costs O(objects below × connections).
    ///
    /// # Panics
    /// Panics if `object` owns `owner`, directly or through other objects, if both are the same object, or if
    /// `object` is a [subobject](Self::spawn_subobject), which its parent owns.
    #[track_caller]
    pub fn set_owner_object<T: ?Sized, O: ?Sized>(&mut self, object: ObjectRef<T>, owner: ObjectRef<O>) {
        let Some(slot) = self.world.slot_of(object) else { return };
        self.assert_no_subobject(slot);
        let owner = self.world.slot_of(owner);
        let is_circle = owner.is_some_and(|owner| self.world.owners.with_descendants(slot).contains(&owner));
        assert!(
            !is_circle,
            "an object cannot own itself, nor what owns it: clear its owner first with `set_owner`"
        );
        self.world.owners.set(slot, owner);
        self.give(slot, owner.and_then(|owner| self.world.objects[owner as usize].owner()));
    }

    /// Returns the connection that owns an object, directly or through other objects. Returns `None` if no
    /// connection owns it.
    #[must_use]
    pub fn owner<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<ConnectionId> {
        self.world.objects[self.world.slot_of(object)? as usize].owner()
    }

    /// Returns the [object that owns](Self::set_owner_object) an object, if an object owns it.
    #[must_use]
    pub fn owner_object<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<ObjectRef<()>> {
        let owner = self.world.owners.parent(self.world.slot_of(object)?)?;
        Some(ObjectRef::new(self.world.occupant(owner).guid(owner)))
    }

    #[track_caller]
    fn assert_no_subobject(&self, slot: u32) {
        let is_subobject = self.world.subobjects.parent(slot).is_some();
        assert!(!is_subobject, "the parent of a subobject owns it: set the owner of the parent");
    }
}
