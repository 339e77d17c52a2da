//! Subobjects: objects that are spawned below another object, their parent, and removed with it (S202).
//!
//! *Invariant:* a client never has a subobject without its parent (R22).

use repl_core::{ObjectRef, Replicated};

use super::ObjectHandle;
use crate::server::rows::OwnRows;
use crate::server::shadows::Shadows;
use crate::server::{Server, SpawnKind};
use crate::session::archetype::ArchetypeId;
use crate::session::events::SpawnError;

impl Server {
    /// Returns the kind of a new subobject of `parent`. Returns `None` if `parent` does not exist or is torn
    /// off.
    pub(in crate::server) fn subobject_kind<P: ?Sized>(&self, parent: ObjectRef<P>) -> Option<SpawnKind> {
        let slot = self.world.store.slot_of(parent)?;
        let is_torn_off = self.world.store.objects[slot as usize].is_torn_off();
        (!is_torn_off).then_some(SpawnKind::Subobject(slot))
    }
}

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Adds `child` as a subobject of this object, for example a turret of a tank. Returns `None` if this
    /// object, the parent, does not exist or is [torn off](Self::tear_off); then `child` is dropped.
    ///
    /// A subobject can be of any class, and differs from other objects in three ways. It is
    /// [attached](crate::Relevancy::AttachedTo) to its parent, so the connections that see the parent see it.
    /// It is [owned](Self::set_owner_object) by its parent. Its lifetime is bound to its parent: a client
    /// never has it without the parent, and despawning the parent despawns it. Tearing the parent off tears
    /// it off. Its values, conditions and changes are independent of its parent, and a tick costs only what
    /// has changed. To show it to fewer connections than its parent, use
    /// [`set_audience`](Self::set_audience). It can have subobjects of its own.
    ///
    /// If a client lacks an object and its subobjects, the server sends all of them in one packet, if they
    /// fit. So the client never has only some of them, and receives the values of all at the same time.
    /// Subobjects that do not fit are sent later, each after its parent. On the client,
    /// [`subobjects`](crate::ClientObjectInfo::subobjects) returns the subobjects of an object.
    ///
    /// # Panics
    /// Panics in the same cases as [`Server::spawn`](crate::Server::spawn).
    #[track_caller]
    pub fn spawn_subobject<C: Replicated>(&mut self, child: C) -> Option<ObjectRef<C>> {
        match self.try_spawn_subobject(child) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Does the same as [`spawn_subobject`](Self::spawn_subobject), if a slot is free.
    ///
    /// # Errors
    /// Returns an error if [`ServerConfig::max_objects`](crate::ServerConfig::max_objects) slots are taken.
    /// If the object cannot be added, it is dropped, and nothing else changes.
    ///
    /// # Panics
    /// Panics in the same cases as [`Server::try_spawn`](crate::Server::try_spawn).
    #[track_caller]
    pub fn try_spawn_subobject<C: Replicated>(
        &mut self,
        child: C,
    ) -> Result<Option<ObjectRef<C>>, SpawnError> {
        let Some(kind) = self.server.subobject_kind(self.object) else { return Ok(None) };
        let push = |shadows: &Shadows<C>, rows: &mut OwnRows<C>| rows.push(child, shadows);
        self.server.add(ArchetypeId::default(), kind, push).map(Some)
    }
}
