//! The methods of the server that add and remove objects.
//!
//! *Invariant:* a connection learns of an object when it is added, and of its removal when it is removed, so
//! connections never look for objects that came or went.

use std::sync::Arc;

use repl_core::{ObjectRef, Replicated};

use super::Server;
use super::cells::area::Position;
use super::rows::OwnRows;
use super::shadows::Shadows;
use super::source::Source;
use crate::session::archetype::ArchetypeId;
use crate::session::events::SpawnError;

/// How an object is spawned: plainly, as a subobject, or static with a path.
pub(super) enum SpawnKind {
    Plain,
    /// It is a subobject of the object in this slot.
    Subobject(u32),
    /// It is static, with this path.
    Static(Arc<str>),
}

impl Server {
    /// Adds an object to the server. Clients create their copies from `T::default()`, so only values that
    /// differ from `T::default()` are sent (S69). Costs O(connections).
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Self::register), if the class is
    /// [external](Self::register_external), and if [`ServerConfig::max_objects`] slots are taken. If slots
    /// can run out, use [`try_spawn`](Self::try_spawn).
    #[track_caller]
    pub fn spawn<T: Replicated>(&mut self, object: T) -> ObjectRef<T> {
        self.spawn_from(ArchetypeId::default(), object)
    }

    /// Makes room for `additional` more objects of a class, and registers the class. Spawning as many objects
    /// then takes less time, because the objects that were spawned before are not moved in memory.
    ///
    /// ```
    /// # use repl_net::{Server, ServerConfig};
    /// # use repl_core::Replicated;
    /// # fn begin_level<Coin: Replicated + Default>(server: &mut Server) {
    /// server.reserve::<Coin>(10_000);
    /// (0..10_000).for_each(|_| _ = server.spawn(Coin::default()));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Self::register), and if the class is
    /// [external](Self::register_external).
    #[track_caller]
    pub fn reserve<T: Replicated>(&mut self, additional: usize) {
        let class = self.world.register::<T, OwnRows<T>>(self.is_registration_over());
        self.world.reserve(class, additional);
    }

    /// Adds an object to the server, which clients create from an archetype. Only values that differ from the
    /// archetype are sent.
    ///
    /// # Panics
    /// Panics in the same cases as [`spawn`](Self::spawn), and if `archetype` was not returned by
    /// [`register_archetype`](Self::register_archetype) of this server.
    #[track_caller]
    pub fn spawn_from<T: Replicated>(&mut self, archetype: ArchetypeId<T>, object: T) -> ObjectRef<T> {
        match self.try_spawn_from(archetype, object) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds an object to the server, if a slot is free.
    ///
    /// # Errors
    /// Returns an error if [`ServerConfig::max_objects`] slots are taken. If the object cannot be added, it
    /// is dropped, and nothing else changes.
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Self::register), and if the class is
    /// [external](Self::register_external).
    #[track_caller]
    pub fn try_spawn<T: Replicated>(&mut self, object: T) -> Result<ObjectRef<T>, SpawnError> {
        self.try_spawn_from(ArchetypeId::default(), object)
    }

    /// Adds an object to the server, which clients create from an archetype, if a slot is free.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`try_spawn`](Self::try_spawn).
    ///
    /// # Panics
    /// Panics in the same cases as [`try_spawn`](Self::try_spawn), and if `archetype` was not returned by
    /// [`register_archetype`](Self::register_archetype) of this server.
    #[track_caller]
    pub fn try_spawn_from<T: Replicated>(
        &mut self,
        archetype: ArchetypeId<T>,
        object: T,
    ) -> Result<ObjectRef<T>, SpawnError> {
        self.add(archetype, SpawnKind::Plain, |shadows, rows: &mut OwnRows<T>| rows.push(object, shadows))
    }

    /// Adds an object. The connections that have it in sight then see it. The argument `push_row` adds the
    /// object's row to the source of its class, and returns its position if the class has an area.
    #[track_caller]
    pub(super) fn add<T: Replicated, S: Source<T>>(
        &mut self,
        archetype: ArchetypeId<T>,
        kind: SpawnKind,
        push_row: impl FnOnce(&Shadows<T>, &mut S) -> Option<Position>,
    ) -> Result<ObjectRef<T>, SpawnError> {
        let number = archetype.number();
        assert!(
            number == 0 || self.world.shadows::<T>().is_some_and(|shadows| shadows.has_archetype(number)),
            "archetype {number} of `{}` is not this server's: spawn from what its own `register_archetype` returned",
            T::LAYOUT.name(),
        );
        let reference = self.world.spawn(number, self.is_registration_over(), push_row)?;
        if let Some(slot) = self.world.slot_of(reference) {
            let parent = match kind {
                SpawnKind::Plain => None,
                SpawnKind::Subobject(parent) => {
                    self.world.add_subobject(slot, parent);
                    Some(parent)
                }
                SpawnKind::Static(path) => {
                    self.world.make_static(slot, path);
                    None
                }
            };
            for peer in self.connections.values_mut() {
                if peer.handshake.is_connected() {
                    debug_assert!(!peer.connection.uses(slot), "a slot is used again after all acks (R17)");
                    peer.connection.reconsider(&mut self.world, slot);
                }
            }
            if let Some(parent) = parent {
                self.give(slot, self.world.objects[parent as usize].owner());
            }
        }
        Ok(reference)
    }

    /// Removes an object from the server and its clients, with its [subobjects](Self::spawn_subobject). Does
    /// nothing if the object does not exist. Costs O(connections × log objects) for each object that is
    /// removed. The first removal after a packet of a client also looks once at each call that waits for this
    /// client.
    pub fn despawn<T: ?Sized>(&mut self, object: ObjectRef<T>) {
        let Some(slot) = self.world.slot_of(object) else { return };
        for slot in self.world.subobjects.with_descendants(slot).into_iter().rev() {
            self.despawn_one(slot);
        }
    }

    fn despawn_one(&mut self, slot: u32) {
        let mut holders = 0;
        for peer in self.connections.values_mut() {
            peer.connection.end_calls(&self.world, slot);
            holders += u32::from(peer.connection.destroy(&mut self.world, slot));
        }
        self.world.despawn(slot, holders);
        self.world.subobjects.remove(slot);
        self.world.audiences.remove(&slot);
        let orphans = self.world.cells.remove(slot);
        self.reconsider(&orphans);
        for orphan in self.world.owners.remove(slot) {
            self.give(orphan, None);
        }
    }
}
