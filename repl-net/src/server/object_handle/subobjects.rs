//! Subobjects: objects that live and die with another object (S202).
//!
//! *Invariant:* a subobject is never opened before its parent has arrived (R22).

use repl_core::{ObjectRef, Replicated};

use super::ObjectHandle;
use crate::server::SpawnKind;
use crate::server::rows::OwnRows;
use crate::server::shadows::Shadows;
use crate::session::archetype::ArchetypeId;
use crate::session::events::SpawnError;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Adds `child` as a subobject of this object, for example a turret of a tank (S202). Returns `None` if
    /// this object, the parent, does not exist or is [torn off](Self::tear_off); then `child` is dropped.
    ///
    /// A subobject is an object like any other, of any class, with three things set. It is
    /// [attached](crate::Relevancy::AttachedTo) to its parent, so the connections that see the parent see it.
    /// It is [owned](Self::set_owner_object) by its parent. And it lives with its parent: a client receives
    /// it after it has acknowledged the parent, and despawning the parent despawns it. Tearing the parent off
    /// tears it off. So its own values, conditions, changes and losses are independent of its parent, and a
    /// tick costs only what has changed. To show it to fewer connections than its parent, use
    /// [`set_audience`](Self::set_audience). It can have subobjects of its own.
    ///
    /// The client does not know which objects are subobjects. If it must, let the parent or the subobject
    /// refer to the other one.
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
        let parent_slot = self.slot();
        let parent_slot =
            parent_slot.filter(|&slot| !self.server.world.store.objects[slot as usize].is_torn_off());
        let Some(kind) = parent_slot.map(SpawnKind::Subobject) else { return Ok(None) };
        let push = |shadows: &Shadows<C>, rows: &mut OwnRows<C>| rows.push(child, shadows);
        self.server.add(ArchetypeId::default(), kind, push).map(Some)
    }
}
